"""``graphctx tools`` and ``call``: the MCP tools from the command line."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from graphctx.cli.console import print_json, print_table, print_text
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.cli.query import json_or_text
from graphctx.errors import InvalidArgument


def tools(
    name: Annotated[str | None, typer.Argument(metavar="TOOL", help="One tool, in full.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the MCP tools, or show one with its arguments.

    The JSON is what a client is sent: name, title, description, annotations, input and output schema.
    """
    from graphctx.server.listing import tool_document
    from graphctx.server.local import tool_named
    from graphctx.server.tools import TOOLS

    if name is not None:
        document = tool_document(tool_named(name))
        if as_json:
            print_json(document)
            return
        print_text(f"{document['name']}: {document['title']}\n\n{document['description']}\n")
        print_table(["argument", "type", "default", ""], _argument_rows(document["inputSchema"]))
    elif as_json:
        print_json({"tools": [tool_document(tool) for tool in TOOLS]})
    else:
        print_table(["tool", "toolset", ""], [[tool.name, tool.toolset, tool.title] for tool in TOOLS])


def _argument_rows(schema: dict[str, Any], prefix: str = "") -> list[list[str]]:
    """Return a row for each argument; those inside an object are named by their path."""
    rows = []
    for name, field in schema["properties"].items():
        if "properties" in field:
            rows += _argument_rows(field, f"{prefix}{name}.")
            continue
        default = "required" if name in schema.get("required", []) else str(field.get("default", ""))
        rows.append([prefix + name, str(field.get("type", "")), default, field.get("description", "")])
    return rows


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="A tool's name, such as graph.describe.")],
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="ARGUMENT",
            help="name=value (JSON or text; filters.path_prefix=… sets a field of an object), or one JSON object; "
            "- reads the object from standard input.",
        ),
    ] = [],
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Call one of the MCP tools, without a server.

    Prints the text that a client would show, or with --json the structured content. Passages are named by their
    section_id, which later calls accept as passage_id. `graphctx tools` lists the tools and their arguments.
    """
    from graphctx.retrieve.searcher import nothing_published
    from graphctx.server.config import MEMORY_TOOLSETS, ServerConfig
    from graphctx.server.local import call as call_tool
    from graphctx.server.local import tool_named
    from graphctx.server.warmup import open_kb
    from graphctx.settings import layers_folder, load_settings, memory_folder
    from graphctx.store.config import is_absent, read_config

    toolset = tool_named(tool).toolset
    values = read_arguments(arguments)
    remembers = toolset in MEMORY_TOOLSETS
    options = values.get("options")
    beside = ("memory",) if isinstance(options, dict) and options.get("include_memory") is True else ()
    settings = load_settings({} if remembers and is_absent(kb) else read_config(kb).settings)
    layers = layers_folder(settings, kb)
    config = ServerConfig.from_settings(
        settings.server.model_copy(update={"toolsets": (*settings.server.toolsets, toolset, *beside)}),
        layers=layers,
        layers_writable=settings.layers.writable,
        memory=memory_folder(settings, kb),
        memory_settings=settings.memory,
        llm=settings.llm,
        context_settings=settings.context,
    )
    opened = open_kb(str(kb), layers, config)
    if not remembers and not opened.searcher().snapshot_id:
        raise nothing_published()
    reply = call_tool(opened, config, tool, values)
    if as_json:
        print_json(reply.answer)
    else:
        print_text(reply.text)


def read_arguments(words: list[str]) -> dict[str, Any]:
    """Return the arguments that words of a command line stand for.

    ``["top_k=3", "filters.path_prefix=docs/"]`` gives ``{"top_k": 3, "filters": {"path_prefix": "docs/"}}``.

    Raises:
        InvalidArgument: a word is neither ``name=value`` nor a JSON object.
    """
    values: dict[str, Any] = {}
    for word in words:
        if word == "-" or word.lstrip().startswith("{"):
            values |= _json_object(sys.stdin.read() if word == "-" else word)
            continue
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InvalidArgument(
                f"{word[:80]!r} is not an argument: write name=value, or one JSON object in quotes.",
                field="arguments",
                value=word[:200],
                allowed="name=value or a JSON object",
            )
        *outer, last = name.split(".")
        fields = values
        for part in outer:
            fields = fields.setdefault(part, {})
            if not isinstance(fields, dict):
                raise InvalidArgument(
                    f"{part} has a value already, so {name} cannot be set: give one or the other.",
                    field=part,
                    value=word[:200],
                )
        fields[last] = json_or_text(text)
    return values


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"The arguments are not JSON: {error}.", field="arguments", value=text[:200]) from None
    if not isinstance(value, dict):
        raise InvalidArgument("The arguments must be a JSON object.", field="arguments", value=text[:200])
    return value
