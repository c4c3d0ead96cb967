"""Calls that name something, of every tool that takes such a name."""

from __future__ import annotations

from typing import Any

from .corpus import OPEN_QUESTION


def naming(passage: str) -> list[tuple[str, dict[str, Any]]]:
    """A call of every tool that takes a passage id."""
    other = {"node_ids": [passage], "section_ids": [passage]}
    return [
        ("kb.read_excerpt", {"passage_id": passage}),
        ("kb.expand_excerpt", {"passage_id": passage}),
        ("kb.extract_evidence", {"passage_ids": [passage], "question": OPEN_QUESTION}),
        ("graph.describe", {"node_ids": [passage]}),
        ("graph.expand", {"node_ids": [passage]}),
        ("graph.paths", {"start_ids": [passage], "end_ids": ["Oda Brenn"]}),
        ("graph.paths", {"start_ids": ["Oda Brenn"], "end_ids": [passage]}),
        ("graph.parents", {"section_ids": [passage]}),
        ("graph.children", {"parent_id": passage}),
        ("graph.entities_for_sections", {"section_ids": [passage]}),
        ("graph.sections_for_entities", {"entity_ids": [passage]}),
        ("graph.communities", {"community_ids": [passage]}),
        ("graph.communities", {"parent_id": passage}),
        ("graph.communities", {"entity_id": passage}),
        *(
            (tool, {name: other[name]})
            for tool, name in (("describe_nodes", "node_ids"), ("expand_neighbors", "node_ids"))
        ),
        ("get_section_text", {"section_ids": [passage]}),
        ("get_paths_between", {"start_ids": [passage], "end_ids": ["Oda Brenn"]}),
        ("list_children", {"parent_id": passage}),
        ("list_parents", {"section_ids": [passage]}),
        ("get_entities_for_sections", {"section_ids": [passage]}),
        ("get_sections_for_entities", {"entity_ids": [passage]}),
        ("fetch", {"id": passage}),
    ]


QUESTIONED = {
    "kb.search": "query",
    "kb.retrieve_evidence": "question",
    "kb.global_search": "question",
    "search_sections": "query",
    "search": "query",
}
"""The tools that take a question, and as which argument."""
