"""Commands under strace: no connection but on this machine, no name looked up, no file outside the knowledge base.

Python's own audit hooks do not see what native libraries do, so the system calls of all processes are read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.processes import COMMAND, environment, free_port, wait_until_listening

from .house import SECONDS, write_lighthouse

QUESTION = "Where was Ada Merriweather born?"

LOOPBACK = re.compile(r'inet_addr\("127\.|inet_pton\(AF_INET6, "::1"|inet_pton\(AF_INET6, "::ffff:127\.')
LOOKUPS = ("/etc/resolv.conf", "/etc/hosts", "nscd", "systemd/resolve")
"""Files and sockets that a look-up of a name begins with, wherever it is then sent."""

SYSTEM = ("/dev/", "/proc/", "pipe:", "socket:", "anon_inode:", "/memfd:")
OPENED = re.compile(r"^(?:open|openat|creat)\(.*\b(?:O_WRONLY|O_RDWR|O_CREAT)\b.* = \d+<(.+?)>(?:\(deleted\))?$")


@dataclass(frozen=True)
class Tracer:
    """Runs commands with an empty home directory and keeps what they asked of the system.

    ``CI`` is not in their environment, because onnxruntime sends nothing where it is; nor is anything of the person
    who runs the tests.
    """

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    def arguments(self, *arguments: object) -> dict[str, Any]:
        for name in ("home", "tmp", "traces", "cwd"):
            (self.root / name).mkdir(exist_ok=True)
        kept = {name: environment()[name] for name in ("PATH", "PYTHONPATH")}
        own = {"HOME": str(self.home), "TMPDIR": str(self.root / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
        trace = ["strace", "-qq", "-y", "-s", "300", "--seccomp-bpf", "-ff", "-o", str(self.root / "traces" / "call")]
        return {
            "args": [*trace, "-e", "trace=%network,open,openat,creat", *COMMAND, *map(str, arguments)],
            "cwd": self.root / "cwd",
            "env": {**kept, "LANG": "C.UTF-8", **own},
        }

    def run(self, *arguments: object) -> str:
        done = subprocess.run(
            **self.arguments(*arguments), capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def calls(self) -> list[str]:
        files = sorted((self.root / "traces").iterdir())
        return [line for file in files for line in file.read_text("utf-8", "replace").splitlines()]

    def check(self, kb: Path) -> None:
        """Assert that everything stayed on this machine and in its places."""
        calls = self.calls()
        assert any("snapshots" in call for call in calls), "the trace is empty"
        lookups = [call for call in calls if " = -1 ENOENT" not in call and any(name in call for name in LOOKUPS)]
        remote = [call for call in calls if "AF_INET" in call and "sin" in call and not LOOPBACK.search(call)]
        assert (lookups, remote) == ([], [])
        places = (*SYSTEM, f"{kb}/", f"{kb.parent}/.{kb.name}", f"{self.root / 'tmp'}/")
        written = [found[1] for call in calls if (found := OPENED.search(call))]
        assert [path for path in written if not path.startswith(places)] == []
        assert [list((self.root / name).rglob("*")) for name in ("home", "cwd")] == [[], []]


@pytest.fixture
def tracer(tmp_path: Path) -> Tracer:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed, and nothing else shows what native libraries ask of the system")
    probe = ["strace", "-ff", "-y", "--seccomp-bpf", "-o", str(tmp_path / "probe"), "true"]
    tried = subprocess.run(probe, capture_output=True, text=True, timeout=60, check=False)
    if tried.returncode:
        pytest.skip(f"strace cannot trace a process here: {tried.stderr.strip()}")
    return Tracer(tmp_path.resolve())


@contextmanager
def serving(tracer: Tracer, kb: Path, *options: object) -> Iterator[subprocess.Popen[str]]:
    arguments = tracer.arguments("serve", "--kb", kb, *options)
    with subprocess.Popen(
        **arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def ask_over_stdio(process: subprocess.Popen[str]) -> str:
    """The answer to one question, by messages written by hand: the SDK's client starts its process itself."""
    assert process.stdin is not None
    assert process.stdout is not None
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "kb_retrieve_evidence", "arguments": {"question": QUESTION}}
    for message in (
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if json.loads(line).get("id") == 2:
            return line
    raise AssertionError("the server ended before it answered")


async def ask_over_http(url: str) -> str:
    async with Client(url, read_timeout_seconds=60) as session:
        return str(await session.call_tool("kb_retrieve_evidence", {"question": QUESTION}))


def test_an_ingest_and_a_question_stay_on_this_machine_and_in_their_places(tracer: Tracer, tmp_path: Path) -> None:
    documents, kb = write_lighthouse(tmp_path / "documents"), tracer.root / "kb"
    tracer.run("ingest", documents, "--kb", kb)
    assert "Thornby" in tracer.run("ask", QUESTION, "--kb", kb)
    tracer.check(kb)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [60])
def test_servers_that_have_answered_stay_on_this_machine_and_in_their_places(
    own_kb: Path, tracer: Tracer, seconds: int
) -> None:
    kb, port = own_kb.resolve(), free_port()
    with serving(tracer, kb) as stdio, serving(tracer, kb, "--transport", "http", "--port", port) as http:
        assert "Thornby" in ask_over_stdio(stdio)
        wait_until_listening(http)
        assert "Thornby" in anyio.run(ask_over_http, f"http://127.0.0.1:{port}/mcp")
        for server, time_left in ((stdio, seconds), (http, 0.1)):  # what libraries send, they send after a while
            with pytest.raises(subprocess.TimeoutExpired):
                server.wait(timeout=time_left)
    tracer.check(kb)
