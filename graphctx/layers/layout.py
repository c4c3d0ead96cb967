"""The tables of a layer file as arrays, each only after it was checked (RFC section 8.4).

`examine` reads untrusted bytes. Before anything is allocated or mapped as an array, its claimed size is held
against the bytes that are there; every check is linear in the file's size; nothing is followed that was not
checked. Tables that depend on a broken one are left alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.layers import format as f
from graphctx.layers.findings import Findings

Data = bytes | mmap
"""A whole file: in memory, or mapped."""


@dataclass(slots=True)
class Section:
    """Where a section lies: its first byte and the byte after its last."""

    start: int
    end: int


@dataclass(slots=True)
class Layout:
    """The tables of one file. All arrays are views of the file's bytes."""

    minor: int = 0
    sections: dict[int, Section] = field(default_factory=dict)
    unknown_sections: int = 0
    entries: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.STRING_ENTRY))
    blob_start: int = 0
    blob_length: int = 0
    records: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.CHUNK_RECORD))
    records_start: int = 0
    relations: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.RELATION))
    dim: int = 0
    element: int = f.F32
    scale: float = 1.0
    matrix: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 1), np.float32))
    metadata_blob: bytes = b""


class Reader:
    """Bytes, read only where they are, and the findings of reading them."""

    def __init__(self, data: Data, size: int) -> None:
        self.data = data
        self.size = size
        self.found = Findings()

    def array(self, dtype: np.dtype[Any], start: int, count: int) -> npt.NDArray[Any]:
        """A table that is known to be there, without a copy."""
        if not count:
            return np.empty(0, dtype)
        return np.frombuffer(self.data, dtype, count, start)

    def table(
        self, part: str, section: Section, header: int, dtype: np.dtype[Any], start: int, count: int
    ) -> npt.NDArray[Any] | None:
        """A table that a section's header points to, or ``None`` with a finding if it is not inside the section.

        Args:
            part: the first half of the rule's name.
            section: where the table has to be.
            header: bytes of the section's header, which the table must leave alone.
            dtype: of a row.
            start: the offset that the header gives.
            count: the rows that the header gives.
        """
        room = section.end - start
        if start < section.start + header or room < 0 or count > room // dtype.itemsize:
            self.found.error(
                f"{part}.range",
                section.start,
                f"{count} records of {dtype.itemsize} bytes at {start} do not lie in their section, "
                f"which ends at {section.end}",
                {"count": count, "offset": start},
            )
            return None
        return self.array(dtype, start, count)


def header_of(reader: Reader, layout: Layout) -> bool:
    """Check header and section table; whether there is any sense in reading on."""
    found, size = reader.found, reader.size
    if size < f.HEADER.size:
        found.error("header.length", 0, f"the file has {size} bytes and a header alone takes {f.HEADER.size}", size)
        return False
    magic, major, minor, length, count, table, flags = f.HEADER.unpack_from(reader.data)
    if magic != f.MAGIC:
        found.error("header.magic", 0, f"the file starts with 0x{magic:08x} and not with AGDB", magic)
        return False
    if major != f.VERSION_MAJOR:
        found.error("header.version", 4, f"the format's version is {major} and only 1 is known", major)
        return False
    if length != size:
        found.error("header.file_length", 8, f"the header says {length} bytes and the file has {size}", length)
        return False
    if flags != 0:
        found.error("header.flags", 32, f"the reserved flags are 0x{flags:x} and must be 0", flags)
    layout.minor = minor
    if table < f.HEADER.size or table > size or count > (size - table) // f.SECTION_ENTRY.size:
        found.error(
            "sections.range", 16, f"{count} sections listed at {table} do not lie in the file", {"count": count}
        )
        return False
    return _sections(reader, layout, table, count)


def _sections(reader: Reader, layout: Layout, table: int, count: int) -> bool:
    found = reader.found
    taken = [(0, f.HEADER.size, 0), (table, table + count * f.SECTION_ENTRY.size, table)]
    for at in range(table, table + count * f.SECTION_ENTRY.size, f.SECTION_ENTRY.size):
        kind, reserved, start, length = f.SECTION_ENTRY.unpack_from(reader.data, at)
        if reserved != 0:
            found.error("sections.reserved", at + 4, f"a reserved field is {reserved} and must be 0", reserved)
        if start > reader.size or length > reader.size - start:
            found.error(
                "sections.range",
                at + 8,
                f"a section of {length} bytes at {start} does not lie in the file",
                {"offset": start, "length": length},
            )
            continue
        if length:
            taken.append((start, start + length, at))
        if kind not in f.SECTION_NAMES:
            layout.unknown_sections += 1
            found.warn("sections.kind", at, f"a section is of the unknown kind {kind} and is left alone", kind)
        elif kind in layout.sections:
            found.error("sections.twice", at, f"a second {f.SECTION_NAMES[kind]} section is listed", kind)
        else:
            layout.sections[kind] = Section(start, start + length)
    taken.sort()
    for (_, end, _), (start, _, at) in itertools.pairwise(taken):
        if start < end:
            found.error("sections.overlap", at, f"the part at {start} begins before the one before it ends", start)
    for kind in f.REQUIRED:
        if kind not in layout.sections:
            found.error("sections.required", table, f"there is no {f.SECTION_NAMES[kind]} section", kind)
    return not found.errors


def matrix_of(reader: Reader, layout: Layout) -> bool:
    """Check the embedding matrix."""
    section = layout.sections[f.MATRIX]
    found, at = reader.found, section.start
    if section.end - at < f.MATRIX_HEADER.size:
        found.error("embeddings.header", at, "the section is too short for its header", section.end - at)
        return False
    rows, dim, element, start, length, scale, reserved = f.MATRIX_HEADER.unpack_from(reader.data, at)
    if element not in f.ELEMENTS:
        found.error("embeddings.element_type", at + 12, f"elements of the unknown type {element}", element)
        return False
    if not 1 <= dim <= f.MAX_DIM:
        found.error("embeddings.dim", at + 8, f"vectors of {dim} numbers; 1 to {f.MAX_DIM} are possible", dim)
        return False
    dtype = f.ELEMENTS[element]
    if length != rows * dim * dtype.itemsize:
        found.error(
            "embeddings.length", at + 24, f"{length} bytes for {rows} rows of {dim} {f.ELEMENT_NAMES[element]}", length
        )
        return False
    if element == f.F32 and scale != 1.0:
        found.error("embeddings.scale", at + 32, f"the scale of f32 vectors is {scale} and must be 1", repr(scale))
    if element == f.I8 and (scale == 0.0 or not np.isfinite(scale)):
        found.error("embeddings.scale", at + 32, f"the scale of i8 vectors is {scale}", repr(scale))
    if reserved != 0.0:
        found.error("embeddings.reserved", at + 36, f"a reserved field is {reserved} and must be 0", repr(reserved))
    data = reader.table("embeddings", section, f.MATRIX_HEADER.size, dtype, start, rows * dim)
    if data is None:
        return False
    layout.dim, layout.element, layout.scale = dim, element, scale
    layout.matrix = data.reshape(rows, dim)
    return True
