"""One call of every tool with an answer to it, and one that has none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphctx.server.config import Toolset
from graphctx.server.tools import TOOLSETS

from .corpus import OPEN_QUESTION, WHOLE_QUESTION
from .protocol import Caller, Reply
from .truth import Truth


def offered(toolset: Toolset) -> tuple[str, ...]:
    """The names of a toolset's tools: whatever is declared is held to the contract."""
    return tuple(tool.name for tool in TOOLSETS[toolset])


KB, GRAPH, COMPAT, CONNECTOR, LAYERS = map(offered, ("kb", "graph", "compat", "connector", "layers"))
EVERY_TOOL = (*KB, *GRAPH, *COMPAT, *CONNECTOR)
PASSAGE_TOOLS = ("kb.extract_evidence", "kb.read_excerpt", "kb.expand_excerpt")
"""The tools that speak of passages which were found before."""
NODE_TOOLS = tuple(tool for tool in GRAPH if tool != "graph.communities")
"""The tools that start from nodes."""
LISTS = tuple(tool for tool in (*KB, *GRAPH, *COMPAT) if tool not in ("kb.read_excerpt", "kb.expand_excerpt"))
"""The tools that answer with a list, and so with `partial` and a cursor."""

ITEMS = {
    "kb.retrieve_evidence": "quotes",
    "kb.extract_evidence": "quotes",
    "kb.search": "results",
    "kb.global_search": "points",
    "search_sections": "results",
    "get_section_text": "sections",
    "graph.describe": "nodes",
    "graph.expand": "nodes",
    "graph.paths": "paths",
    "graph.parents": "sections",
    "graph.children": "children",
    "graph.entities_for_sections": "entities",
    "graph.sections_for_entities": "sections",
    "graph.communities": "communities",
    "describe_nodes": "nodes",
    "expand_neighbors": "nodes",
    "get_paths_between": "paths",
    "list_parents": "sections",
    "list_children": "children",
    "get_entities_for_sections": "entities",
    "get_sections_for_entities": "sections",
}
"""The name of the list in the answer of a tool."""


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
        of = {
            "kb.retrieve_evidence": {"question": OPEN_QUESTION},
            "kb.search": {"query": OPEN_QUESTION},
            "kb.global_search": {"question": WHOLE_QUESTION},
            "kb.extract_evidence": {"question": OPEN_QUESTION, "passage_ids": list(passages[:3])},
            "kb.read_excerpt": {"passage_id": passages[0]},
            "kb.expand_excerpt": {"passage_id": passages[0]},
            "graph.describe": {"node_ids": nodes},
            "graph.expand": {"node_ids": entities},
            "graph.paths": {"start_ids": [entities[0]], "end_ids": [entities[1], *starts]},
            "graph.parents": {"section_ids": sections},
            "graph.children": {"parent_id": "open/tide-gate.md"},
            "graph.entities_for_sections": {"section_ids": sections},
            "graph.sections_for_entities": {"entity_ids": entities},
            "graph.communities": {},
        }
        older = {
            "search_sections": of["kb.search"],
            "get_section_text": {"section_ids": sections},
            "expand_neighbors": of["graph.expand"],
            "get_paths_between": of["graph.paths"],
            "describe_nodes": of["graph.describe"],
            "list_children": of["graph.children"],
            "list_parents": of["graph.parents"],
            "get_entities_for_sections": of["graph.entities_for_sections"],
            "get_sections_for_entities": of["graph.sections_for_entities"],
        }
        connector = {"search": {"query": OPEN_QUESTION}, "fetch": {"id": sections[0]}}
        layers = {
            "agents_search": {"query": "tide gate", "layers": ["base", "delta"], "filters": {"kind": ["note"]}},
            "agents_context_write": {
                "content": "The tide gate shuts at four.",
                "kind": "note",
                "confidence": 0.5,
                "scope": "delta",
                "sources": ["open/tide-gate.md:3"],
            },
            "agents_context_propose": {"context_id": 3, "target": "user"},
        }
        return cls(of | older | connector | layers, passages, caller)
