"""Texts and errors in results of tools."""

from __future__ import annotations

import json
from typing import Any

from mcp_types import CallToolResult


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    assert result.content[0].type == "text"
    return result.content[0].text


def error_of(result: CallToolResult) -> dict[str, Any]:
    """Return the inside of the error envelope, which is the whole text."""
    assert result.is_error
    assert result.structured_content is None
    envelope = json.loads(text_of(result))
    assert envelope.keys() == {"error"}
    assert envelope["error"].keys() == {"code", "message", "details"}
    return envelope["error"]
