"""The tables of a file about to be written, and how chunks are added to them (RFC sections 7.3 and 8.4).

What is already in the tables is never touched: strings keep their ids, records and rows their bytes. Writing a file
anew is adding to empty tables, so that a file that grew by appending equals one written at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers import format as f
from graphctx.layers.chunk import Chunk, checked
from graphctx.layers.reader import LayerFile
from graphctx.model.interrupt import checkpoint

Piece = bytes | memoryview


@dataclass(frozen=True, slots=True, eq=False)
class LayerContent:
    """What a layer file says, apart from how its bytes are laid out.

    Attributes:
        chunks: the records, the oldest first.
        matrix: their vectors in the same order, ``[len(chunks), dim]`` of float32 or int8.
        scale: what an i8 is multiplied by; 1 for float32.
        metadata: the metadata's JSON as bytes; empty for none.
        minor: the format's minor version.
    """

    chunks: Sequence[Chunk]
    matrix: npt.NDArray[Any]
    scale: float = 1.0
    metadata: bytes = b""
    minor: int = 0


def content_of(layer: LayerFile) -> LayerContent:
    """Everything that an open file says."""
    return LayerContent(
        tuple(layer.chunks()), layer.matrix[layer.rows], layer.scale, layer.layout.metadata_blob, layer.layout.minor
    )


@dataclass(slots=True, eq=False)
class Tables:
    """Tables in pieces: what an old file has, without a copy, and what comes after it."""

    dim: int
    element: int
    scale: float
    metadata: bytes = b""
    minor: int = 0
    entries: list[npt.NDArray[Any]] = field(default_factory=list)
    blob: list[Piece] = field(default_factory=list)
    records: list[npt.NDArray[Any]] = field(default_factory=list)
    relations: list[npt.NDArray[Any]] = field(default_factory=list)
    has_relations: bool = False
    matrix: list[npt.NDArray[Any]] = field(default_factory=list)
    _numbers: dict[bytes, int] = field(default_factory=dict)

    @classmethod
    def of(cls, layer: LayerFile) -> Tables:
        """The tables of an open file.

        Raises:
            InvalidArgument: it has sections that this version does not know and would lose.
        """
        layout = layer.layout
        if layout.unknown_sections:
            raise InvalidArgument(
                f"{layer.name} has sections of a later format, which would be lost; use the tool that wrote it.",
                file=layer.name,
                sections=layout.unknown_sections,
            )
        text = memoryview(layer.data)[layout.blob_start : layout.blob_start + layout.blob_length]
        made = cls(layout.dim, layout.element, layout.scale, layout.metadata_blob, layout.minor)
        made.entries, made.blob, made.records = [layout.entries], [text], [layout.records]
        made.relations, made.matrix = [layout.relations], [layout.matrix]
        made.has_relations = f.RELATIONS in layout.sections
        for number, (offset, length) in enumerate(layout.entries.tolist(), 1):
            made._numbers.setdefault(bytes(text[offset : offset + length]), number)
        return made

    @classmethod
    def empty(cls, content: LayerContent) -> Tables:
        """Tables without a row, for vectors like a content's.

        Raises:
            InvalidArgument: the vectors are of another type, length or scale than a file can hold.
        """
        element = {np.dtype(np.float32): f.F32, np.dtype(np.int8): f.I8}.get(content.matrix.dtype)
        if element is None or content.matrix.ndim != 2 or not 1 <= content.matrix.shape[1] <= f.MAX_DIM:
            raise InvalidArgument(
                f"Vectors are {content.matrix.dtype} of shape {content.matrix.shape}; give float32 or int8, a row for "
                "each chunk.",
                field="matrix",
            )
        scale = float(np.float32(content.scale))
        if (element == f.F32 and scale != 1.0) or scale == 0.0 or not np.isfinite(scale):
            raise InvalidArgument(
                f"The scale is {content.scale}; it is 1 for float32 and any other number but 0 for int8.", field="scale"
            )
        return cls(content.matrix.shape[1], element, scale, content.metadata, content.minor)

    def add(self, chunks: Sequence[Chunk], matrix: npt.NDArray[Any]) -> None:
        """Add chunks and their vectors, ``[len(chunks), dim]``; float32 is quantised where the file holds i8.

        Raises:
            InvalidArgument: a chunk or a vector does not fit; nothing was added.
        """
        if matrix.shape != (len(chunks), self.dim):
            raise InvalidArgument(
                f"{len(chunks)} chunks came with vectors of shape {matrix.shape}; its own have {self.dim} numbers.",
                field="matrix",
                expected=self.dim,
            )
        stored = self._stored(matrix)
        good = [checked(chunk) for chunk in chunks]
        base = sum(map(len, self.matrix))
        cursor = sum(map(len, self.relations))
        strings = _Strings(self._numbers, sum(map(len, self.blob)), sum(map(len, self.entries)))
        records = np.zeros(len(good), f.CHUNK_RECORD)
        relations: list[tuple[int, int]] = []
        for i, chunk in enumerate(good):
            if i % 1024 == 0:
                checkpoint()
            kind, content, author = (strings.number(text) for text in (chunk.kind, chunk.content, chunk.author))
            first = cursor + len(relations)
            relations += [
                (f.SOURCE_STRING, strings.number(source)) if isinstance(source, str) else (f.SOURCE_CHUNK, source)
                for source in chunk.sources
            ]
            fields = (chunk.id, kind, content, author, chunk.confidence, chunk.created_at_unix_ms, base + i + 1)
            records[i] = (*fields, 0, first, len(chunk.sources), 0)
        self.records.append(records)
        self.relations.append(np.array(relations, dtype=f.RELATION))
        self.has_relations = self.has_relations or bool(relations)
        self.entries.append(np.array(strings.entries, dtype=f.STRING_ENTRY))
        self.blob.append(b"".join(strings.texts))
        self.matrix.append(stored)

    def pieces(self) -> Iterator[Piece]:
        """The file's bytes, in order: sections as the other implementation lays them, without gaps."""
        sections = [(f.STRINGS, *self._strings_section), (f.CHUNKS, *self._chunks_section)]
        if self.metadata:
            sections.append((f.METADATA, *self._metadata_section))
        if self.has_relations:
            sections.append((f.RELATIONS, *self._relations_section))
        sections.append((f.MATRIX, *self._matrix_section))
        start = f.HEADER.size + len(sections) * f.SECTION_ENTRY.size
        table, bodies = b"", []
        for kind, length, body in sections:
            table += f.SECTION_ENTRY.pack(kind, 0, start, length)
            bodies.append(body(start, length))
            start += length
        yield f.HEADER.pack(f.MAGIC, f.VERSION_MAJOR, self.minor, start, len(sections), f.HEADER.size, 0)
        yield table
        for body in bodies:
            yield from body

    @property
    def _strings_section(self) -> tuple[int, Any]:
        count, text = sum(map(len, self.entries)), sum(map(len, self.blob))

        def body(start: int, length: int) -> Iterator[Piece]:
            entries = start + f.STRINGS_HEADER.size
            yield f.STRINGS_HEADER.pack(count, entries, start + length - text, text)
            yield from map(_bytes, self.entries)
            yield from self.blob

        return f.STRINGS_HEADER.size + count * f.STRING_ENTRY.itemsize + text, body

    @property
    def _chunks_section(self) -> tuple[int, Any]:
        return _rows(f.CHUNKS_HEADER, f.CHUNK_RECORD, self.records)

    @property
    def _relations_section(self) -> tuple[int, Any]:
        return _rows(f.RELATIONS_HEADER, f.RELATION, self.relations)

    @property
    def _metadata_section(self) -> tuple[int, Any]:
        def body(start: int, length: int) -> Iterator[Piece]:
            size = f.METADATA_HEADER.size
            yield f.METADATA_HEADER.pack(f.METADATA_VERSION, f.METADATA_JSON, start + size, length - size)
            yield self.metadata

        return f.METADATA_HEADER.size + len(self.metadata), body

    @property
    def _matrix_section(self) -> tuple[int, Any]:
        count = sum(map(len, self.matrix))
        size = count * self.dim * f.ELEMENTS[self.element].itemsize

        def body(start: int, length: int) -> Iterator[Piece]:
            data = start + f.MATRIX_HEADER.size
            yield f.MATRIX_HEADER.pack(count, self.dim, self.element, data, size, self.scale, 0.0)
            yield from map(_bytes, self.matrix)

        return f.MATRIX_HEADER.size + size, body

    def _stored(self, matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if self.element == f.I8 and matrix.dtype != np.int8:
            return quantised(matrix, self.scale)
        if matrix.dtype != f.ELEMENTS[self.element]:
            raise InvalidArgument(
                f"Vectors are {matrix.dtype}; this layer holds {f.ELEMENT_NAMES[self.element]}.", field="matrix"
            )
        return np.ascontiguousarray(matrix)


def quantised(matrix: npt.NDArray[Any], scale: float) -> npt.NDArray[np.int8]:
    """Numbers as i8: divided by the scale, rounded half to even, held to -127..127 so that signs are alike.

    Raises:
        InvalidArgument: there is a number that is infinite or none.
    """
    if not np.isfinite(matrix).all():
        raise InvalidArgument("A vector holds a number that is not finite; i8 cannot hold it.", field="matrix")
    with np.errstate(over="ignore"):
        return np.clip(np.rint(matrix.astype(np.float64) / scale), -127, 127).astype(np.int8)


class _Strings:
    """Numbers for strings, known ones first."""

    def __init__(self, numbers: dict[bytes, int], offset: int, count: int) -> None:
        self._numbers, self._offset, self._count = numbers, offset, count
        self.entries: list[tuple[int, int]] = []
        self.texts: list[bytes] = []

    def number(self, text: str) -> int:
        data = text.encode()
        found = self._numbers.get(data)
        if found is None:
            self._count += 1
            found = self._numbers[data] = self._count
            self.entries.append((self._offset, len(data)))
            self.texts.append(data)
            self._offset += len(data)
        return found


def _rows(header: Any, dtype: np.dtype[Any], tables: list[npt.NDArray[Any]]) -> tuple[int, Any]:
    count = sum(map(len, tables))

    def body(start: int, length: int) -> Iterator[Piece]:
        yield header.pack(count, start + header.size)
        yield from map(_bytes, tables)

    return header.size + count * dtype.itemsize, body


def _bytes(table: npt.NDArray[Any]) -> Piece:
    """A table's bytes without a copy."""
    if not table.size:
        return b""
    flat: Any = table.reshape(-1).view(np.uint8)  # a buffer from Python 3.12 on, says the type checker
    return memoryview(flat)
