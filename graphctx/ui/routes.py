"""The routes of the page: its files, ``/api/NAME`` for operations and ``/api/tools/NAME`` for the server's tools."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mcp.shared.exceptions import MCPError
from pydantic import BaseModel
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.model.arguments import parse_arguments
from graphctx.server.config import CONTRACT, ServerConfig
from graphctx.server.dispatch import Dispatcher, error_envelope, typed_error
from graphctx.server.http import HttpConfig, PageRoutes
from graphctx.server.sessions import Caller
from graphctx.server.warmup import Warmup
from graphctx.server.workers import CallProgress
from graphctx.store.replica import local_folder
from graphctx.ui.access import Access, unauthorized
from graphctx.ui.jobs import PublishJobs
from graphctx.ui.operation import AnyOperation, PageCall, PageServer
from graphctx.ui.operations import OPERATIONS, STREAMS
from graphctx.ui.uploads import Uploads

STATIC = Path(__file__).parent / "static"
MAX_BODY_BYTES = 1_000_000
"""Bytes of the JSON of one call; files are uploaded elsewhere."""
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
STATUS = {
    "INVALID_ARGUMENT": 400,
    "SCOPE_VIOLATION": 403,
    "BUDGET_EXCEEDED": 400,
    "BACKEND_UNAVAILABLE": 503,
    "TIMEOUT": 504,
    "INTERNAL_ERROR": 500,
}
"""HTTP status codes of the taxonomy."""

Handler = Callable[[Request, PageServer, Caller], Awaitable[Response]]
"""Answers a request that has passed the checks."""


def page_routes(kb: str | Path, *, reports: Path | None = None, local: str = "") -> PageRoutes:
    """Return the function that makes the page's routes for `serve_http` and `http_app`.

    Args:
        kb: the folder of the knowledge base, which need not exist yet, or its address on an object store.
        reports: the folder of reports of evaluations; ``reports`` in ``kb`` by default.
        local: the owner of the token of whoever started the server, who may write, and reads the memory that a server
            over pipes keeps for them.
    """

    def routes(warmup: Warmup, config: ServerConfig, http: HttpConfig) -> list[BaseRoute]:
        folder = local_folder(kb)
        server = PageServer(
            kb=folder,
            reports=reports or folder / "reports",
            dispatcher=Dispatcher(warmup, _page_config(config, anonymous_writes=bool(local))),
            access=Access(config, http, local),
            uploads=Uploads(folder),
            jobs=PublishJobs(lambda: warmup.get().searcher()),
        )
        api = [
            *(_route(server, f"/{operation.name}", _operation(operation)) for operation in OPERATIONS),
            *(_route(server, f"/{stream.name}", stream.run, stream.method) for stream in STREAMS),
            _route(server, "/tools/{name}", _call_tool),
            Route("/{path:path}", _unknown, methods=["GET", "POST"]),
        ]
        compressed = [Middleware(GZipMiddleware, minimum_size=1000)]
        files = PageFiles(directory=STATIC, html=True)
        return [Mount("/api", routes=api, middleware=compressed), Mount("/", app=files, middleware=compressed)]

    return routes


class PageFiles(StaticFiles):
    """The page's files, with the headers that forbid everything from elsewhere."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file."""
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response


def _page_config(config: ServerConfig, *, anonymous_writes: bool) -> ServerConfig:
    """Return the configuration with every toolset that the server can serve, in full: the page shows all of it."""
    extra = tuple(name for name in config.toolsets if name not in (*CONTRACT, "core"))
    memory = () if config.memory is None else ("memory", "iteration")
    toolsets = tuple(dict.fromkeys((*CONTRACT, *extra, *memory)))
    return dataclasses.replace(
        config,
        transport="http",
        tool_names="dotted",
        toolsets=toolsets,
        full_form=True,
        structured_output=True,
        anonymous_writes=config.anonymous_writes or anonymous_writes,
    )


def _route(server: PageServer, path: str, handler: Handler, method: str = "POST") -> Route:
    """Return a route whose requests are checked for their host, their origin and their token."""

    async def checked(request: Request) -> Response:
        response = await server.access.refusal(request)
        if response is None:
            caller = server.access.caller(request)
            try:
                response = unauthorized() if caller is None else await handler(request, server, caller)
            except ClientDisconnect:  # nobody waits for the response
                response = Response(status_code=400)
            except Exception as error:
                response = _failed(typed_error(error, request.url.path), server)
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        return response

    return Route(path, checked, methods=[method])


def _operation(operation: AnyOperation) -> Handler:
    async def answer(request: Request, server: PageServer, caller: Caller) -> Response:
        if operation.right == "write":
            server.access.require_write(caller)
        asked = parse_arguments(operation.input, await _body(request))

        def work(progress: CallProgress) -> BaseModel | dict[str, Any]:
            progress.message = f"working on {operation.name}"
            return operation.run(PageCall(server, caller), asked)

        result = await server.dispatcher.workers.run(work)
        return JSONResponse(result.model_dump(mode="json") if isinstance(result, BaseModel) else result)

    return answer


async def _call_tool(request: Request, server: PageServer, caller: Caller) -> Response:
    """Run a tool; a tool that changes something needs the right to write."""
    name, arguments = request.path_params["name"], await _body(request)
    if server.dispatcher.changes_something(name):
        server.access.require_write(caller)
    try:
        result = await server.dispatcher.call(name, arguments, caller, client="page")
    except MCPError as error:
        raise InvalidArgument(error.message, field="name", value=name) from None
    return JSONResponse(result.structured_content)


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises:
        InvalidArgument: the body is too long, or is not a JSON object.
    """
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InvalidArgument("The body is a JSON object with Content-Type: application/json.", field="content-type")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise InvalidArgument(f"The body has more than {MAX_BODY_BYTES:,} bytes.", field="body")
    try:
        value = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidArgument("The body is not a JSON object.", field="body")
    return value


async def _unknown(request: Request) -> Response:
    error = InvalidArgument(f"There is no {request.method} {request.url.path[:100]}.", field="path")
    return JSONResponse(error.envelope(), 404)


def _failed(error: GraphctxError, server: PageServer) -> Response:
    return JSONResponse(error_envelope(error, server.dispatcher.naming), STATUS[error.code])
