"""Retrieval by levels: broad sections first, one scale of relevance, nothing beyond the scope."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import numpy as np
import pytest

from graphctx.context.candidates import find_candidates, relevance_of
from graphctx.context.hierarchy import hierarchy_page, section_cosines
from graphctx.context.render import augment_for_llm
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import ContextSection
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.scope import Empty

QUESTION = "Who signs the decision records?"


def search(kb: KnowledgeBase, query: str = QUESTION, **options: Any) -> list[ContextSection]:
    return list(kb.search_context(query, **options))


def test_concepts_come_first_then_sections_and_chunks(handbook_kb: KnowledgeBase) -> None:
    levels = [one.hierarchy_level for one in search(handbook_kb, max_results=30, min_relevance=0.1)]
    assert levels == sorted(levels)
    assert {1, 2, 3} <= set(levels)


def test_results_are_exact_and_within_their_limits(handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    for row in golden[::6]:
        found = search(handbook_kb, row["question"], max_results=7, min_relevance=0.4)
        assert len(found) <= 7
        for one in found:
            place = one.metadata
            assert handbook_kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == one.content
            assert 0.4 <= one.relevance_score <= 1
        assert found == search(handbook_kb, row["question"], max_results=7, min_relevance=0.4)


def test_relevance_07_tells_what_bears_on_a_question(handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    above, below, reached = [], [], []
    for row in golden:
        if not row["gold_spans"]:
            continue
        chunks = search(handbook_kb, row["question"], levels=[3], min_relevance=0.0, max_results=50)
        for chunk in chunks:
            (above if chunk.relevance_score >= 0.7 else below).append(_holds_gold(chunk, row["gold_spans"]))
        reached.append(any(chunk.relevance_score >= 0.7 for chunk in chunks))
    assert fmean(reached) >= 0.85
    assert fmean(above) >= 0.3
    assert fmean(below) <= 0.03


def _holds_gold(chunk: ContextSection, spans: list[dict[str, Any]]) -> bool:
    place = chunk.metadata
    return any(
        span["doc"] == place["doc_uri"] and span["start"] < place["end_char"] and span["end"] > place["start_char"]
        for span in spans
    )


@pytest.mark.parametrize("lower", [0.0, 0.1, 0.25, 0.5, 0.9])
def test_relevance_grows_with_confidence(lower: float) -> None:
    assert relevance_of(lower) < relevance_of(lower + 0.05) <= 1


def test_what_a_question_quotes_is_found_to_the_letter(handbook_kb: KnowledgeBase) -> None:
    found = search(handbook_kb, 'Where does it say "Signs all decision records"?', levels=[4])
    assert found
    assert all("signs all decision records" in one.content.casefold() for one in found)


def test_levels_choose_what_is_returned(handbook_kb: KnowledgeBase) -> None:
    for level in (1, 2, 3):
        found = search(handbook_kb, levels=[level], min_relevance=0.1)
        assert found
        assert {one.hierarchy_level for one in found} == {level}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_few_results_have_a_concept_too_and_concepts_alone_fill_them_all(handbook_kb: KnowledgeBase, most: int) -> None:
    found = search(handbook_kb, max_results=most, min_relevance=0.1)
    assert [one.hierarchy_level for one in found].count(1) == 1
    assert len(found) == most
    assert len(search(handbook_kb, max_results=most, min_relevance=0.0, levels=[1])) == most


def test_nothing_lies_outside_the_filters(handbook_kb: KnowledgeBase) -> None:
    found = search(handbook_kb, filters={"path_prefix": "procedures/"}, min_relevance=0.0, max_results=50)
    assert found
    assert all(one.metadata["doc_uri"].startswith("procedures/") for one in found)


def test_a_section_is_as_near_as_the_mean_of_its_units(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    found = find_candidates(searcher, QUESTION, Scope(), Filters(), handbook_kb.tokens, 4000)
    assert not isinstance(found, Empty)
    for section, cosine in section_cosines(found).items():
        mean = found.index.vectors[found.rows[found.section == section]].mean(axis=0)
        expected = float(mean @ found.question.vector) / float(np.linalg.norm(mean))
        assert cosine == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_pages_of_a_level_hold_every_item_once(handbook_kb: KnowledgeBase, level: int) -> None:
    searcher = handbook_kb.searcher()
    _, total = hierarchy_page(searcher, level, 0, 1)
    items = [item for start in range(0, total, 7) for item in hierarchy_page(searcher, level, start, 7)[0]]
    assert len({item["id"] for item in items}) == len(items) == total > 7


def test_an_augmented_prompt_has_the_best_of_each_level_below_its_heading(handbook_kb: KnowledgeBase) -> None:
    found = search(handbook_kb, max_results=30, min_relevance=0.1)
    text = augment_for_llm(found)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Key Concepts:",
        "## Retrieved Context:",
        "## Specific Information:",
    ]
    for level, most in ((1, 2), (2, 3), (3, 5)):
        shown = [one.content in text for one in found if one.hierarchy_level == level][:most]
        assert all(shown)
    assert "## Specific Information:" not in augment_for_llm(found, details=False)
