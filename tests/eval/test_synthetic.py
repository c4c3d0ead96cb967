"""The synthetic sets are the same everywhere, and hold what they claim."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import make_synthetic
import pytest

from graphctx.eval.suites import load_suite
from graphctx.ingest.read import discover, read_file

TOOL = Path(make_synthetic.__file__)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds, written by another process with another hash seed than this one's."""
    folder = tmp_path_factory.mktemp("synthetic")
    seed = {"PYTHONHASHSEED": "4711"}
    subprocess.run([sys.executable, str(TOOL), str(folder)], check=True, capture_output=True, env=os.environ | seed)
    return folder


def questions(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]


def texts(folder: Path) -> dict[str, str]:
    """The text of every document as graphctx reads it, by what gold spans call it."""
    suite = load_suite(folder)
    assert suite.corpus is not None
    found = {}
    for file in discover([suite.corpus]).files:
        uri = file.path.relative_to(suite.corpus).as_posix() if suite.corpus.is_dir() else suite.corpus.name
        found |= {doc.uri.partition("#")[2] or doc.uri: doc.text for doc in read_file(file, uri).documents}
    return found


WHOLE = pytest.mark.parametrize("kind", make_synthetic.WHOLE)
KINDS = pytest.mark.parametrize("kind", make_synthetic.KINDS)


@KINDS
def test_two_generations_are_the_same_to_the_byte(made: Path, tmp_path: Path, kind: str) -> None:
    make_synthetic.KINDS[kind](kind).write(tmp_path / kind)
    assert files(tmp_path / kind) == files(made / kind)
    assert sum(map(len, files(made / kind).values())) < 300_000


@KINDS
def test_every_gold_span_slices_back_to_its_text(made: Path, kind: str) -> None:
    found = texts(made / kind)
    for item in questions(made / kind):
        for span in item["gold_spans"]:
            assert found[span.get("id") or span["doc"]][span["start"] : span["end"]] == span["text"]


@KINDS
def test_a_question_has_an_answer_in_its_gold_or_is_marked_as_having_none(made: Path, kind: str) -> None:
    asked = questions(made / kind)
    assert len({item["question"] for item in asked}) == len(asked)
    for item in asked:
        gold = item.get("gold_ids") or item.get("gold_docs")
        assert bool(gold) == bool(item["answers"]) == bool(item["gold_spans"]) == item["answerable"]
        assert item["answerable"] != (item["type"] == "unanswerable")
        said = " ".join(span["text"] for span in item["gold_spans"])
        if item["answerable"] and item["type"] != "comparison":
            assert any(answer.casefold() in said.casefold() for answer in item["answers"]), item
    share = sum(not item["answerable"] for item in asked) / len(asked)
    assert 0.08 < share < 0.2


def test_the_untitled_pages_are_the_titled_ones_without_titles(made: Path) -> None:
    titled, bare = (
        [json.loads(line) for line in (made / kind / "corpus.jsonl").read_text("utf-8").splitlines()]
        for kind in ("biographies", "biographies-untitled")
    )
    assert [row | {"title": ""} for row in titled] == bare
    assert len({row["title"] for row in titled}) == len(titled)


@WHOLE
def test_sets_about_the_whole_have_the_documents_of_the_kind_that_they_are_named_after(
    made: Path, tmp_path: Path, kind: str
) -> None:
    make_synthetic.WHOLE[kind](kind).write(tmp_path)
    assert (tmp_path / "corpus.jsonl").read_bytes() == (made / kind.partition("-")[0] / "corpus.jsonl").read_bytes()


@WHOLE
def test_every_point_stands_in_its_span(tmp_path: Path, kind: str) -> None:
    make_synthetic.WHOLE[kind](kind).write(tmp_path)
    suite, found = load_suite(tmp_path), texts(tmp_path)
    assert suite.kind == "points"
    assert not suite.warnings
    assert len(suite.rows) >= 10
    for item in questions(tmp_path):
        assert 3 <= len(item["points"]) <= 14, item["question"]
        places = {(span["id"], span["start"]) for point in item["points"] for span in point["spans"]}
        assert len(places) == len(item["points"]), item["question"]
        for point in item["points"]:
            for span in point["spans"]:
                assert found[span["id"]][span["start"] : span["end"]] == span["text"]
