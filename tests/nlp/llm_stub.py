"""A chat endpoint on a real socket that does what a test tells it, and what goes wrong with real ones."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from graphctx.nlp.llm.client import ChatModel, make_chat_model
from graphctx.settings import LlmSettings

DRIP_SECONDS = 0.02
PATIENCE_SECONDS = 20.0
"""Nothing waits longer: a test that is wrong fails instead of hanging."""


@dataclass
class Asked:
    """A request as it came."""

    at: float
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])

    @property
    def given(self) -> list[str]:
        """The numbered sentences."""
        return re.findall(r"(?m)^\[\d+\] (.*)$", self.user)


class Exchange(BaseHTTPRequestHandler):
    """One request, while it is answered."""

    protocol_version = "HTTP/1.1"
    stub: Stub
    asked: Asked

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked = Asked(time.monotonic(), self.path, {k.lower(): v for k, v in self.headers.items()}, body)
        reply = self.stub.enter(self.asked)
        try:
            reply(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client did not wait, as it should
        finally:
            self.stub.leave()

    def send(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int = -1) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body) if length < 0 else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


Reply = Callable[[Exchange], None]


@dataclass
class Stub:
    """What is asked of the endpoint, and what it does: ``script`` in turn, then ``otherwise``."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    otherwise: Reply = lambda exchange: first_sentence(exchange)
    requests: list[Asked] = field(default_factory=list)
    most_at_once: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    _at_once: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, asked: Asked) -> Reply:
        with self._lock:
            self.requests.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return self.script.pop(0) if self.script else self.otherwise

    def leave(self) -> None:
        with self._lock:
            self._at_once -= 1

    def settings(self, **values: Any) -> LlmSettings:
        defaults = {"base_url": self.url, "model": "stub", "timeout_seconds": 10.0, "max_retries": 0}
        return LlmSettings(**{**defaults, **values})

    def model(self, **values: Any) -> ChatModel:
        return make_chat_model(self.settings(**values))


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A running endpoint."""
    pytest.importorskip("openai", reason="the extra graphctx[llm] is not installed")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    made = Stub()
    handler = type("Handler", (Exchange,), {"stub": made})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        made.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield made
        finally:
            made.over.set()
            server.shutdown()
            thread.join()


def completion(text: str | None, finish: str = "stop") -> bytes:
    """The body of a well-formed answer."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def says(text: str | None, finish: str = "stop") -> Reply:
    return lambda exchange: exchange.send(200, completion(text, finish))


def first_sentence(exchange: Exchange) -> None:
    """Repeat the first given sentence and cite it."""
    sentence = exchange.asked.given[0].rstrip(".")
    exchange.send(200, completion(f"{sentence} [1]."))


def sends(status: int, body: bytes = b"{}", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda exchange: exchange.send(status, body, named)


def hang(exchange: Exchange) -> None:
    """Take the request and say nothing."""
    exchange.stub.over.wait(PATIENCE_SECONDS)
    exchange.close_connection = True


def drip_body(exchange: Exchange) -> None:
    """A good answer, a byte at a time, so slowly that it never ends."""
    exchange.send(200, b"", length=10_000)
    _drip(exchange, completion("Slow [1].") + b" " * 10_000)


def drip_headers(exchange: Exchange) -> None:
    _drip(exchange, b"HTTP/1.1 200 OK\r\nx-padding: " + b"x" * 10_000)


def huge(exchange: Exchange) -> None:
    """Blanks before an answer, for as long as somebody reads."""
    exchange.send(200, b"", length=1 << 32)
    while not exchange.stub.over.is_set():
        exchange.wfile.write(b" " * 65_536)


def reset(exchange: Exchange) -> None:
    """Half an answer, then a reset of the connection."""
    body = completion("Never whole [1].")
    exchange.send(200, body[: len(body) // 2], length=len(body))
    exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    socket.close(exchange.connection.detach())
    exchange.close_connection = True


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _drip(exchange: Exchange, content: bytes) -> None:
    for at in range(len(content)):
        if exchange.stub.over.wait(DRIP_SECONDS):
            break
        exchange.wfile.write(content[at : at + 1])
        exchange.wfile.flush()
    exchange.close_connection = True
