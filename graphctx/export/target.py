"""Targets of exports: files and folders that are either complete or not there at all.

A folder that exists is moved aside and the new one takes its name. If the process is killed between the two, the next
export to the same place, or the next check of it, restores the old folder.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.files import atomic_file, files_below, fsync_path, fsync_tree

SUMS_NAME = "SHA256SUMS"
"""A file in every folder that an export wrote. A folder without it is never replaced."""

_MARKS = {
    b"<!doctype html>": b'<meta name="generator" content="graphctx ',
    b"<?xml ": b'<graph id="graphctx" ',
    b"{": b'"agentsdb.export.',
}
"""The beginning of each kind of exported file, and a mark in its head. A file without it is never replaced."""

_HEAD_BYTES = 1 << 14
"""Where the mark is; GraphML declares its attributes before it, 80 bytes each."""

_WRITTEN, _ASIDE = "tmp", "old"
"""Suffixes of what is being written and of what was at the target before."""


def check_target(path: Path, *, folder: bool, replace: bool) -> None:
    """Check before any work that a target can be written, after clearing what a killed export left there.

    Args:
        path: a file, or a folder where ``folder`` is true.
        folder: whether the format makes a folder.
        replace: whether an earlier export may be replaced.

    Raises:
        InvalidArgument: its folder does not exist, it is of the other kind, or it exists and may not be replaced: no
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
    _recover(path)
    if not path.exists():
        return
    if folder and not path.is_dir():
        raise InvalidArgument(f"{path} is a file, and this format makes a folder. Name another.", path=str(path))
    if not folder and path.is_dir():
        raise InvalidArgument(f"{path} is a folder, and this format makes one file. Name a file.", path=str(path))
    if folder:
        if not any(path.iterdir()):
            return
        exported, what = (path / SUMS_NAME).is_file(), "folder"
    else:
        exported, what = _is_export(path), "file"
    if not exported:
        raise InvalidArgument(
            f"No export wrote the {what} {path}, so it is never replaced. Name another.", path=str(path)
        )
    if not replace:
        raise InvalidArgument(f"{path} exists already. Replace it with --force, or name another.", path=str(path))


def _is_export(path: Path) -> bool:
    """Return whether a file is an export, or empty."""
    if not path.is_file():
        return False  # a device or a pipe
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return not head or any(head.startswith(begin) and mark in head for begin, mark in _MARKS.items())


@contextmanager
def written_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the target when the block ends, and is deleted if the block raises.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    _recover(path)
    with _write_errors(path), atomic_file(path) as file:
        yield file


@contextmanager
def written_folder(path: Path) -> Iterator[Path]:
    """Make an empty folder that replaces the target when the block ends, and is deleted if the block raises.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    _recover(path)
    written, aside = _beside(path, _WRITTEN), _beside(path, _ASIDE)
    with _write_errors(path):
        try:
            _remove(written)
            written.mkdir()
            yield written
            fsync_tree(files_below(written))
            try:
                if path.exists():
                    path.rename(aside)
                written.rename(path)
            except BaseException:  # an interrupt too
                if aside.exists() and not path.exists():
                    aside.rename(path)
                raise
            fsync_path(path.parent)
        finally:
            _remove(written)
            if path.exists():
                _remove(aside)


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


def _beside(target: Path, suffix: str) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.{suffix}")


def _remove(path: Path) -> None:
    """Delete a file, a link or a folder as far as that is possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _recover(target: Path) -> None:
    """Restore what a killed process moved aside, and delete what it left unfinished, as far as that is possible."""
    pattern = re.compile(rf"{re.escape(f'.{target.name}.')}(\d+)\.({_WRITTEN}|{_ASIDE})")
    try:
        found = [(path, match) for path in target.parent.iterdir() if (match := pattern.fullmatch(path.name))]
        left = [path for path, match in found if not _runs(int(match[1]))]
        left.sort(key=lambda path: (path.suffix != f".{_ASIDE}", -path.lstat().st_mtime_ns, path.name))
    except OSError:  # another process may be deleting the same files
        return
    for path in left:
        if path.suffix == f".{_ASIDE}" and not target.exists():
            with suppress(OSError):
                path.rename(target)
        else:
            _remove(path)


def _runs(process: int) -> bool:
    """Return whether a process of this number exists; true where that cannot be known."""
    if os.name == "nt":  # there the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
