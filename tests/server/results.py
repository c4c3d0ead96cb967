"""Looking at results of tools, and at both of their halves."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    assert result.content[0].type == "text"
    return result.content[0].text


def error_of(result: CallToolResult) -> dict[str, Any]:
    """The error envelope, which must be whole in both places."""
    assert result.is_error
    assert json.loads(text_of(result)) == result.structured_content
    assert result.structured_content.keys() == {"error"}
    assert result.structured_content["error"].keys() == {"code", "message", "details"}
    return result.structured_content["error"]
