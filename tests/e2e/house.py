"""The command line, in this process and in processes of its own, and a small corpus."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
from contextlib import chdir
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from graphctx.cli.app import app
from tests.conftest import REPO
from tests.processes import COMMAND, environment

HANDBOOK = REPO / "eval" / "corpora" / "handbook"
SECONDS = 240

LIGHTHOUSE = {
    "lamp.md": "---\ntags: [light]\n---\n\n# The lamp\n\nThe lamp of Gull Point was lit by Ada Merriweather in 1871. "
    "It burns rape oil, and it is trimmed every four hours.\n",
    "keepers/ada.md": "# Ada Merriweather\n\nAda Merriweather was the first keeper. She was born in the village of "
    "Thornby. Her brother Silas built the [lamp](../lamp.md).\n",
    "rules.txt": "RULES\n=====\n\nThe keeper writes the weather into the log at noon. Nobody swims from the landing.\n",
}


def graphctx(*arguments: object, cwd: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command in this process: most commands take longer to start than to run."""
    inherited = [name for name in os.environ if name.startswith("GRAPHCTX_")]
    settings = {**dict.fromkeys(inherited), "COLUMNS": "100", **extra}
    with chdir(cwd or Path.cwd()):
        shown = CliRunner().invoke(app, list(map(str, arguments)), env=settings)
    return subprocess.CompletedProcess(arguments, shown.exit_code, shown.stdout, shown.stderr)


def graphctx_process(*arguments: object, cwd: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, as users do."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
        cwd=cwd,
        env=environment(**extra),
    )


def started(*arguments: object) -> subprocess.Popen[str]:
    """Start a command as the leader of a process group of its own, which Ctrl-C reaches wherever the tests run.

    A shell lets what it starts in the background ignore SIGINT, and children inherit that.
    """
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for_step(process: subprocess.Popen[str], step: str) -> list[str]:
    """Read standard error until a step is reported as done."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith(step):
            return lines
    raise AssertionError(f"it ended before the step {step}: {''.join(lines)}")


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """Return the standard output of a command that must have ended well."""
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def answer_of(*arguments: object, **extra: str) -> dict[str, Any]:
    """Return the JSON object that a command prints."""
    return json.loads(succeeded(graphctx(*arguments, "--json", **extra)))


def error_of(*arguments: object) -> dict[str, Any]:
    """Return the error that a command reports as JSON; it must exit with 1 and show no traceback."""
    done = graphctx(*arguments, "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout)["error"]


def write_lighthouse(folder: Path) -> Path:
    """Write the small corpus."""
    for name, text in LIGHTHOUSE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def published(kb: Path) -> dict[str, str]:
    """Return the hashes of ``CURRENT`` and of every file of the snapshot that it names."""
    current = (kb / "CURRENT").read_text().strip()
    files = [kb / "CURRENT", *sorted(path for path in (kb / "snapshots" / current).rglob("*") if path.is_file())]
    return {path.relative_to(kb).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
