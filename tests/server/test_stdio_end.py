"""How a server over stdio ends: it answers what it has begun, and leaves with code 0, whatever its threads do."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .test_stdio import environment

SECONDS = 60
"""After which a server is taken to hang."""

SERVER = """
import sys, threading
from graphctx.server.config import ServerConfig
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup, open_engine
from server.waiting import Waiting

class Telling(Waiting):
    def run(self, context, request):
        print("begun", file=sys.stderr, flush=True)
        threading.Timer({release}, self.released.set).start()
        return super().run(context, request)

warmup = Warmup(lambda: open_engine(sys.argv[1]))
warmup.get()  # whatever opening takes is no part of a call's time
with Telling().offered():
    serve_stdio("unused", ServerConfig(call_timeout={timeout}), warmup)
"""

OPENING = """
import sys
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup

def opened_for_ever():
    from graphctx.nlp.embedders import make_embedder
    print("begun", file=sys.stderr, flush=True)
    while True:
        make_embedder("minilm-int8").embed(["a text"])

serve_stdio("unused", warmup=Warmup(opened_for_ever))
"""


def message(**parts: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **parts}).encode() + b"\n"


def wait(number: int, deaf: bool = False) -> bytes:
    return message(id=number, method="tools/call", params={"name": "kb.wait", "arguments": {"deaf": deaf}})


BEGIN = message(
    id=0,
    method="initialize",
    params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
) + message(method="notifications/initialized")


@contextmanager
def running(code: str, kb_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server that is ended in any case."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code, str(kb_path)], env=environment(), **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def begun(process: subprocess.Popen[bytes]) -> None:
    """Wait for the server to say that work has begun."""
    assert process.stderr is not None
    for line in process.stderr:
        if line == b"begun\n":
            return
    raise AssertionError("the server ended before it began")


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
def test_a_call_in_flight_is_answered_before_the_process_ends(kb_path: Path, how: str) -> None:
    with running(SERVER.format(release=0.3, timeout=45), kb_path) as process:
        assert process.stdin is not None
        process.stdin.write(BEGIN + wait(1))
        process.stdin.flush()
        begun(process)
        if how == "end of input":
            process.stdin.close()
        else:
            process.send_signal(signal.Signals[how])
        assert process.stdout is not None
        answers = {answer["id"]: answer for answer in map(json.loads, process.stdout)}
        assert process.wait(SECONDS) == 0
    assert answers[1]["result"]["structuredContent"] == {"done": True}


def test_a_call_that_does_not_stop_holds_the_end_only_for_its_limit_of_time(kb_path: Path) -> None:
    with running(SERVER.format(release=3600, timeout=2), kb_path) as process:
        assert process.stdin is not None
        process.stdin.write(BEGIN + wait(1, deaf=True))
        process.stdin.flush()
        begun(process)
        process.stdin.close()
        assert process.stdout is not None
        answers = {answer["id"]: answer for answer in map(json.loads, process.stdout)}
        assert process.wait(SECONDS) == 0
    assert "TIMEOUT" in answers[1]["result"]["content"][0]["text"]


def test_a_client_that_has_gone_is_not_waited_for(kb_path: Path) -> None:
    with running(SERVER.format(release=0.3, timeout=45), kb_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(BEGIN + wait(1))
        process.stdin.flush()
        begun(process)
        process.stdout.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_the_end_of_input_ends_a_server_whose_models_are_still_loading(kb_path: Path) -> None:
    with running(OPENING, kb_path) as process:
        begun(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_server_ends_while_its_client_neither_reads_nor_closes(kb_path: Path) -> None:
    with running(SERVER.format(release=0.1, timeout=45), kb_path) as process:
        assert process.stdin is not None
        process.stdin.write(BEGIN + wait(1))
        process.stdin.flush()
        begun(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 0
