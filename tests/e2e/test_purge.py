"""After a purge, no byte of a removed document is left in the knowledge base."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import lancedb
import numpy as np
import pyarrow.parquet as pq
import pytest

from graphctx.nlp.embedders import make_embedder

from .house import answer_of, error_of, graphctx, succeeded, write_lighthouse

WORDS = ("Zorvanquil", "Blethermoke", "Quandrixel")
SENTENCE = "Zorvanquil of Blethermoke invented the Quandrixel in 1931."


@pytest.mark.slow
def test_no_byte_of_a_removed_document_is_left_after_a_purge(tmp_path: Path) -> None:
    kb, documents = tmp_path / "kb", write_lighthouse(tmp_path / "documents")
    (documents / "secret.md").write_text(f"# Secret\n\n{SENTENCE} Blethermoke praised Zorvanquil for the Quandrixel.\n")
    answer_of("ingest", documents, "--kb", kb)
    vector = make_embedder().embed([f"Secret: {SENTENCE}"])[0].tobytes()
    assert traces(kb, vector) >= {"cache/memo.sqlite", "vector"}
    assert answer_of("remove", "secret.md", "--kb", kb, "--dry-run")["removed"] == ["secret.md"]
    assert error_of("remove", "secret.md", "--kb", kb)["code"] == "INVALID_ARGUMENT"
    assert answer_of("remove", "secret.md", "--kb", kb, "--yes")["kept_out"] == ["secret.md"]
    exported = tmp_path / "graph.graphml"
    succeeded(graphctx("export", "--format", "graphml", "--out", exported, "--kb", kb))
    assert not [word for word in WORDS if word in exported.read_text()]
    (kb / "cache" / "memo.sqlite.damaged").write_text(SENTENCE)
    (kb / "snapshots" / ".tmp-0123").mkdir()
    (kb / "snapshots" / ".tmp-0123" / "texts").write_text(SENTENCE)
    assert traces(kb, vector)

    error = error_of("snapshots", "prune", "--purge", "--kb", kb)
    assert (error["code"], "--yes" in error["message"]) == ("INVALID_ARGUMENT", True)
    plan = answer_of("snapshots", "prune", "--purge", "--kb", kb, "--dry-run")
    assert plan["files"] == ["cache/memo.sqlite.damaged", "snapshots/.tmp-0123"]
    assert (len(plan["snapshots"]), plan["dry_run"]) == (1, True)
    assert plan["memo_rows"]["extraction"] == 1
    assert traces(kb, vector)

    said = succeeded(graphctx("snapshots", "prune", "--purge", "--kb", kb, "--yes"))
    assert f"Erased older snapshots: {plan['snapshots'][0]}" in said
    assert "backups" in said
    assert traces(kb, vector) == set()
    assert answer_of("status", "--kb", kb)["verified"]
    kept = rows_of(kb)
    report = answer_of("ingest", write_lighthouse(documents), "--kb", kb)
    assert (report["changed"], rows_of(kb)) == (False, kept)
    (documents / "more.md").write_text("# More\n\nThe boat is called Kittiwake.\n")
    answer_of("ingest", documents, "--kb", kb)
    assert kept < rows_of(kb)  # what the purge left was used


def rows_of(kb: Path) -> set[tuple[str, str]]:
    """What was worked out from documents. A removal reads no file, so that a purge after it erases all readings."""
    with closing(sqlite3.connect(kb / "cache" / "memo.sqlite")) as db:
        return set(db.execute("SELECT kind, key FROM memo WHERE kind != 'reading'"))


def traces(kb: Path, vector: bytes) -> set[str]:
    """The files in which a made-up word is found, and ``vector`` where that is found in any."""
    words = [form for word in WORDS for case in (word, word.lower()) for form in _forms(case)]
    found = {name for name, data in _contents(kb) if any(word in data for word in words)}
    return found | ({"vector"} if any(vector in data for _, data in _contents(kb)) else set())


def _forms(word: str) -> list[bytes]:
    return [word.encode(), word.encode("utf-16-le"), word.encode("utf-32-le")]


def _contents(kb: Path) -> Iterator[tuple[str, bytes]]:
    """Every file as it stands on disk, and what is compressed in it."""
    for path in sorted(path for path in kb.rglob("*") if path.is_file()):
        name = path.relative_to(kb).as_posix()
        yield name, path.read_bytes()
        yield name, path.name.encode()
        if path.suffix == ".parquet":
            yield name, str(pq.read_table(path).to_pylist()).encode()
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                yield from ((name, arrays[each].tobytes()) for each in arrays.files)
    for tables in sorted(kb.glob("snapshots/*/tables")):
        database = lancedb.connect(tables)
        for table in database.list_tables().tables:
            rows = database.open_table(table).to_arrow()
            vectors = (
                rows["vector"].combine_chunks().flatten().to_numpy().tobytes() if "vector" in rows.column_names else b""
            )
            yield f"{tables.parent.name}/{table}", str(rows.to_pylist()).encode() + vectors
    with closing(sqlite3.connect(kb / "cache" / "memo.sqlite")) as db:
        for kind, value in db.execute("SELECT kind, value FROM memo").fetchall():
            packed = kind in ("reading", "split", "extraction")  # behind a digest of their type
            yield "cache/memo.sqlite", zlib.decompress(value[32:]) if packed else value
