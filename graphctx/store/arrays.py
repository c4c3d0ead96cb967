"""Named numpy arrays on disk: small ones together in one ``.npz``, large matrices alone and memory-mapped."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable, InvalidArgument

Array = npt.NDArray[Any]

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip entry can carry: no clock in the bytes


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays to a compressed ``.npz`` whose bytes depend on names and values alone.

    Args:
        path: the file, overwritten if it exists.
        arrays: any numeric, boolean or fixed-width string arrays; names in any order.

    Raises:
        InvalidArgument: an array of Python objects.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, plain(name, arrays[name]), version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _EPOCH), buffer.getbuffer(), zipfile.ZIP_DEFLATED)


def load_arrays(path: Path) -> dict[str, Array]:
    """Read all arrays of an ``.npz``, in the order of their names.

    Raises:
        BackendUnavailable: the file is missing or not an ``.npz``.
    """
    try:
        # Given a path, numpy leaves the file open if it is not an archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in sorted(archive.files)}
    except (OSError, ValueError, TypeError, AttributeError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from error


def save_matrix(path: Path, matrix: Array) -> None:
    """Write one array as ``.npy`` in C order."""
    with path.open("wb") as file:
        np.lib.format.write_array(file, plain(path.stem, matrix), version=(1, 0), allow_pickle=False)


def open_matrix(path: Path) -> Array:
    """Map a ``.npy`` file into memory, read-only.

    Raises:
        BackendUnavailable: the file is missing or not a ``.npy``.
    """
    try:
        # An array without elements cannot be mapped.
        if 0 in _header_shape(path):
            return np.asarray(np.load(path, allow_pickle=False))
        mapped: Array = np.load(path, mmap_mode="r", allow_pickle=False)
        return mapped
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from error


SMALL_FILE = 1 << 20
"""Bytes of an array up to which `RangeReader` keeps it in memory."""


class RangeReader:
    """Reads ranges of a one-dimensional ``.npy`` without mapping it.

    With mmap, readahead caches far more than the short range requested, and in the end the whole file. A small file is
    read at once: it takes little memory, and a question reads from it several times.
    """

    def __init__(self, path: Path) -> None:
        """Read the header.

        Raises:
            BackendUnavailable: the file is missing or not a ``.npy``.
        """
        array = open_matrix(path)
        self._path = path
        self._dtype = array.dtype
        self._size = len(array)
        self._header = path.stat().st_size - array.nbytes
        self._whole = np.array(array) if array.nbytes <= SMALL_FILE else None

    def __len__(self) -> int:
        return self._size

    def read(self, bounds: Iterable[tuple[int, int]]) -> Array:
        """Return the items of some ranges, each from its start up to and without its end, in one array.

        Raises:
            BackendUnavailable: the file has been truncated or cannot be read.
        """
        if self._whole is not None:
            parts = [self._whole[start:end] for start, end in bounds]
            return np.concatenate(parts) if parts else self._whole[:0]
        bounds, width = list(bounds), self._dtype.itemsize
        read = np.empty(sum(end - start for start, end in bounds) * width, dtype=np.uint8)
        at = 0
        try:
            with self._path.open("rb", buffering=0) as file:
                for start, end in bounds:
                    after = at + (end - start) * width
                    file.seek(self._header + start * width)
                    if file.readinto(read[at:after].data) != after - at:
                        raise EOFError
                    at = after
        except (OSError, EOFError) as error:
            raise _unreadable(self._path, error) from error
        return read.view(self._dtype)


def plain(name: str, array: Array) -> Array:
    """Return the array in C order and little-endian, so that equal values have equal bytes."""
    if array.dtype.hasobject:
        raise InvalidArgument(f"Array {name!r} holds Python objects; give numbers.", array=name)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _header_shape(path: Path) -> tuple[int, ...]:
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, _ = read(file)
    return tuple(shape)


def _unreadable(path: Path, error: Exception) -> BackendUnavailable:
    return BackendUnavailable(
        f"Cannot read the arrays of {path.name}: {type(error).__name__}. Ingest again.", file=path.name
    )
