"""A server over the pipes of a process: what is on them, lines that are not messages, and how it ends."""

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
from hypothesis import given
from hypothesis import strategies as st

from graphctx.server.stdio import Refusal, parse_line
from tests.processes import environment

SECONDS = 120
"""Seconds after which a server counts as hanging."""

NOISY_SERVER = """
import logging, os, subprocess, sys
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup, open_kb

def open_noisily():
    print("a stray print")
    sys.stdout.flush()
    os.write(1, b"a stray write\\n")
    subprocess.run(["echo", "a stray child"])
    logging.warning("a log line")
    return open_kb(sys.argv[1])

serve_stdio("unused", warmup=Warmup(open_noisily))
"""
"""Does on the way everything that must not reach standard output."""

WAITING_SERVER = """
import sys, threading
from pathlib import Path
from graphctx.server.config import ServerConfig
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup, open_kb
from tests.server.waiting import Waiting

class Telling(Waiting):
    def run(self, context, request):
        print("begun", file=sys.stderr, flush=True)
        threading.Timer({release}, self.released.set).start()
        return super().run(context, request)

warmup = Warmup(lambda: open_kb("none", Path(sys.argv[1])))  # no layers either: what waits needs nothing
warmup.get()  # opening takes none of a call's time
with Telling().offered():
    serve_stdio("unused", ServerConfig(workers=1, call_timeout={timeout}), warmup)
"""

LOADING_SERVER = """
import sys
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup

def open_for_ever():
    from graphctx.nlp.embedders import make_embedder
    print("begun", file=sys.stderr, flush=True)
    while True:
        make_embedder("minilm-int8").embed(["a text"])

serve_stdio("unused", warmup=Warmup(open_for_ever))
"""


def message(**parts: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **parts}).encode() + b"\n"


def call(number: int, tool: str, **arguments: Any) -> bytes:
    return message(id=number, method="tools/call", params={"name": tool, "arguments": arguments})


CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
BEGIN = message(id=0, method="initialize", params=CLIENT) + message(method="notifications/initialized")


@contextmanager
def running(code: str, folder: Path, *lines: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that has got some lines; it is ended in any case."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], env=environment(), **pipes) as process:  # type: ignore[call-overload]
        try:
            send(process, *lines)
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[bytes], *lines: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(lines))
    process.stdin.flush()


