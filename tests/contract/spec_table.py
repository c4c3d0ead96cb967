"""The tool contract's own numbers, written down from it by hand: what each argument is by default, and its cap.

A value is ``(default, least, most)``; ``None`` stands for what the contract leaves open. ``options.x`` is inside.
"""

from __future__ import annotations

from typing import Any

REQUIRED: dict[str, set[str]] = {
    "kb.search": {"query"},
    "kb.retrieve_evidence": {"question"},
    "kb.extract_evidence": {"question", "passage_ids"},
    "kb.read_excerpt": {"passage_id"},
    "kb.expand_excerpt": {"passage_id"},
    "graph.describe": {"node_ids"},
    "graph.expand": {"node_ids"},
    "graph.paths": {"start_ids", "end_ids"},
    "graph.parents": {"section_ids"},
    "graph.children": {"parent_id"},
    "graph.entities_for_sections": {"section_ids"},
    "graph.sections_for_entities": {"entity_ids"},
    "search_sections": {"query"},
    "get_section_text": {"section_ids"},
    "expand_neighbors": {"node_ids"},
    "get_paths_between": {"start_ids", "end_ids"},
    "describe_nodes": {"node_ids"},
    "list_children": {"parent_id"},
    "list_parents": {"section_ids"},
    "get_entities_for_sections": {"section_ids"},
    "get_sections_for_entities": {"entity_ids"},
    "search": {"query"},
    "fetch": {"id"},
}

_QUOTES = {
    "max_quotes": (6, 1, None),
    "max_quote_tokens": (80, None, None),
    "include_context_tokens": (20, 0, None),
}
_GRAPH = {"page_size": (25, 1, None), "include_snippet": (False, None, None)}
MODES = ["auto", "vector_only", "hybrid_local"]

NUMBERS: dict[str, dict[str, tuple[Any, Any, Any]]] = {
    "kb.search": {
        "top_k": (5, 1, None),
        "page_size": (5, 1, None),
        "options.max_snippet_chars": (280, None, None),
        "options.max_per_doc": (1, 1, None),
        "options.include_scores": (False, None, None),
        "options.include_debug": (False, None, None),
        "options.mode": ("auto", None, None),
    },
    "kb.retrieve_evidence": _QUOTES
    | {
        "top_k": (5, 1, None),
        "options.mode": ("auto", None, None),
        "options.rerank": (None, None, None),
        "options.include_diagnostics": (False, None, None),
    },
    "kb.extract_evidence": _QUOTES,
    "kb.read_excerpt": {
        "max_tokens": (300, 1, 800),
        "max_bytes": (32 * 1024, 1, 32 * 1024),
        "start_char": (0, 0, None),
        "options.format": ("text", None, None),
        "options.include_citation": (True, None, None),
    },
    "kb.expand_excerpt": {
        "before_tokens": (150, 0, 800),
        "after_tokens": (150, 0, 800),
        "max_tokens": (None, 1, 800),
        "max_bytes": (32 * 1024, 1, 32 * 1024),
    },
    "graph.describe": _GRAPH,
    "graph.expand": _GRAPH | {"max_hops": (1, 1, 2), "max_nodes": (200, 1, 200), "direction": ("both", None, None)},
    "graph.paths": _GRAPH | {"max_hops": (None, 1, 4)},
    "graph.parents": _GRAPH,
    "graph.children": _GRAPH,
    "graph.entities_for_sections": _GRAPH,
    "graph.sections_for_entities": _GRAPH,
    "search_sections": {"top_k": (20, 1, None)},
    "get_section_text": {"max_bytes_per": (8192, 1, None)},
    "expand_neighbors": {
        "direction": ("both", None, None),
        "max_hops": (1, 1, None),
        "include_snippet": (False, None, None),
    },
    "get_paths_between": {"max_hops": (3, 1, None), "max_paths": (10, 1, None)},
    "describe_nodes": {},
    "list_children": {"page_size": (50, 1, None)},
    "list_parents": {},
    "get_entities_for_sections": {"max_per_section": (20, 1, None)},
    "get_sections_for_entities": {"max_per": (20, 1, None)},
    "search": {},
    "fetch": {},
}

ALSO: dict[str, set[str]] = {
    "kb.search": {"cursor", "scope", "filters", "options", "session_id"},
    "kb.retrieve_evidence": {"scope", "filters", "options", "session_id"},
    "kb.extract_evidence": {"scope", "session_id"},
    "kb.read_excerpt": {"scope", "options", "session_id"},
    "kb.expand_excerpt": {"scope", "session_id"},
    **{
        f"graph.{name}": {"scope", "filters", "cursor", "session_id"}
        for name in ("describe", "expand", "paths", "parents", "children")
    },
    "graph.entities_for_sections": {"scope", "filters", "cursor", "session_id", "labels"},
    "graph.sections_for_entities": {"scope", "filters", "cursor", "session_id"},
    "search_sections": {"filters", "cursor", "page_size", "session_id"},
    "get_section_text": {"session_id"},
    "expand_neighbors": {"rel_types", "cursor", "page_size", "session_id"},
    "get_paths_between": {"rel_types", "cursor", "session_id"},
    "describe_nodes": {"fields", "session_id"},
    "list_children": {"cursor", "session_id"},
    "list_parents": {"session_id"},
    "get_entities_for_sections": {"labels", "session_id"},
    "get_sections_for_entities": {"session_id"},
    "search": set(),
    "fetch": set(),
}
"""Arguments without a number that the contract names."""

RESULT_FIELDS = {
    "passage_id",
    "section_id",
    "doc_tag",
    "title",
    "rank",
    "score",
    "source",
    "preview",
    "scratch_uri",
    "size_bytes",
    "anchor",
}
SOURCES = {"reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"}
QUOTE_FIELDS = {"quote", "passage_id", "section_id", "title", "uri", "confidence"}
PLACE_FIELDS = {"doc_uri", "start_char", "end_char", "line", "anchor"}
EXCERPT_FIELDS = {"passage_id", "excerpt", "truncated", "next_start_char", "citation"}
CITATION_FIELDS = {"section_id", "doc_tag", "title", "uri"}
LIST_FIELDS = {"partial", "truncated", "limit_reason", "next_cursor", "session_id", "scope", "budget"}

DESCRIPTION_STARTS = ("Use when ", "Do not use when ", "Returns at most ", "If you need more, ", "Defaults: ")
ANNOTATIONS = {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True, "destructiveHint": False}
ERROR_CODES = {
    "INVALID_ARGUMENT",
    "SCOPE_VIOLATION",
    "BACKEND_UNAVAILABLE",
    "TIMEOUT",
    "BUDGET_EXCEEDED",
    "INTERNAL_ERROR",
}
