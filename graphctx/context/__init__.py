"""Composition of contexts: what to put into a model's context window, in which order, within how many tokens.

``question -> candidates -> concepts, sections and sentences -> placement -> text``; docs/context.md has the whole.
"""

from graphctx.context.cache import ContextCache
from graphctx.context.composer import ContextComposer, compose_context
from graphctx.context.documents import DocumentSource
from graphctx.context.hierarchy import HierarchicalResults, HierarchicalRetriever
from graphctx.context.optimizer import ContextOptimizer, optimize_context
from graphctx.context.render import augment_for_llm
from graphctx.model.context_source import ContextSource, RetrievedPart

__all__ = [
    "ContextCache",
    "ContextComposer",
    "ContextOptimizer",
    "ContextSource",
    "DocumentSource",
    "HierarchicalResults",
    "HierarchicalRetriever",
    "RetrievedPart",
    "augment_for_llm",
    "compose_context",
    "optimize_context",
]
