"""Sessions: which principal makes a call, and which session holds its passages.

A connection may have a session of its own: a stdio process has one client, so one session; a protocol session over
HTTP has one, derived from its id. A call over HTTP without a protocol session has none: its answer carries a *handle*,
a random ``session_id``, and a later call with that handle reaches the passages of the first. A handle works only for
the principal who got it, for as long as passages live; for everybody else it does not exist.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.server.lru import FairLru
from graphctx.server.scratch import keyed_id, new_id

MAX_HANDLES = 10_000
"""As many as the protocol sessions that the SDK keeps by default; a handle takes some hundred bytes."""

ANONYMOUS = ""
"""The principal of calls without a bearer token."""

_HEADER = "mcp-session-id"
_PASSAGE = re.compile(r'"p_[a-z2-7]{16}"')
_NO_REFERENCES = frozenset({"query", "question", "cursor", "session_id", "scope", "filters", "options", "content"})
_REPEAT = ["kb.search", "kb.retrieve_evidence"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    Attributes:
        principal: the name of the bearer token's owner, or `ANONYMOUS`.
        session_id: the session of the connection; empty where it has none.
    """

    principal: str
    session_id: str


class Sessions:
    """The sessions of one server. Thread-safe.

    Args:
        ttl: seconds that a handle lives after its last use.
        max_handles: with more, the principal who holds the most loses the least recently used one.
        clock: returns monotonic seconds.
    """

    def __init__(
        self, ttl: float = 1800.0, max_handles: int = MAX_HANDLES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._process = new_id("x")
        self._key = secrets.token_bytes(32)
        self._ttl = ttl
        self._lock = threading.Lock()
        self._handles: FairLru[tuple[str, str], bool] = FairLru(max_handles, ttl, clock)  # by principal and session

    def __len__(self) -> int:
        """Return the number of handles that are alive."""
        with self._lock:
            return len(self._handles.values())

    def caller(self, ctx: ServerRequestContext[Any, Any]) -> Caller:
        """Return who makes a request, by its token and its connection and never by its arguments."""
        if ctx.request is None:
            return Caller(ANONYMOUS, self._process)
        user = ctx.request.scope.get("user")
        principal = user.access_token.client_id if isinstance(user, AuthenticatedUser) else ANONYMOUS
        # The protocol of 2026 has no sessions and ignores the header, so a client could write anything into it.
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        transport_id = None if modern else ctx.request.headers.get(_HEADER)
        return Caller(principal, keyed_id("x", self._key, principal, transport_id) if transport_id else "")

    def resolve(self, caller: Caller, request: BaseModel) -> str:
        """Return the session of a call.

        A connection that has a session keeps it, whatever ``session_id`` the call names (`ignored_session`): clients
        that connect anew for each call send ids of earlier connections. Where it has none, an unknown or expired handle
        is an error only for a call that names a passage by its passage id; any other call gets a fresh handle.

        Raises:
            InvalidArgument: the call names a passage, and no handle that could hold it.
        """
        asked: str | None = getattr(request, "session_id", None)
        if caller.session_id:
            return caller.session_id
        if asked is not None and self.holds(caller, asked):
            return asked
        if _names_a_passage(request):
            raise _without_a_session(asked, self._ttl)
        return self.new_handle(caller.principal)

    def holds(self, caller: Caller, session_id: str) -> bool:
        """Return whether a session is the caller's; this counts as a use of a handle."""
        if caller.session_id:
            return session_id == caller.session_id
        with self._lock:
            return bool(self._handles.get((caller.principal, session_id)))

    def require(self, caller: Caller, session_id: str, uri: str) -> None:
        """Refuse a resource of a session that is not the caller's.

        Raises:
            ScopeViolation: the connection has a session, and this is another one.
            InvalidArgument: the caller has no such handle; the same if another principal has it.
        """
        if self.holds(caller, session_id):
            return
        if caller.session_id:
            raise ScopeViolation(
                f"{uri!r} belongs to another session. Read graphctx://section/<section_id> instead, or repeat the "
                "kb.search call that returned it, in this session.",
                field="uri",
                value=uri,
                allowed=f"graphctx://scratch/{caller.session_id}/…",
            )
        raise _without_a_session(session_id, self._ttl)

    def new_handle(self, principal: str) -> str:
        """Return a fresh session for a principal."""
        session_id = new_id("x")
        with self._lock:
            self._handles.put((principal, session_id), True, owner=principal)
        return session_id


def ignored_session(request: BaseModel, session_id: str) -> str | None:
    """Return the note of an answer whose call named another session than its own, if it did."""
    asked: str | None = getattr(request, "session_id", None)
    if asked is None or asked == session_id:
        return None
    return (
        f"session_id {asked[:60]!r} was ignored: it has expired, or belongs to another connection. "
        "A section_id works without one."
    )


def client_name(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Return the name that the client gave itself, if any."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None else None


def _names_a_passage(request: BaseModel) -> bool:
    """Return whether an argument that refers to something is a passage id: a whole string of its JSON."""
    return bool(_PASSAGE.search(request.model_dump_json(exclude=set(_NO_REFERENCES))))


def _without_a_session(asked: str | None, ttl: float) -> InvalidArgument:
    """Return the error about a passage id without a session, or with one that the caller does not have."""
    if asked is None:
        problem = (
            "a passage_id belongs to a session, and this connection has none of its own. "
            "Pass the section_id instead, which works everywhere. Or pass the session_id of the answer that returned "
            "the passage_id too (its graphctx://scratch/ URIs hold it)."
        )
    else:
        problem = (
            f"{asked[:60]!r} is unknown, or has expired ({ttl / 60:g} minutes after its last use), and its passages "
            "with it. Pass the section_id instead, which works everywhere. Or repeat the kb.search or "
            "kb.retrieve_evidence call without session_id and use the session_id and the passage ids of its answer."
        )
    return InvalidArgument(
        f"session_id: {problem}",
        field="session_id",
        value="nothing" if asked is None else asked,
        allowed="a section_id in the place of the passage_id, or the session_id of the answer that returned it",
        repeat=_REPEAT,
    )
