"""One call of every tool with an answer to it, and one that has none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_origin

from graphctx.model.answers import ListAnswer
from graphctx.server.config import Toolset
from graphctx.server.tools import TOOLSETS

from .corpus import OPEN_QUESTION, WHOLE_QUESTION
from .protocol import Caller, Reply
from .truth import Truth


def offered(toolset: Toolset) -> tuple[str, ...]:
    """The names of a toolset's tools: whatever is declared is held to the contract."""
    return tuple(tool.name for tool in TOOLSETS[toolset])


KB, GRAPH, COMPAT, CONNECTOR = map(offered, ("kb", "graph", "compat", "connector"))
LAYERS, MEMORY, ITERATION, CONTEXT = map(offered, ("layers", "memory", "iteration", "context"))
EVERY_TOOL = (*KB, *GRAPH, *COMPAT, *CONNECTOR)
PASSAGE_TOOLS = ("kb.extract_evidence", "kb.read_excerpt", "kb.expand_excerpt")
"""The tools that speak of passages which were found before."""
NODE_TOOLS = tuple(tool for tool in GRAPH if tool != "graph.communities")
"""The tools that start from nodes."""
ITEMS = {
    tool.name: next(
        name
        for name, field in tool.output.model_fields.items()
        if field.is_required() and get_origin(field.annotation) is list and name != "starts"
    )
    for toolset in ("kb", "graph", "compat")
    for tool in TOOLSETS[toolset]
    if issubclass(tool.output, ListAnswer)
}
"""The name of the list in the answer of a tool: its first required list, but for the nodes that an expansion starts from."""
LISTS = tuple(ITEMS)
"""The tools that answer with a list, and so with `partial` and a cursor."""


@dataclass(frozen=True)
class Examples:
    """Arguments by tool.

    Attributes:
        plain: calls that have an answer.
        passages: passage ids that the session holds.
        caller: whose session it is.
    """

    plain: dict[str, dict[str, Any]]
    passages: tuple[str, ...]
    caller: Caller

    def reply(self, tool: str) -> Reply:
        """The reply to a tool's call, asked for once."""
        if tool not in self._replies:
            self._replies[tool] = self.caller.call(tool, self.plain[tool])
        return self._replies[tool]

    @cached_property
    def _replies(self) -> dict[str, Reply]:
        return {}

    @classmethod
    def gathered(cls, caller: Caller, truth: Truth) -> Examples:
        """Search first, so that there are passages and ids to speak of."""
        found = caller.call("kb.search", {"query": OPEN_QUESTION, "top_k": 10, "page_size": 10}).answer
        passages = tuple(result["passage_id"] for result in found["results"])
        sections = [result["section_id"] for result in found["results"]][:5]
        entities = ["Oda Brenn", "Halvard Works"]
        starts = [node for node in truth.ids("e") if len(truth.places[node]) > 3][:3]
        nodes = [*entities, *sections[:2], found["results"][0]["doc_id"]]
        arguments: dict[str, Any] = {
            "query": OPEN_QUESTION,
            "question": OPEN_QUESTION,
            "passage_id": passages[0],
            "passage_ids": list(passages[:3]),
            "section_ids": sections,
            "node_ids": entities,
            "start_ids": [entities[0]],
            "end_ids": [entities[1], *starts],
            "entity_ids": entities,
            "parent_id": "open/tide-gate.md",
            "doc_uri": "open/tide-gate.md",
            "id": sections[0],
            "entity": entities[0],
            "scope": "working",
            "content": "The tide gate shuts at four.",
            "context_type": "task",
            "path": "documents",
            "current_context": "The tide gate shuts at four.",
        }
        special = {
            "kb.global_search": {"question": WHOLE_QUESTION},
            "graph.describe": {"node_ids": nodes},
            "describe_nodes": {"node_ids": nodes},
            "agents_search": {"query": "tide gate", "layers": ["base", "delta"], "filters": {"kind": ["note"]}},
            "agents_context_write": {
                "content": "The tide gate shuts at four.",
                "kind": "note",
                "confidence": 0.5,
                "scope": "delta",
                "sources": ["open/tide-gate.md:3"],
            },
            "memory_store": {"content": "The tide gate shuts at four.", "memory_type": "fact", "entities": ["gate"]},
            "memory_forget": {"memory_id": "m_aaaaaaaaaaaaaaaa", "action": "delete"},
            "memory_wipe": {"confirm": "wipe"},
            "mark_useful": {"item_id": "m_aaaaaaaaaaaaaaaa", "helpful": True},
            "store_iteration_result": {"iteration": 1, "summary": "Shut the tide gate.", "success": True},
            "agents_context_propose": {"context_id": 3, "target": "user"},
        }
        required = {
            tool.name: [name for name, field in tool.input.model_fields.items() if field.is_required()]
            for tools in TOOLSETS.values()
            for tool in tools
        }
        plain = {
            tool: special.get(tool) or {name: arguments[name] for name in names} for tool, names in required.items()
        }
        return cls(plain, passages, caller)
