"""The last part of a tool's description, made from its input model: what is assumed, and how far one may go."""

from __future__ import annotations

from graphctx.model.requests import Strict
from graphctx.server.schemas import Schema, tool_schema

_OF_EVERY_TOOL = frozenset({"scope", "filters", "session_id", "max_tokens", "max_bytes", "cursor"})
"""Arguments whose limits say nothing about one tool's answer."""


def limits_of(model: type[Strict]) -> str:
    """Every default number, flag or choice, and every cap: ``page_size 25. Max: page_size 100, 20 node_ids.``"""
    fields = _own(tool_schema(model, "input"))
    defaults = [f"{name} {_said(field['default'])}" for name, field in fields if _is_told(field)]
    caps = [f"{name} {field['maximum']}" for name, field in fields if "maximum" in field]
    caps += [f"{field['maxItems']} {name}" for name, field in fields if "maxItems" in field]
    return f"{', '.join(defaults) or 'none'}. Max: {', '.join(caps) or 'none'}."


def _own(schema: Schema) -> list[tuple[str, Schema]]:
    """The arguments that are this tool's own, those inside its options too."""
    fields: list[tuple[str, Schema]] = []
    for name, field in schema["properties"].items():
        if name in _OF_EVERY_TOOL:
            continue
        fields += _own(field) if "properties" in field else [(name, field)]
    return fields


def _is_told(field: Schema) -> bool:
    return field.get("default") not in (None, [], "")


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
