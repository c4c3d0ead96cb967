from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from graphctx.server.tools import serve

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent

# A server that does on the way everything that must not reach the wire.
NOISY_SERVER = """
import logging, os, subprocess, sys
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Warmup, open_engine

def noisy_engine():
    print("a stray print")
    sys.stdout.flush()
    os.write(1, b"a stray write\\n")
    subprocess.run(["echo", "a stray child"])
    logging.warning("a log line")
    return open_engine(sys.argv[1])

serve_stdio("unused", warmup=Warmup(noisy_engine))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)])}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_a_question_is_answered_over_real_pipes_by_a_noisy_process(
    kb_path: Path, mode: str, tmp_path: Path
) -> None:
    with (tmp_path / "stderr").open("w+") as errors:
        from mcp.client.stdio import stdio_client

        parameters = StdioServerParameters(
            command=sys.executable, args=["-c", NOISY_SERVER, str(kb_path)], env=environment()
        )
        async with Client(stdio_client(parameters, errlog=errors), mode=mode, read_timeout_seconds=120) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                tool.name.replace(".", "_") for tool in serve()
            ]
            result = await client.call_tool("kb.retrieve_evidence", {"question": "Who is the duty officer?"})
            assert any("Ines Halvorsen" in quote["quote"] for quote in result.structured_content["quotes"])
        errors.seek(0)
        noise = errors.read()
    assert all(line in noise for line in ("a stray print", "a stray write", "a stray child", "a log line"))


def test_nothing_but_protocol_is_on_standard_output(kb_path: Path) -> None:
    def request(number: int, method: str, **params: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"

    initialize = request(
        1,
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "t", "version": "1"},
    )
    initialized = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n"
    call = request(2, "tools/call", name="kb.search", arguments={"query": "ledger"})
    with subprocess.Popen(
        [sys.executable, "-c", NOISY_SERVER, str(kb_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(initialize + initialized + call)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(timeout=120) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert rest == ""


SLOW_SERVER = """
import sys
from graphctx.server.config import ServerConfig
from graphctx.server.stdio import serve_stdio
from server.waiting import Waiting

with Waiting().offered():
    serve_stdio(sys.argv[1], ServerConfig(workers=1))
"""


def test_a_cancelled_call_is_stopped_and_never_answered_over_real_pipes(kb_path: Path) -> None:
    def message(**parts: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", **parts}) + "\n"

    def call(number: int, tool: str, **arguments: str) -> str:
        return message(id=number, method="tools/call", params={"name": tool, "arguments": arguments})

    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_SERVER, str(kb_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(message(id=1, method="initialize", params=initialize))
        process.stdin.write(message(method="notifications/initialized"))
        process.stdin.write(call(2, "kb.search", query="ledger"))
        process.stdin.flush()
        answered = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
        process.stdin.write(call(3, "kb.wait"))
        process.stdin.write(message(method="notifications/cancelled", params={"requestId": 3}))
        process.stdin.write(call(4, "kb.search", query="ledger"))
        process.stdin.flush()
        answered.append(json.loads(process.stdout.readline())["id"])
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(timeout=120) == 0
    assert answered == [1, 2, 4]
