"""What stands beside a target while it is written, and how it takes the target's place.

A folder that is there already is exchanged for the new one in one step where the system can do that (Linux, on the
usual file systems). Elsewhere it is moved aside first, and a process that is killed right then leaves no target: the
next export, or the next check of the place, puts it back.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
"""Of Linux: paths are reckoned from the working folder; both names change places (renameat2(2))."""

WRITTEN, ASIDE = "tmp", "old"
"""What is being written, and what was at the target before."""


def beside(target: Path, kind: str) -> Path:
    """Where this process keeps something for a target."""
    return target.with_name(f".{target.name}.{os.getpid()}.{kind}")


def put_in_place(written: Path, target: Path) -> None:
    """Let a written folder take its place; what was there is then at ``written``, or deleted.

    Raises:
        OSError: it cannot; the target is as it was.
    """
    if not target.exists():
        written.rename(target)
        return
    if _exchanged(written, target):
        return
    old = beside(target, ASIDE)
    target.rename(old)
    try:
        written.rename(target)
    except BaseException:  # an interrupt too: what was there must be there again
        old.rename(target)
        raise
    remove(old)


def remove(path: Path) -> None:
    """Delete a file, a link or a folder as far as that can be done."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def recover(target: Path) -> None:
    """Put back what a killed process had moved aside, and delete what others left; what is in use stays.

    What cannot be moved or deleted is left: whoever writes then meets the same error and tells it.
    """
    for path in _left_over(target):
        if path.name.endswith(f".{ASIDE}") and not target.exists():
            with suppress(OSError):
                path.rename(target)
        else:
            remove(path)


def _left_over(target: Path) -> Iterator[Path]:
    """What processes that are gone kept for a target, what was moved aside last first."""
    ours = re.compile(rf"{re.escape(f'.{target.name}.')}(\d+)\.({WRITTEN}|{ASIDE})")
    try:
        names = sorted(path.name for path in target.parent.iterdir())
        marked = [(target.with_name(name), int(found[1])) for name in names if (found := ours.fullmatch(name))]
        gone = [path for path, process in marked if not _runs(process)]
        times = {path: path.lstat().st_mtime_ns for path in gone}
    except OSError:  # it may have been deleted meanwhile by another
        return
    yield from sorted(gone, key=lambda path: (path.suffix != f".{ASIDE}", -times[path], path.name))


def _runs(process: int) -> bool:
    """Whether a process of this number lives; where that cannot be known it does."""
    if os.name == "nt":  # there the question itself would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _exchanged(one: Path, other: Path) -> bool:
    """Let two paths change places at once; false where the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return False
    done: int = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE)
    return done == 0
