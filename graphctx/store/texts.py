"""The documents' texts in one file, each compressed by itself: any of them is read in microseconds."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import RangeReader, open_matrix, save_matrix

TEXTS_DIR = "texts"
_BYTES, _ENDS = "zstd.npy", "ends.npy"
_LEVEL = 9


def write_texts(directory: Path, texts: pa.ChunkedArray) -> None:
    """Write the texts of documents, in row order, into an empty directory.

    Args:
        directory: named ``TEXTS_DIR`` in a snapshot.
        texts: strings, none of them null.
    """
    codec = pa.Codec("zstd", compression_level=_LEVEL)
    parts, sizes = [np.zeros(0, np.uint8)], []
    for text in texts:
        data = text.as_py().encode("utf-8")
        parts.append(np.frombuffer(codec.compress(data, asbytes=True), np.uint8))
        sizes.append((len(parts[-1]), len(data)))
    # The first column ends each text in the file, the second one in the text of all.
    ends = np.cumsum(np.array([(0, 0), *sizes], dtype=np.int64), axis=0)
    save_matrix(directory / _ENDS, ends)
    save_matrix(directory / _BYTES, np.concatenate(parts))


class Texts:
    """The texts of a snapshot by document row."""

    def __init__(self, directory: Path) -> None:
        """Open them.

        Raises:
            BackendUnavailable: the files cannot be read.
        """
        self._ends = open_matrix(directory / _ENDS)
        self._bytes = RangeReader(directory / _BYTES)
        if not len(self._ends) or self._ends[-1, 0] != len(self._bytes):
            raise BackendUnavailable("The texts of this snapshot are truncated. Run `graphctx ingest` again.")

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The bytes of every text in UTF-8, int64 [D]."""
        return np.diff(self._ends[:, 1])

    def all(self) -> pa.Array:
        """Return every text, in row order."""
        return pa.array([self[row] for row in range(len(self))], pa.large_string())

    def of_units(self, documents: pa.ChunkedArray, starts: pa.ChunkedArray, ends: pa.ChunkedArray) -> pa.Array:
        """Return the texts of units.

        Args:
            documents: the row of the document of each unit; equal ones are adjacent.
            starts, ends: where each unit begins and ends in its document.
        """
        spans = groupby(zip(*(one.to_pylist() for one in (documents, starts, ends)), strict=True), itemgetter(0))
        return pa.array([text[a:b] for row, some in spans for text in (self[row],) for _, a, b in some], pa.string())

    def __getitem__(self, row: int) -> str:
        """Return the text of a row."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        (start, before), (end, after) = self._ends[row : row + 2].tolist()
        packed = self._bytes.read([(start, end)]).tobytes()
        return str(pa.decompress(packed, decompressed_size=after - before, codec="zstd", asbytes=True), "utf-8")
