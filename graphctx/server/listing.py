"""What is published about the tools: the server's instructions, the listed tools, the files in ``schemas/``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import mcp_types as types

from graphctx.server.config import ServerConfig
from graphctx.server.names import ToolNaming
from graphctx.server.schemas import Direction, Schema, tool_schema, without
from graphctx.server.tool import AnyTool

_ABOUT = "Answers from a knowledge base of documents, as exact quotes with citations."
_ABOUT_LAYERS = "Searches and extends the layers of AGENTS.db: what people and agents wrote down beside the code."
_BOUNDED = (
    "Quotes are word for word; cite them by title and URI. An empty answer says why in empty_reason. Every answer is "
    "bounded: when partial is true, repeat the call with next_cursor."
)
_PLAYBOOK = {
    "kb": "Start with kb.retrieve_evidence: it returns the sentences that bear on a question; for one about the whole, "
    "kb.global_search does. kb.search lists passages with previews; kb.extract_evidence quotes from passages that you "
    "choose; kb.read_excerpt and kb.expand_excerpt read on.",
    "graph": "graph.describe, graph.expand, graph.paths and the other graph tools explore how entities, sections and "
    "documents hang together, after a search has shown where to look; graph.communities shows the themes.",
    "compat": "search_sections finds sections and get_section_text reads them.",
    "connector": "search finds documents and fetch reads one.",
    "layers": "agents_search finds what people and agents have written down about the repository; "
    "agents_context_write keeps what you find out, and agents_context_propose asks that it be kept for good.",
}
"""How to use each toolset."""

_HANDLES = "Name passages by their section_id, which needs no session; a passage_id needs the session_id of its answer."


def instructions(tools: Iterable[AnyTool], config: ServerConfig, spelling: ToolNaming) -> str:
    """Return the instructions for models, in the names of the tools that the server offers."""
    offered = {tool.toolset for tool in tools}
    about = _ABOUT_LAYERS if offered == {"layers"} else _ABOUT
    parts = [about, *(said for toolset, said in _PLAYBOOK.items() if toolset in offered), _BOUNDED]
    if config.transport == "http":
        parts.append(_HANDLES)
    return spelling.text(" ".join(parts))


_OF_LAYERS = frozenset({"layers", "layer", "layer_notes"})


def hidden_fields(tool: AnyTool, config: ServerConfig) -> frozenset[str]:
    """Return the arguments and fields of answers that mean nothing here: those of layers where none are served."""
    return _OF_LAYERS if config.layers is None and tool.toolset != "layers" else frozenset()


def _schema(tool: AnyTool, direction: Direction, spelling: ToolNaming, config: ServerConfig) -> Schema:
    schema = without(
        tool_schema(tool.input if direction == "input" else tool.output, direction), hidden_fields(tool, config)
    )
    described: Schema = spelling.schema(schema)
    return described


def listed(tool: AnyTool, spelling: ToolNaming, config: ServerConfig) -> types.Tool:
    """Return a tool as it is listed, with the limits that are configured."""
    return types.Tool(
        name=spelling.name(tool.name),
        title=tool.title,
        description=spelling.text(tool.describe(config.limits)),
        input_schema=_schema(tool, "input", spelling, config),
        output_schema=_schema(tool, "output", spelling, config) if config.structured_output else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.hints["readOnlyHint"],
            destructive_hint=tool.hints["destructiveHint"],
            idempotent_hint=tool.hints["idempotentHint"],
            open_world_hint=tool.hints["openWorldHint"],
        ),
    )


def tool_document(tool: AnyTool) -> Schema:
    """Return all that is published about a tool: name, title, description, annotations and both schemas."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.describe(),
        "annotations": tool.hints,
        "inputSchema": tool_schema(tool.input, "input"),
        "outputSchema": tool_schema(tool.output, "output"),
    }


def _rendered(tools: Iterable[AnyTool]) -> dict[str, str]:
    return {f"{tool.name}.json": json.dumps(tool_document(tool), indent=2, ensure_ascii=False) + "\n" for tool in tools}


def write_schemas(directory: Path, tools: Iterable[AnyTool]) -> list[Path]:
    """Write one JSON file for each tool, and remove the files of other tools."""
    directory.mkdir(parents=True, exist_ok=True)
    rendered = _rendered(tools)
    for stale in directory.glob("*.json"):
        if stale.name not in rendered:
            stale.unlink()
    for name, text in rendered.items():
        (directory / name).write_text(text, encoding="utf-8")
    return [directory / name for name in rendered]


def check_schemas(directory: Path, tools: Iterable[AnyTool]) -> list[str]:
    """Return the names of files that differ from what `write_schemas` would write."""
    rendered = _rendered(tools)
    present = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.json")}
    return sorted(name for name in rendered.keys() | present.keys() if rendered.get(name) != present.get(name))
