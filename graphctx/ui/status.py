"""``status``: what the page's frame shows: what is served, how much of it, and what the caller may do."""

from __future__ import annotations

from typing import Any

from graphctx.errors import BackendUnavailable
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall
from graphctx.version import __version__


def _status(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return the state of the server; ``state`` is ``empty`` before the first ingest, ``failed`` with a ``fault``."""
    server, config = call.server, call.server.dispatcher.config
    status: dict[str, Any] = {
        "version": __version__,
        "principal": call.caller.principal,
        "may_write": call.may_write,
        "limits": {"max_tokens": config.limits.max_tokens, "max_bytes": config.limits.max_bytes},
        "serves": {
            "memory": config.memory is not None,
            "layers": config.layers is not None,
            "reports": server.reports.is_dir(),
        },
        "tools": [tool.name for tool in server.dispatcher.tools],
    }
    if call.may_write:
        status["kb"] = server.origin or str(server.kb.absolute())
    if server.is_new and not (config.memory or config.layers):
        return {**status, "state": "empty"}
    try:
        searcher = call.searcher()
    except BackendUnavailable as error:
        return {**status, "state": "empty" if server.is_new else "failed", "fault": error.message}
    published = searcher.published
    return {
        **status,
        "state": "empty" if published is None else "ready",
        "project_id": searcher.boundary.project_id,
        "environment": searcher.boundary.environment,
        "snapshot_id": searcher.snapshot_id,
    }


OPERATIONS: tuple[AnyOperation, ...] = (Operation("status", NoInput, _status),)
