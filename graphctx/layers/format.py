"""The byte layout of a layer file: records, section kinds and constants (RFC section 8.4).

Everything is little-endian and packed. Offsets inside a file count from its first byte. The records are numpy
structured types, so that a table in a mapped file is an array without a copy.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

MAGIC: Final = 0x42444741
"""``AGDB`` as the first four bytes of a file."""

VERSION_MAJOR: Final = 1

HEADER: Final = struct.Struct("<IHHQQQQ")
"""magic, version_major, version_minor, file_length_bytes, section_count, sections_offset, flags."""

SECTION_ENTRY: Final = struct.Struct("<IIQQ")
"""kind, reserved, offset, length."""

STRINGS_HEADER: Final = struct.Struct("<QQQQ")
"""string_count, entries_offset, bytes_offset, bytes_length."""

CHUNKS_HEADER: Final = struct.Struct("<QQ")
"""chunk_count, records_offset."""

MATRIX_HEADER: Final = struct.Struct("<QIIQQff")
"""row_count, dim, element_type, data_offset, data_length, quant_scale, reserved0."""

RELATIONS_HEADER: Final = struct.Struct("<QQ")
"""relationship_count, records_offset."""

METADATA_HEADER: Final = struct.Struct("<IIQQ")
"""version, format, blob_offset, blob_length."""

STRING_ENTRY: Final = np.dtype([("offset", "<u8"), ("length", "<u8")])

CHUNK_RECORD: Final = np.dtype(
    [
        ("id", "<u4"),
        ("kind_str_id", "<u4"),
        ("content_str_id", "<u4"),
        ("author_str_id", "<u4"),
        ("confidence", "<f4"),
        ("created_at_unix_ms", "<u8"),
        ("embedding_row", "<u4"),
        ("reserved0", "<u4"),
        ("rel_start", "<u8"),
        ("rel_count", "<u4"),
        ("reserved1", "<u4"),
    ]
)
"""52 bytes; ids of strings and rows count from 1."""

RELATION: Final = np.dtype([("kind", "<u4"), ("value", "<u4")])

STRINGS, CHUNKS, MATRIX, RELATIONS, METADATA = 1, 2, 3, 4, 5
SECTION_NAMES: Final = {
    STRINGS: "string dictionary",
    CHUNKS: "chunk table",
    MATRIX: "embedding matrix",
    RELATIONS: "relationships",
    METADATA: "layer metadata",
}
REQUIRED: Final = (STRINGS, CHUNKS, MATRIX)

F32, I8 = 1, 2
ELEMENTS: Final[dict[int, np.dtype[Any]]] = {F32: np.dtype("<f4"), I8: np.dtype("i1")}
ELEMENT_NAMES: Final = {F32: "f32", I8: "i8"}

SOURCE_CHUNK, SOURCE_STRING = 1, 2
"""Kinds of a relation: its value is a chunk's id, or a string's."""

METADATA_VERSION: Final = 1
METADATA_JSON: Final = 1

AUTHORS: Final = ("human", "mcp")

MAX_DIM: Final = 1 << 20
"""Ours: no model has vectors anywhere near so long, and a matrix without rows may claim any length."""

MAX_U32: Final = (1 << 32) - 1
MAX_U64: Final = (1 << 64) - 1
