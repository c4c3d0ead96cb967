"""Child processes that end with their parent, however that ends.

Linux kills them through ``PR_SET_PDEATHSIG``, also while they are stopped or in a long call of C code. Elsewhere a
thread of the child polls its parent's process id.
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
    """Start a process that calls `end_with_parent`, with this process's import path.

    On Linux its parent is the thread that starts it, which has to live as long as the process.

    Args:
        command: the program and its arguments.
        **options: of ``subprocess.Popen``, except ``env``.
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
    """End this process when its parent ends. To be called first; does nothing unless `start_process` started it."""
    parent = int(os.environ.pop(PARENT_VARIABLE, "0"))
    if not parent:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif os.name == "posix":
        threading.Thread(target=watch, args=(parent,), daemon=True).start()
    if os.name == "posix" and os.getppid() != parent:  # the parent ended before the call
        os._exit(1)


def watch(parent: int) -> None:
    """Wait until this process has another parent, then end it."""
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os._exit(1)
