"""The cache of contexts serves another wording of a question, and never what was found for another question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eval.context_cache import PAIRS, read_pairs
from graphctx.context import ContextCache, DocumentSource
from graphctx.context.cache import SIMILAR
from graphctx.context.wording import wording
from graphctx.errors import ScopeViolation
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import ContextInput, ContextSection
from graphctx.nlp.embedders import make_embedder
from graphctx.settings import load_settings

QUESTION = "Who is entitled to cancel a warning before it expires?"
REWORDED = "Please tell me who is entitled to cancel warnings before they expire."
BUDGET = 600

Ask = Callable[..., list[ContextSection]]


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_cache(clock: Clock) -> Iterator[Callable[..., ContextCache]]:
    """Make a cache by the settings of ``[context]``, with the clock."""
    made: list[ContextCache] = []

    def make(retrieve: dict[str, Any] | None = None, **context: Any) -> ContextCache:
        settings = load_settings({"context": context, "retrieve": retrieve or {}})
        made.append(ContextCache(settings, make_embedder(), clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def ask(handbook_kb: KnowledgeBase) -> Ask:
    """Ask the documents of the handbook through a cache."""

    def asked(cache: ContextCache, query: str, budget: int = BUDGET, **fields: Any) -> list[ContextSection]:
        searcher = handbook_kb.searcher()
        source = cache.over(DocumentSource(searcher, handbook_kb.tokens), searcher)
        return list(source.retrieve(ContextInput.model_validate({"query": query, **fields}), budget).sections)

    return asked


def test_three_in_ten_wordings_of_a_question_are_served_and_no_other_question() -> None:
    pairs = list(read_pairs(PAIRS))
    embedder = make_embedder()
    served: dict[bool, list[bool]] = {True: [], False: []}
    for pair in pairs:
        one, other = embedder.embed([pair.one, pair.other])
        agree = wording(pair.one).agrees(wording(pair.other)) and float(one @ other) >= SIMILAR
        served[pair.kind != "another"].append(agree)
    assert sum(served[False]) == 0
    assert sum(served[True]) / len(served[True]) >= 0.31


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("How do I sign a chart?", "how can we sign charts", True),
        ("When the ship left, who was on watch?", "Who was on watch when the ship left?", True),
        ("What is a tombstone?", "Could you explain the term tombstone?", True),
        ("What is it for?", "What is it?", False),
        ("How do I convert bytes to strings?", "How do I convert strings to bytes?", False),
        ("Which company did Acme acquire?", "Which company acquired Acme?", False),
        ("Which team owns the service that calls main?", "Which team owns the service that main calls?", False),
        ("What does tar -x do?", "What does tar -X do?", False),
        ('Where is "dry dock" explained?', "Where is dry dock explained?", False),
        ("谁批准发布？", "谁取消发布？", False),
    ],
)
def test_wordings_agree_if_they_ask_the_same(one: str, other: str, same: bool) -> None:
    assert wording(one).agrees(wording(other)) is same
    assert wording(other).agrees(wording(one)) is same


def test_another_wording_gets_the_same_sections_until_the_entry_expires(
    make_cache: Callable[..., ContextCache], ask: Ask, clock: Clock
) -> None:
    cache = make_cache(cache_seconds=100)
    found = ask(cache, QUESTION)
    for clock.now in (90.0, 180.0):  # each use renews it
        assert ask(cache, REWORDED) == ask(cache, QUESTION) == found
    assert (cache.counts.similar, cache.counts.exact, cache.counts.misses) == (2, 2, 1)
    clock.now = 281.0
    ask(cache, QUESTION)
    assert cache.counts.misses == 2


def test_an_entry_is_bound_to_budget_scope_filters_strategy_settings_and_snapshot(
    make_cache: Callable[..., ContextCache],
    ask: Ask,
    handbook_kb: KnowledgeBase,
    make_kb: Callable[..., KnowledgeBase],
) -> None:
    cache = make_cache()
    ask(cache, QUESTION)
    ask(cache, QUESTION, BUDGET + 1)
    for fields in (
        {"scope": {"repositories": ["people/"]}},
        {"filters": {"path_prefix": "people/"}},
        {"strategy": "flat"},
    ):
        ask(cache, QUESTION, **fields)
    small = make_kb({"a.md": f"# Warnings\n\nThe duty officer is. {QUESTION}\n"})
    source = cache.over(DocumentSource(small.searcher(), small.tokens), small.searcher())
    assert source.retrieve(ContextInput(query=QUESTION), BUDGET).sections[0].metadata["doc_uri"].endswith("a.md")
    assert (cache.counts.exact, cache.counts.similar) == (0, 0)
    with pytest.raises(ScopeViolation):
        ask(cache, QUESTION, scope={"project_id": "another"})


def test_the_entry_that_was_not_used_for_longest_goes_first(make_cache: Callable[..., ContextCache], ask: Ask) -> None:
    cache = make_cache(cache_entries=2)
    for query in (QUESTION, "Where do the coastal radio antennas stand?", QUESTION, "How big is the database?"):
        ask(cache, query)
    hits = cache.counts.exact
    ask(cache, QUESTION)
    assert cache.counts.exact == hits + 1
    ask(cache, "Where do the coastal radio antennas stand?")
    assert cache.counts.exact == hits + 1


def test_a_caller_who_changes_what_it_got_changes_no_entry(make_cache: Callable[..., ContextCache], ask: Ask) -> None:
    cache = make_cache()
    first = ask(cache, QUESTION)
    before = [section.model_dump() for section in first]
    for section in (*first, *ask(cache, QUESTION)):
        section.metadata.clear()
    assert [section.model_dump() for section in ask(cache, QUESTION)] == before


def test_a_cache_of_no_entries_keeps_nothing(make_cache: Callable[..., ContextCache], ask: Ask) -> None:
    cache = make_cache(cache_entries=0)
    assert ask(cache, QUESTION) == ask(cache, QUESTION)
    assert cache.counts.exact == cache.counts.misses == 0
