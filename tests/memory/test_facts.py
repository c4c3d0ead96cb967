"""Facts in time: the value that holds at a date, and every value before it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.memory import Memory, MemoryDraft, MemoryScope, Triple
from graphctx.memory.extraction import TripleExtractor
from graphctx.memory.predicates import canonical_predicate

from .conftest import EMBEDDER, EXTRACTOR, HERE, OpenMemory, on_day

TRIPLES = TripleExtractor(lambda: EXTRACTOR)


@pytest.mark.parametrize(
    ("text", "author", "expected"),
    [
        ("Ana's manager is Carlos.", "", ("Ana", "report to", "Carlos")),
        ("The deadline of Apollo is March 15, 2026.", "", ("Apollo", "deadline", "March 15, 2026")),
        ("Apollo's deadline was moved from May 2 to June 9.", "", ("Apollo", "deadline", "June 9")),
        ("Acme changed its headquarters from Oslo to Rome.", "", ("Acme", "headquarters", "Rome")),
        ("Actually, my favourite colour is now blue, not green.", "Ana", ("Ana", "favorite color", "blue")),
        ("Ada Poe is the new CEO of Acme.", "", ("Acme", "ceo", "Ada Poe")),
        ("I moved to Lisbon.", "Ben", ("Ben", "live in", "Lisbon")),
        ("John works for Globex as an engineer.", "", ("John", "work at", "Globex")),
        ("Ana lives in Oslo with two cats.", "", ("Ana", "live in", "Oslo")),
        ("Ana has moved from Porto to Ghent.", "", ("Ana", "live in", "Ghent")),
        ("The port of the gateway is 8080.", "", ("gateway", "port", "8080")),
    ],
)
def test_a_sentence_states_a_triple(text: str, author: str, expected: tuple[str, str, str]) -> None:
    found = [
        (each.subject.removeprefix("the "), canonical_predicate(each.predicate).key, each.object)
        for each in TRIPLES.triples(text, author)
    ]
    assert expected in found


@pytest.mark.parametrize("text", ["Is Ana's manager Carlos?", "Where does John live?", "OK.", "🙂"])
def test_what_states_nothing_gives_no_triple(text: str) -> None:
    assert TRIPLES.triples(text) == []


def test_the_span_of_a_triple_is_its_sentence() -> None:
    text = "Hello there!\n\nJohn lives in Paris.   The budget of Apollo is 30 dollars."
    said = {text[each.start_char : each.end_char] for each in TRIPLES.triples(text)}
    assert said == {"John lives in Paris.", "The budget of Apollo is 30 dollars."}


def test_a_date_that_a_sentence_says_is_when_its_fact_starts(open_memory: OpenMemory) -> None:
    memory = open_memory()
    said = "John lives in Paris since 2020. Ana's manager is Carlos as of 2026-02-03."
    stored = memory.add([MemoryDraft("fact", said)], HERE, on_day(90))[0].facts.added
    assert [fact.temporal_start.date().isoformat() for fact in stored] == ["2020-01-01", "2026-02-03"]


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), min_size=1, max_size=8, unique_by=lambda e: e[0])
)
def test_the_value_at_a_date_is_the_last_stated_before_it_in_any_order_of_telling(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[int, str]]
) -> None:
    with Memory(tmp_path_factory.mktemp("facts"), embedder=EMBEDDER) as memory:
        for order, (day, value) in enumerate(told):
            triple = Triple("Ana", "lives_in", value, on_day(day).at)
            memory.add([MemoryDraft("fact", f"statement {order}", triples=(triple,))], HERE, on_day(50 + order))
        history = sorted(told)
        for day in range(-1, 42):
            expected = [value for since, value in history if since <= day][-1:]
            assert [fact.object for fact in memory.facts.value_at("ana", "live in", on_day(day).at, HERE)] == expected
        kept = memory.facts.timeline("Ana", "lives in", HERE)
        for earlier, later in pairwise(kept):
            assert earlier.temporal_end is not None
            assert earlier.temporal_end <= later.temporal_start


def test_a_predicate_of_many_values_keeps_them_and_settings_decide_which_those_are(open_memory: OpenMemory) -> None:
    def values(memory: Memory, predicate: str) -> list[str]:
        for day, value in enumerate(("x", "y")):
            triple = Triple("Ana", predicate, value)
            memory.add([MemoryDraft("fact", f"{predicate} {value}", triples=(triple,))], HERE, on_day(day))
        return [fact.object for fact in memory.facts.value_at("Ana", predicate, on_day(9).at, HERE)]

    memory = open_memory(facts={"single_valued": ["drinks"], "many_valued": ["email"]})
    assert values(memory, "wants_to_visit") == ["x", "y"]
    assert values(memory, "drinks") == ["y"]
    assert values(memory, "email") == ["x", "y"]
    assert values(memory, "deadline") == ["y"]


def test_a_statement_that_a_relation_ended_ends_it_and_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([MemoryDraft("fact", "Alice works at Acme.")], HERE, on_day(0))
    outcome = memory.add([MemoryDraft("fact", "Alice left Acme.")], HERE, on_day(5))[0]
    assert [(fact.object, fact.temporal_end) for fact in outcome.facts.ended] == [("Acme", on_day(5).at)]
    assert memory.facts.value_at("Alice", "works at", on_day(6).at, HERE) == []
    assert [fact.object for fact in memory.facts.value_at("Alice", "works at", on_day(4).at, HERE)] == ["Acme"]


def test_what_a_deleted_fact_had_ended_holds_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    stored = [
        memory.add([MemoryDraft("fact", f"Ana lives in {city}.")], HERE, on_day(day))[0].item
        for day, city in enumerate(("Oslo", "Rome", "Bonn"))
    ]
    memory.forget([stored[1].id], HERE)
    kept = [(fact.object, fact.temporal_end) for fact in memory.facts.timeline("Ana", "lives in", HERE)]
    assert kept == [("Oslo", on_day(2).at), ("Bonn", None)]


def test_a_session_does_not_end_a_fact_that_other_sessions_see(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))
    memory.add([MemoryDraft("fact", "Ana lives in Rome.", persistence="session")], HERE, on_day(1))
    elsewhere = MemoryScope(project=HERE.project, session="tuesday")
    assert [fact.object for fact in memory.facts.value_at("Ana", "lives in", on_day(2).at, elsewhere)] == ["Oslo"]


def test_hops_follow_facts_that_hold_and_names_in_any_spelling(open_memory: OpenMemory) -> None:
    memory = open_memory(facts={})
    said = "Ana works at Acme. Acme is based in Oslo. Oslo's mayor is Tom Berg."
    memory.add([MemoryDraft("fact", said)], HERE, on_day(0))
    for depth, expected in ((1, {"Acme"}), (2, {"Acme", "Oslo"}), (3, {"Acme", "Oslo", "Tom Berg"})):
        steps = memory.facts.about("the ANA", HERE, on_day(1), depth=depth)
        assert {step.fact.object for step in steps} == expected
        assert [step.hop for step in steps] == sorted(step.hop for step in steps)
    assert [step.fact.object for step in memory.facts.about("Acme", HERE, on_day(1), predicate="located in")] == [
        "Oslo"
    ]
    assert memory.facts.named_in("Where does Ana's company Acme sit?", HERE) == ["acme", "ana"]
    for depth in (0, 6):
        with pytest.raises(InvalidArgument, match="depth"):
            memory.facts.about("Ana", HERE, on_day(1), depth=depth)


def test_a_resolver_adds_the_names_of_an_entity(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Memory(
        tmp_path_factory.mktemp("resolver"),
        embedder=EMBEDDER,
        extractor=EXTRACTOR,
        resolver=lambda name: ["Site Reliability Group"] if name.casefold() == "srg" else [],
    ) as memory:
        memory.add([MemoryDraft("fact", "Ben leads the Site Reliability Group.")], HERE, on_day(0))
        assert [step.fact.subject for step in memory.facts.about("SRG", HERE, on_day(1))] == ["Ben"]


@pytest.mark.parametrize("n_statements", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_statements_and_corrections_are_recalled_at_every_date(open_memory: OpenMemory, n_statements: int) -> None:
    memory, draw = open_memory(), random.Random(n_statements)
    people = [
        f"{first} {last}" for first in ("Ana", "Ben", "Cleo", "Dan") for last in ("Moss", "Reed", "Stone", "Wood")
    ]
    cities, firms = ("Oslo", "Rome", "Lisbon", "Bonn"), ("Acme", "Globex", "Initech", "Umbrella")
    forms = {
        "live in": (cities, ["{s} lives in {o}.", "{s} moved to {o}.", "Update: {s} now lives in {o}."]),
        "work at": (firms, ["{s} works at {o}.", "{s} joined {o}.", "{s} works for {o} now."]),
        "phone number": (
            [f"555-{number}" for number in range(1000, 1010)],
            ["{s}'s phone number is {o}.", "{s}'s phone number changed to {o}.", "The phone number of {s} is {o}."],
        ),
        "report to": (people, ["{s}'s manager is {o}.", "{s} reports to {o}.", "{s}'s new manager is {o}."]),
    }
    history: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for day in range(n_statements):
        subject, predicate = draw.choice(people), draw.choice(list(forms))
        values, sentences = forms[predicate]
        before = history.setdefault((subject, predicate), [])
        value = draw.choice([each for each in values if each != subject and (not before or each != before[-1][1])])
        before.append((day, value))
        said = draw.choice(sentences).format(s=subject, o=value)
        memory.add([MemoryDraft("fact", said)], HERE, on_day(day))
    asked = right = 0
    for (subject, predicate), told in history.items():
        kept = [fact.object for fact in memory.facts.timeline(subject, predicate, HERE)]
        asked, right = asked + 1, right + (kept == [value for _, value in told])
        for day in range(0, n_statements, 20):
            expected = [value for since, value in told if since <= day][-1:]
            found = [fact.object for fact in memory.facts.value_at(subject, predicate, on_day(day).at, HERE)]
            asked, right = asked + 1, right + (found == expected)
    assert right / asked > 0.95
