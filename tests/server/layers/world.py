"""What the tests of the layer tools share."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from graphctx.knowledge_base import KnowledgeBase
from graphctx.layer_source.source import LayerSource
from graphctx.layers import LayerStack, hashed
from graphctx.model.budgets import Limits
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.searcher import Searcher
from graphctx.server.call_context import CallContext
from graphctx.server.warmup import OpenKnowledgeBase, Warmup
from tests.layers.world import DIM

from ..calls import context_over

COUNTER = WordPieceCounter()
QUESTION = "Who is the duty officer for the ledger?"
OFFICER = "The duty officer for the ledger is Tove Lund since April."
LONG = "# Tides\n\n" + "".join(f"Station {n} reports the tide of basin {n} each hour.\n\n" for n in range(400))
TOKEN = "ana-0123456789-abcdefgh"


def source(folder: Path) -> LayerSource:
    return LayerSource(LayerStack(folder, hashed(DIM)), COUNTER)


def beside(kb: KnowledgeBase, folder: Path) -> OpenKnowledgeBase:
    """Return what a server runs on that has the layers of a folder beside a knowledge base."""
    plain, layers = kb.searcher(), source(folder)
    searcher = Searcher(plain.published, plain.boundary, kb.tokens, kb.settings.retrieve, layers=layers)
    return OpenKnowledgeBase(lambda: searcher, kb.warm, kb.tokens.count, layers)


def warmup_with(kb: KnowledgeBase, folder: Path) -> Warmup:
    """Return the warm-up of a server with layers."""
    return Warmup(lambda: beside(kb, folder))


def context_with(kb: KnowledgeBase, folder: Path, limits: Limits | None = None) -> CallContext:
    """Return the context of one session's calls, with layers."""
    opened = beside(kb, folder)
    return replace(context_over(kb, limits, layers=opened.layers), searcher=opened.searcher())


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db")}
