"""Lines that are no messages, over the pipes of a real server: each is answered, and each is logged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.server.lines import Refusal, message_of

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


def deep(levels: int) -> bytes:
    return b'{"jsonrpc":"2.0","method":"tools/call","params":{"a":' + b"[" * levels + b"]" * levels + b'},"id":7}'


REFUSED = {
    "a lone surrogate": (
        rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}',
        PARSE_ERROR,
        1,
    ),
    "bytes that are not UTF-8": (b'{"jsonrpc":"2.0","id":"a","method":"\xed\xa0\x80"}', PARSE_ERROR, "a"),
    "200 levels": (deep(200), PARSE_ERROR, 7),
    "100,000 levels": (deep(100_000), PARSE_ERROR, 7),
    "a list of parameters": (b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[]}', INVALID_PARAMS, 3),
    "half a line": (b'{"jsonrpc":"2.0","id":4,"method":"to', PARSE_ERROR, 4),
    "no JSON": (b"hello", PARSE_ERROR, None),
    "a batch": (b'[{"jsonrpc":"2.0","id":5,"method":"ping"}]', INVALID_REQUEST, None),
    "another version": (b'{"jsonrpc":"1.0","id":6,"method":"ping"}', INVALID_REQUEST, 6),
    "an id that is null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
    "an id that is a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, None),
    "an id within the parameters": (b'{"jsonrpc":"2.0","method":3,"params":{"id":8}}', INVALID_REQUEST, None),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], str]:
    """What a server says to all of the lines above, and its log; between them it is asked for its tools."""
    empty: Path = tmp_path_factory.mktemp("nothing")
    begin = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": begin}).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
        b"",
        *(line for line, _, _ in REFUSED.values()),
        b'{"jsonrpc":"2.0","id":"last","method":"ping"}',
    ]
    done = subprocess.run(
        [sys.executable, "-m", "graphctx.cli", "serve", "--kb", str(empty)],
        input=b"\n".join(lines) + b"\n",
        capture_output=True,
        timeout=120,
        env={**os.environ, "GRAPHCTX_LOG": "warning"},
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


@pytest.mark.parametrize("what", REFUSED)
def test_a_line_that_is_no_message_is_answered_with_an_error(
    answers: tuple[list[dict[str, Any]], str], what: str
) -> None:
    _, code, request_id = REFUSED[what]
    errors = [answer for answer in answers[0] if "error" in answer]
    assert (code, request_id) in [(answer["error"]["code"], answer["id"]) for answer in errors]


def test_every_refused_line_is_logged_and_the_server_goes_on(answers: tuple[list[dict[str, Any]], str]) -> None:
    said, log = answers
    assert len([answer for answer in said if "error" in answer]) == len(REFUSED)
    assert log.count("was refused") == len(REFUSED) + 1, "a notification is not answered, and is logged"
    assert {answer["id"] for answer in said if "result" in answer} == {0, "last"}


@given(
    st.binary(max_size=200)
    | st.text(alphabet='{}[]":,id\\ 1\ud800', max_size=60).map(lambda s: s.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_a_message_or_have_an_error_that_can_be_sent(line: bytes) -> None:
    found = message_of(line)
    if isinstance(found, Refusal) and found.answer is not None:
        assert json.loads(found.answer.model_dump_json(by_alias=True, exclude_unset=True))["error"]["message"]
