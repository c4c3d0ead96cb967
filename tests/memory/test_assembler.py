"""Blocks of memories under a token budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.memory import Memory, MemoryDraft, MemoryFilter, MemoryItem, MemoryQuery, Triple, assemble_block
from graphctx.nlp.tokens import AnswerCounter

from .conftest import HERE, OpenMemory, on_day

COUNT = AnswerCounter().count
QUERY = MemoryQuery("Where does Ann sail?", HERE, on_day(9), limit=20)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory with every kind of entry."""
    from .conftest import EMBEDDER, EXTRACTOR

    memory = Memory(tmp_path_factory.mktemp("filled"), embedder=EMBEDDER, extractor=EXTRACTOR)
    memory.add([MemoryDraft("core", "The user is called Ann."), MemoryDraft("core", "Ann is deaf.")], HERE, on_day(0))
    turns = [MemoryDraft("turn", f"Ann: on day {n} I sailed to island {n} and\nback.", author="Ann") for n in range(9)]
    memory.add(turns, HERE, on_day(1))
    memory.add([MemoryDraft("summary", "Ann sails a lot.", verbatim=False)], HERE, on_day(2))
    stated = (Triple("Ann", "sails", "a yawl"), Triple("a yawl", "moored at", "Hamn"))
    memory.add([MemoryDraft("event", "A boat was bought.", triples=stated)], HERE, on_day(3))
    return memory


