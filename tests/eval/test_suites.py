"""Suites as people write them: how they are read, and the message about one that is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import InvalidArgument
from graphctx.eval.golden import bind
from graphctx.eval.records import GoldSpan
from graphctx.eval.suites import load_suite
from graphctx.knowledge_base import KnowledgeBase

WriteSuite = Callable[..., Path]
ROW = {"id": "1", "question": "Who?", "answers": ["Ada"], "gold_docs": ["a.md"]}


@pytest.fixture
def write_suite(tmp_path: Path) -> WriteSuite:
    """Write a golden file of rows, each a dict or a raw line."""

    def write(*rows: dict[str, Any] | str, name: str = "golden.jsonl") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
        return path

    return write


def fault_of(path: Path, **options: Any) -> str:
    with pytest.raises(InvalidArgument) as caught:
        load_suite(path, **options)
    return caught.value.message


def test_the_handbooks_golden_file_says_which_documents_it_is_about(golden_folder: Path) -> None:
    suite = load_suite(golden_folder / "handbook.jsonl")
    assert (suite.name, suite.kind, suite.judge) == ("handbook", "questions", "auto")
    assert suite.corpus is not None
    assert suite.corpus.resolve() == (golden_folder.parent / "corpora" / "handbook").resolve()
    assert len(suite.rows) == 63
    whole = load_suite(golden_folder / "handbook_global.jsonl")
    assert (whole.name, whole.kind, len(whole.rows), whole.warnings) == ("handbook_global", "points", 22, ())


def test_a_folder_brings_its_corpus_and_its_ids_become_uris(write_suite: WriteSuite, tmp_path: Path) -> None:
    write_suite({"id": "p1", "title": "T", "text": "x"}, name="set/corpus.jsonl")
    file = write_suite({"id": 7, "question": "Who?", "gold_ids": ["p1"]}, name="set/questions.jsonl")
    for path in (tmp_path / "set", file):
        suite = load_suite(path)
        assert (suite.name, suite.corpus, suite.prefix) == ("set", tmp_path / "set" / "corpus.jsonl", "corpus.jsonl#")
        assert suite.rows[0].row.id == "7"


def test_blank_titles_make_it_another_suite(write_suite: WriteSuite, tmp_path: Path) -> None:
    write_suite({"id": "p1", "title": "T", "text": "x"}, name="set/corpus.jsonl")
    write_suite({"id": "1", "question": "Who?", "gold_ids": ["p1"]}, name="set/questions.jsonl")
    assert load_suite(tmp_path / "set", blank_titles=True).name == "set:blank"
    assert "--blank-titles" in fault_of(write_suite(ROW), blank_titles=True)


def test_a_toml_file_beside_the_questions_says_what_they_do_not(write_suite: WriteSuite, tmp_path: Path) -> None:
    path = write_suite(ROW, {**ROW, "id": "2", "max_tokens": 90})
    (tmp_path / "docs").mkdir()
    (tmp_path / "golden.suite.toml").write_text(
        'name = "mine"\ncorpus = "docs"\njudge = "units"\nmax_tokens = 400\nmax_calls = 1\n'
    )
    suite = load_suite(path)
    assert (suite.name, suite.corpus, suite.judge) == ("mine", tmp_path / "docs", "units")
    assert [(item.row.max_tokens, item.row.max_calls) for item in suite.rows] == [(400, 1), (90, 1)]
    assert load_suite(path, judge="documents").judge == "documents"


@pytest.mark.parametrize(
    ("toml", "named"), [("corpse = 1\n", "corpse"), ('corpus = "nowhere"\n', "nowhere"), ("judge = [", "golden.suite")]
)
def test_a_toml_file_with_a_fault_is_refused_by_its_name(
    write_suite: WriteSuite, tmp_path: Path, toml: str, named: str
) -> None:
    path = write_suite(ROW)
    (tmp_path / "golden.suite.toml").write_text(toml)
    assert named in fault_of(path)


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("{'id': 1}", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"id": ' + "1" * 5_000 + "}", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ({"id": "2", "question": " "}, "question"),
        ({"id": "2"}, "question"),
        ({"id": "2", "quesion": "Who?"}, "'quesion' (did you mean 'question'?)"),
        ({"id": "1", "question": "Who else?"}, "'1' is already on line 1"),
        ({"id": "2", "question": "Who?", "answers": 7}, "answers"),
        ({"id": "2", "question": "Who?", "gold_spans": [{"doc": "a.md", "start": 5, "end": 5}]}, "start < end"),
        ({"id": "2", "question": "Who?", "gold_spans": [{"start": 5, "end": 6}]}, "document"),
    ],
)
def test_a_wrong_line_is_named_by_its_number(write_suite: WriteSuite, row: dict[str, Any] | str, named: str) -> None:
    message = fault_of(write_suite(ROW, "", row))
    assert message.startswith("golden.jsonl, line 3: ")
    assert named in message


def test_unknown_fields_are_reported_once_each_with_what_may_be_meant(write_suite: WriteSuite) -> None:
    rows = [ROW, {"question": "A?", "answer": "x", "gold_span": []}, {"question": "B?", "answer": "y", "zzz": 1}]
    assert load_suite(write_suite(*rows)).warnings == (
        "the field 'answer' (did you mean 'answers'?) is unknown and ignored: 2 rows, first on line 2",
        "the field 'gold_span' (did you mean 'gold_spans'?) is unknown and ignored: 1 row, first on line 2",
        "the field 'zzz' is unknown and ignored: 1 row, first on line 3",
        "lines 2, 3 are left out: there are neither answers nor gold nor answerable, while other lines have gold",
    )
    assert load_suite(write_suite(ROW)).warnings == ()


def test_what_is_no_suite_is_refused(write_suite: WriteSuite, tmp_path: Path) -> None:
    assert "no question" in fault_of(write_suite())
    assert "There is no suite" in fault_of(tmp_path / "nothing.jsonl")
    (tmp_path / "empty").mkdir()
    assert "questions.jsonl" in fault_of(tmp_path / "empty")
    assert "There is no corpus" in fault_of(write_suite(ROW), corpus=tmp_path / "nothing")


def test_questions_of_which_nothing_is_known_are_left_out_where_others_are_graded(write_suite: WriteSuite) -> None:
    graded = {"id": "2", "question": "When?", "gold_docs": ["a.md"]}
    not_there = {"id": "3", "question": "Why?", "answerable": False}
    bare = {"id": "1", "question": "Who?", "answers": [" "]}
    mixed = load_suite(write_suite(bare, graded, not_there))
    assert [item.row.id for item in mixed.rows] == ["2", "3"]
    assert mixed.left_out == 1
    plain = load_suite(write_suite(bare, not_there))
    assert [item.row.id for item in plain.rows] == ["1", "3"]
    assert load_suite(write_suite(bare, graded, not_there), limit=1).rows == mixed.rows[:1]
    answered = load_suite(write_suite({"id": "1", "question": "Who?", "answers": ["Ada"]}, graded))
    assert (len(answered.rows), answered.left_out, answered.warnings) == (2, 0, ())


def test_answers_that_an_empty_list_of_gold_says_stand_nowhere_are_left_out(write_suite: WriteSuite) -> None:
    nowhere = {"id": "1", "question": "Who?", "answers": ["not said"], "gold_ids": []}
    suite = load_suite(write_suite(nowhere, ROW | {"id": "2"}))
    assert [item.row.id for item in suite.rows] == ["2"]
    assert "line 1 is left out" in suite.warnings[0]
    assert "empty list of gold" in suite.warnings[0]


def bound(kb: KnowledgeBase, path: Path) -> list[Any]:
    suite = load_suite(path)
    return bind(suite.rows, kb, source=path.name, prefix=suite.prefix)


def test_a_span_may_be_given_by_its_text_alone(small_kb: KnowledgeBase, write_suite: WriteSuite) -> None:
    start = small_kb.document("lamp.md").text.index("Ada lit")
    path = write_suite({"question": "Who?", "gold_spans": [{"doc": "lamp.md", "text": "Ada lit the lamp."}]})
    (golden,) = bound(small_kb, path)
    assert golden.gold_spans == (GoldSpan("lamp.md", start, start + len("Ada lit the lamp.")),)
    assert (golden.id, golden.gold_docs, golden.answerable) == ("line1", ("lamp.md",), True)
    rows = [
        {"question": "1", "gold_docs": ["Lamp.md"]},
        {"question": "2", "gold_spans": [{"doc": "lamp.md", "text": "Ada"}]},
        {"question": "3", "gold_spans": [{"doc": "lamp.md", "start": 0, "end": 9_999}]},
        {"question": "4", "gold_spans": [{"doc": "lamp.md", "start": start, "end": start + 3, "text": "Silas"}]},
        {"question": "5", "points": [{"point": "p", "spans": [{"doc": "lamp.md", "text": "No such words."}]}]},
    ]
    for number, says in enumerate(
        ["(there is 'lamp.md')", "occurs 2 times", "ends after", "has 'Ada' at", "occurs 0 times"], 1
    ):
        with pytest.raises(InvalidArgument) as caught:
            bound(small_kb, write_suite(rows[number - 1]))
        assert says in caught.value.message
    with pytest.raises(InvalidArgument) as caught:
        bound(small_kb, write_suite(*rows[:4]))
    assert caught.value.details["faults"] == 4
    assert re.findall(r"line (\d)", caught.value.message) == ["1", "2", "3", "4"]


def test_gold_may_be_named_by_the_path_of_its_file_and_by_no_other_path(
    small_kb: KnowledgeBase, write_suite: WriteSuite
) -> None:
    folder = Path(small_kb.config.sources[0].path)
    span = {"doc": f"{folder.name}/lamp.md", "text": "Ada lit the lamp."}
    rows = [{"question": "1", "gold_docs": [f"{folder}/sub/boat.md"]}, {"question": "2", "gold_spans": [span]}]
    first, second = bound(small_kb, write_suite(*rows))
    assert (first.gold_docs, second.gold_docs) == (("sub/boat.md",), ("lamp.md",))
    assert second.gold_spans[0].doc_uri == "lamp.md"
    with pytest.raises(InvalidArgument, match=r"no document '/elsewhere/lamp.md' \(there is 'lamp.md'\)"):
        bound(small_kb, write_suite({"question": "1", "gold_docs": ["/elsewhere/lamp.md"]}))


SPAN = {"doc": "index.md", "text": "Its logger"}
WHOLE = {"id": "1", "question": "What about it all?", "points": [{"point": "it logs", "spans": [SPAN]}]}


def test_points_keep_their_order_and_all_their_places(handbook_kb: KnowledgeBase, golden_folder: Path) -> None:
    suite = load_suite(golden_folder / "handbook_global.jsonl")
    (golden, *_) = bind(suite.rows, handbook_kb, source="x", prefix="")
    written = json.loads((golden_folder / "handbook_global.jsonl").read_text("utf-8").splitlines()[0])["points"]
    assert [point.point for point in golden.points] == [point["point"] for point in written]
    assert [point.spans for point in golden.points] == [
        tuple(GoldSpan(span["doc"], span["start"], span["end"]) for span in point["spans"]) for point in written
    ]
    assert set(golden.gold_docs) == {span["doc"] for point in written for span in point["spans"]}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**WHOLE, "points": []}, "points"),
        ({**WHOLE, "points": [{"point": "p", "spans": []}]}, "points.0.spans"),
        ({**WHOLE, "points": [{"point": " ", "spans": [SPAN]}]}, "points.0.point"),
        ({**WHOLE, "points": [{"spans": [SPAN]}]}, "points.0.point"),
        ({**WHOLE, "points": [{"point": "p", "span": [SPAN]}]}, "points.0.span"),
        ({**WHOLE, "points": [{"point": "p", "spans": [{"text": "x"}]}]}, "a span needs its document"),
        ({**WHOLE, "points": [{"point": "p", "spans": [{"doc": "a", "start": 3, "end": 3}]}]}, "start < end"),
        ({**WHOLE, "points": "all"}, "points"),
    ],
)
def test_what_is_wrong_with_a_point_is_reported_with_its_line_and_field(
    write_suite: WriteSuite, row: dict[str, Any], said: str
) -> None:
    fault = fault_of(write_suite(WHOLE, {**row, "id": "2"}))
    assert fault.startswith("golden.jsonl, line 2: ")
    assert said in fault


def test_a_file_does_not_mix_questions_with_points_and_others(write_suite: WriteSuite) -> None:
    other = {"id": "2", "question": "Who?", "gold_docs": ["a.md"]}
    assert "line 2: there are no points, and line 1 has some" in fault_of(write_suite(WHOLE, other))
    assert "line 1: there are no points, and line 2 has some" in fault_of(write_suite(other, {**WHOLE, "id": "3"}))


@pytest.mark.parametrize("field", [{"answers": ["x"]}, {"gold_docs": ["a.md"]}, {"answerable": False}])
def test_a_question_with_points_has_no_other_gold(write_suite: WriteSuite, field: dict[str, Any]) -> None:
    assert "judged by these alone" in fault_of(write_suite({**WHOLE, **field}))
