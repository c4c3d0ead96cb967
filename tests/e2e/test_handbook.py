"""The sample handbook from end to end: every question of the golden set, and the same answers every time."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from graphctx import KnowledgeBase

from .house import HANDBOOK, ROOT, answer_of, graphctx, succeeded

GOLDEN = [json.loads(line) for line in (ROOT / "eval/golden/handbook.jsonl").read_text("utf-8").splitlines()]
FILES = sum(1 for path in HANDBOOK.rglob("*") if path.is_file())


def test_every_file_of_the_handbook_is_a_document(handbook_kb: Path) -> None:
    status = answer_of("status", "--kb", handbook_kb)
    assert status["counts"]["documents"] == FILES
    assert status["verified"]
    assert status["fault"] is None


def test_every_quote_is_the_text_at_its_place(handbook: KnowledgeBase) -> None:
    quoted = 0
    for golden in GOLDEN:
        for quote in handbook.retrieve_evidence(golden["question"], max_quotes=20, top_k=10).quotes:
            text = handbook.document(quote.doc_uri).text
            assert text[quote.start_char : quote.end_char] == quote.quote, (golden["id"], quote.doc_uri)
            assert text[: quote.start_char].endswith(quote.context_before)
            assert text[quote.end_char :].startswith(quote.context_after)
            assert text.count("\n", 0, quote.start_char) + 1 == quote.line
            quoted += 1
    assert quoted > 3 * len(GOLDEN)


def test_every_preview_is_the_text_at_its_place(handbook: KnowledgeBase) -> None:
    for golden in GOLDEN:
        for result in handbook.search(golden["question"], top_k=20, max_per_doc=3).results:
            text = handbook.document(result.doc_uri).text
            assert text[result.start_char : result.end_char] == result.preview, (golden["id"], result.doc_uri)


def test_most_questions_are_answered_from_a_gold_document(handbook: KnowledgeBase) -> None:
    answerable = [golden for golden in GOLDEN if golden["answerable"]]
    hits = sum(
        bool(
            {quote.doc_uri for quote in handbook.retrieve_evidence(golden["question"]).quotes}
            & set(golden["gold_docs"])
        )
        for golden in answerable
    )
    assert hits / len(answerable) > 0.8


@pytest.mark.parametrize("golden", GOLDEN[:: max(1, round(12 / float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1"))))])
def test_the_command_prints_the_same_bytes_in_another_process(handbook_kb: Path, golden: dict[str, str]) -> None:
    first, second = (
        succeeded(graphctx("ask", golden["question"], "--kb", handbook_kb, "--json", PYTHONHASHSEED=seed))
        for seed in ("1", "2")
    )
    assert first == second


def test_the_command_prints_what_the_facade_returns(handbook: KnowledgeBase, handbook_kb: Path) -> None:
    question = "What do I type to put Choirboy back on its previous firmware?"
    printed = answer_of("ask", question, "--kb", handbook_kb)
    assert printed == handbook.retrieve_evidence(question).model_dump(mode="json")


def test_a_person_is_shown_quote_place_and_confidence(handbook_kb: Path) -> None:
    question = "Which other bird was in the running when the message gateway was named?"
    answer = answer_of("ask", question, "--kb", handbook_kb)
    shown = succeeded(graphctx("ask", question, "--kb", handbook_kb, cwd=HANDBOOK))
    assert question in shown
    for quote in answer["quotes"]:
        assert all(f"│ {line}" in shown for line in quote["quote"].split("\n"))
        assert quote["doc_uri"] in shown
        assert f"confidence {quote['confidence']:.2f}" in shown
    for quote in answer["quotes"]:
        if quote["doc_uri"].endswith((".md", ".txt")):
            assert f"{quote['doc_uri']}:{quote['line']} " in shown
    assert "\x1b" not in shown
