"""Retrieval by levels: broad sections first, one scale of relevance, nothing beyond the scope."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from graphctx.context import HierarchicalRetriever
from graphctx.context.candidates import find_candidates
from graphctx.context.hierarchy import section_cosines
from graphctx.context.render import augment_for_llm
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import ContextSection, SearchContextInput, relevance_of
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.global_search.selection import themes_of_units
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.scope import Empty
from graphctx.settings import ContextSettings

QUESTION = "Who signs the decision records?"


def search(kb: KnowledgeBase, query: str = QUESTION, **options: Any) -> list[ContextSection]:
    return list(kb.search_context(query, **options))


def test_concepts_come_first_then_sections_and_chunks(handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    every: set[int] = set()
    for row in golden[::6]:
        levels = [
            one.hierarchy_level for one in search(handbook_kb, row["question"], max_results=30, min_relevance=0.1)
        ]
        assert levels == sorted(levels)
        every.update(levels)
    assert {1, 2, 3} <= every


@pytest.mark.parametrize(
    ("query", "answered", "unknown"),
    [
        (QUESTION, "yes", ()),
        ("How do we import a terraform module into the data logger?", "near", ("terraform",)),
        ("How do I bake sourdough bread with rye flour?", "no", ("sourdough",)),
    ],
)
def test_results_say_whether_anything_fits_as_the_quotes_do(
    handbook_kb: KnowledgeBase, query: str, answered: str, unknown: tuple[str, ...]
) -> None:
    found = HierarchicalRetriever(handbook_kb.searcher(), handbook_kb.tokens).retrieve(SearchContextInput(query=query))
    quotes = handbook_kb.retrieve_evidence(query)
    assert (
        (found.answered, found.unknown_words) == (answered, unknown) == (quotes.answered, tuple(quotes.unknown_words))
    )


def test_results_are_exact_and_within_their_limits(handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    for row in golden[::6]:
        found = search(handbook_kb, row["question"], max_results=7, min_relevance=0.4)
        assert len(found) <= 7
        for one in found:
            place = one.metadata
            assert handbook_kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == one.content
            assert 0.4 <= one.relevance_score <= 1
        assert found == search(handbook_kb, row["question"], max_results=7, min_relevance=0.4)


@pytest.mark.parametrize(("level", "reached_by", "held_below"), [(1, 0.4, 0.12), (2, 0.85, 0.03), (3, 0.85, 0.03)])
def test_relevance_07_means_the_same_at_each_level(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]], level: int, reached_by: float, held_below: float
) -> None:
    above, below, reached = [], [], []
    for row in golden:
        if not row["gold_spans"]:
            continue
        found = search(handbook_kb, row["question"], levels=[level], min_relevance=0.0, max_results=50)
        for one in found:
            (above if one.relevance_score >= 0.7 else below).append(_holds_gold(handbook_kb, one, row["gold_spans"]))
        reached.append(any(one.relevance_score >= 0.7 for one in found))
    assert fmean(reached) >= reached_by
    assert fmean(above) >= 0.3
    assert fmean(below) <= min(held_below, fmean(above) / 4)


def _holds_gold(kb: KnowledgeBase, section: ContextSection, spans: list[dict[str, Any]]) -> bool:
    """Return whether a section overlaps a marked answer, or a concept is the theme of its unit or above it."""
    place = section.metadata
    if section.hierarchy_level > 1:
        return any(
            span["doc"] == place["doc_uri"] and span["start"] < place["end_char"] and span["end"] > place["start_char"]
            for span in spans
        )
    searcher = kb.searcher()
    communities = CommunityIndex(GraphView(searcher.index, searcher.graph.tables))
    units = [searcher.index.unit(row) for row in range(searcher.index.walk.n_units)]
    gold = [
        unit.row
        for unit in units
        for span in spans
        if searcher.index.text_of(unit.doc_row).uri == span["doc"]
        and unit.start_char < span["end"]
        and unit.end_char > span["start"]
    ]
    treated = set(themes_of_units(communities, np.array(gold)).tolist())
    for theme in [one for one in treated if one >= 0]:
        while (theme := int(communities.hierarchy.parent[theme])) >= 0:
            treated.add(theme)
    return communities.row(place["community_id"]) in treated


def test_a_question_for_what_is_newest_prefers_newer_documents(make_kb: Callable[..., KnowledgeBase]) -> None:
    page = "---\ndate: {year}-05-01\n---\n# Tide gate in {year}\n\nThe opening hours of the tide gate are {hours}.\n"
    files = {f"{n}.md": f"# Berth {n}\n\nThe hours of berth {n} are in the harbour book.\n" for n in range(9)}
    files |= {f"{year}.md": page.format(year=year, hours=hours) for year, hours in ((2021, "9 to 4"), (2024, "8 to 6"))}
    kb = make_kb(files)
    newest = search(kb, "What are the latest opening hours of the tide gate?", levels=[3], min_relevance=0.0)
    assert [one.metadata["doc_uri"] for one in newest][:2] == ["2024.md", "2021.md"]
    assert newest[0].relevance_score > newest[1].relevance_score
    context = kb.compose_context("What are the current opening hours of the tide gate?", 4000)
    placed = [one.metadata["doc_uri"] for one in context.retrieved_sections if one.hierarchy_level > 1]
    assert placed[0] == "2024.md"


def test_dates_count_only_if_two_are_known_and_what_is_newest_is_asked_for(
    make_kb: Callable[..., KnowledgeBase],
) -> None:
    page = "# Tide gate\n\nThe maximum current of the tide gate of {place} is {amount} amperes.\n"
    files = {"old.md": page.format(place="Skarn", amount=16), "other.md": page.format(place="Holm", amount=25)}
    files |= {f"{n}.md": f"# Berth {n}\n\nThe hours of berth {n} are in the harbour book.\n" for n in range(9)}
    one, both = {"old.md": "2021-05-01"}, {"old.md": "2021-05-01", "other.md": "2024-05-01"}

    def best(query: str, dates: dict[str, str]) -> str:
        dated = {path: f"---\ndate: {dates[path]}\n---\n{files[path]}" for path in dates}
        uri: str = search(make_kb(files | dated), query, levels=[3], min_relevance=0.0)[0].metadata["doc_uri"]
        return uri

    assert best("What is the latest maximum of the tide gate of Skarn?", one) == "old.md"
    assert best("What is the latest maximum of the tide gate of Skarn?", both) == "other.md"
    assert best("What is the maximum current of the tide gate of Skarn?", both) == "old.md"


def test_of_two_that_say_the_same_the_newer_is_found(make_kb: Callable[..., KnowledgeBase]) -> None:
    page = "---\ndate: {date}\n---\n# Tide gate\n\nThe opening hours of the tide gate are 8 to 6.\n"
    dates = {"a.md": "2021-05-01", "b.md": "2024-05-01", "c.md": "2022-05-01"}
    kb = make_kb({name: page.format(date=date) for name, date in dates.items()})
    found = search(kb, "What are the opening hours of the tide gate?", levels=[3], min_relevance=0.0)
    assert [one.metadata["doc_uri"] for one in found] == ["b.md"]


def test_chunks_have_the_length_and_the_overlap_of_the_settings(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    settings = ContextSettings(chunk_tokens=512, chunk_overlap=64, levels=(3,))
    retriever = HierarchicalRetriever(handbook_kb.searcher(), handbook_kb.tokens, settings)
    count, lengths, overlaps = handbook_kb.tokens.count, [], 0
    for row in golden[::5]:
        request = SearchContextInput(query=row["question"], min_relevance=0.0, max_results=50)
        chunks = retriever.retrieve(request).sections
        assert {one.hierarchy_level for one in chunks} == {3}
        places = sorted(
            (one.metadata["doc_uri"], one.metadata["start_char"], one.metadata["end_char"]) for one in chunks
        )
        for uri, start, end in places:
            lengths.append(count(handbook_kb.document(uri).text[start:end]))
        for (uri, start, end), (other, begin, _) in pairwise(places):
            if uri == other and begin < end:
                overlaps += 1
                assert start < begin
                assert count(handbook_kb.document(uri).text[begin:end]) <= 64
    units = search(handbook_kb, golden[0]["question"], levels=[3], min_relevance=0.0, max_results=50)
    assert max(lengths) <= 512 + 64
    assert fmean(lengths) > fmean(count(one.content) for one in units)
    assert overlaps


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
        mean = found.index.vectors_of(found.rows[found.section == section]).mean(axis=0)
        expected = float(mean @ found.question.vector) / float(np.linalg.norm(mean))
        assert cosine == pytest.approx(expected, abs=1e-4)


def test_an_augmented_prompt_has_the_best_of_each_level_below_its_heading(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    answers = (search(handbook_kb, row["question"], max_results=30, min_relevance=0.1) for row in golden)
    found = next(one for one in answers if {1, 2, 3} <= {section.hierarchy_level for section in one})
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
