"""A server over HTTP as it runs: a process of its own, sockets, its log and its end."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.processes import environment, free_port

SECONDS = 60
"""Seconds after which a server counts as hanging."""
TOKEN = "ana-0123456789-abcdefgh"
PAGE = "https://pages.example"

SERVER = """
import sys
from pydantic import SecretStr
from graphctx.server import http
from graphctx.server.config import ServerConfig

http.REQUEST_SECONDS = 0.5
config = ServerConfig(tokens={"ana": SecretStr(sys.argv[2])})
address = http.HttpConfig(port=int(sys.argv[1]), allowed_origins=[sys.argv[3], "http://localhost:*"])
http.serve_http(sys.argv[4], config, address, lambda: print("listening", flush=True))
"""
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "a page\n\x1b[2J", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Served:
    process: subprocess.Popen[bytes]
    port: int
    log_file: Path

    def log(self) -> str:
        return self.log_file.read_text()

    def request(
        self, method: str, path: str = "/mcp", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)) as connection:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer, answer.read()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer, body = self.request("POST", body=message(tool, arguments), headers=call_headers(tool))
        assert answer.status in (200, 400), body
        return json.loads(body)

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)


def message(tool: str, arguments: Mapping[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def call_headers(tool: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }


@pytest.fixture(scope="module")
def served(kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server for this module, whose requests must arrive within half a second; at SIGTERM it ends well."""
    log_file, port = tmp_path_factory.mktemp("http") / "log", free_port()
    with (
        log_file.open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", SERVER, str(port), TOKEN, PAGE, str(kb_path)],
            env=environment(GRAPHCTX_LOG="info"),
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"listening\n"
            served = Served(process, port, log_file)
            yield served
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0
            assert not any(word in served.log() for word in ("Traceback", "ERROR", "secret", "\x1b"))
        finally:
            process.kill()


def test_a_preflight_of_an_allowed_origin_needs_no_token(served: Served) -> None:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version,"
        "mcp-session-id,last-event-id",
    }
    for origin in (PAGE, "http://localhost:6274"):
        answer, _ = served.request("OPTIONS", headers={"Origin": origin, **asked})
        assert answer.status == 200
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        assert {"GET", "POST", "DELETE"} <= set(answer.headers["Access-Control-Allow-Methods"].split(", "))
    for origin in ("https://evil.example", PAGE + ".evil.example", "http://localhost:x"):
        answer, _ = served.request("OPTIONS", headers={"Origin": origin, **asked})
        assert answer.status == 400
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_a_page_of_an_allowed_origin_reads_answers_and_refusals(served: Served) -> None:
    body = message("kb_search", {"query": "ledger"})
    headers = call_headers("kb_search") | {"Origin": PAGE}
    answer, said = served.request("POST", body=body, headers=headers)
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
    assert "mcp-session-id" in answer.headers["Access-Control-Expose-Headers"].lower()
    assert b"ledger" in said
    answer, _ = served.request("POST", body=body, headers=headers | {"Authorization": "Bearer nobody"})
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (401, PAGE)
    answer, said = served.request("POST", body=body, headers=headers | {"Origin": "https://evil.example"})
    assert answer.headers["Access-Control-Allow-Origin"] is None
    assert answer.status == 403


def test_health_is_told_to_anybody_and_says_nothing_of_the_documents(served: Served) -> None:
    served.call("kb.search", query="ledger")  # opens the knowledge base
    answer, body = served.request("GET", "/healthz", headers={"Host": "any.example"})
    assert (answer.status, json.loads(body)) == (200, {"status": "ok", "published": True})


HALVES = {
    "nothing": b"",
    "half a header": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "half a body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
    "half a second request": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /hea",
}


@pytest.mark.slow
@pytest.mark.parametrize("half", HALVES)
def test_a_request_that_does_not_arrive_ends_after_a_limit(served: Served, half: str) -> None:
    with served.connected() as client:
        client.sendall(HALVES[half])
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    if half != "half a second request":
        assert answer.startswith((b"HTTP/1.1 408 ", b"HTTP/1.1 401 "))
    assert not served.call("kb.search", query="ledger")["result"].get("isError")


def test_a_request_that_drips_is_as_late_as_one_that_stops(served: Served) -> None:
    with served.connected() as client:
        client.settimeout(0.05)
        answer = b""
        client.sendall(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        while not answer:  # until the limit of time for a test
            client.sendall(b"X-A: b\r\n")
            try:
                answer = client.recv(65536)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_client_that_leaves_in_the_middle_leaves_no_traceback(served: Served) -> None:
    body = message("kb.search", {"query": "ledger"})
    head = "".join(f"{name}: {value}\r\n" for name, value in call_headers("kb.search").items())
    handshake = "".join(line for line in head.splitlines(True) if not line.startswith("Mcp-"))
    for lines in (head, handshake):
        whole = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body
        for cut in (len(whole), len(whole) - 10, len(whole) - len(body)):
            for reset in (False, True):
                with served.connected() as client:
                    client.sendall(whole[:cut])
                    if reset:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    assert served.call("kb.search", query="ledger")  # and the log is looked at when the server ends


def test_each_call_is_one_line_of_the_log_without_what_was_asked(served: Served) -> None:
    served.call("kb.search", query="ledger secretquestion")
    served.call("kb.read_excerpt", passage_id="u_nothing", session_id="x_secret")
    served.call("kb.nothing outcome=ok", query="x")
    lines = [line for line in served.log().splitlines() if " call " in line]
    shown = r'who=ana client="a page\\n\\u001b\[2J" ms=\d+ tokens='
    assert any(re.fullmatch(rf"INFO call tool=kb\.search {shown}\d+ outcome=ok", line) for line in lines)
    assert any(
        re.fullmatch(rf"INFO call tool=kb\.read_excerpt {shown}- outcome=INVALID_ARGUMENT", line) for line in lines
    )
    unknown = r'INFO call tool="kb\.nothing outcome=ok" .* outcome=UNKNOWN_TOOL'
    assert any(re.fullmatch(unknown, line) for line in lines)
