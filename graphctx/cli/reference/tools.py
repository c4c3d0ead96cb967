"""The page of all MCP tools, from their declarations."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_NOTE = "<!-- Made by `make generate` from graphctx/server/tools. Do not edit. -->"
_INTRO = """\
Every tool can be called by its name and by the same name with `_` for `.` (`kb_search`). Every answer is there twice, \
as readable text and as structured content, and each of the two stands alone. `document.text[start_char:end_char]` is \
the quote, preview, snippet or excerpt beside it. Complete JSON Schemas are in [`schemas/tools`](../../schemas/tools).

An argument that is null is one that was left out; unknown arguments are refused. A field marked `?` leaves the answer \
when it is empty."""
_TOOLSETS = {
    "kb": "Evidence and excerpts. Offered by default.",
    "graph": "Entities, sections and documents, and how they hang together. Offered by default. Nodes are named by id "
    "or passage id, documents also by URI, entities also by name; an ambiguous name gives its candidates in "
    "`unresolved`.",
    "compat": "The same under older names and with their defaults, for prompts and clients that were written for them. "
    "Off by default; alone where the flag `kb_v2` is off.",
    "connector": "The two tools that ChatGPT's connectors and deep research look for, in exactly their form. Off by "
    "default.",
    "layers": "Layers of AGENTS.db: chunks that people and agents wrote down about a repository. Offered where "
    "`[layers] folder` or `--layers` names their folder. Dots for underscores are accepted too: `agents.search`, "
    "`agents.context.write`, `agents.context.propose`.",
}
_ERRORS = {
    "INVALID_ARGUMENT": "An argument is unknown, of the wrong type or out of range, or names what is not there. "
    "`details` has `field`, `value` and `allowed`, and all of them as `problems` where there are several.",
    "SCOPE_VIOLATION": "The scope asks for another project or environment, or for tags or folders outside the "
    "server's; or a passage lies outside the scope.",
    "BACKEND_UNAVAILABLE": "The knowledge base is missing, damaged, locked or of another format.",
    "TIMEOUT": "The call took longer than the server allows.",
    "BUDGET_EXCEEDED": "Not even one item fits into `max_tokens` and `max_bytes`.",
    "INTERNAL_ERROR": "A fault of the server; its log has the details.",
}
_SHARED = "#what-tools-share"


def tools_page() -> str:
    """``docs/reference/tools.md``."""
    from graphctx.model.answers import ListAnswer
    from graphctx.model.graph import Snippet
    from graphctx.model.requests import GraphInput
    from graphctx.server.listing import tool_document
    from graphctx.server.schemas import tool_schema
    from graphctx.server.tools import TOOLSETS

    shared = _Shared(
        tool_schema(GraphInput, "input"), tool_schema(ListAnswer, "output"), tool_schema(Snippet, "output")
    )
    parts = [f"# Tools\n\n{_NOTE}", _INTRO]
    for toolset, tools in TOOLSETS.items():
        names = ", ".join(_link(tool.name) for tool in tools)
        parts.append(f"**Toolset `{toolset}`.** {_TOOLSETS[toolset]} {names}.")
    parts += [shared.section(), _errors()]
    told: dict[type, str] = {}
    for tool in (tool for tools in TOOLSETS.values() for tool in tools):
        parts.append(_section(tool_document(tool), shared, told.setdefault(tool.output, tool.name)))
    return "\n\n".join(parts) + "\n"


class _Shared:
    """What many tools take and most answers say: told of once, and only named where it is the very same."""

    def __init__(self, arguments: Schema, answer: Schema, snippet: Schema) -> None:
        own = ("include_snippet", "page_size")
        self._arguments = {name: field for name, field in arguments["properties"].items() if name not in own}
        self._answer = answer
        self._snippet = snippet

    def arguments(self, schema: Schema) -> list[str]:
        """The names of those arguments of a tool that are as everywhere."""
        return [name for name, field in schema["properties"].items() if self._arguments.get(name) == field]

    def fields(self, schema: Schema) -> list[str]:
        """The names of those fields of an answer that are as everywhere."""
        known = self._answer["properties"]
        return [name for name, field in schema["properties"].items() if known.get(name) == field]

    def section(self) -> str:
        arguments: Schema = {"properties": self._arguments}
        return "\n\n".join(
            [
                "## What tools share",
                "Arguments of most tools:",
                _table(["argument", "type", "default", ""], _argument_rows(arguments, [])),
                "Fields of every answer that is a list:",
                _table(["answer", "type", ""], _field_rows(self._answer, [])),
                "A `snippet`:",
                _table(["answer", "type", ""], _field_rows(self._snippet, [])),
            ]
        )


def _errors() -> str:
    return "\n\n".join(
        [
            "## Errors",
            'A failed call gives `{"error": {"code", "message", "details"}}` as text, with `isError` and without '
            "structured content. The message says what was wrong, with which value, and what to do.",
            _table(["code", "when"], [f"| `{code}` | {when} |" for code, when in _ERRORS.items()]),
        ]
    )


def _link(tool: str) -> str:
    """A tool's name, leading to its section: viewers leave the dots out of a heading's anchor."""
    return f"[`{tool}`](#{tool.replace('.', '')})"


def _section(tool: Schema, shared: _Shared, same_answer: str) -> str:
    """One tool: its description in parts, its own arguments, its own fields, and the names of the others.

    ``same_answer`` is the first tool that answers as this one does: only there the fields are told of.
    """
    description = "\n".join(f"- {line}" for line in tool["description"].split("\n"))
    arguments, answer = shared.arguments(tool["inputSchema"]), shared.fields(tool["outputSchema"])
    every_field = ", ".join(f"`{name}`" for name in tool["outputSchema"]["properties"])
    parts = [
        f"## {tool['name']}",
        f"{tool['title']}.",
        description,
        _table(["argument", "type", "default", ""], _argument_rows(tool["inputSchema"], arguments)),
        _as_everywhere("takes", arguments),
    ]
    if same_answer == tool["name"]:
        parts.append(_table(["answer", "type", ""], _field_rows(tool["outputSchema"], answer)))
        parts.append(_as_everywhere("answers with", answer))
    else:
        parts.append(f"It answers as {_link(same_answer)} does: {every_field}.")
    return "\n\n".join(part for part in parts if part)


def _as_everywhere(verb: str, names: list[str]) -> str:
    named = ", ".join(f"`{name}`" for name in names)
    return f"It also {verb} [what tools share]({_SHARED}): {named}." if names else ""


def _table(head: list[str], rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def _argument_rows(schema: Schema, but: list[str], prefix: str = "") -> list[str]:
    rows = []
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        if name in but:
            continue
        if field.get("properties"):
            rows += _argument_rows(field, [], f"{prefix}{name}.")
            continue
        default = "required" if name in required else f"`{_json(field['default'])}`" if "default" in field else ""
        rows.append(f"| `{prefix}{name}` | {_type(field)} | {default} | {field.get('description', '')} |")
    return rows


def _field_rows(schema: Schema, but: list[str], prefix: str = "") -> list[str]:
    """Each field of an answer, and below it those of its items; ``?`` marks what leaves the JSON when it is empty."""
    rows = []
    for name, field in schema["properties"].items():
        if name in but:
            continue
        mark = "" if name in schema.get("required", [name]) else "?"
        rows.append(f"| `{prefix}{name}`{mark} | {_type(field)} | {field.get('description', '')} |")
        inner, step = (field["items"], "[].") if "items" in field else (field, ".")
        if "properties" in inner and name != "snippet":
            rows += _field_rows(inner, [], f"{prefix}{name}{step}")
    return rows


def _type(field: Schema) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{_json(value)}`" for value in field["enum"])
    if "items" in field:
        most = f", at most {field['maxItems']}" if "maxItems" in field else ""
        return f"list of {_type(field['items'])}{most}"
    types = field.get("type", "any")
    said = " or ".join(types) if isinstance(types, list) else str(types)
    bounds = [str(field[key]) for key in ("minimum", "maximum") if key in field]
    return f"{said} {'–'.join(bounds)}" if len(bounds) == 2 else said


def _json(value: object) -> str:
    """A value as JSON has it, and a string as itself."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
