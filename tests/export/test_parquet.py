from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from graphctx.errors import InvalidArgument
from graphctx.store.schema import TABLES
from tests.export.conftest import Export


def test_every_table_is_there_with_the_columns_of_its_schema(export: Export, tmp_path: Path) -> None:
    report = export(tmp_path / "t", "parquet")
    for name, schema in TABLES.items():
        table = pq.read_table(tmp_path / "t" / f"{name}.parquet")
        assert table.schema.names == schema.names
        assert table.num_rows == report.counts[name]


def test_the_checksums_are_those_of_the_files_in_the_form_that_sha256sum_reads(export: Export, tmp_path: Path) -> None:
    report = export(tmp_path / "t", "parquet")
    lines = (tmp_path / "t" / "SHA256SUMS").read_text("ascii").splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    there = {path.name for path in (tmp_path / "t").iterdir()}
    assert told.keys() == there - {"SHA256SUMS"}
    assert all(hashlib.sha256((tmp_path / "t" / name).read_bytes()).hexdigest() == told[name] for name in told)
    assert {file.name for file in report.files} == there


def test_the_description_names_every_column(export: Export, tmp_path: Path) -> None:
    export(tmp_path / "t", "parquet")
    text = (tmp_path / "t" / "README.md").read_text("utf-8")
    for name, schema in TABLES.items():
        _, _, section = text.partition(f"## {name}.parquet\n")
        assert all(f"| `{column}` |" in section.partition("\n## ")[0] for column in schema.names)


def test_an_earlier_export_is_replaced_whole_if_asked_for(export: Export, tmp_path: Path) -> None:
    export(tmp_path / "t", "parquet")
    (tmp_path / "t" / "facts.parquet").write_bytes(b"damaged")
    (tmp_path / "t" / "stray").touch()
    with pytest.raises(InvalidArgument, match="--force"):
        export(tmp_path / "t", "parquet")
    export(tmp_path / "t", "parquet", replace=True)
    assert pq.read_table(tmp_path / "t" / "facts.parquet").num_rows > 0
    assert not (tmp_path / "t" / "stray").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_tables_say_that_they_are_whole_and_are_not_narrowed(export: Export, tmp_path: Path) -> None:
    assert "owner" in export(tmp_path / "t", "parquet").notes[0]
    with pytest.raises(InvalidArgument, match="whole"):
        export(tmp_path / "u", "parquet", doc_tag=["public"])
    assert not (tmp_path / "u").exists()
