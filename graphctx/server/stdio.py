"""The stdio transport: one client, one process, nothing but protocol on standard output.

Standard input and output are taken before anything is imported or started that could print: file descriptor 1 then
points at standard error and 0 at nothing, so that a stray print of ours, of a library or of a child process never
reaches the wire, and no child reads from it.

Every line that holds no message is answered with an error and logged. At the end of the input, and when the process
is told to end (SIGTERM, SIGINT), calls in flight are answered first.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from graphctx.server.config import ServerConfig
from graphctx.server.lines import Refusal, message_of
from graphctx.server.process import configure_log, leave
from graphctx.server.warmup import Warmup, open_engine

log = logging.getLogger(__name__)

STOP_SECONDS = 5.0
"""How long calls in flight may go on after SIGTERM; process managers commonly wait for ten seconds."""


def serve_stdio(kb_path: str | Path, config: ServerConfig | None = None, warmup: Warmup | None = None) -> None:
    """Serve a knowledge base over standard input and output until the client closes them, then end the process.

    Args:
        kb_path: the knowledge base's folder; opened in the background, so that errors in it show in calls.
        config: the server's settings.
        warmup: how to open the knowledge base, if not from ``kb_path``.
    """
    configure_log()
    config = config or ServerConfig()
    anyio.run(_serve, config, warmup or Warmup(lambda: open_engine(str(kb_path), config.layers)))
    leave()


async def _serve(config: ServerConfig, warmup: Warmup) -> None:
    wire = Wire(
        _taken(0, os.open(os.devnull, os.O_RDONLY), "rb"),
        _taken(1, os.dup(2), "wb"),
        config.call_timeout + STOP_SECONDS,
    )
    from graphctx.server.app import build_server

    server = build_server(warmup, config)
    warmup.start()
    async with anyio.create_task_group() as group:
        group.start_soon(wire.read)
        group.start_soon(wire.write)
        if sys.platform != "win32":
            group.start_soon(wire.heed_signals)
        await server.run(wire.incoming, wire.outgoing, server.create_initialization_options())
        with anyio.move_on_after(STOP_SECONDS):  # a client may have stopped to read
            await wire.written.wait()
        group.cancel_scope.cancel()


def _taken(descriptor: int, stand_in: int, mode: str) -> BinaryIO:
    """Open a standard stream under another descriptor, and put a file in its place that is closed here."""
    own = os.fdopen(os.dup(descriptor), mode)
    os.dup2(stand_in, descriptor)
    os.close(stand_in)
    return cast(BinaryIO, own)


class Wire:
    """The lines of one client, as streams of messages.

    Args:
        source: lines to read.
        sink: where to write lines.
        grace: seconds that calls in flight may go on after the end of the input.
    """

    def __init__(self, source: BinaryIO, sink: BinaryIO, grace: float) -> None:
        self._source = source
        self._sink = sink
        self._grace = grace
        self._send, self.incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        self.outgoing, self._receive = anyio.create_memory_object_stream[SessionMessage]()
        self._refusals = self.outgoing.clone()
        self._unanswered: set[int | str] = set()
        self._answered = anyio.Event()
        self._reading = anyio.CancelScope()
        self._finishing = anyio.CancelScope()
        self.written = anyio.Event()

    async def read(self) -> None:
        """Pass on what the client sends, to its end; then wait for the answers to that."""
        async with self._send, self._refusals:
            with self._reading:
                while line := await anyio.to_thread.run_sync(self._source.readline, abandon_on_cancel=True):
                    await self._take(line)
            self._limit(self._grace)
            with self._finishing:
                while self._unanswered:
                    self._answered = anyio.Event()
                    await self._answered.wait()

    async def write(self) -> None:
        """Send what the server answers, until both it and `read` are done."""
        async for item in self._receive:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
            try:
                await anyio.to_thread.run_sync(self._put, line.encode(), abandon_on_cancel=True)
            except OSError:
                self._stop(0)  # the client has gone: nobody reads what is still to come
            if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
                self._settle(item.message.id)
        self.written.set()

    async def heed_signals(self) -> None:
        """Read no further when the process is told to end, and give up calls in flight when it is told again."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            seconds = STOP_SECONDS
            async for _ in signals:
                self._stop(seconds)
                seconds = 0

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        message = message_of(line)
        if isinstance(message, Refusal):
            log.warning("a line of %d bytes was refused: %s", len(line), message.why)
            if message.answer is not None:
                await self._refusals.send(SessionMessage(message.answer))
            return
        if isinstance(message, JSONRPCRequest):
            self._unanswered.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))  # nobody answers it
        await self._send.send(SessionMessage(message))

    def _put(self, line: bytes) -> None:
        self._sink.write(line)
        self._sink.flush()

    def _settle(self, request_id: Any) -> None:
        if isinstance(request_id, int | str):
            self._unanswered.discard(request_id)
        self._answered.set()

    def _stop(self, seconds: float) -> None:
        self._reading.cancel()
        self._limit(seconds)

    def _limit(self, seconds: float) -> None:
        self._finishing.deadline = min(self._finishing.deadline, anyio.current_time() + seconds)
