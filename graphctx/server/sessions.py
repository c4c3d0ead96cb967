"""Whose call is this? The principal who makes it, and the session that owns its passages.

A connection may have a session of its own: a stdio process has one client, so one session; a protocol session over
HTTP has one, derived from its id. Calls over HTTP without a protocol session have none: such a call is answered with
a *handle*, a random ``session_id``, and a later call that gives it back reaches the passages of the first. A handle
works for the principal who was given it, for as long as passages live, and to everybody else it is as good as unknown.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.server.scratch import new_id

MAX_HANDLES = 10_000
"""As many as the SDK keeps protocol sessions by default; a handle weighs some hundred bytes."""

ANONYMOUS = ""
"""The principal of calls that nobody has authenticated."""

_HEADER = "mcp-session-id"
_PASSAGE = re.compile(r"p_[a-z2-7]{16}")
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


@dataclass(slots=True)
class _Handle:
    principal: str
    used_at: float


class Sessions:
    """The sessions of one server. Thread-safe.

    Args:
        ttl: seconds that a handle lives after its last use.
        max_handles: beyond these, whoever holds the most loses the one that was not used for longest.
        clock: monotonic seconds.
    """

    def __init__(
        self, ttl: float = 1800.0, max_handles: int = MAX_HANDLES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._process = new_id("x")
        self._key = secrets.token_bytes(32)
        self._ttl = ttl
        self._max = max_handles
        self._clock = clock
        self._lock = threading.Lock()
        self._handles: OrderedDict[str, _Handle] = OrderedDict()  # least recently used first
        self._held: dict[str, int] = {}  # principal -> handles

    def __len__(self) -> int:
        """The handles that are alive."""
        with self._lock:
            self._drop_expired()
            return len(self._handles)

    def caller(self, ctx: ServerRequestContext[Any, Any]) -> Caller:
        """Who makes a request, by its token and its connection and by nothing that it says in its arguments."""
        if ctx.request is None:
            return Caller(ANONYMOUS, self._process)
        user = ctx.request.scope.get("user")
        principal = user.access_token.client_id if isinstance(user, AuthenticatedUser) else ANONYMOUS
        # The era without protocol sessions ignores the header, so there anybody could write anything into it.
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        transport_id = None if modern else ctx.request.headers.get(_HEADER)
        return Caller(principal, self._derived(principal, transport_id) if transport_id else "")

    def of(self, caller: Caller, request: BaseModel) -> str:
        """The session of a call.

        A connection that has a session stays with it, whatever session is asked for (`ignored_session`): clients that
        connect anew for each call send ids of earlier connections. Where it has none, a handle that is unknown or has
        expired matters only to a call that names a passage by its passage id: any other is answered with a fresh one.

        Args:
            request: the checked arguments.

        Raises:
            InvalidArgument: the call names a passage and no handle that could hold it.
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
        """Whether a session is the caller's; a handle counts as used by that."""
        if caller.session_id:
            return session_id == caller.session_id
        with self._lock:
            self._drop_expired()
            handle = self._handles.get(session_id)
            if handle is None or handle.principal != caller.principal:
                return False
            handle.used_at = self._clock()
            self._handles.move_to_end(session_id)
            return True

    def require(self, caller: Caller, session_id: str, uri: str) -> None:
        """Let a resource of a session be read by whoever the session belongs to.

        Raises:
            ScopeViolation: the connection has a session, and this is another one.
            InvalidArgument: the caller has no such handle; whether somebody else has is not told.
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
        """Give a principal a fresh session."""
        session_id = new_id("x")
        with self._lock:
            self._drop_expired()
            self._handles[session_id] = _Handle(principal, self._clock())
            self._held[principal] = self._held.get(principal, 0) + 1
            if len(self._handles) > self._max:
                most = max(self._held.values())
                self._drop(next(i for i, handle in self._handles.items() if self._held[handle.principal] == most))
        return session_id

    def owner(self, session_id: str) -> str:
        """Who shares memory as one: a principal with all its handles, or else a session."""
        with self._lock:
            handle = self._handles.get(session_id)
        return f"principal {handle.principal}" if handle is not None and handle.principal else session_id

    def _derived(self, principal: str, transport_id: str) -> str:
        said = f"{len(principal)} {principal}{transport_id}".encode()
        digest = hashlib.blake2b(said, key=self._key, digest_size=10).digest()
        return f"x_{base64.b32encode(digest).decode('ascii').lower()}"

    def _drop_expired(self) -> None:
        deadline = self._clock() - self._ttl
        while self._handles and next(iter(self._handles.values())).used_at <= deadline:
            self._drop(next(iter(self._handles)))

    def _drop(self, session_id: str) -> None:
        principal = self._handles.pop(session_id).principal
        self._held[principal] -= 1
        if not self._held[principal]:
            del self._held[principal]


def ignored_session(request: BaseModel, session_id: str) -> str | None:
    """What to say where a call asks for another session than the one that serves it."""
    asked: str | None = getattr(request, "session_id", None)
    if asked is None or asked == session_id:
        return None
    return (
        f"session_id {asked[:60]!r} was ignored: it has expired, or belongs to another connection. "
        "A section_id works without one."
    )


def client_name(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """What the client calls itself, if it does."""
    params = ctx.session.client_params
    return params.client_info.name if params is not None else None


def _names_a_passage(request: BaseModel) -> bool:
    """Whether an argument that refers to something is a passage id."""
    said = request.model_dump(exclude=set(_NO_REFERENCES))
    return any(_PASSAGE.fullmatch(text) for text in _texts(said))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _without_a_session(asked: str | None, ttl: float) -> InvalidArgument:
    """The error about a passage id whose session is not given, or not known to this caller."""
    if asked is None:
        problem = (
            "a passage_id belongs to a session, and this connection has none of its own. "
            "Pass the section_id instead, which works everywhere. Or pass the session_id of the answer that returned "
            "the passage_id too (it stands in its graphctx://scratch/ URIs)."
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
