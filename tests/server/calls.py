"""Calls of tools as the server makes them, without a protocol around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.arguments import parse_arguments
from graphctx.model.budgets import Limits
from graphctx.model.results import UnitText
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from graphctx.server.names import ToolNaming
from graphctx.server.scratch import ScratchStore
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import OpenKnowledgeBase, Warmup

LISTED = ToolNaming.of((tool.name for tool in TOOLS), "underscore")
BY_NAME = {tool.name: tool for tool in TOOLS}


def engine_over(kb: KnowledgeBase) -> OpenKnowledgeBase:
    """Return what a server over a knowledge base runs on, with a key of its own for cursors."""
    return OpenKnowledgeBase(kb.searcher, kb.warm, kb.tokens.count, kb.layers)


def warmup_over(kb: KnowledgeBase) -> Warmup:
    """Return the warm-up of a server over an open knowledge base."""
    return Warmup(lambda: engine_over(kb))


def context_over(
    kb: KnowledgeBase, limits: Limits | None = None, session: str = "x_" + "a" * 16, **settings: Any
) -> CallContext:
    """Return the context of one session's calls; ``settings`` are further fields of the context."""
    config = ServerConfig(limits=limits or Limits())
    fields = {"layers": kb.layers, **settings}
    return CallContext(kb.searcher(), kb.tokens.count, ScratchStore(1 << 24, 60), session, config, **fields)


def within(context: CallContext, **config: Any) -> CallContext:
    """Return the context with other settings of the server."""
    return replace(context, config=replace(context.config, **config))


def call(context: CallContext, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
    """Return the structure and the text of an answer; the structure fits the output model, as on the way out."""
    declared = BY_NAME[tool]
    reply = declared.run(context, parse_arguments(declared.input, arguments))
    structure = reply.answer.model_dump(mode="json")
    declared.output.model_validate(structure)
    return structure, reply.text


def units_of(kb: KnowledgeBase, doc_uri: str) -> list[UnitText]:
    """Return the units of a document in reading order."""
    searcher = kb.searcher()
    rows = range(len(searcher.index.units))
    found = [unit for unit in map(searcher.unit_at, rows) if unit.doc_uri == doc_uri]
    return sorted(found, key=lambda unit: unit.start_char)


def unit_with(kb: KnowledgeBase, doc_uri: str, words: str) -> UnitText:
    """Return the unit of a document that holds some words."""
    return next(unit for unit in units_of(kb, doc_uri) if words in unit.text)
