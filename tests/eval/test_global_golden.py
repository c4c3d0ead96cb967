"""The whole-corpus questions fit the handbook as graphctx reads it, and need more than one passage of it."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import build_global_golden
import build_golden
import pytest

TYPES = {"theme", "comparison", "change", "dependency", "risk", "process", "people"}
LONGEST = 350  # characters: two long sentences with their links


@pytest.fixture(scope="module")
def questions(golden_folder: Path) -> list[dict[str, Any]]:
    return build_golden.load(golden_folder / "handbook_global.jsonl")


@pytest.fixture(scope="module")
def points(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [point for question in questions for point in question["points"]]


def stated_in(question: dict[str, Any]) -> list[set[str]]:
    """For each point of ``question``, the documents of which any one states it."""
    return [{span["doc"] for span in point["spans"]} for point in question["points"]]


def test_the_written_file_is_what_the_builder_makes_of_its_source(corpus: dict[str, str], golden_folder: Path) -> None:
    source = build_golden.load(golden_folder / "handbook_global.source.jsonl")
    expected = build_golden.render(build_global_golden.build(source, corpus))
    assert (golden_folder / "handbook_global.jsonl").read_text("utf-8") == expected


def test_every_span_slices_back_to_its_text(corpus: dict[str, str], points: list[dict[str, Any]]) -> None:
    spans = [span for point in points for span in point["spans"]]
    assert len(spans) > 400
    for span in spans:
        assert span.keys() == {"doc", "start", "end", "text"}
        assert corpus[span["doc"]][span["start"] : span["end"]] == span["text"]


def test_a_span_is_a_sentence_or_two(points: list[dict[str, Any]]) -> None:
    for point in points:
        for span in point["spans"]:
            assert span["text"] == span["text"].strip()
            assert len(span["text"]) <= LONGEST, span


def test_a_point_states_one_thing_and_its_spans_are_different_places(points: list[dict[str, Any]]) -> None:
    for point in points:
        assert point.keys() == {"point", "spans"}
        assert 0 < len(point["point"]) <= 120, point["point"]
        assert point["spans"], point["point"]
        for one, other in combinations(point["spans"], 2):
            apart = one["doc"] != other["doc"] or one["end"] <= other["start"] or other["end"] <= one["start"]
            assert apart, (point["point"], one["text"])


def test_there_are_twenty_questions_or_more_and_every_type_is_asked(questions: list[dict[str, Any]]) -> None:
    assert len(questions) >= 20
    asked = Counter(question["type"] for question in questions)
    assert asked.keys() == TYPES
    assert min(asked.values()) >= 2, asked


def test_ids_questions_and_points_are_unique(questions: list[dict[str, Any]]) -> None:
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({question["question"] for question in questions}) == len(questions)
    for question in questions:
        assert question.keys() == {"id", "question", "type", "points"}
        assert len({point["point"] for point in question["points"]}) == len(question["points"]), question["id"]


def test_a_question_has_four_to_ten_points_in_three_documents_or_more(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        assert 4 <= len(question["points"]) <= 10, question["id"]
        assert len(set().union(*stated_in(question))) >= 3, question["id"]


def test_no_two_documents_state_every_point_of_a_question(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        stated = stated_in(question)
        for pair in combinations(sorted(set().union(*stated)), 2):
            assert not all(docs & set(pair) for docs in stated), (question["id"], pair)


def test_no_question_copies_its_evidence(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        asked = re.findall(r"\w+", question["question"].lower())
        quoted = " ".join(span["text"] for point in question["points"] for span in point["spans"])
        shown = " ".join(re.findall(r"\w+", quoted.lower()))
        for at in range(len(asked) - 4):
            assert " ".join(asked[at : at + 5]) not in shown, question["id"]


def test_every_document_of_the_handbook_bears_on_a_question(
    corpus: dict[str, str], points: list[dict[str, Any]]
) -> None:
    assert {span["doc"] for point in points for span in point["spans"]} == corpus.keys()


def test_a_text_that_is_not_found_once_is_refused_with_its_question_and_point() -> None:
    points = [
        {"point": "found", "spans": [{"doc": "d.md", "text": "a b c"}]},
        {"point": "twice", "spans": [{"doc": "d.md", "text": "b"}]},
    ]
    line = {"id": "x1", "question": "?", "type": "theme", "points": points}
    with pytest.raises(build_golden.GoldenError) as fault:
        build_global_golden.build([line], {"d.md": "a b c b"})
    assert str(fault.value) == "x1 point 2 d.md: found 2 times, wanted once: 'b'"


def test_a_point_keeps_the_order_of_its_alternatives() -> None:
    spans = [{"doc": "e.md", "text": "one two"}, {"doc": "d.md", "text": "two"}]
    line = {"id": "x1", "question": "?", "type": "theme", "points": [{"point": "p", "spans": spans}]}
    (built,) = build_global_golden.build([line], {"d.md": "one two", "e.md": "zero one\n two"})
    assert built["points"][0]["spans"] == [
        {"doc": "e.md", "start": 5, "end": 13, "text": "one\n two"},
        {"doc": "d.md", "start": 4, "end": 7, "text": "two"},
    ]
    assert json.loads(build_golden.render([built])) == built
