"""Steps of documents through the memo."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from graphctx.ingest.extract import EXTRACTIONS
from graphctx.ingest.memoised import run_memoised
from graphctx.ingest.read import read_file
from graphctx.ingest.read.discover import SourceFile
from graphctx.ingest.readings import READINGS, file_state, reading_key
from graphctx.ingest.split import SPLITS, split_by_word_pieces, split_key
from graphctx.ingest.workers import DocumentStep, LocalExecutor
from graphctx.model.documents import Document
from graphctx.model.knowledge import Extraction
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo

PAGE = """# The gate

The gate opens at noon; [the bell](bell.md) says when.

- It closes at six.
- In winter it closes at four.

```sh
gate --open
```

## The bell

It rings twice.
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    """A page with every kind of structure, as it is read."""
    (tmp_path / "gate.md").write_text(PAGE, "utf-8")
    [read] = read_file(SourceFile("gate.md", tmp_path, tmp_path / "gate.md"), "gate.md").documents
    return read


def run(memo: Memo, documents: list[Document], *, is_fresh: bool = True) -> list[tuple[int, int]]:
    """Split documents through a memo; return the progress."""
    told: list[tuple[int, int]] = []
    found = run_memoised(
        DocumentStep("splitting", split_by_word_pieces),
        [(document, 256) for document in documents],
        [len(document.text) for document in documents],
        [split_key(document, 256) for document in documents],
        SPLITS,
        memo,
        IngestSettings(processes=1),
        LocalExecutor(),
        lambda done, total: told.append((done, total)),
        is_of=lambda key, split: is_fresh,
    )
    assert found == [split_by_word_pieces(document, 256) for document in documents]
    return told


def test_what_was_worked_out_before_comes_from_the_memo(tmp_path: Path, document: Document) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        assert run(memo, [document]) == [(0, 1), (1, 1)]
        assert run(memo, [document]) == [(1, 1)]


def test_a_result_of_another_input_than_its_key_says_is_not_kept(tmp_path: Path, document: Document) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        run(memo, [document], is_fresh=False)
        assert memo.counts() == {}
        assert run(memo, [document]) == [(0, 1), (1, 1)]


def test_readings_and_splits_survive_their_bytes(tmp_path: Path, document: Document) -> None:
    read = read_file(SourceFile("gate.md", tmp_path, tmp_path / "gate.md"), "gate.md")
    assert READINGS.from_bytes(READINGS.to_bytes(read)) == read
    split = split_by_word_pieces(document, 256)
    assert len(split.units) > 1
    assert SPLITS.from_bytes(SPLITS.to_bytes(split)) == split


def test_half_a_surrogate_pair_in_a_row_survives_too(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(r'{"id": "a", "title": "T\ud800", "text": "The gate \ud83d opens."}', "utf-8")
    read = read_file(SourceFile("rows.jsonl", tmp_path, tmp_path / "rows.jsonl"), "rows.jsonl")
    assert len(read.documents) == 1
    assert READINGS.from_bytes(READINGS.to_bytes(read)) == read


@pytest.mark.parametrize(
    "data", [b"", b"junk", EXTRACTIONS.to_bytes(Extraction("d", (), ()))[:-4], zlib.compress(b'{"doc_id": 1}')]
)
def test_bytes_of_another_version_count_as_absent(data: bytes) -> None:
    assert EXTRACTIONS.from_bytes(data) is None


def test_a_reading_depends_on_the_bytes_and_the_uri_and_not_on_when_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "gate.md"
    path.write_text(PAGE, "utf-8")
    file = SourceFile("gate.md", tmp_path, path)
    before = file_state(file)
    assert before
    assert read_file(file, "gate.md").sha256 == before.sha256
    path.touch()
    touched = file_state(file)
    assert touched
    key = reading_key(file, "gate.md", before)
    assert reading_key(file, "gate.md", touched) == key
    assert reading_key(file, "other.md", before) != key
    path.write_text(PAGE + "Closed.", "utf-8")
    changed = file_state(file)
    assert changed
    assert reading_key(file, "gate.md", changed) != key
    path.unlink()
    assert file_state(file) is None
