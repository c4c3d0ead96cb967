"""Files of questions about the whole: how they are recognised, and what is said of one that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import InvalidArgument
from graphctx.eval.golden import bind
from graphctx.eval.records import GoldSpan
from graphctx.eval.suites import load_suite
from graphctx.knowledge_base import KnowledgeBase

SPAN = {"doc": "index.md", "text": "Its logger"}
ROW = {"id": "1", "question": "What about it all?", "points": [{"point": "it logs", "spans": [SPAN]}]}


def file_of(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "whole.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def fault_of(path: Path) -> str:
    with pytest.raises(InvalidArgument) as caught:
        load_suite(path)
    return caught.value.message


def test_the_handbooks_questions_about_the_whole_are_known_by_their_points(golden_folder: Path) -> None:
    suite = load_suite(golden_folder / "handbook_global.jsonl")
    assert (suite.name, suite.kind, len(suite.rows), suite.warnings) == ("handbook_global", "points", 22, ())
    assert suite.corpus is not None
    assert suite.corpus.resolve() == (golden_folder.parent / "corpora" / "handbook").resolve()


def test_points_keep_their_order_and_all_their_places(handbook_kb: KnowledgeBase, golden_folder: Path) -> None:
    suite = load_suite(golden_folder / "handbook_global.jsonl")
    (golden, *_) = bind(suite.rows, handbook_kb, source="x", prefix="")
    written = json.loads((golden_folder / "handbook_global.jsonl").read_text("utf-8").splitlines()[0])["points"]
    assert [point.point for point in golden.points] == [point["point"] for point in written]
    assert [point.spans for point in golden.points] == [
        tuple(GoldSpan(span["doc"], span["start"], span["end"]) for span in point["spans"]) for point in written
    ]
    assert set(golden.gold_docs) == {span["doc"] for point in written for span in point["spans"]}


def test_a_limit_asks_the_first_questions_only(golden_folder: Path) -> None:
    assert [item.row.id for item in load_suite(golden_folder / "handbook_global.jsonl", limit=2).rows] == [
        "hg01",
        "hg02",
    ]


def test_a_text_that_stands_nowhere_is_told_with_its_line(handbook_kb: KnowledgeBase, tmp_path: Path) -> None:
    wrong = {**ROW, "points": [{"point": "p", "spans": [{"doc": "index.md", "text": "No such words."}]}]}
    suite = load_suite(file_of(tmp_path, wrong))
    with pytest.raises(InvalidArgument, match=r"line 1: the text 'No such words\.' stands 0 times in 'index\.md'"):
        bind(suite.rows, handbook_kb, source="whole.jsonl", prefix="")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**ROW, "points": []}, "points"),
        ({**ROW, "points": [{"point": "p", "spans": []}]}, "points.0.spans"),
        ({**ROW, "points": [{"point": " ", "spans": [SPAN]}]}, "points.0.point"),
        ({**ROW, "points": [{"spans": [SPAN]}]}, "points.0.point"),
        ({**ROW, "points": [{"point": "p", "span": [SPAN]}]}, "points.0.span"),
        ({**ROW, "points": [{"point": "p", "spans": [{"text": "x"}]}]}, "a span needs its document"),
        ({**ROW, "points": [{"point": "p", "spans": [{"doc": "a", "start": 3, "end": 3}]}]}, "start < end"),
        ({**ROW, "points": "all"}, "points"),
    ],
)
def test_what_is_wrong_with_a_point_is_told_with_its_line_and_field(
    tmp_path: Path, row: dict[str, Any], said: str
) -> None:
    fault = fault_of(file_of(tmp_path, ROW, {**row, "id": "2"}))
    assert fault.startswith("whole.jsonl, line 2: ")
    assert said in fault


def test_a_file_does_not_mix_questions_with_points_and_others(tmp_path: Path) -> None:
    other = {"id": "2", "question": "Who?", "gold_docs": ["a.md"]}
    assert "line 2: there are no points, and line 1 has some" in fault_of(file_of(tmp_path, ROW, other))
    assert "line 1: there are no points, and line 2 has some" in fault_of(file_of(tmp_path, other, {**ROW, "id": "3"}))


@pytest.mark.parametrize("field", [{"answers": ["x"]}, {"gold_docs": ["a.md"]}, {"answerable": False}])
def test_a_question_with_points_has_no_other_gold(tmp_path: Path, field: dict[str, Any]) -> None:
    assert "judged by these alone" in fault_of(file_of(tmp_path, {**ROW, **field}))


def test_an_unknown_field_is_warned_of(tmp_path: Path) -> None:
    (warning,) = load_suite(file_of(tmp_path, {**ROW, "kind": "theme"})).warnings
    assert "'kind' is unknown" in warning
