"""The streamable HTTP transport: many clients, on this machine unless told so, with bearer tokens if there are any."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.server.auth import Tokens
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Warmup, open_engine

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
SHUTDOWN_SECONDS = 3
"""How long calls may go on after Ctrl-C; streams that clients keep open would hold the server up for good."""


@dataclasses.dataclass(frozen=True, slots=True)
class Door:
    """Where the server listens and whom it lets in.

    Attributes:
        host: the address that is bound. On a local one only local ``Host`` headers are let in.
        port: the port that is bound.
        allowed_hosts: ``Host`` headers to let in, required for any other address (``name:port``, ``name:*``).
        allowed_origins: ``Origin`` headers to let in from browsers.
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
    """Make the ASGI application; MCP is at ``/mcp``.

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
    return build_server(warmup, config).streamable_http_app(
        host=door.host,
        transport_security=security,
        auth=auth if len(tokens) else None,
        token_verifier=tokens if len(tokens) else None,
    )


def serve_http(
    kb_path: str | Path,
    config: ServerConfig | None = None,
    door: Door | None = None,
    on_listening: Callable[[], None] = lambda: None,
) -> None:
    """Serve a knowledge base over streamable HTTP until interrupted.

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

    door, config = door or Door(), config or ServerConfig()
    warmup = Warmup(lambda: open_engine(str(kb_path), config.layers))
    app = http_app(warmup, config, door)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=door.host,
            port=door.port,
            log_level="warning",
            use_colors=False,  # standard error shows escape sequences instead of passing them on
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
    )
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(bound) for bound in _bound(door)]
        on_listening()
        warmup.start()
        try:
            server.run(sockets=sockets)
        except KeyboardInterrupt:
            return
    if not server.started:
        raise BackendUnavailable("The server did not start; what is said above tells why.")


def _bound(door: Door) -> list[socket.socket]:
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
                    bound.append(undo.enter_context(socket.create_server(address[:2], family=family)))
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
