"""The HTTP client: the library's own, with a limit on the time and the size of a whole response.

Its timeouts are for each operation on the socket, so that an endpoint which sends a byte now and then would never
reach them. Imports httpx2, which the MCP SDK brings along.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2

from graphctx.nlp.llm.base import ChatFailed

MAX_BODY_BYTES = 4 * 1024 * 1024
"""Thirty times the longest answer that can be asked for: whatever is larger is no completion."""

_CONNECT_SECONDS = 5.0


class BoundedClient(httpx2.AsyncClient):
    """An HTTP client for one endpoint.

    Args:
        timeout_seconds: for one request, from connecting to the end of its body.
        connections: open at the same time at most.
    """

    def __init__(self, timeout_seconds: float, connections: int) -> None:
        super().__init__(
            timeout=httpx2.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds)),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        )
        self._seconds = timeout_seconds

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Send a request and read its whole response, whatever ``stream`` says.

        Raises:
            httpx2.ReadTimeout: it took too long; the caller may try again.
            ChatFailed: the body is too large, or compressed although that was not accepted.
        """
        try:
            with anyio.fail_after(self._seconds):
                response = await super().send(request, stream=True, **options)
                try:
                    _refuse_compressed(response)
                    if isinstance(response.stream, httpx2.AsyncByteStream):
                        response.stream = _Capped(response.stream)
                    await response.aread()
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("The response was not complete in time.", request=request) from error
        return response


class _Capped(httpx2.AsyncByteStream):
    """A body that fails where it grows over `MAX_BODY_BYTES`."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > MAX_BODY_BYTES:
                raise ChatFailed(f"The endpoint sent more than {MAX_BODY_BYTES:,} bytes.", "not_a_completion")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def _refuse_compressed(response: httpx2.Response) -> None:
    """A small compressed body can unfold to any size; none was asked for."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ChatFailed("The endpoint sent a compressed body.", "not_a_completion")
