"""Files that are either wholly there or not at all, and a disk that may be full."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphctx.errors import BackendUnavailable

_CHUNK = 1 << 20  # hashlib releases the interpreter lock above 2 KiB; 1 MiB reads keep the disk busy
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Engines report a failed write as text: strerror() of the numbers above, with or without "(os error N)". Kuzu may say
# only that it cannot roll the write back, whichever limit stopped it.
_FULL_TEXTS = {os.strerror(number).lower(): os.strerror(number) for number in sorted(_FULL)}
_FULL_TEXTS["invalid transaction type to rollback"] = "the disk is full, or a quota or a limit of file size is reached"


def fsync_path(path: Path) -> None:
    """Make a file's content, or a directory's entries, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(paths: Iterable[Path]) -> None:
    """Sync files and then every directory that holds one of them."""
    files = sorted(paths)
    for path in files:
        fsync_path(path)
    for directory in sorted({path.parent for path in files}):
        fsync_path(directory)


def write_atomic(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data`` so that a reader, or a crash, sees the old content or the new one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_path(path.parent)


def sha256_of(path: Path) -> str:
    """The hex SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def files_below(directory: Path) -> list[Path]:
    """Every regular file below ``directory``, sorted; none if there is no such directory."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a directory; 0 where there is nothing."""
    return path.stat().st_size if path.is_file() else sum(each.stat().st_size for each in files_below(path))


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turn a disk that is full, or that refuses the write otherwise, into ``BackendUnavailable``.

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
    """The reason, where the text of an error says that a disk is full."""
    text = str(error).lower()
    return next((reason for marker, reason in _FULL_TEXTS.items() if marker in text), None)


def disk_full(what: str, reason: str, number: int = errno.ENOSPC) -> BackendUnavailable:
    """The error about a write for which there was no room.

    Args:
        what: what was being written, relative to the knowledge base.
        reason: why not, as the system says it.
        number: of the system's error.
    """
    return BackendUnavailable(
        f"Cannot write {what}: {reason}. Free some space, or move the knowledge base to a larger disk, and "
        "run the command again; what was published before is untouched.",
        what=what,
        errno=number,
    )
