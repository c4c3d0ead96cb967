"""Running commands: in this process, as a process of its own, or on a terminal."""

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
    """The exit code and the outputs of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The object on standard output of a command that succeeded."""
        assert self.code == 0, self.out + self.err
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The envelope of a command that failed."""
        assert self.code == 1, self.out + self.err
        error: dict[str, Any] = json.loads(self.out)["error"]
        return error


def run(*words: object, folder: Path | None = None, stdin: bytes = b"", env: dict[str, str] | None = None) -> Done:
    """Run a command in this process."""
    kept = {"GRAPHCTX_KB": None, "SOURCE_DATE_EPOCH": None, "COLUMNS": "200", **(env or {})}
    with chdir(folder or Path.cwd()):
        done = CliRunner().invoke(app, list(map(str, words)), input=stdin, env=kept)
    return Done(done.exit_code, done.stdout, done.stderr)


def layers(folder: Path, *words: object, stdin: bytes = b"", env: dict[str, str] | None = None) -> Done:
    """Run a command of ``graphctx layers`` in a folder, in this process."""
    return run("layers", *words, folder=folder, stdin=stdin, env=env)


def layers_typed(folder: Path, *words: str, stdin: bytes = b"") -> Done:
    """Run a command of ``graphctx layers`` in a folder as a process of its own, without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "graphctx.cli", "layers", *words],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=_SECONDS,
        env=_environment(),
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def layers_asked(folder: Path, answer: str, *words: str) -> Done:
    """Run a command that asks on a terminal, and answer it; standard output is not a terminal."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer.encode())
        process = subprocess.Popen(
            [sys.executable, "-m", "graphctx.cli", "layers", *words],
            cwd=folder,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env=_environment(),
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # Linux: the other side is closed
            pass
        out, _ = process.communicate(timeout=_SECONDS)
    finally:
        os.close(ours)
    return Done(process.returncode, out.decode(), shown.decode())


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("GRAPHCTX_KB", "SOURCE_DATE_EPOCH")}
    return kept | {"COLUMNS": "200", "TERM": "dumb"}
