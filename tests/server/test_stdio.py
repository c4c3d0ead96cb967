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

from .calls import LISTED

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent

# A server over the tests' library that does on the way everything that must not reach the wire.
NOISY_SERVER = """
import logging, os, subprocess, sys
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Engine, Warmup
from server.library import Library, count_tokens

def noisy_engine():
    print("a stray print")
    sys.stdout.flush()
    os.write(1, b"a stray write\\n")
    subprocess.run(["echo", "a stray child"])
    logging.warning("a log line")
    return Engine(Library(), count_tokens)

serve_stdio("unused", warmup=Warmup(noisy_engine))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(TESTS)])}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_a_question_is_answered_over_real_pipes_by_a_noisy_process(mode: str, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w+") as errors:
        from mcp.client.stdio import stdio_client

        parameters = StdioServerParameters(command=sys.executable, args=["-c", NOISY_SERVER], env=environment())
        async with Client(stdio_client(parameters, errlog=errors), mode=mode, read_timeout_seconds=30) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                LISTED.name(tool.name) for tool in serve()
            ]
            result = await client.call_tool("kb.retrieve_evidence", {"question": "Who is the duty officer?"})
            assert any("Ines Halvorsen" in quote["quote"] for quote in result.structured_content["quotes"])
        errors.seek(0)
        noise = errors.read()
    assert all(line in noise for line in ("a stray print", "a stray write", "a stray child", "a log line"))


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_the_whole_is_looked_at_over_real_pipes(handbook_path: Path, mode: str) -> None:
    from mcp.client.stdio import stdio_client

    command = ["-m", "graphctx.cli", "serve", "--kb", str(handbook_path)]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment())
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=60) as client:
        found = (await client.call_tool("graph.communities", {"page_size": 2})).structured_content
        assert len(found["communities"]) == 2
        rest = await client.call_tool("graph.communities", {"page_size": 2, "cursor": found["next_cursor"]})
        assert rest.structured_content["communities"] != found["communities"]
        answer = (
            await client.call_tool("kb.global_search", {"question": "What recurs in the incidents?"})
        ).structured_content
        handle = {} if mode == "legacy" else {"session_id": answer["session_id"]}
        first = answer["points"][0]
        read = await client.call_tool("kb.read_excerpt", {"passage_id": first["passage_id"], **handle})
        assert first["quote"] in read.structured_content["excerpt"]
        top = found["communities"][0]
        [community] = (await client.read_resource(f"graphctx://community/{top['id']}")).contents
        assert community.text.startswith(f"# {top['title']}\n")
        [whole] = (await client.read_resource("graphctx://hierarchy/concept")).contents
        assert f"- {top['title']} (`{top['id']}`)" in whole.text
        [units] = (await client.read_resource("graphctx://hierarchy/3")).contents
        assert first["section_id"] in units.text


def test_nothing_but_protocol_is_on_standard_output() -> None:
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
        [sys.executable, "-c", NOISY_SERVER],
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
        assert process.wait(timeout=30) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert rest == ""


SLOW_SERVER = """
import sys
from graphctx.server.config import ServerConfig
from graphctx.server.stdio import serve_stdio
from graphctx.server.warmup import Engine, Warmup
from server.library import count_tokens
from server.slow import SlowLibrary

class Telling(SlowLibrary):
    def find(self, request):
        try:
            return super().find(request)
        finally:
            if request.query == "slow":
                print("stopped", file=sys.stderr, flush=True)

serve_stdio("unused", ServerConfig(workers=1), warmup=Warmup(lambda: Engine(Telling(), count_tokens)))
"""


def test_a_cancelled_call_is_stopped_and_never_answered_over_real_pipes() -> None:
    def message(**parts: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", **parts}) + "\n"

    def search(number: int, query: str) -> str:
        return message(id=number, method="tools/call", params={"name": "kb.search", "arguments": {"query": query}})

    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(message(id=1, method="initialize", params=initialize))
        process.stdin.write(message(method="notifications/initialized"))
        process.stdin.write(search(2, "ledger"))
        process.stdin.flush()
        answered = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
        process.stdin.write(search(3, "slow"))
        process.stdin.write(message(method="notifications/cancelled", params={"requestId": 3}))
        process.stdin.write(search(4, "ledger"))
        process.stdin.flush()
        answered.append(json.loads(process.stdout.readline())["id"])
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(timeout=30) == 0
    assert answered == [1, 2, 4]
