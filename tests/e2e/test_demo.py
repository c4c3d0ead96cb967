"""``graphctx demo``, which ``make run`` starts: the first thing that anybody sees of graphctx."""

from __future__ import annotations

from pathlib import Path

from graphctx.text.readable import readable

from .house import LIGHTHOUSE, graphctx, succeeded, write_lighthouse

QUESTIONS = ("Who lit the lamp of Gull Point?", "When does the keeper write the weather into the log?")


def test_the_demo_ingests_a_folder_and_shows_quotes_that_a_client_got(tmp_path: Path) -> None:
    folder = write_lighthouse(tmp_path / "documents")
    asked = [part for question in QUESTIONS for part in ("-q", question)]
    shown = succeeded(graphctx("demo", folder, "--kb", tmp_path / "kb", *asked))
    assert all(f"Q: {question}" in shown for question in QUESTIONS)
    quoted = [line.strip().removeprefix("│ ") for line in shown.split("\n") if line.strip().startswith("│ ")]
    assert quoted
    written = [line for name, text in LIGHTHOUSE.items() for line in readable(text, name)]
    assert all(any(line in whole for whole in written) for line in quoted)
    assert "lamp.md:7 (characters" in shown  # a document without headings below its title
    assert "rules.txt" in shown


def test_a_demo_without_questions_says_how_to_ask_one(tmp_path: Path) -> None:
    done = graphctx("demo", write_lighthouse(tmp_path / "documents"))
    assert done.returncode == 1
    assert "Q=" in done.stderr
