"""Who reads a snapshot holds a shared lock on its manifest, so that pruning leaves it alone.

The lock is the operating system's and goes with its holder. Where there is no ``flock``, nothing is held, and a
reader of a pruned snapshot is told that its files are gone.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Lease:
    """Hold a file shared, until ``release`` or the end of this object.

    Raises:
        OSError: the file is not there.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        self._finalizer = weakref.finalize(self, os.close, descriptor)
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def release(self) -> None:
        """Give it back; twice is once."""
        self._finalizer()


def is_leased(path: Path) -> bool:
    """Whether anyone holds the file; ``False`` if it is not there."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
