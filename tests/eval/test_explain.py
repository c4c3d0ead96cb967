"""One question explained: what is said is what retrieval did."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from graphctx import KnowledgeBase
from graphctx.errors import InvalidArgument
from graphctx.eval.ask import Asker
from graphctx.eval.explain import Explanation, explain
from graphctx.eval.explain_text import show_explanation

QUESTION = "For whom did the managing director work before she joined the Coop?"


@pytest.fixture(scope="module")
def explanation(handbook_kb: KnowledgeBase) -> Explanation:
    return explain(handbook_kb, QUESTION)


def test_the_ranking_is_that_of_a_search(handbook_kb: KnowledgeBase, explanation: Explanation) -> None:
    found = handbook_kb.search(QUESTION, top_k=10, max_per_doc=10).results
    assert [one.unit.section_id for one in explanation.final] == [result.section_id for result in found]
    assert [one.score for one in explanation.final] == [result.score for result in found]
    assert [one.source for one in explanation.final] == [result.source for result in found]


def test_the_quotes_are_those_of_the_answer(handbook_kb: KnowledgeBase, explanation: Explanation) -> None:
    quotes = handbook_kb.retrieve_evidence(QUESTION).quotes
    assert [(one.doc_uri, one.start_char, one.end_char, one.quote) for one in explanation.quotes] == [
        (quote.doc_uri, quote.start_char, quote.end_char, quote.quote) for quote in quotes
    ]


def test_every_sentence_of_a_quote_is_shown_with_its_features(explanation: Explanation) -> None:
    for quote in explanation.quotes:
        assert quote.sentences
        words = {word for sentence in quote.sentences for word in re.findall(r"\w+", sentence.text)}
        assert words >= set(re.findall(r"\w+", quote.quote))
        for sentence in quote.sentences:
            assert {"unit", "cosine", "lexical"} <= sentence.features.keys()
            assert 0 < sentence.features["unit"] <= 1


def test_each_edge_is_justified_by_a_sentence_of_its_source(
    handbook_kb: KnowledgeBase, explanation: Explanation
) -> None:
    assert explanation.edges
    final = {one.unit.section_id: one.rank for one in explanation.final}
    for edge in explanation.edges:
        unit = handbook_kb.unit(edge.source.section_id)
        assert edge.sentence in unit.text
        assert edge.entity
        assert edge.value > 0
        assert final[edge.target.section_id] == edge.target_rank
    assert sum(explanation.edges_followed.values()) >= len(explanation.edges)


def test_names_and_terms_of_the_question_are_reported(explanation: Explanation) -> None:
    assert {"managing director", "Coop"} <= {one.name for one in explanation.entities}
    assert explanation.terms["director"] > explanation.terms["work"] > 0
    assert explanation.kind == "person"


def test_stages_begin_with_what_each_search_finds_first(handbook_kb: KnowledgeBase, explanation: Explanation) -> None:
    for stage, variant in (("bm25", "bm25"), ("vector", "vector")):
        found = Asker(handbook_kb, variant).search(QUESTION, top_k=10, max_per_doc=10).results
        assert [one.unit.section_id for one in explanation.stages[stage]] == [result.section_id for result in found]
        assert [one.rank for one in explanation.stages[stage]] == list(range(1, 11))


@pytest.mark.parametrize(("question", "variant", "says"), [("  ", "bm25", "question"), ("Who?", "best", "'best'")])
def test_what_cannot_be_explained_is_refused(
    handbook_kb: KnowledgeBase, question: str, variant: str, says: str
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        explain(handbook_kb, question, variant)


def test_a_terminal_shows_every_part_and_takes_no_text_for_markup(handbook_kb: KnowledgeBase) -> None:
    question = "Who is [bold]Ingrid Vasslund[/bold], the managing director?"
    out = io.StringIO()
    show_explanation(Console(file=out, width=160), explain(handbook_kb, question))
    shown = out.getvalue()
    assert question in shown
    for part in ("By words (BM25)", "Hybrid score", "The expansion", "seed  ", "The ranking", "Quotes"):
        assert part in shown
    assert "Ingrid Vasslund ← index.md" in shown
    assert "people/ingrid-vasslund.md:9" in shown
