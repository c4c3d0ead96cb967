"""The page of all MCP tools, from their declarations."""

from __future__ import annotations

from typing import Any

_NOTE = "<!-- Made by `make generate` from graphctx/server/tools. Do not edit. -->"


def tools_page() -> str:
    """``docs/reference/tools.md``."""
    from graphctx.server.schemas import tool_document
    from graphctx.server.tools import TOOLS

    parts = [
        f"# Tools\n\n{_NOTE}",
        "Every tool can be called by its name and by the same name with `_` for `.` (`kb_search`). Every answer is "
        "there twice, as readable text and as structured content, and each of the two stands alone. "
        "`document.text[start_char:end_char]` is the quote, preview or excerpt beside it. Complete JSON Schemas are "
        "in [`schemas/tools`](../../schemas/tools).",
        'An error is `{"error": {"code", "message", "details"}}` with one of the codes `INVALID_ARGUMENT`, '
        "`SCOPE_VIOLATION`, `BACKEND_UNAVAILABLE`, `TIMEOUT`, `BUDGET_EXCEEDED`, `INTERNAL_ERROR`.",
    ]
    parts += [_section(tool_document(tool)) for tool in TOOLS]
    return "\n\n".join(parts) + "\n"


def _section(tool: dict[str, Any]) -> str:
    description = "\n".join(f"- {line}" for line in tool["description"].split("\n"))
    required = set(tool["inputSchema"].get("required", []))
    rows = ["| argument | type | default | |", "|---|---|---|---|", *_rows(tool["inputSchema"], "", required)]
    return "\n\n".join(
        [
            f"## {tool['name']}",
            description,
            "\n".join(rows),
            "Answer: " + ", ".join(f"`{name}`" for name in tool["outputSchema"]["properties"]) + ".",
        ]
    )


def _rows(schema: dict[str, Any], prefix: str, required: set[str]) -> list[str]:
    rows = []
    for name, field in schema["properties"].items():
        if field.get("properties"):
            rows += _rows(field, f"{prefix}{name}.", set(field.get("required", [])))
            continue
        default = "required" if name in required else f"`{field['default']}`" if "default" in field else ""
        rows.append(f"| `{prefix}{name}` | {_type(field)} | {default} | {field.get('description', '')} |")
    return rows


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{value}`" for value in field["enum"])
    if field["type"] == "array":
        return f"list of {field['items']['type']}"
    bounds = [str(field[key]) for key in ("minimum", "maximum") if key in field]
    return f"{field['type']} {'–'.join(bounds)}" if len(bounds) == 2 else str(field["type"])
