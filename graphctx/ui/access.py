"""Who may use the page: the bearer tokens, ``Host`` and ``Origin`` headers of MCP, and the right to write."""

from __future__ import annotations

from urllib.parse import urlsplit

from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from graphctx.errors import ScopeViolation
from graphctx.server.auth import BearerTokens
from graphctx.server.config import ServerConfig
from graphctx.server.http import LOCAL_HOSTS, HttpConfig
from graphctx.server.sessions import ANONYMOUS, Caller

UNAUTHORIZED = 401


class Access:
    """Checks requests of the page.

    Args:
        config: the server's tokens and admins.
        http: the address, and the headers to let in.
        local: the owner of the token of whoever started the server; their memory is the one that a server over pipes
            keeps for them.
    """

    def __init__(self, config: ServerConfig, http: HttpConfig, local: str = "") -> None:
        self._tokens = BearerTokens(config.tokens)
        self._local = local
        self._admins = frozenset(config.admins)
        self._security = http.security()
        # Other hosts or sites that are let in come from beyond this machine: through a proxy, or from somebody's page.
        self._anonymous_writes = http.host in LOCAL_HOSTS and not http.allowed_hosts and not http.allowed_origins

    async def refusal(self, request: Request) -> Response | None:
        """Return the response to a request from another site or for another host, else ``None``."""
        origin, host = request.headers.get("origin"), request.headers.get("host", "")
        security = self._security
        if origin is not None and urlsplit(origin).netloc == host:
            origins = [*security.allowed_origins, origin]
            security = security.model_copy(update={"allowed_origins": origins})
        return await TransportSecurityMiddleware(security).validate_request(request)

    def caller(self, request: Request) -> Caller | None:
        """Return who makes a request; ``None`` if its token is missing or wrong."""
        if not len(self._tokens):
            return Caller(ANONYMOUS, "")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        owner = self._tokens.owner(token.strip()) if scheme.lower() == "bearer" else None
        return None if owner is None else Caller(ANONYMOUS if owner == self._local else owner, "")

    def is_local(self, caller: Caller) -> bool:
        """Return whether a caller is who started the server."""
        return bool(self._local) and caller.principal == ANONYMOUS

    def may_write(self, caller: Caller) -> bool:
        """Return whether a caller may ingest, remove, roll back, and change layers and the memory."""
        if self.is_local(caller):
            return True
        return caller.principal in self._admins if len(self._tokens) else self._anonymous_writes

    def require_write(self, caller: Caller) -> None:
        """Refuse a caller without the right to write.

        Raises:
            ScopeViolation: the caller may only read.
        """
        if not self.may_write(caller):
            raise ScopeViolation(
                f"{caller.principal or 'A caller without a token'} may only read here. An owner of a token whom "
                "[server] admins names may write.",
                field="token",
                value=caller.principal,
            )


def unauthorized() -> Response:
    """Return the response to a missing or wrong token."""
    message = "A bearer token is missing, or is not one of this server's."
    return JSONResponse(
        {"error": {"code": "SCOPE_VIOLATION", "message": message, "details": {"field": "token"}}},
        UNAUTHORIZED,
        {"WWW-Authenticate": "Bearer"},
    )
