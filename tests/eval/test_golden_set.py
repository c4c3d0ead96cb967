"""The golden questions fit the handbook as graphctx reads it."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import build_golden
import pytest

TYPES = {"single", "multi", "comparison", "list", "code_or_table", "unanswerable"}


def squeeze(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def questions(golden_folder: Path) -> list[dict[str, Any]]:
    return build_golden.load(golden_folder / "handbook.jsonl")


def test_the_written_file_is_what_the_builder_makes_of_its_source(corpus: dict[str, str], golden_folder: Path) -> None:
    source = build_golden.load(golden_folder / "handbook.source.jsonl")
    expected = build_golden.render(build_golden.build(source, corpus))
    assert (golden_folder / "handbook.jsonl").read_text("utf-8") == expected


def test_every_span_slices_back_to_its_text(corpus: dict[str, str], questions: list[dict[str, Any]]) -> None:
    spans = [span for question in questions for span in question["gold_spans"]]
    assert len(spans) > 60
    for span in spans:
        assert corpus[span["doc"]][span["start"] : span["end"]] == span["text"]


def test_the_answers_stand_in_the_gold_spans(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        if not question["answerable"] or question["answers"] == ["no"]:
            continue
        shown = squeeze(" ".join(span["text"] for span in question["gold_spans"]))
        held = [answer in shown for answer in question["answers"]]
        # A list is answered by all of its items; other answers are alternatives.
        assert all(held) if question["type"] == "list" else any(held), question["id"]


def test_a_yes_or_no_is_asked_only_as_a_comparison(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        if {"yes", "no"} & set(question["answers"]):
            assert question["type"] == "comparison", question["id"]


def test_ids_and_questions_are_unique_and_types_known(questions: list[dict[str, Any]]) -> None:
    assert len({question["id"] for question in questions}) == len(questions)
    assert len({question["question"] for question in questions}) == len(questions)
    assert {question["type"] for question in questions} == TYPES


def test_only_the_unanswerable_have_no_answer(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        assert question["answerable"] is (question["type"] != "unanswerable")
        assert bool(question["answers"]) is bool(question["gold_spans"]) is question["answerable"]


def test_a_multi_hop_question_needs_two_documents(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        if question["type"] in ("multi", "comparison"):
            assert len(question["gold_docs"]) >= 2, question["id"]


def test_no_question_copies_its_evidence(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        asked = re.findall(r"\w+", question["question"].lower())
        shown = squeeze(" ".join(re.findall(r"\w+", " ".join(s["text"] for s in question["gold_spans"]).lower())))
        for at in range(len(asked) - 5):
            assert " ".join(asked[at : at + 6]) not in shown, question["id"]


def test_every_format_is_asked_about(questions: list[dict[str, Any]]) -> None:
    asked = Counter(Path(doc).suffix for question in questions for doc in question["gold_docs"])
    assert asked.keys() == {".md", ".html", ".rst", ".pdf", ".docx", ".txt"}
    assert min(asked.values()) >= 3, asked


def test_marked_entities_stand_in_their_documents(corpus: dict[str, str], golden_folder: Path) -> None:
    marked = build_golden.load(golden_folder / "handbook_entities.jsonl")
    assert len(marked) == 12
    for document in marked:
        text = corpus[document["doc"]]
        names = [entity["name"] for entity in document["entities"]]
        assert len(set(names)) == len(names), document["doc"]
        for entity in document["entities"]:
            assert entity["mentions"], entity["name"]
            for mention in entity["mentions"]:
                assert re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", text), (document["doc"], mention)
        for pair in document["pairs"]:
            assert len(pair) == 2
            assert set(pair) <= set(names), (document["doc"], pair)


def test_a_text_that_occurs_twice_is_refused_with_its_place() -> None:
    line = {"id": "x1", "question": "?", "type": "single", "answers": ["a"], "answerable": True}
    line["gold_spans"] = [{"doc": "d.md", "text": "a b"}, {"doc": "e.md", "text": "a"}]
    with pytest.raises(build_golden.GoldenError) as fault:
        build_golden.build([line], {"d.md": "a b, a\nb"})
    assert "x1 d.md: found 2 times" in str(fault.value)
    assert "x1 e.md: there is no such document" in str(fault.value)


def test_a_text_is_found_across_other_line_breaks() -> None:
    assert build_golden.find_once("one two\n  three four", "two three") == (4, 15)


def test_the_source_is_plain_json_lines(golden_folder: Path) -> None:
    for path in sorted(golden_folder.glob("handbook*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            assert json.dumps(json.loads(line), ensure_ascii=False) == line, path.name
