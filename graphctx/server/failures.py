"""What a client learns of a failure: the six codes, as the result of a tool or as a protocol error, and no more.

An exception that is not one of ours is logged and told as ``INTERNAL_ERROR``: its text may hold paths or worse.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from graphctx.errors import GraphctxError, InternalError
from graphctx.server.names import Spelling

log = logging.getLogger(__name__)

_CALLERS_FAULT = ("INVALID_ARGUMENT", "SCOPE_VIOLATION")


def told(error: Exception, what: str) -> GraphctxError:
    """The error that may be told: one of ours as it is, any other as a fault of ours.

    Args:
        error: what was raised; logged if it is not one of ours.
        what: what failed, in our words.
    """
    if isinstance(error, GraphctxError):
        return error
    log.error("%s failed", what, exc_info=error)
    return InternalError(f"{what} failed inside; the server's log says how.")


def failed_call(error: GraphctxError, spelling: Spelling) -> types.CallToolResult:
    """The result of a tool that failed: the envelope as text alone.

    Clients hold structured content against the tool's output schema even if the result is an error, and the envelope
    is not of that schema.
    """
    envelope = _envelope(error, spelling)
    return types.CallToolResult(
        content=[types.TextContent(text=json.dumps(envelope, ensure_ascii=False, separators=(",", ":")))],
        is_error=True,
    )


def protocol_error(error: GraphctxError, spelling: Spelling) -> MCPError:
    """The protocol error of a request that is no tool call, with the envelope as its data."""
    envelope = _envelope(error, spelling)
    code = INVALID_PARAMS if error.code in _CALLERS_FAULT else INTERNAL_ERROR
    return MCPError(code=code, message=envelope["error"]["message"], data=envelope)


def _envelope(error: GraphctxError, spelling: Spelling) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(spelling.error(error).envelope(), default=str))
    return plain
