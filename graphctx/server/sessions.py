"""Whose call is this? The session that owns the passages of a call, and the client's name."""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import Any

from mcp.server.context import ServerRequestContext

from graphctx.server.scratch import new_id

_HEADER = "mcp-session-id"


class Sessions:
    """Session ids of one server.

    A stdio process has one client, so one session. Over HTTP each handshake-era session has its own, derived
    from its transport session id. Calls of the era without sessions share one: there the unguessable passage
    id alone gives access, and nothing is listed.
    """

    def __init__(self) -> None:
        self.shared = new_id("x")
        self._key = secrets.token_bytes(32)

    def of(self, ctx: ServerRequestContext[Any, Any]) -> str:
        """The session of a request."""
        transport_id = ctx.request.headers.get(_HEADER) if ctx.request is not None else None
        if transport_id is None:
            return self.shared
        digest = hashlib.blake2b(transport_id.encode(), key=self._key, digest_size=10).digest()
        return f"x_{base64.b32encode(digest).decode('ascii').lower()}"

    def is_exclusive(self, ctx: ServerRequestContext[Any, Any]) -> bool:
        """Whether the session is one client's own, so that what it holds may be listed to it."""
        return ctx.request is None or _HEADER in ctx.request.headers


def client_name(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """What the client calls itself, if it does."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None else None
