"""Which questions ask for the whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from graphctx.retrieve.global_search.route import asks_for_everything, asks_for_the_whole

REPO = Path(__file__).resolve().parents[3]
DATA = Path(os.environ.get("GRAPHCTX_DEV_DATA", REPO.parent / "shared" / "data"))

WHOLE = (
    "What are the main themes?",
    "What are the main topics covered in these documents?",
    "Give me an overview of the documentation.",
    "Summarise the reports.",
    "Which causes of failure come up again and again?",
    "How did the deployment process evolve over the last five years?",
    "What changed over the year?",
    "Who depends on what?",
    "Which teams depend on which services?",
    "What do the outages have in common?",
    "What trends can be seen across all departments?",
    "Which problems keep coming up?",
    "How does the organisation handle conflicts, and which rules does it follow in doing so?",
)

LOCAL = (
    "",
    "?",
    "What is the main function of a crate?",
    "How do I configure recurring jobs?",
    "What is the summary metric type?",
    "Which topics does the Gannet service consume?",
    "What changed in version 3.2?",
    "Who leads the Telemetry team?",
    "Who was the director of the film, and when was he born?",
    "What does the router do when a packet arrives, and how does it answer?",
    "Which flags does `helm upgrade` accept?",
    "What are the key differences between `Box` and `Rc`?",
    "How much has the temperature changed over the last century?",
    "Which two buoys had broken memory cards?",
)


@pytest.mark.parametrize("question", WHOLE)
def test_a_question_about_the_whole_is_told_by_its_wording(question: str) -> None:
    assert asks_for_the_whole(question)
    assert asks_for_the_whole(f"  {question.upper()}\n")


@pytest.mark.parametrize("question", LOCAL)
def test_a_question_about_one_thing_stays_local(question: str) -> None:
    assert not asks_for_the_whole(question)


@pytest.mark.parametrize(
    ("question", "everything"),
    [
        ("What are the main themes?", True),
        ("Give me an overview of the documentation.", True),
        ("Summarise everything.", True),
        ("What is this corpus about?", True),
        ("What are the main themes of the incident reports?", False),
        ("Who leads the team?", False),
        ("Tell me about the documents.", True),
        ("Give me an overview", True),
        ("What topics are covered?", True),
        ("What is this?", False),
        ("What about it?", False),
        ("Give me an overview of Prometheus", False),
    ],
)
def test_a_question_that_names_nothing_asks_for_everything(question: str, everything: bool) -> None:
    assert asks_for_everything(question) is everything


def test_no_golden_question_about_one_thing_goes_the_global_way(golden: list[dict[str, Any]]) -> None:
    assert [item["question"] for item in golden if asks_for_the_whole(item["question"])] == []


def test_most_golden_questions_about_the_whole_go_the_global_way() -> None:
    lines = (REPO / "eval" / "golden" / "handbook_global.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    assert sum(map(asks_for_the_whole, questions)) >= 0.6 * len(questions)


@pytest.mark.parametrize(
    "name",
    ["2wiki_dev200", "chunking_eval", "clapnq_dev", "hotpot_train100", "lihua_world", "musique_train100", "xquad_en"],
)
def test_questions_of_public_sets_about_one_thing_stay_local(name: str) -> None:
    path = DATA / name / "questions.jsonl"
    if not path.is_file():
        pytest.skip(f"no development data: {name}")
    questions = [json.loads(line)["question"] for line in path.read_text("utf-8").splitlines()]
    wrong = [question for question in questions if asks_for_the_whole(question)]
    assert len(wrong) <= 0.005 * len(questions), wrong
