"""A process that ends with the process that started it, however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends. Linux alone can.

    The parent is the thread that started this process: on Linux the signal also comes when that thread ends.

    Args:
        parent: process id of the parent. This process ends at once if that one is gone already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
