"""Whatever a server's limits are, an answer keeps them, or an error says that nothing useful fits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits, weigh
from graphctx.server.tools import TOOLSETS

from .calls import call, context_over, unit_with

QUESTION = {"question": "Who is the duty officer for the ledger?"}
ENTITIES = ["ledger", "Ines Halvorsen", "duty officer"]
TOOLS = [tool.name for name in ("kb", "graph", "compat", "connector") for tool in TOOLSETS[name]]


def arguments_of(kb: KnowledgeBase, tool: str) -> dict[str, Any]:
    """Return a call of a tool that has an answer."""
    sections = [unit_with(kb, "people/duty.md", "Ines").section_id, unit_with(kb, "ops/backup.md", "seal").section_id]
    passage = unit_with(kb, "odd/marks.md", "The ").section_id
    by_tool: dict[str, dict[str, Any]] = {
        "kb.retrieve_evidence": QUESTION,
        "kb.global_search": QUESTION,
        "kb.extract_evidence": {**QUESTION, "passage_ids": sections},
        "kb.read_excerpt": {"passage_id": passage},
        "kb.expand_excerpt": {"passage_id": passage},
        "fetch": {"id": passage},
        "graph.communities": {},
        "graph.paths": {"start_ids": ["ledger"], "end_ids": ["Ines Halvorsen"]},
        "get_paths_between": {"start_ids": ["ledger"], "end_ids": ["Ines Halvorsen"]},
        "graph.children": {"parent_id": "ops/backup.md"},
        "list_children": {"parent_id": "ops/backup.md"},
    }
    if tool in by_tool:
        return by_tool[tool]
    if "search" in tool:
        return {"query": "duty officer of the ledger", **({} if tool == "search" else {"top_k": 20})}
    if "sections_for" in tool or tool.endswith("for_entities"):
        return {"entity_ids": ENTITIES}
    if "section" in tool or "parents" in tool:
        return {"section_ids": sections}
    return {"node_ids": ENTITIES}


@pytest.mark.parametrize("tool", TOOLS)
@given(tokens=st.integers(60, 2_000), size=st.integers(300, 8_000))
def test_an_answer_keeps_any_limits_of_the_server(kb: KnowledgeBase, tool: str, tokens: int, size: int) -> None:
    context = context_over(kb, Limits(tokens, size))
    try:
        structure, text = call(context, tool, **arguments_of(kb, tool))
    except BudgetExceeded:
        return
    sent = [text, json.dumps(structure, ensure_ascii=False, separators=(",", ":"))]
    weight = weigh(sent, context.count)
    assert weight.bytes <= size
    assert weight.tokens <= tokens + 20  # random ids count as the heaviest of their length
    if "budget" in structure:
        assert (structure["budget"]["max_tokens"], structure["budget"]["max_bytes"]) == (tokens, size)
