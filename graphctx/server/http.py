"""The streamable HTTP transport: many clients, on this machine unless told so, with bearer tokens if there are any."""

from __future__ import annotations

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
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.server.auth import Tokens
from graphctx.server.config import ServerConfig
from graphctx.server.process import configure_log, leave
from graphctx.server.warmup import Warmup, open_engine

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
SHUTDOWN_SECONDS = 3
"""How long calls may go on after SIGTERM or Ctrl-C; streams that clients keep open would hold it up for good."""
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
"""What a page may send besides what any page may: the headers of the protocol's transport in both eras."""
PREFLIGHT_SECONDS = 600
"""How long a browser remembers what a preflight allowed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens and whom it lets in.

    Attributes:
        host: the address that is bound. On a local one only local ``Host`` headers are let in.
        port: the port that is bound.
        allowed_hosts: ``Host`` headers to let in, required for any other address (``name:port``, ``name:*``).
        allowed_origins: ``Origin`` headers to let in from browsers (``https://name``, ``http://name:*``): their pages
            may call and read answers (CORS), others may not.
        allow_anonymous: whether an address that is not local may be served without bearer tokens: right where a
            proxy in front asks who is there, and nobody can go around it. Such callers may also write into layers.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    allowed_hosts: Sequence[str] = ()
    allowed_origins: Sequence[str] = ()
    allow_anonymous: bool = False

    def check(self, tokens: Tokens) -> None:
        """Refuse to open the door to everybody by accident.

        Raises:
            InvalidArgument: an address that is not local has no ``allowed_hosts``, which would let DNS rebinding in,
                or neither tokens nor ``allow_anonymous``, which would let anybody in who reaches it.
        """
        if self.host in LOCAL_HOSTS:
            return
        if not self.allowed_hosts:
            raise InvalidArgument(
                f"host {self.host!r} is not local: name the Host headers to let in (allowed_hosts, --allowed-host), or "
                "bind 127.0.0.1.",
                field="host",
                value=self.host,
                allowed=list(LOCAL_HOSTS),
            )
        if not len(tokens) and not self.allow_anonymous:
            raise InvalidArgument(
                f"host {self.host!r} is not local, and there is no bearer token: whoever reaches it could read "
                "everything. Give tokens ([server] tokens, --token-file), or say that something in front "
                "authenticates (allow_anonymous, --allow-anonymous), or bind 127.0.0.1.",
                field="host",
                value=self.host,
                allowed=list(LOCAL_HOSTS),
            )


def http_app(warmup: Warmup, config: ServerConfig | None = None, door: Door | None = None) -> Starlette:
    """Make the ASGI application; MCP is at ``/mcp``, and `HEALTH_PATH` says to anybody that the server is there.

    Answers are event streams where the client takes them: progress needs that, and so does hearing that a client has
    gone.

    Args:
        warmup: opens the knowledge base; the caller starts it.
        config: the server's settings; its transport is taken as ``http``.
        door: where it listens and whom it lets in.

    Raises:
        InvalidArgument: the door would be open to everybody, or a token cannot be used.
    """
    from mcp.server.auth.settings import AuthSettings
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.routing import Route

    from graphctx.server.app import build_server

    door = door or Door()
    config = dataclasses.replace(config or ServerConfig(), transport="http", anonymous_writes=door.allow_anonymous)
    tokens = Tokens(config.tokens)
    door.check(tokens)
    security = None
    if door.allowed_hosts or door.allowed_origins:
        local = [] if door.host not in LOCAL_HOSTS else ["127.0.0.1:*", "localhost:*", "[::1]:*"]
        security = TransportSecuritySettings(
            allowed_hosts=[*local, *door.allowed_hosts],
            allowed_origins=[*(f"http://{name}" for name in local), *door.allowed_origins],
        )
    # The SDK asks for an issuer and says nothing of it where there is no resource URL: our tokens come from no OAuth.
    auth = AuthSettings.model_validate({"issuer_url": f"http://localhost:{door.port}", "resource_server_url": None})
    app = build_server(warmup, config).streamable_http_app(
        host=door.host,
        transport_security=security,
        auth=auth if len(tokens) else None,
        token_verifier=tokens if len(tokens) else None,
        custom_starlette_routes=[Route(HEALTH_PATH, partial(_health, warmup), methods=["GET"])],
    )
    _let_browsers_in(app, door.allowed_origins)
    return app


async def _health(warmup: Warmup, request: Request) -> Response:
    """Whether the knowledge base is open, and whether anything is published in it; nothing of what it holds."""
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse

    engine = warmup.opened()
    published = False
    if engine is not None:
        with contextlib.suppress(GraphctxError):
            published = bool((await run_in_threadpool(engine.searcher)).snapshot_id)
    return JSONResponse({"status": "opening" if engine is None else "ok", "published": published})


def _let_browsers_in(app: Starlette, origins: Sequence[str]) -> None:
    """Answer preflights of these origins and allow them to read answers, those too that ask for a token."""
    from starlette.middleware.cors import CORSMiddleware

    if not origins:
        return
    patterns = [re.escape(name[:-2]) + r":\d+" if name.endswith(":*") else re.escape(name) for name in origins]
    app.add_middleware(  # outside of the others: a preflight carries no token
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
    door: Door | None = None,
    on_listening: Callable[[], None] = lambda: None,
) -> None:
    """Serve a knowledge base over streamable HTTP until the process is told to end, then end it.

    Args:
        kb_path: its folder.
        config: the server's settings.
        door: where it listens and whom it lets in.
        on_listening: called as soon as clients can connect.

    Raises:
        InvalidArgument: the door would be open to everybody, a token cannot be used, or the address cannot be bound.
        BackendUnavailable: the server did not start.
    """
    import uvicorn

    from graphctx.server.deadlines import DeadlineProtocol

    configure_log(_worth_logging)
    door, config = door or Door(), config or ServerConfig()
    warmup = Warmup(lambda: open_engine(str(kb_path), config.layers))
    app = http_app(warmup, config, door)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=door.host,
            port=door.port,
            http=DeadlineProtocol,
            ws="none",
            log_config=None,  # as everything is logged
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(bound) for bound in bound_sockets(door)]
        # uvicorn ends in order, and raises the signal again for whoever handled it before.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        on_listening()
        warmup.start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=sockets)
            if not server.started:
                raise BackendUnavailable("The server did not start; what is said above tells why.")
    leave()


def _worth_logging(record: logging.LogRecord) -> bool:
    """Whether a record tells of more than a client that left before its request had arrived.

    The SDK and uvicorn log that as an error, with its traceback; to a server it is nothing unusual.
    """
    from starlette.requests import ClientDisconnect

    return not (record.exc_info and isinstance(record.exc_info[1], ClientDisconnect))


def bound_sockets(door: Door) -> list[socket.socket]:
    """Sockets that listen at the addresses of the door's host, such as both of localhost.

    One that this machine does not have is passed over if there is another; where one is in use, none is left open.
    """
    with contextlib.ExitStack() as undo:
        bound: list[socket.socket] = []
        absent = None
        try:
            found = socket.getaddrinfo(door.host, door.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
                try:
                    listening = undo.enter_context(socket.create_server(address[:2], family=family))
                    # Connections inherit it. asyncio sets it only where a socket names its protocol, which these do
                    # not, and without it an answer in several parts waits 40 ms for the client's acknowledgement.
                    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    bound.append(listening)
                except OSError as error:
                    if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                        raise
                    absent = error
        except OSError as error:
            raise _unbound(door, error) from None
        if absent and not bound:
            raise _unbound(door, absent)
        undo.pop_all()
        return bound


def _unbound(door: Door, error: OSError) -> InvalidArgument:
    if error.errno == errno.EADDRINUSE:
        return InvalidArgument(
            f"Port {door.port} of {door.host} is in use, most likely by another server. Stop that one, or choose "
            "another port with --port.",
            field="port",
            value=door.port,
        )
    reason = str(error.strerror or error).partition(" (while")[0]  # Python adds the address again
    return InvalidArgument(
        f"{door.host}:{door.port} cannot be bound: {reason}. Choose another address with --host, or another "
        "port with --port.",
        field="host",
        value=door.host,
    )
