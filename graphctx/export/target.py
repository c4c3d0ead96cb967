"""Where an export goes: a file or a folder that is either wholly there or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.export.siblings import WRITTEN, beside, put_in_place, recover, remove
from graphctx.store.files import atomic_file, files_below, fsync_path, fsync_tree

SUMS_NAME = "SHA256SUMS"
"""In a folder that an export wrote: by it such a folder is known, and no other is ever replaced."""

_MARKS = {
    b"<!doctype html>": b'<meta name="generator" content="graphctx ',
    b"<?xml ": b'<graph id="graphctx" ',
    b"{": b'"agentsdb.export.',
}
"""How a file begins that an export wrote, and what stands in its head: by it such a file is known."""

_HEAD = 1 << 14
"""Bytes in which the mark stands; GraphML declares its attributes before, 80 bytes each."""


def check_target(path: Path, *, folder: bool, replace: bool) -> None:
    """Refuse a place that cannot be written, before any work is done; what a killed export left there is mended first.

    Args:
        path: a file, or a folder where ``folder`` is true.
        folder: what the format makes.
        replace: whether what is there may be replaced.

    Raises:
        InvalidArgument: its folder is missing, it is of the other kind, or it is there and may not be replaced: no
            export wrote it, or ``replace`` is false.
        BackendUnavailable: its folder may not be written to.
    """
    parent = path.parent
    if not parent.is_dir():
        raise InvalidArgument(f"There is no folder {parent}. Make it first, or write elsewhere.", path=str(path))
    if not os.access(parent, os.W_OK | os.X_OK):
        raise BackendUnavailable(
            f"The folder {parent} may not be written to. Choose another place with --out, or change its permissions.",
            path=str(path),
        )
    recover(path)
    if folder and path.exists() and not path.is_dir():
        raise InvalidArgument(f"{path} is a file, and this format makes a folder. Name another.", path=str(path))
    if not folder and path.is_dir():
        raise InvalidArgument(f"{path} is a folder, and this format makes one file. Name a file.", path=str(path))
    if folder and path.is_dir():
        if not any(path.iterdir()):
            return
        if not (path / SUMS_NAME).is_file():
            raise InvalidArgument(
                f"{path} holds files that no export wrote, so it is never replaced. Name another folder.",
                path=str(path),
            )
    if not folder and path.exists() and not _exported(path):
        raise InvalidArgument(
            f"{path} is there already, and no export wrote it, so it is never replaced. Name another file.",
            path=str(path),
        )
    if path.exists() and not replace:
        raise InvalidArgument(f"{path} is there already. Replace it with --force, or name another.", path=str(path))


def _exported(path: Path) -> bool:
    """Whether a file is an export's, or empty."""
    if not path.is_file():
        return False  # a device or a pipe
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return not head or any(head.startswith(begin) and mark in head for begin, mark in _MARKS.items())


@contextmanager
def written_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when the block ends well and leaves nothing when it does not.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    recover(path)
    with _write_errors(path), atomic_file(path) as file:
        yield file


@contextmanager
def written_folder(path: Path) -> Iterator[Path]:
    """An empty folder to write into, which takes its place when the block ends well.

    What was at its place goes in the same step where that can be done, and is then deleted.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    recover(path)
    temporary = beside(path, WRITTEN)
    with _write_errors(path):
        try:
            remove(temporary)
            temporary.mkdir()
            yield temporary
            fsync_tree(files_below(temporary))
            put_in_place(temporary, path)
            fsync_path(path.parent)
        finally:
            remove(temporary)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackendUnavailable(
            f"Cannot write {path}: {error.strerror}. Nothing was left there; free some space or choose another place "
            "with --out, and export again.",
            path=str(path),
            errno=error.errno,
        ) from error
