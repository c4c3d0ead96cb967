"""``graphctx tools``: what the server offers, from the tools' declarations."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graphctx.cli.options import JsonOption


def tools(
    name: Annotated[str | None, typer.Argument(metavar="TOOL", help="One tool, in full.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the MCP tools, or show one with its arguments.

    The JSON is what a client is told: name, title, description, annotations, input and output schema.
    """
    from graphctx.cli.console import print_json, print_table, print_text
    from graphctx.server.listing import tool_document
    from graphctx.server.local import tool_named
    from graphctx.server.tools import TOOLS

    if name is not None:
        document = tool_document(tool_named(name))
        if as_json:
            print_json(document)
            return
        print_text(f"{document['name']}: {document['title']}\n\n{document['description']}\n")
        print_table(["argument", "type", "default", ""], _arguments(document["inputSchema"]))
        return
    if as_json:
        print_json({"tools": [tool_document(tool) for tool in TOOLS]})
        return
    print_table(["tool", "toolset", ""], [[tool.name, tool.toolset, tool.title] for tool in TOOLS])


def _arguments(schema: dict[str, Any], prefix: str = "") -> list[list[str]]:
    """A row for each argument; those inside an object by their path."""
    rows = []
    for name, field in schema["properties"].items():
        if "properties" in field:
            rows += _arguments(field, f"{prefix}{name}.")
            continue
        default = "required" if name in schema.get("required", []) else str(field.get("default", ""))
        rows.append([prefix + name, str(field.get("type", "")), default, field.get("description", "")])
    return rows
