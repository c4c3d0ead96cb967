"""Calls that name something, of every tool that takes such a name."""

from __future__ import annotations

from typing import Any

from graphctx.server.tools import TOOLSETS

from .corpus import OPEN_QUESTION

REFERENCES = {
    *("passage_id", "passage_ids", "section_ids", "node_ids", "start_ids", "end_ids", "parent_id"),
    *("entity_id", "entity_ids", "community_ids", "doc_uri", "id"),
}
"""Arguments that hold an id, a URI or a name; those that end in ``_ids`` hold a list."""

_OTHER_ARGUMENTS = {"question": OPEN_QUESTION, "start_ids": ["Oda Brenn"], "end_ids": ["Oda Brenn"]}

_INPUTS = {
    tool.name: tool.input.model_fields
    for name, tools in TOOLSETS.items()
    if name not in ("layers", "memory", "iteration", "context")
    for tool in tools
}


def naming(passage: str) -> list[tuple[str, dict[str, Any]]]:
    """A call with a passage id in each argument that takes a reference, and one of each tool that asks for nothing."""
    unasked = [tool for tool, fields in _INPUTS.items() if not {*REFERENCES, "query", "question"} & fields.keys()]
    return [
        *((tool, {}) for tool in unasked),
        *(
            (tool, others | {name: [passage] if name.endswith("_ids") else passage})
            for tool, fields in _INPUTS.items()
            for others in [{name: value for name, value in _OTHER_ARGUMENTS.items() if name in fields}]
            for name in fields
            if name in REFERENCES
        ),
    ]


QUESTIONED = {
    tool: name
    for tool, fields in _INPUTS.items()
    for name in ("query", "question")
    if name in fields and not REFERENCES & fields.keys()
}
"""The tools that take a question, and as which argument."""
