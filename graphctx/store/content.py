"""The content hash: one digest over the values of tables and arrays, whatever their layout in memory.

Two tables with the same rows hash equal whatever their chunks, slices, offsets, buffer padding, bytes under
null slots, 32- or 64-bit string offsets or dictionary encoding. Floats are hashed by their bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa

from graphctx.store.arrays import Array, plain
from graphctx.store.schema import UNHASHED_COLUMNS

_ROWS = 65_536  # rows per step: bounds the memory of the hash and does not change it


class _Digest(Protocol):
    def update(self, data: bytes | memoryview, /) -> None: ...


def content_hash(tables: Mapping[str, pa.Table], arrays: Mapping[str, Array]) -> str:
    """Hash the logical content of a snapshot.

    Args:
        tables: Arrow tables by name; the columns of ``schema.UNHASHED_COLUMNS`` are left out.
        arrays: numpy arrays by name, of any shape.

    Returns:
        64 hexadecimal characters (SHA-256). They depend on the order of rows, not on that of the mappings or of a
        table's columns.
    """
    total = hashlib.sha256(b"graphctx content 1")
    for name in sorted(tables):
        table = tables[name]
        left_out = UNHASHED_COLUMNS.get(name, frozenset())
        for column in sorted(set(table.column_names) - left_out):
            _label(total, "table", name, column, str(table.num_rows))
            total.update(_column_digest(table.column(column)))
    for name in sorted(arrays):
        array = plain(name, arrays[name])
        _label(total, "array", name, array.dtype.str, *map(str, array.shape))
        _hash_array(total, array)
    return total.hexdigest()


def _label(digest: _Digest, *parts: str) -> None:
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(4, "little") + data)


def _column_digest(column: pa.ChunkedArray) -> bytes:
    digest = _Streams()
    for chunk in column.chunks:
        for start in range(0, len(chunk), _ROWS):
            _hash_values(digest, "", chunk.slice(start, _ROWS))
    return digest.digest()


class _Streams:
    """Digests of the parts of a column (validity, lengths, bytes), each fed piece by piece.

    One stream per part, so that the digest does not depend on where a piece ends.
    """

    def __init__(self) -> None:
        self._parts: dict[str, hashlib._Hash] = {}

    def feed(self, part: str, data: bytes | memoryview) -> None:
        self._parts.setdefault(part, hashlib.sha256()).update(data)

    def digest(self) -> bytes:
        total = hashlib.sha256()
        for part in sorted(self._parts):
            _label(total, part)
            total.update(self._parts[part].digest())
        return total.digest()


def _hash_values(streams: _Streams, prefix: str, values: pa.Array) -> None:
    """Feed one array: its type's family, its validity, and its values without the nulls."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    streams.feed(f"{prefix}null", np.asarray(values.is_null().to_numpy(zero_copy_only=False), np.uint8).data)
    present = values.drop_null()
    if len(present) == 0:
        return
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        wide = present.cast(pa.large_binary())
        offsets = np.frombuffer(wide.buffers()[1], np.int64)[wide.offset : wide.offset + len(wide) + 1]
        streams.feed(f"{prefix}length", np.diff(offsets).astype("<i8").data)
        data = wide.buffers()[2]
        if data is not None:
            streams.feed(f"{prefix}bytes", memoryview(data)[int(offsets[0]) : int(offsets[-1])])
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = np.asarray(pa.compute.list_value_length(present).to_numpy(zero_copy_only=False), "<i8")
        streams.feed(f"{prefix}length", lengths.data)
        _hash_values(streams, f"{prefix}item.", present.flatten())
    elif pa.types.is_boolean(kind):
        streams.feed(f"{prefix}bool", np.asarray(present.to_numpy(zero_copy_only=False), np.uint8).data)
    else:
        numbers = np.ascontiguousarray(present.to_numpy(zero_copy_only=False))
        streams.feed(f"{prefix}{numbers.dtype.newbyteorder('<').str}", numbers.view(np.uint8).data)


def _hash_array(digest: _Digest, array: Array) -> None:
    if array.size:
        digest.update(array.reshape(-1).view(np.uint8).data)
