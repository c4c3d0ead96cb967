"""Processes that end with the process that started them, however that one ends.

Linux kills them through ``PR_SET_PDEATHSIG``, also while they are stopped or in a long call of C code. Elsewhere a
thread of theirs watches for the day on which they have another parent.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import graphctx.errors as errors

PARENT_VARIABLE = "GRAPHCTX_PARENT_PROCESS"
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_POLL_SECONDS = 1.0


def start_process(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process that calls ``end_with_parent``; it imports what this process can import.

    Linux counts the thread that starts it as its parent, so that thread has to live as long as the process.

    Args:
        command: the program and its arguments.
        **options: of ``subprocess.Popen``, all but ``env``.
    """
    root = str(Path(errors.__file__).resolve().parent.parent)
    paths = os.pathsep.join(dict.fromkeys([root, *filter(None, sys.path)]))
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": paths, PARENT_VARIABLE: str(os.getpid())}, **options
    )


def start_module(name: str, **options: Any) -> subprocess.Popen[Any]:
    """Start ``python -m name`` as `start_process` does."""
    return start_process([sys.executable, "-m", name], **options)


def end_with_parent() -> None:
    """End this process when the one that started it ends. The first thing that a started process does.

    A process that was not started by ``start_process`` lives on as it was.
    """
    parent = int(os.environ.pop(PARENT_VARIABLE, "0"))
    if not parent:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif os.name == "posix":
        threading.Thread(target=watch, args=(parent,), daemon=True).start()
    if os.name == "posix" and os.getppid() != parent:  # it ended before this process could say so
        os._exit(1)


def watch(parent: int) -> None:
    """Wait until this process has another parent, then end it."""
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(1)
