"""``graphctx call``: any MCP tool from the command line, with the answer that a client would get."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.errors import InvalidArgument


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="A tool's name, such as graph.describe.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENT",
            help="name=value (JSON, or text as it is; filters.path_prefix=… reaches inside), or one JSON object; "
            "- reads the object from standard input.",
        ),
    ] = None,
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Call one of the MCP tools, without a server.

    Prints the text that a client would show, or with --json the structured content. Passages are named by their
    section_id, which later calls take as passage_id. `graphctx tools` lists the tools and their arguments.
    """
    from graphctx.cli.console import print_json, print_text
    from graphctx.retrieve.searcher import nothing_published
    from graphctx.server.config import ServerConfig
    from graphctx.server.local import call as call_tool
    from graphctx.server.local import tool_named
    from graphctx.server.warmup import open_engine
    from graphctx.settings import layers_folder, load_settings
    from graphctx.store.config import read_config

    tool_named(tool)
    given = read_arguments(arguments or [])
    settings = load_settings(read_config(kb).settings)
    layers = layers_folder(settings, kb)
    engine = open_engine(str(kb), layers)
    if not engine.searcher().snapshot_id:
        raise nothing_published()
    config = ServerConfig.from_settings(settings.server, layers=layers, layers_writable=settings.layers.writable)
    reply = call_tool(engine, config, tool, given)
    if as_json:
        print_json(reply.answer)
    else:
        print_text(reply.text)


def read_arguments(words: list[str]) -> dict[str, Any]:
    """The arguments that the words of a command line stand for.

    Raises:
        InvalidArgument: a word is neither ``name=value`` nor a JSON object.
    """
    given: dict[str, Any] = {}
    for word in words:
        if word == "-" or word.lstrip().startswith("{"):
            given |= _object(sys.stdin.read() if word == "-" else word)
            continue
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InvalidArgument(
                f"{word[:80]!r} is no argument: write name=value, or one JSON object in quotes.",
                field="arguments",
                value=word[:200],
                allowed="name=value or a JSON object",
            )
        *outer, last = name.split(".")
        place = given
        for part in outer:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise InvalidArgument(
                    f"{part} was given a value before {name}: give one or the other.", field=part, value=word[:200]
                )
        place[last] = _value(text)
    return given


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidArgument(f"The arguments are no JSON: {error}.", field="arguments", value=text[:200]) from None
    if not isinstance(value, dict):
        raise InvalidArgument("The arguments must be a JSON object.", field="arguments", value=text[:200])
    return value


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself: ``top_k=3``, ``node_ids=["a"]``, ``query=plain words``."""
    try:
        return json.loads(text)
    except ValueError:
        return text
