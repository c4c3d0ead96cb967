"""Atomic replacement, syncing and checksums of files; errors of the disk, and their reasons without paths."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from graphctx.errors import BackendUnavailable

_BUFFER = 1 << 20
_CHUNK = 1 << 20  # hashlib releases the interpreter lock above 2 KiB; 1 MiB reads keep the disk busy
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Engines report a failed write as text: strerror() of the numbers above, with or without "(os error N)". Kuzu may say
# only that it cannot roll the write back, whichever limit stopped it.
_FULL_TEXTS = {os.strerror(number).lower(): os.strerror(number) for number in sorted(_FULL)}
_FULL_TEXTS["invalid transaction type to rollback"] = "the disk is full, or a quota or a limit of file size is reached"

_FOLDER = r"""[^\s/\\'"<>|(),;:]+[/\\]+"""
_PATH = re.compile(
    rf"(?:(?<![a-z])[a-z]+:/+|[A-Za-z]:[/\\]+|(?<![\w.])[/\\])(?:{_FOLDER})+|(?<![^\s/\\'\"<>|(),;:])(?:{_FOLDER}){{2,}}"
)
"""Folders below a root, or two and more without one: some libraries leave out the leading slash."""


def fsync_path(path: Path) -> None:
    """Flush a file's content, or a directory's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(paths: Iterable[Path]) -> None:
    """Flush files and then every directory that holds one of them to the disk."""
    files = sorted(paths)
    for path in files:
        fsync_path(path)
    for directory in sorted({path.parent for path in files}):
        fsync_path(directory)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Replace a file atomically: a reader, or a crash at any moment, sees the old content or the new one.

    The block writes to a temporary file beside it, ``.<name>.<process id>.tmp``, which is synced and renamed when the
    block ends, and deleted when it raises.

    Usage::

        with atomic_file(directory / "report.json") as file:
            file.write(data)

    Raises:
        OSError: the disk refuses the write; wrap the block in `disk_errors` for our own error.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb", buffering=_BUFFER) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_path(path.parent)


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file by ``data`` atomically, see `atomic_file`."""
    with atomic_file(path) as file:
        file.write(data)


def sha256_of(path: Path) -> str:
    """Return the hex SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def files_below(directory: Path) -> list[Path]:
    """Return every regular file below ``directory``, sorted; none if there is no such directory."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a directory; 0 where there is nothing."""
    return path.stat().st_size if path.is_file() else sum(each.stat().st_size for each in files_below(path))


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Convert the errors of a full disk or a refused write to ``BackendUnavailable``.

    Args:
        what: what was being written, relative to the knowledge base: "the snapshot", "kb.toml".

    Raises:
        BackendUnavailable: no space, over quota, over the file size limit, read-only, not permitted, not a
            folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(what, os.strerror(error.errno), error.errno) from error
        if (reason := _full_text(error)) is not None:
            raise disk_full(what, reason) from error
        message = f"Cannot write {what}: {error.strerror}. Check the knowledge base's folder and permissions."
        raise BackendUnavailable(message, what=what, errno=error.errno) from error
    except (RuntimeError, ValueError) as error:  # kuzu and lance raise these for a failed write
        if (reason := _full_text(error)) is not None:
            raise disk_full(what, reason) from error
        raise


def _full_text(error: BaseException) -> str | None:
    """Return the reason where the text of an error says that a disk is full."""
    text = str(error).lower()
    return next((reason for marker, reason in _FULL_TEXTS.items() if marker in text), None)


def disk_full(what: str, reason: str, number: int = errno.ENOSPC) -> BackendUnavailable:
    """Return the error about a write for which there was no room.

    Args:
        what: what was being written, relative to the knowledge base.
        reason: the system's words.
        number: the system's error number.
    """
    return BackendUnavailable(
        f"Cannot write {what}: {reason}. Free some space, or move the knowledge base to a larger disk, and "
        "run the command again; what was published before is untouched.",
        what=what,
        errno=number,
    )


def reason_of(error: BaseException, *directories: object) -> str:
    """Return the text of an error without directories of this machine: of a path only its last part stays.

    Args:
        error: of the system or of a library.
        *directories: folders that the text may name, needed where their names hold spaces.
    """
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # pyarrow puts the path into error.strerror
    text = str(error)
    for directory in directories:
        bare = str(directory).strip("/\\")
        text = re.sub(rf"(?:[a-z]+:/+)?[/\\]?{re.escape(bare)}[/\\]*", "", text) if bare else text
    return _PATH.sub("", text)
