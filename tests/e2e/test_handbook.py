"""The sample handbook from end to end: exact quotes for every golden question, and the same answers every time."""

from __future__ import annotations

from pathlib import Path

from graphctx import KnowledgeBase
from graphctx.text.readable import readable

from .house import HANDBOOK, answer_of, graphctx, graphctx_process, succeeded


def test_every_file_of_the_handbook_is_a_document(handbook_path: Path) -> None:
    status = answer_of("status", "--kb", handbook_path)
    assert status["counts"]["documents"] == sum(1 for path in HANDBOOK.rglob("*") if path.is_file())
    assert status["verified"]
    assert status["fault"] is None


def test_the_command_prints_the_bytes_of_the_facade_in_any_process(
    handbook_kb: KnowledgeBase, handbook_path: Path
) -> None:
    question = "What do I type to put Choirboy back on its previous firmware?"
    asked = ("ask", question, "--kb", handbook_path, "--json")
    first, second = (succeeded(graphctx_process(*asked, PYTHONHASHSEED=seed)) for seed in ("1", "2"))
    assert first == second
    assert answer_of(*asked[:-1]) == handbook_kb.retrieve_evidence(question).model_dump(mode="json")
    assert succeeded(graphctx(*asked)) == first


def test_a_person_is_shown_quote_place_and_confidence(handbook_path: Path) -> None:
    question = "Which other bird was in the running when the message gateway was named?"
    answer = answer_of("ask", question, "--kb", handbook_path)
    shown = succeeded(graphctx("ask", question, "--kb", handbook_path, cwd=HANDBOOK))
    assert question in shown
    for quote in answer["quotes"]:
        assert all(f"│ {line}" in shown for line in readable(quote["quote"], quote["doc_uri"]))
        assert quote["doc_uri"] in shown
        assert f"confidence {quote['confidence']:.2f}" in shown
        if quote["doc_uri"].endswith((".md", ".txt")):
            assert f"{quote['doc_uri']}:{quote['line']} " in shown
    assert "\x1b" not in shown
