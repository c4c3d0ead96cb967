"""CSV, TSV and Parquet: one document a row where a column holds the text; else a CSV file is one table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Outline, ReadFile, decode, make_document, suffix_of
from graphctx.ingest.read.jsonl import RowReader, read_rows
from graphctx.ingest.read.package import MAX_UNPACKED_BYTES
from graphctx.ingest.read.source import DEFAULT_COLUMNS
from graphctx.model.documents import Block

MAX_TABLE_CHARS = 1_000_000
"""A longer table without a column of texts is data and no text."""

_SNIFFED_CHARS = 65_536
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class CsvReader(RowReader):
    """Comma, semicolon or tab separated values with a header line."""

    media_types: ClassVar[Mapping[str, str]] = {".csv": "text/csv", ".tsv": "text/tab-separated-values"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every row, or the file as a table if it has no column of texts and none was named."""
        text, notes = decode(data, uri)
        media_type = self.media_types[suffix_of(uri)]
        csv.field_size_limit(len(text) + 1)
        rows = csv.DictReader(io.StringIO(text), delimiter=_delimiter(text, uri), strict=True)
        try:
            header = list(rows.fieldnames or ())
            if self.columns == DEFAULT_COLUMNS and "text" not in header:
                if len(text) > MAX_TABLE_CHARS:
                    raise InvalidArgument(
                        f"{uri} is a table of {len(text):,} characters without a column `text`: data, not text. "
                        'A job file names the columns of texts: columns = { text = ["body"] }.',
                        uri=uri,
                        columns=header,
                    )
                outline = Outline(blocks=[Block("table", 0, len(text.rstrip()))])
                return ReadFile(
                    (make_document(uri, media_type, text, outline, name=uri.rpartition("/")[2]),), (), notes
                )
            _require(self.columns.text, header, uri)
            numbered = [(f"row {number}", str(number), self.columns.of(row)) for number, row in enumerate(rows, 1)]
        except csv.Error as error:
            raise InvalidArgument(f"{uri} is not CSV: {error} (line {rows.line_num}).", uri=uri) from error
        return read_rows(numbered, uri, media_type, notes)


@dataclass(frozen=True)
class ParquetReader(RowReader):
    """Parquet files."""

    media_types: ClassVar[Mapping[str, str]] = {".parquet": "application/vnd.apache.parquet"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every row."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(pa.BufferReader(data))
            names = file.schema_arrow.names
            _require(self.columns.text, names, uri)
            wanted = [name for name in dict.fromkeys(self.columns.names) if name in names]
            rows, unpacked = [], 0
            for batch in file.iter_batches(batch_size=256, columns=wanted):
                unpacked += batch.nbytes
                if unpacked > MAX_UNPACKED_BYTES:
                    raise InvalidArgument(f"{uri} would unpack to more than {MAX_UNPACKED_BYTES:,} bytes.", uri=uri)
                rows += batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise InvalidArgument(f"{uri} is not a Parquet file that can be read: {error}.", uri=uri) from error
        numbered = [(f"row {number}", str(number), self.columns.of(row)) for number, row in enumerate(rows, 1)]
        return read_rows(numbered, uri, self.media_types[".parquet"], ())


def _require(wanted: tuple[str, ...], names: list[str], uri: str) -> None:
    if missing := [name for name in wanted if name not in names]:
        raise InvalidArgument(
            f"{uri} has no column {', '.join(missing)}; its columns are {', '.join(names)}. A job file names them: "
            'columns = { text = ["body"] }.',
            uri=uri,
            columns=names,
        )


def _delimiter(text: str, uri: str) -> str:
    if suffix_of(uri) == ".tsv":
        return "\t"
    header = text[:_SNIFFED_CHARS].partition("\n")[0]
    return max(_DELIMITERS, key=lambda mark: (header.count(mark), -_DELIMITERS.index(mark)))
