"""The streamable HTTP transport: many clients, on this machine by default, with bearer tokens if there are any."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import logging
import re
import signal
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import h11
import uvicorn
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.server.app import build_server
from graphctx.server.auth import BearerTokens
from graphctx.server.config import ServerConfig
from graphctx.server.process import configure_log, leave
from graphctx.server.warmup import Warmup, open_kb
from graphctx.store.config import is_absent
from graphctx.store.objects import object_url

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
REQUEST_SECONDS = 30.0
"""Seconds from the connection, or from the first byte of a request on a keep-alive connection, to the last byte of its
body (at most 4 MB)."""
SHUTDOWN_SECONDS = 3
"""Seconds that calls may take after SIGTERM or Ctrl-C; streams that clients keep open would never end."""
HEALTH_PATH = "/healthz"
BROWSER_HEADERS = (
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
)
"""Headers that a page may send beyond those that CORS always allows: the transport's, with and without the
``initialize`` handshake."""
PREFLIGHT_SECONDS = 600
"""Seconds that a browser caches the answer to a preflight."""


@dataclasses.dataclass(frozen=True, slots=True)
class HttpConfig:
    """The address that the server binds, and whom it lets in.

    Attributes:
        host: the address to bind. On a local one, only local ``Host`` headers are let in.
        port: the port to bind.
        allowed_hosts: ``Host`` headers to let in (``name:port``, ``name:*``); required for any other address.
        allowed_origins: ``Origin`` headers of browsers to let in (``https://name``, ``http://name:*``): their pages
            may call the server and read its answers (CORS).
        allow_anonymous: serve an address that is not local without bearer tokens: right where a proxy in front
            authenticates, and nobody can go around it. Such callers may also write into layers and the memory.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    allow_anonymous: bool = False

    def check(self, tokens: BearerTokens) -> None:
        """Refuse to serve everybody by accident.

        Raises:
            InvalidArgument: an address that is not local has no ``allowed_hosts``, which would allow DNS rebinding, or
                neither tokens nor ``allow_anonymous``.
        """
        if self.host in LOCAL_HOSTS:
            return
        if not self.allowed_hosts:
            problem = "name the Host headers to let in (allowed_hosts, --allowed-host), or bind 127.0.0.1."
        elif not len(tokens) and not self.allow_anonymous:
            problem = (
                "there is no bearer token, so whoever reaches it could read everything. Set tokens ([server] tokens, "
                "--token-file), or let a proxy in front authenticate (allow_anonymous, --allow-anonymous), or bind "
                "127.0.0.1."
            )
        else:
            return
        raise InvalidArgument(
            f"host {self.host!r} is not local: {problem}", field="host", value=self.host, allowed=list(LOCAL_HOSTS)
        )

    def security(self) -> TransportSecuritySettings:
        """Return the ``Host`` and ``Origin`` headers to let in."""
        local = ["127.0.0.1:*", "localhost:*", "[::1]:*"] if self.host in LOCAL_HOSTS else []
        return TransportSecuritySettings(
            allowed_hosts=[*local, *self.allowed_hosts],
            allowed_origins=[*(f"http://{name}" for name in local), *self.allowed_origins],
        )


PageRoutes = Callable[[Warmup, ServerConfig, HttpConfig], Sequence[BaseRoute]]
"""Makes routes beside MCP's own, such as those of the web page."""


def http_app(
    warmup: Warmup,
    config: ServerConfig | None = None,
    http: HttpConfig | None = None,
    pages: PageRoutes | None = None,
) -> Starlette:
    """Build the ASGI application: MCP at ``/mcp``, and at `HEALTH_PATH` whether the server is ready, for anybody.

    Answers are event streams where the client accepts them: progress needs that, and so does noticing that a client
    has gone.

    Args:
        warmup: opens the knowledge base; the caller starts it.
        config: the server's settings; its transport becomes ``http``.
        http: the address, and whom to let in.
        pages: makes further routes, which check their callers themselves.

    Raises:
        InvalidArgument: the server would be open to everybody, or a token is invalid.
    """
    http = http or HttpConfig()
    config = dataclasses.replace(config or ServerConfig(), transport="http", anonymous_writes=http.allow_anonymous)
    tokens = BearerTokens(config.tokens)
    http.check(tokens)
    # The SDK requires an issuer, and does not use it where there is no resource URL: our tokens come from no OAuth.
    auth = AuthSettings.model_validate({"issuer_url": f"http://localhost:{http.port}", "resource_server_url": None})
    app = build_server(warmup, config).streamable_http_app(
        host=http.host,
        transport_security=http.security(),
        auth=auth if len(tokens) else None,
        token_verifier=tokens if len(tokens) else None,
        custom_starlette_routes=[Route(HEALTH_PATH, partial(_health, warmup), methods=["GET"])],
    )
    app.router.routes.extend(pages(warmup, config, http) if pages else ())
    if http.allowed_origins:
        _allow_origins(app, http.allowed_origins)
    return app


async def _health(warmup: Warmup, request: Request) -> Response:
    """Answer whether the knowledge base is open and something is published, and nothing about its content."""
    kb = warmup.get_nowait()
    published = False
    if kb is not None:
        with contextlib.suppress(GraphctxError):
            published = bool((await run_in_threadpool(kb.searcher)).snapshot_id)
    return JSONResponse({"status": "opening" if kb is None else "ok", "published": published})


def _allow_origins(app: Starlette, origins: Sequence[str]) -> None:
    """Answer preflights of these origins, and allow their pages to read responses, including 401s."""
    patterns = [re.escape(name[:-2]) + r":\d+" if name.endswith(":*") else re.escape(name) for name in origins]
    app.add_middleware(  # outermost, as a preflight carries no token
        CORSMiddleware,
        allow_origin_regex="|".join(patterns),
        allow_methods=["GET", "POST", "DELETE", "OPTIONS"],
        allow_headers=BROWSER_HEADERS,
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
        max_age=PREFLIGHT_SECONDS,
    )


def serve_http(
    kb_path: str | Path,
    config: ServerConfig | None = None,
    http: HttpConfig | None = None,
    on_listening: Callable[[], None] = lambda: None,
    pages: PageRoutes | None = None,
) -> None:
    """Serve a knowledge base over streamable HTTP until the process gets SIGTERM or SIGINT, then end it.

    Args:
        kb_path: the knowledge base's folder. It is opened in the background, so its errors show in calls.
        config: the server's settings.
        http: the address, and whom to let in.
        on_listening: called as soon as clients can connect.
        pages: makes further routes, as for `http_app`.

    Raises:
        InvalidArgument: the server would be open to everybody, a token is invalid, or the address cannot be bound.
        BackendUnavailable: the server did not start.

    ```python
    serve_http("handbook/.graphctx", http=HttpConfig(port=9000))
    ```
    """
    configure_log(_is_worth_logging)
    http, config = http or HttpConfig(), config or ServerConfig()
    warmup = Warmup(lambda: open_kb(str(kb_path), config.layers, config))
    server = uvicorn.Server(
        uvicorn.Config(
            http_app(warmup, config, http, pages),
            http=RequestDeadline,
            ws="none",
            log_config=None,  # logs as configured above
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(bound) for bound in bound_sockets(http)]
        # uvicorn shuts down in order, and then raises the signal again for the handler that was there before.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        on_listening()
        if pages is None or object_url(kb_path) or not is_absent(Path(kb_path)):  # the page can create a knowledge base
            warmup.start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=sockets)
            if not server.started:
                raise BackendUnavailable("The HTTP server did not start; see the log above.")
    leave()


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Skip the tracebacks that the SDK and uvicorn log where a client left in the middle of its request."""
    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def bound_sockets(http: HttpConfig) -> list[socket.socket]:
    """Return sockets that listen at every address of the host, such as both of ``localhost``.

    An address that this machine does not have is skipped if there is another one; an address in use is an error.

    Raises:
        InvalidArgument: an address is in use, or none can be bound.
    """
    with contextlib.ExitStack() as opened:
        bound: list[socket.socket] = []
        absent = None
        try:
            found = socket.getaddrinfo(http.host, http.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
                try:
                    listening = opened.enter_context(socket.create_server(address[:2], family=family))
                except OSError as error:
                    if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                        raise
                    absent = error
                    continue
                # Connections inherit it. asyncio sets it only on sockets that name their protocol, and without it an
                # answer in several parts waits 40 ms for the client's acknowledgement.
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                bound.append(listening)
            if absent and not bound:
                raise absent
        except OSError as error:
            raise _unbound(http, error) from None
        opened.pop_all()
        return bound


def _unbound(http: HttpConfig, error: OSError) -> InvalidArgument:
    if error.errno == errno.EADDRINUSE:
        return InvalidArgument(
            f"Port {http.port} of {http.host} is in use, most likely by another server. Stop that one, or choose "
            "another port with --port.",
            field="port",
            value=http.port,
        )
    reason = str(error.strerror or error).partition(" (while")[0]  # Python adds the address again
    return InvalidArgument(
        f"{http.host}:{http.port} cannot be bound: {reason}. Choose another address with --host, or another port with "
        "--port.",
        field="host",
        value=http.host,
    )


class RequestDeadline(H11Protocol):
    """HTTP/1.1 with a time limit for each request to arrive; after it, the answer is 408 and the connection is closed.

    uvicorn limits the size of a request, and the time between two of them, but not the time that one takes to arrive.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the limit with the connection."""
        super().connection_made(transport)
        self._start()

    def data_received(self, data: bytes) -> None:
        """End the limit with the last byte of a request, and start it with the first byte of the next."""
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._end()
        elif self._deadline is None:
            self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the limit with the connection."""
        self._end()
        super().connection_lost(exc)

    def _start(self) -> None:
        self._deadline = self.loop.call_later(REQUEST_SECONDS, self._expire)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if self.transport.is_closing():
            return
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            headers = [(b"content-length", b"0"), (b"connection", b"close")]
            refusal = h11.Response(status_code=408, headers=headers, reason=b"Request Timeout")
            self.transport.write((self.conn.send(refusal) or b"") + (self.conn.send(h11.EndOfMessage()) or b""))
        self.transport.close()
