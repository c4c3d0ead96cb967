"""Running ``graphctx layers``: in this process, or as it is typed, with a terminal or without."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from graphctx.cli.app import app

_SECONDS = 120


@dataclass(frozen=True)
class Done:
    """What a command left: exit code and outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The object on standard output."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The envelope of a command that failed."""
        assert self.code == 1
        error: dict[str, Any] = self.json["error"]
        return error


def layers(folder: Path, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Done:
    """Run a command in a folder, in this process."""
    kept = {"GRAPHCTX_KB": None, "SOURCE_DATE_EPOCH": None, "COLUMNS": "200", **(env or {})}
    with chdir(folder):
        done = CliRunner().invoke(app, ["layers", *arguments], input=stdin, env=kept)
    return Done(done.exit_code, done.stdout, done.stderr)


def layers_typed(folder: Path, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Done:
    """Run a command in a folder as a process of its own, without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "graphctx.cli", "layers", *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=_SECONDS,
        env=_environment(env),
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def layers_asked(folder: Path, answer: str, *arguments: str) -> Done:
    """Run a command that asks on a terminal, and answer it; standard output is no terminal."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        process = subprocess.Popen(
            [sys.executable, "-m", "graphctx.cli", "layers", *arguments],
            cwd=folder,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=_environment(),
        )
        os.close(theirs)
        shown = _all_of(ours)
        out, _ = process.communicate(timeout=_SECONDS)
    finally:
        os.close(ours)
    return Done(process.returncode, out.decode(), shown)


def _all_of(terminal: int) -> str:
    """What is shown on a terminal until the other side is closed."""
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that nobody is there any more
            return shown.decode()
        if not piece:
            return shown.decode()
        shown += piece


def _environment(more: dict[str, str] | None = None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("GRAPHCTX_KB", "SOURCE_DATE_EPOCH")}
    return kept | {"COLUMNS": "200", "TERM": "dumb"} | (more or {})
