"""A composed context keeps its budget, quotes exactly, and puts what matters where it is read."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.context import DocumentSource
from graphctx.context.composer import HISTORY_SHARE
from graphctx.context.render import history_text, places, sections_text
from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import ContextInput, ContextMessage, OptimalContext

QUESTION = "Above which sum does a purchase need its own numbered decision record, and who signs it?"


@pytest.fixture(scope="module")
def words(handbook_folder: Path) -> list[str]:
    return " ".join(path.read_text("utf-8") for path in sorted(handbook_folder.rglob("*.md"))).split()


def uris(context: OptimalContext) -> set[str]:
    return {section.metadata["doc_uri"] for section in context.retrieved_sections}


@given(seed=st.integers(0, 2**32 - 1), budget=st.integers(300, 40_000), flat=st.booleans())
def test_a_context_keeps_its_budget_and_quotes_exactly_whatever_is_asked(
    handbook_kb: KnowledgeBase, words: list[str], seed: int, budget: int, flat: bool
) -> None:
    draw = random.Random(seed)
    start = draw.randrange(len(words))
    query = " ".join(words[start : start + draw.randint(1, 14)])[:1000]
    history = [ContextMessage(content=" ".join(draw.sample(words, 20))) for _ in range(draw.randint(0, 3))]
    arguments: dict[str, Any] = {"strategy": "flat" if flat else "hierarchical", "history": history}
    context = handbook_kb.compose_context(query, budget, **arguments)
    count = handbook_kb.tokens.count
    assert context.tokens["total"] == count(context.text) <= budget
    assert context.tokens["retrieved_sections"] == count(sections_text(context.retrieved_sections)) <= 0.6 * budget
    assert context.text.endswith(query)
    for section in [*context.retrieved_sections, *context.examples]:
        place = section.metadata
        assert handbook_kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == section.content
        assert section.content in context.text
    assert handbook_kb.compose_context(query, budget, **arguments) == context


def test_no_text_is_in_a_context_twice(handbook_kb: KnowledgeBase) -> None:
    sections = [
        one for one in handbook_kb.compose_context(QUESTION, 8000).retrieved_sections if one.hierarchy_level > 1
    ]
    spans = sorted((one.metadata["doc_uri"], one.metadata["start_char"], one.metadata["end_char"]) for one in sections)
    assert all(one[0] != other[0] or one[2] <= other[1] for one, other in pairwise(spans))


def test_the_best_places_stand_at_both_ends(handbook_kb: KnowledgeBase) -> None:
    source = DocumentSource(handbook_kb.searcher(), handbook_kb.tokens)
    ranked = places(
        [one for one in source.retrieve(ContextInput(query=QUESTION), 2400).sections if one.hierarchy_level > 1]
    )
    placed = places(
        [one for one in handbook_kb.compose_context(QUESTION, 4000).retrieved_sections if one.hierarchy_level > 1]
    )
    assert placed[0] == ranked[0]
    assert placed[-1] == ranked[1]
    assert len(placed) > 3


def test_the_answer_is_in_a_small_context(handbook_kb: KnowledgeBase) -> None:
    assert "20,000 crowns" in handbook_kb.compose_context(QUESTION, 1000).text


def test_flat_contexts_hold_whole_chunks(handbook_kb: KnowledgeBase) -> None:
    for section in handbook_kb.compose_context(QUESTION, 4000, "flat").retrieved_sections:
        assert section.content == handbook_kb.unit(section.metadata["section_id"]).text


def test_filters_and_scope_bound_what_is_composed(handbook_kb: KnowledgeBase) -> None:
    narrowed = handbook_kb.compose_context(QUESTION, 4000, filters={"path_prefix": "people/"})
    assert narrowed.retrieved_sections
    assert all(uri.startswith("people/") for uri in uris(narrowed))
    assert handbook_kb.compose_context(QUESTION, filters={"path_prefix": "nowhere/"}).empty_reason == "filtered_out"


def test_the_newest_messages_are_kept(handbook_kb: KnowledgeBase) -> None:
    history = [ContextMessage(content=f"Message {number}. " + "word " * 100) for number in range(20)]
    kept = handbook_kb.compose_context(QUESTION, 2000, history=history).conversation_history
    assert 1 <= len(kept) < 20
    assert kept == history[-len(kept) :]


def test_as_many_messages_are_kept_as_fit(handbook_kb: KnowledgeBase) -> None:
    count, share = handbook_kb.tokens.count, int(HISTORY_SHARE * 2000)
    history = [ContextMessage(content=f"{'word ' * number}日本語 \U0001f600") for number in range(40)]
    for end in range(10, 41, 6):
        kept = handbook_kb.compose_context(QUESTION, 2000, history=history[:end]).conversation_history
        assert count(history_text(kept)) <= share
        assert len(kept) == end or count(history_text(history[end - len(kept) - 1 : end])) > share


def test_a_question_that_asks_for_code_gets_examples(handbook_kb: KnowledgeBase) -> None:
    context = handbook_kb.compose_context("Which command shows the moorings of a station?", 600)
    assert context.task_context == "The question asks for code, a command or a setting."
    assert not {one.content for one in context.examples} & {one.content for one in context.retrieved_sections}


def test_a_short_question_takes_less_than_a_long_one(handbook_kb: KnowledgeBase) -> None:
    short, long = (handbook_kb.compose_context(query).tokens["retrieved_sections"] for query in ("buoy", QUESTION))
    assert short <= 6000 < long


def test_a_budget_below_the_question_is_refused_with_what_it_needs(handbook_kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgument, match="Allow more") as caught:
        handbook_kb.compose_context("word " * 500, 200)
    needed = int(str(caught.value.details["allowed"]).split()[0])
    assert handbook_kb.compose_context("word " * 500, needed).tokens["total"] <= needed


def test_a_question_about_the_whole_gets_no_note_that_nothing_fits(handbook_kb: KnowledgeBase) -> None:
    context = handbook_kb.compose_context("What are the main themes?", 4000)
    assert context.retrieved_sections
    assert not context.task_context


@pytest.mark.parametrize(
    ("query", "answered"),
    [
        (QUESTION, "yes"),
        ("What is the salary of the duty officer?", "near"),
        ("How do we import a terraform module into the data logger?", "near"),
        ("How do I bake sourdough bread with rye flour?", "no"),
    ],
)
def test_a_context_says_whether_anything_fits_as_the_quotes_do(
    handbook_kb: KnowledgeBase, query: str, answered: str
) -> None:
    quotes = handbook_kb.retrieve_evidence(query)
    context = handbook_kb.compose_context(query, 4000)
    assert context.answered == quotes.answered == answered
    assert ("they may not hold the answer" in context.task_context) == (answered == "near")
    assert (not context.retrieved_sections) == (answered == "no")
    assert context.nearest == quotes.nearest
    assert context.unknown_words == quotes.unknown_words
    assert context.empty_reason == quotes.empty_reason