def wait_until_begun(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    assert any(line == b"begun\n" for line in process.stderr), "the server ended before it began"


def answers_of(process: subprocess.Popen[bytes]) -> dict[Any, Any]:
    """Return the answers by their ids, once the process has ended well."""
    assert process.stdout is not None
    answers = {answer["id"]: answer for answer in map(json.loads, process.stdout)}
    assert process.wait(SECONDS) == 0
    return answers


# Lines


def deep(levels: int) -> bytes:
    return b'{"jsonrpc":"2.0","method":"tools/call","params":{"a":' + b"[" * levels + b"]" * levels + b'},"id":7}'


PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602
REFUSED = {
    "a lone surrogate": (
        rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}',
        PARSE_ERROR,
        1,
    ),
    "bytes that are not UTF-8": (b'{"jsonrpc":"2.0","id":"a","method":"\xed\xa0\x80"}', PARSE_ERROR, "a"),
    "200 levels": (deep(200), PARSE_ERROR, 7),
    "100,000 levels": (deep(100_000), PARSE_ERROR, None),
    "a list of parameters": (b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[]}', INVALID_PARAMS, 3),
    "half a line": (b'{"jsonrpc":"2.0","id":4,"method":"to', PARSE_ERROR, None),
    "no JSON": (b"hello", PARSE_ERROR, None),
    "a batch": (b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]', INVALID_REQUEST, None),
    "another version": (b'{"jsonrpc":"1.0","id":6,"method":"ping"}', INVALID_REQUEST, 6),
    "an id that is null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is true": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
    "an id within the parameters": (b'{"jsonrpc":"2.0","method":3,"params":{"id":8}}', INVALID_REQUEST, None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_line_that_is_not_a_message_is_refused_with_its_id(name: str) -> None:
    line, code, request_id = REFUSED[name]
    found = parse_line(line)
    assert isinstance(found, Refusal)
    assert found.answer is not None
    assert (found.answer.error.code, found.answer.id) == (code, request_id)


@given(
    st.binary(max_size=200)
    | st.text(alphabet='{}[]":,id\\ 1\ud800', max_size=60).map(lambda s: s.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_a_message_or_have_an_error_that_can_be_sent(line: bytes) -> None:
    found = parse_line(line)
    if isinstance(found, Refusal) and found.answer is not None:
        assert json.loads(found.answer.model_dump_json(by_alias=True, exclude_unset=True))["error"]["message"]


def test_nothing_but_protocol_is_on_standard_output_and_refused_lines_are_answered_and_logged(kb_path: Path) -> None:
    refused = (
        b'{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}\n',
        b"\n",
        *(line + b"\n" for line, _, _ in REFUSED.values()),
    )
    asked = call(1, "kb.retrieve_evidence", question="Who is the duty officer?")
    with running(NOISY_SERVER, kb_path, BEGIN, *refused, asked) as process:
        out, log = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers if "result" in answer] == [0, 1]
    assert any("Ines Halvorsen" in quote["quote"] for quote in answers[-1]["result"]["structuredContent"]["quotes"])
    errors = [(answer["error"]["code"], answer["id"]) for answer in answers if "error" in answer]
    assert errors == [(code, request_id) for _, code, request_id in REFUSED.values()]
    assert log.count(b"refused a line") == len(REFUSED) + 1, "a notification is not answered, and is logged"
    assert all(line in log for line in (b"a stray print", b"a stray write", b"a stray child", b"a log line"))


# The end


def test_a_cancelled_call_is_never_answered_and_one_in_flight_is_before_the_input_ends_the_process(
    tmp_path: Path,
) -> None:
    cancelled = message(method="notifications/cancelled", params={"requestId": 1})
    listed = message(id=2, method="tools/list")
    with running(WAITING_SERVER.format(release=1, timeout=45), tmp_path, BEGIN, call(1, "kb.wait")) as process:
        wait_until_begun(process)
        send(process, cancelled, listed, call(3, "kb.wait"))
        assert process.stdin is not None
        process.stdin.close()
        answers = answers_of(process)
    assert set(answers) == {0, 2, 3}
    assert answers[3]["result"]["structuredContent"] == {"done": True}


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_call_in_flight_is_answered_before_a_signal_ends_the_process(tmp_path: Path, name: str) -> None:
    with running(WAITING_SERVER.format(release=0.3, timeout=45), tmp_path, BEGIN, call(1, "kb.wait")) as process:
        wait_until_begun(process)
        process.send_signal(signal.Signals[name])
        assert answers_of(process)[1]["result"]["structuredContent"] == {"done": True}


def test_a_call_that_does_not_stop_holds_the_end_only_for_its_limit_of_time(tmp_path: Path) -> None:
    lines = (BEGIN, call(1, "kb.wait", deaf=True))
    with running(WAITING_SERVER.format(release=3600, timeout=1), tmp_path, *lines) as process:
        wait_until_begun(process)
        assert process.stdin is not None
        process.stdin.close()
        assert "TIMEOUT" in answers_of(process)[1]["result"]["content"][0]["text"]


def test_a_client_that_has_gone_is_not_waited_for(tmp_path: Path) -> None:
    with running(WAITING_SERVER.format(release=0.3, timeout=45), tmp_path, BEGIN, call(1, "kb.wait")) as process:
        wait_until_begun(process)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_the_end_of_input_ends_a_server_whose_models_are_still_loading(tmp_path: Path) -> None:
    with running(LOADING_SERVER, tmp_path) as process:
        wait_until_begun(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
