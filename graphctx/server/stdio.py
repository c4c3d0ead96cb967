"""The stdio transport: one client, one process, and nothing but the protocol on standard output.

Every line that is not a message is answered with an error and logged. At the end of the input, and when the process
is told to end (SIGTERM, SIGINT), calls in flight are answered first. The SDK's `stdio_server` does neither: it drops
such lines, and cannot stop while it waits for a line.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from graphctx.server.config import ServerConfig
from graphctx.server.process import configure_log, leave
from graphctx.server.warmup import Warmup, open_kb

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""Seconds that calls in flight may take after SIGTERM; process managers commonly wait for ten."""


def serve_stdio(kb_path: str | Path, config: ServerConfig | None = None, warmup: Warmup | None = None) -> None:
    """Serve a knowledge base over standard input and output until the client closes them, then end the process.

    Args:
        kb_path: the knowledge base's folder. It is opened in the background, so its errors show in calls.
        config: the server's settings.
        warmup: how to open the knowledge base, if not from ``kb_path``.

    ```python
    serve_stdio("handbook/.graphctx")
    ```
    """
    configure_log()
    config = config or ServerConfig()
    anyio.run(_serve, config, warmup or Warmup(lambda: open_kb(str(kb_path), config.layers, config)))
    leave()


async def _serve(config: ServerConfig, warmup: Warmup) -> None:
    # The descriptors are taken before anything is imported or started that could print or read.
    transport = StdioTransport(
        _take_over(0, os.open(os.devnull, os.O_RDONLY), "rb"),
        _take_over(1, os.dup(2), "wb"),
        config.call_timeout + STOP_SECONDS,
    )
    from graphctx.server.app import build_server

    server = build_server(warmup, config)
    warmup.start()
    async with anyio.create_task_group() as group:
        group.start_soon(transport.read)
        group.start_soon(transport.write)
        if sys.platform != "win32":
            group.start_soon(transport.handle_signals)
        await server.run(transport.incoming, transport.outgoing, server.create_initialization_options())
        with anyio.move_on_after(STOP_SECONDS):  # the client may have stopped reading
            await transport.written.wait()
        group.cancel_scope.cancel()


def _take_over(descriptor: int, replacement: int, mode: str) -> BinaryIO:
    """Open a standard stream under another descriptor, and put ``replacement`` in its place."""
    own = os.fdopen(os.dup(descriptor), mode)
    os.dup2(replacement, descriptor)
    os.close(replacement)
    return cast(BinaryIO, own)


class StdioTransport:
    """The lines of one client as streams of messages.

    Args:
        source: lines to read.
        sink: where to write lines.
        grace: seconds that calls in flight may take after the end of the input.
    """

    def __init__(self, source: BinaryIO, sink: BinaryIO, grace: float) -> None:
        self._source = source
        self._sink = sink
        self._grace = grace
        self._send, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        self.outgoing, self._receive = anyio.create_memory_object_stream[SessionMessage]()
        self._errors = self.outgoing.clone()
        self._unanswered: set[int | str] = set()
        self._answered = anyio.Event()
        self._reading = anyio.CancelScope()
        self._finishing = anyio.CancelScope()
        self.written = anyio.Event()

    async def read(self) -> None:
        """Pass on the client's messages until the end of the input; then wait until they are answered."""
        async with self._send, self._errors:
            with self._reading:
                while line := await anyio.to_thread.run_sync(self._source.readline, abandon_on_cancel=True):
                    await self._receive_line(line)
            self._limit(self._grace)
            with self._finishing:
                while self._unanswered:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def write(self) -> None:
        """Send the server's messages until both it and `read` are done."""
        async for item in self._receive:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            try:
                await anyio.to_thread.run_sync(self._write_line, line.encode(), abandon_on_cancel=True)
            except OSError:
                self._stop(0)  # the client has gone, and nobody reads further answers
            if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
                self._mark_answered(item.message.id)
        self.written.set()

    async def handle_signals(self) -> None:
        """Stop reading at the first signal to end, and abandon calls in flight at the second."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            seconds = STOP_SECONDS
            async for _ in signals:
                self._stop(seconds)
                seconds = 0

    async def _receive_line(self, line: bytes) -> None:
        if not line.strip():
            return
        message = parse_line(line)
        if isinstance(message, Refusal):
            log.warning("refused a line of %d bytes: %s", len(line), message.reason)
            if message.answer is not None:
                await self._errors.send(SessionMessage(message.answer))
            return
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._mark_answered((message.params or {}).get("requestId"))  # a cancelled request has no answer
        await self._send.send(SessionMessage(message))

    def _write_line(self, line: bytes) -> None:
        self._sink.write(line)
        self._sink.flush()

    def _mark_answered(self, request_id: Any) -> None:
        if isinstance(request_id, int | str):
            self._unanswered.discard(request_id)
        self._answered.set()

    def _stop(self, seconds: float) -> None:
        self._reading.cancel()
        self._limit(seconds)

    def _limit(self, seconds: float) -> None:
        self._finishing.deadline = min(self._finishing.deadline, anyio.current_time() + seconds)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a line is not a message.

    Attributes:
        reason: what is wrong, without anything that the line holds.
        answer: the error to send; ``None`` for a notification, which has no answer.
    """

    reason: str
    answer: JSONRPCError | None


def parse_line(line: bytes) -> JSONRPCMessage | Refusal:
    """Parse one line of UTF-8 as a message of JSON-RPC 2.0.

    Strict JSON is required: a lone surrogate, more than 200 levels and bytes that are not UTF-8 are parse errors. The
    error carries the request's id if a lenient parser finds one, so that the client knows which call failed.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
    else:
        if isinstance(message, JSONRPCNotification) and "id" in _parse_leniently(line):
            return _refuse(INVALID_REQUEST, "Invalid request: id must be a string or an integer", None)
        return message
    fields = _parse_leniently(line)
    request_id = _valid_id(fields.get("id"))
    if faults[0]["type"] == "json_invalid":
        return _refuse(PARSE_ERROR, f"Parse error: {faults[0]['msg'].removeprefix('Invalid JSON: ')}", request_id)
    places = {fault["loc"] for fault in faults}
    if {place for place in places if place[0] == "JSONRPCNotification"} == {("JSONRPCNotification", "params")}:
        reason = "Invalid params: params must be an object"
        return _refuse(INVALID_PARAMS, reason, request_id) if "id" in fields else Refusal(reason, None)
    return _refuse(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", request_id)


def _refuse(code: int, reason: str, request_id: int | str | None) -> Refusal:
    return Refusal(reason, JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=reason)))


def _parse_leniently(line: bytes) -> dict[str, Any]:
    """Return the object that a line holds, if Python's parser can read it."""
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _valid_id(found: object) -> int | str | None:
    """Return an id that a request may have and an answer can carry."""
    if isinstance(found, str) and found.isprintable():  # which a lone surrogate is not
        return found
    return found if isinstance(found, int) and not isinstance(found, bool) else None
