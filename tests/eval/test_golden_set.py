"""The golden questions fit the handbook as graphctx reads it, and ask for more than their own words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import build_golden
import pytest

Questions = list[dict[str, Any]]


def squeeze(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def questions(golden_folder: Path) -> Questions:
    return build_golden.load(golden_folder / "handbook.jsonl")


@pytest.fixture(scope="module")
def about_the_whole(golden_folder: Path) -> Questions:
    return build_golden.load(golden_folder / "handbook_global.jsonl")


@pytest.mark.parametrize("name", build_golden.SETS)
def test_the_written_file_is_what_the_builder_makes_of_its_source(
    corpus: dict[str, str], golden_folder: Path, name: str
) -> None:
    built = build_golden.build(build_golden.load(golden_folder / f"{name}.source.jsonl"), corpus)
    assert (golden_folder / f"{name}.jsonl").read_text("utf-8") == build_golden.render(built)
    spans = [
        span
        for line in built
        for one in (line, *line.get("points", ()))
        for span in one.get("gold_spans", one.get("spans", ()))
    ]
    assert len(spans) > 60
    assert all(corpus[span["doc"]][span["start"] : span["end"]] == span["text"] for span in spans)


def test_the_answers_are_in_the_gold_spans(questions: Questions) -> None:
    for question in questions:
        if {"yes", "no"} & set(question["answers"]):
            assert question["type"] == "comparison", question["id"]
        elif question["answerable"]:
            shown = squeeze(" ".join(span["text"] for span in question["gold_spans"]))
            held = [answer in shown for answer in question["answers"]]
            # A list is answered by all of its items; other answers are alternatives.
            assert all(held) if question["type"] == "list" else any(held), question["id"]


def test_no_question_copies_its_evidence(questions: Questions, about_the_whole: Questions) -> None:
    for some, run in ((questions, 6), (about_the_whole, 5)):
        for question in some:
            points = question.get("points", [{"spans": question.get("gold_spans", [])}])
            text = " ".join(span["text"] for point in points for span in point["spans"])
            shown = " ".join(re.findall(r"\w+", text.lower()))
            asked = re.findall(r"\w+", question["question"].lower())
            for at in range(len(asked) - run + 1):
                assert " ".join(asked[at : at + run]) not in shown, question["id"]


def test_marked_entities_are_in_their_documents(corpus: dict[str, str], golden_folder: Path) -> None:
    marked = build_golden.load(golden_folder / "handbook_entities.jsonl")
    assert len(marked) == 12
    for document in marked:
        names = [entity["name"] for entity in document["entities"]]
        assert len(set(names)) == len(names), document["doc"]
        for mention in (mention for entity in document["entities"] for mention in entity["mentions"]):
            assert re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", corpus[document["doc"]]), (document["doc"], mention)
        assert all(len(pair) == 2 and set(pair) <= set(names) for pair in document["pairs"]), document["doc"]


def test_a_text_that_is_not_found_once_is_refused_with_its_place() -> None:
    line = {"id": "x1", "question": "?", "type": "single", "answers": ["a"], "answerable": True}
    line["gold_spans"] = [{"doc": "d.md", "text": "a b"}, {"doc": "e.md", "text": "a"}]
    points = [
        {"point": "found", "spans": [{"doc": "d.md", "text": "b, a"}]},
        {"point": "twice", "spans": line["gold_spans"]},
    ]
    with pytest.raises(build_golden.GoldenError) as fault:
        build_golden.build([line, {"id": "x2", "points": points}], {"d.md": "a b, a\nb"})
    assert "x1 d.md: found 2 times" in str(fault.value)
    assert "x1 e.md: there is no such document" in str(fault.value)
    assert "x2 point 2 d.md: found 2 times, wanted once: 'a b'" in str(fault.value)
    assert build_golden.find_once("one two\n  three four", "two three") == (4, 15)
