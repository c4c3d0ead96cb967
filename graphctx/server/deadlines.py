"""A limit of time for a request to arrive: a client that sends half of one does not hold its connection for ever.

uvicorn limits the size of what it waits for, and the time between two requests, but not the time that one takes.
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS = 30.0
"""From the connection, or a request's first byte on one that is kept, to the last byte of its body (4 MB at most)."""

_ARRIVING = (h11.IDLE, h11.SEND_BODY)


class DeadlineProtocol(H11Protocol):
    """HTTP/1.1 whose requests must have arrived within `REQUEST_SECONDS`; else 408, and the connection is closed."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin the limit: a client that connects is about to ask something."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Read on; end the limit with the request, and begin one with the first byte of the next."""
        super().data_received(data)
        if self.conn.their_state not in _ARRIVING:
            self._end()
        elif self._deadline is None:
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the limit with the connection."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self._too_late)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [(b"content-length", b"0"), (b"connection", b"close")]
            refusal = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            self.transport.write((self.conn.send(refusal) or b"") + (self.conn.send(h11.EndOfMessage()) or b""))
        self.transport.close()
