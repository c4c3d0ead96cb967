"""The documents' texts concatenated in one file: any of them is read in microseconds.

They are in the tables too; but a row of LanceDB takes a millisecond and a switch of threads, as much as the rest of an
answer.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import RangeReader, open_matrix, save_matrix

TEXTS_DIR = "texts"
_BYTES, _ENDS = "utf8.npy", "ends.npy"


def write_texts(directory: Path, texts: pa.ChunkedArray) -> None:
    """Write the texts of documents, in row order, into an empty directory.

    Args:
        directory: named ``TEXTS_DIR`` in a snapshot.
        texts: strings, none of them null.
    """
    encoded = [chunk.cast(pa.large_binary()) for chunk in texts.chunks]
    lengths = [np.asarray(pc.binary_length(chunk), dtype=np.int64) for chunk in encoded]
    save_matrix(directory / _ENDS, np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths])))
    save_matrix(directory / _BYTES, np.concatenate([np.zeros(0, np.uint8), *map(_bytes_of, encoded)]))


def _bytes_of(texts: pa.LargeBinaryArray) -> npt.NDArray[np.uint8]:
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data is not None else np.zeros(0, np.uint8)


class Texts:
    """The texts of a snapshot by document row."""

    def __init__(self, directory: Path) -> None:
        """Open them.

        Raises:
            BackendUnavailable: the files cannot be read.
        """
        self._ends = open_matrix(directory / _ENDS)
        self._bytes = RangeReader(directory / _BYTES)
        if not len(self._ends) or self._ends[-1] != len(self._bytes):
            raise BackendUnavailable("The texts of this snapshot are truncated. Run `graphctx ingest` again.")

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The bytes of every text in UTF-8, int64 [D]."""
        return np.diff(self._ends)

    def __getitem__(self, row: int) -> str:
        """Return the text of a row."""
        if not 0 <= row < len(self):
            raise IndexError(row)
        start, end = int(self._ends[row]), int(self._ends[row + 1])
        text: str = self._bytes.read([(start, end)]).tobytes().decode("utf-8")
        return text
