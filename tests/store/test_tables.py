from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from graphctx.errors import InvalidArgument
from graphctx.store import tables as tables_module
from graphctx.store.tables import Hit, TableReader, write_tables

from .world import DIMENSION, unit_vectors, world

DOCS = 8


@pytest.fixture(scope="module", params=["scanned", "indexed"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TableReader:
    """Once as below, and once as above the number of rows from which vectors are indexed."""
    directory = tmp_path_factory.mktemp("lance")
    tables = world(100 if request.param == "indexed" else DOCS)
    vectors = {"units": unit_vectors(tables["units"].num_rows)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables_module, "VECTOR_INDEX_ROWS", 256 if request.param == "indexed" else 10_000)
        return TableReader(directory, write_tables(directory, tables, vectors))


def rows_of(table: str, hits: list[Hit]) -> pa.Table:
    """The rows of hits: a smaller world is the beginning of a larger one."""
    return world(100)[table].take([hit.row for hit in hits])


def test_a_vector_finds_itself_first(reader: TableReader) -> None:
    vectors = unit_vectors(reader.count("units"))
    for row in (0, 7, 23):
        hits = reader.search_vector("units", vectors[row], 4)
        assert hits[0].row == row
        assert hits[0].score == pytest.approx(1.0, abs=1e-5)
        exact = np.sort(vectors @ vectors[row])[::-1][:4]
        assert [hit.score for hit in hits] == pytest.approx(exact.tolist(), abs=1e-5)


def test_a_condition_holds_before_ranking(reader: TableReader) -> None:
    vector = unit_vectors(reader.count("units"))[0]
    for where, fits in [
        ("doc_uri = 'notes/0005.md'", lambda row: row["doc_uri"] == "notes/0005.md"),
        ("array_has_any(tags, ['even'])", lambda row: row["tags"] == ["even"]),
        ("updated_at >= '2026-01-05'", lambda row: row["updated_at"] >= "2026-01-05"),
    ]:
        hits = reader.search_vector("units", vector, 3, where)
        assert len(hits) == 3
        assert all(map(fits, rows_of("units", hits).to_pylist()))


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.count("nothing"),
        lambda r: r.search_vector("documents", np.zeros(DIMENSION, np.float32), 1),
        lambda r: r.search_vector("units", np.zeros(DIMENSION + 1, np.float32), 1),
        lambda r: r.search_vector("units", np.zeros(DIMENSION, np.float32), 0),
        lambda r: r.search_vector("units", np.zeros(DIMENSION, np.float32), 1, "no such = "),
    ],
)
def test_a_wrong_argument_is_refused(reader: TableReader, call: Callable[[TableReader], object]) -> None:
    with pytest.raises(InvalidArgument):
        call(reader)


def test_vectors_that_do_not_fit_their_table_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="units"):
        write_tables(tmp_path / "t", world(), {"units": unit_vectors(3)})


def test_rows_beyond_one_batch_keep_their_numbers_and_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "BATCH_ROWS", 5)
    tables = world(DOCS)
    tables["units"] = pa.concat_tables([tables["units"].slice(0, 7), tables["units"].slice(7)])
    vectors = unit_vectors(tables["units"].num_rows)
    reader = TableReader(tmp_path / "t", write_tables(tmp_path / "t", tables, {"units": vectors}))
    nearest = [reader.search_vector("units", vector, 1)[0] for vector in vectors]
    assert [hit.row for hit in nearest] == list(range(len(vectors)))
    assert [hit.id for hit in nearest] == tables["units"]["id"].to_pylist()
    assert [hit.score for hit in nearest] == pytest.approx([1.0] * len(vectors), abs=1e-5)


def test_nothing_is_said_on_standard_error(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; import numpy as np; from graphctx.store.tables import TableReader\n"
        "r = TableReader(Path(sys.argv[1]), {'units': int(sys.argv[2])})\n"
        f"r.search_vector('units', np.ones({DIMENSION}, np.float32), 2)\n"
    )
    version = write_tables(tmp_path / "u", world(), {"units": unit_vectors(12)})["units"]
    environment = {name: value for name, value in os.environ.items() if name != "LANCEDB_LOG"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path / "u"), str(version)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