@pytest.fixture(scope="module")
def filled_with_long(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory of one item of some thousand tokens, which answers in its middle."""
    from .conftest import EMBEDDER, EXTRACTOR

    memory = Memory(tmp_path_factory.mktemp("long"), embedder=EMBEDDER, extractor=EXTRACTOR)
    lines = [f"Line {n} of the log has a wind of {n % 9} and no news." for n in range(120)]
    lines[60] = "Line 60 says that the yawl reached the harbour of Hamn."
    memory.add([MemoryDraft("output", " ".join(lines))], HERE, on_day(1), extract=False)
    return memory


@given(budget=st.integers(1, 600))
def test_no_block_is_longer_than_its_budget_or_says_a_thing_twice(filled: Memory, budget: int) -> None:
    block = assemble_block(filled, QUERY, budget, COUNT, record_use=False)
    assert COUNT(block.text) <= sum(entry.tokens for entry in block.entries) <= budget
    assert len({entry.content.id for entry in block.entries}) == len(block.entries)
    assert block == assemble_block(filled, QUERY, budget, COUNT, record_use=False)


@given(budget=st.integers(60, 1200))
def test_an_item_that_does_not_fit_is_shown_by_exact_sentences_near_the_question(
    filled_with_long: Memory, budget: int
) -> None:
    query = replace(QUERY, text="Which harbour did the yawl reach?")
    (entry, *_) = assemble_block(filled_with_long, query, budget, COUNT, record_use=False).entries
    assert isinstance(entry.content, MemoryItem)
    assert entry.excerpt is not None
    start, end = entry.excerpt
    shown = entry.content.text[start:end]
    assert (
        entry.text
        == f"[Output: 2026-01-02 00:00, excerpt {start}:{end} of {len(entry.content.text)} characters] {shown}"
    )
    assert shown.startswith("Line ")
    assert shown.endswith(".")
    assert "reached the harbour of Hamn" in shown or budget < 300


def test_core_memory_comes_first_and_facts_are_reached_over_two_hops(filled: Memory) -> None:
    block = assemble_block(filled, replace(QUERY, text="What does Ann own?"), 600, COUNT, record_use=False)
    lines = block.text.split("\n")
    assert set(lines[:2]) == {"[Core Memory] The user is called Ann.", "[Core Memory] Ann is deaf."}
    scores = [entry.score for entry in block.entries[2:]]
    assert scores == sorted(scores, reverse=True)
    said = [line for line in lines if line.startswith("[Event")]
    assert said, "the item that states the facts stands for them"
    asked = replace(QUERY, text="Ann yawl", filter=MemoryFilter(kinds=("fact",)))
    facts = assemble_block(filled, asked, 600, COUNT, record_use=False).text
    assert "[Fact] Ann → sails → a yawl (since 2026-01-04, confidence 1.00)" in facts
    assert "[Fact] a yawl → moored at → Hamn" in facts


def test_a_blank_question_is_refused(filled: Memory) -> None:
    with pytest.raises(InvalidArgument, match="blank"):
        assemble_block(filled, replace(QUERY, text=" "), 100, COUNT)


def test_other_principals_projects_and_sessions_are_not_in_a_block(open_memory: OpenMemory) -> None:
    memory = open_memory()
    drafts = [
        MemoryDraft("core", "Core secret.", persistence="session"),
        MemoryDraft("event", "Ann sails to Hamn.", persistence="session"),
    ]
    memory.add(drafts, HERE, on_day(0), extract=True)
    assert "Hamn" in assemble_block(memory, QUERY, 300, COUNT).text
    for other in ({"principal": "eve"}, {"project": "other"}, {"session": "tuesday"}):
        assert assemble_block(memory, replace(QUERY, scope=replace(HERE, **other)), 300, COUNT).text == ""


def test_statements_that_differ_in_a_word_are_both_in_a_block(open_memory: OpenMemory) -> None:
    memory = open_memory()
    said = ["The status of Apollo is on track.", "The status of Apollo is on hold."]
    for day, (kind, text) in enumerate([("turn", said[0]), ("event", said[1].upper()), ("preference", said[1])]):
        memory.add([MemoryDraft(kind, text)], HERE, on_day(day))
    query = replace(QUERY, text="What is the status of Apollo?")
    block = assemble_block(memory, query, 300, COUNT, record_use=False).text
    assert [block.count(text) for text in said] == [1, 1]
    assert said[1].upper() not in block, "of the same words those of the higher tier are kept"


def test_a_large_budget_is_filled_with_short_turns_and_only_those_in_the_block_count_as_used(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    turns = [MemoryDraft("turn", f"On tour {n} Ann sailed to the isle of number {n * 7}.") for n in range(45)]
    memory.add(turns, HERE, on_day(1), extract=False)
    block = assemble_block(memory, QUERY, 3000, COUNT, record_use=False)
    assert len(block.entries) == len(turns)
    few = assemble_block(memory, QUERY, 200, COUNT)
    used = {item.id for item in memory.select(HERE, on_day(9)) if item.access_count}
    assert used == {entry.content.id for entry in few.entries}


@pytest.mark.parametrize("text", ["Where does Ann live?", "Did Ann ever live in Oslo, or was it Bergen?"])
def test_what_holds_now_comes_before_what_it_replaced(open_memory: OpenMemory, text: str) -> None:
    memory = open_memory()
    for day, town in enumerate(("Oslo", "Bergen", "Paris")):
        memory.add([MemoryDraft("fact", f"Ann lives in {town}.")], HERE, on_day(day))
    block = assemble_block(memory, replace(QUERY, text=text), 500, COUNT)
    assert [entry.text.split(" in ")[1] for entry in block.entries] == ["Paris.", "Bergen.", "Oslo."]


def test_what_is_said_again_in_other_words_is_not_outdated(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for day, said in enumerate(("Ann lives in Oslo.", "As before, Ann lives in Oslo.")):
        memory.add([MemoryDraft("fact", said, triples=(Triple("Ann", "lives in", "Oslo"),))], HERE, on_day(day))
    assert "outdated" not in assemble_block(memory, QUERY, 500, COUNT).text
    memory.add([MemoryDraft("fact", "Ann lives in Rome.")], HERE, on_day(3))
    assert "outdated since 2026-01-04] Ann lives in Oslo." in assemble_block(memory, QUERY, 500, COUNT).text
