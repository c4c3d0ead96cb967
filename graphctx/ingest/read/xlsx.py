"""Excel workbooks: the cells' values by sheet, with the range of each part as its anchor: ``Prices!A2:D26``."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from typing import Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, make_document
from graphctx.ingest.read.builder import TextBuilder
from graphctx.ingest.read.package import check_package
from graphctx.ingest.read.table import MAX_TABLE_CHARS

PART_CHARS = 1_000
"""A part of a sheet ends with the row that exceeds this: about what one passage holds."""

_Row = tuple[int, list[str]]


class XlsxReader:
    """A table a sheet, a line a row, columns joined by `` | ``; of a formula the value that was saved with it."""

    media_types: ClassVar[Mapping[str, str]] = {
        ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    }
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one workbook; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        metadata = check_package(data, uri, "a workbook")
        from openpyxl import load_workbook

        builder = TextBuilder()
        try:
            workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            for sheet in workbook.worksheets:
                sheet.reset_dimensions()  # a declared range may be any size
                for _ in _add_sheet(builder, sheet.title, sheet.iter_rows(values_only=True)):
                    if builder.next > MAX_TABLE_CHARS:
                        reason = f"{uri} has more than {MAX_TABLE_CHARS:,} characters of cells: data, not text to read."
                        raise InvalidArgument(reason, uri=uri)
            workbook.close()
        except InvalidArgument:
            raise
        except Exception as error:  # the library raises whatever a damaged file leads it to
            reason = f"{uri} is damaged or not a workbook: {type(error).__name__}."
            raise InvalidArgument(reason, uri=uri) from error
        return ReadFile((make_document(uri, self.media_types[".xlsx"], builder.text, builder.outline, metadata),))


def _add_sheet(builder: TextBuilder, title: str, values: Iterable[tuple[Any, ...]]) -> Iterator[None]:
    """Add the parts of a sheet, one at each step."""
    from openpyxl.utils import get_column_letter

    for number, part in enumerate(_parts(values)):
        width = get_column_letter(max(len(cells) for _, cells in part))
        anchor = f"{title}!A{part[0][0]}:{width}{part[-1][0]}"
        if number == 0:
            builder.heading(1, title)
        builder.place(anchor)
        builder.block("table", "\n".join(" | ".join(cells) for _, cells in part))
        yield


def _parts(values: Iterable[tuple[Any, ...]]) -> Iterator[list[_Row]]:
    """Yield runs of rows: a blank row ends one, and so does its length. Blank cells at the end are left out."""
    part: list[_Row] = []
    chars = 0
    for number, row in enumerate(values, 1):
        cells = [_shown(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if part and (not cells or chars > PART_CHARS):
            yield part
            part, chars = [], 0
        if cells:
            part.append((number, cells))
            chars += sum(map(len, cells))
    if part:
        yield part


def _shown(value: object) -> str:
    """Return a value as text on one line: what was typed, dates in ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    return " ".join(str(value).split())
