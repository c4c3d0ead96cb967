"""Keyword arguments of the façade: the optional fields of the requests, with the options beside the other fields.

Defaults and limits are those of the fields of the same names in `graphctx.model.requests`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from graphctx.model.context import ContextMessage
from graphctx.model.requests import Filters, LayerName, Mode, Scope


class ScopeKeywords(TypedDict, total=False):
    """Which documents may be seen."""

    scope: Scope | Mapping[str, Any] | None
    filters: Filters | Mapping[str, Any] | None


class SearchKeywords(ScopeKeywords, total=False):
    """Keyword arguments of `KnowledgeBase.search`."""

    top_k: int
    mode: Mode
    max_per_doc: int
    max_snippet_chars: int
    include_scores: bool
    layers: Sequence[LayerName]


class EvidenceKeywords(ScopeKeywords, total=False):
    """Keyword arguments of `KnowledgeBase.retrieve_evidence`."""

    top_k: int
    max_quotes: int
    max_quote_tokens: int
    include_context_tokens: int
    mode: Mode
    rerank: bool
    include_diagnostics: bool
    layers: Sequence[LayerName]


class GlobalKeywords(ScopeKeywords, total=False):
    """Keyword arguments of `KnowledgeBase.global_search`."""

    points_tokens: int
    max_points: int
    max_point_tokens: int
    relevance_tests: int
    phrase: bool
    include_diagnostics: bool


class ContextKeywords(ScopeKeywords, total=False):
    """Keyword arguments of `KnowledgeBase.compose_context`."""

    system_role: str | None
    history: Sequence[ContextMessage | Mapping[str, Any]]
    layers: Sequence[LayerName]
