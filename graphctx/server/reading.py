"""The contents of resources: passages, documents and entities within the boundary of the settings, and the status."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.graph import Node
from graphctx.model.requests import DescribeInput, ExpandInput, Scope, SectionsForEntitiesInput
from graphctx.model.results import UnitText
from graphctx.server.resources import JSON, TEXT, ambiguous, document_uri, entity_uri, text_contents, unknown
from graphctx.text.graphemes import cut_end

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

MAX_DOCUMENT_BYTES = 128 * 1024
"""The longest text of a document, about 32,000 tokens of English; its sections can be read one by one."""
MAX_OUTLINE = 500
"""The most sections that are listed of one document."""
MAX_ENTITY_SECTIONS = 10
MAX_RELATED = 25
MAX_NAME_CHARS = 300
"""The longest name of a node, as in a tool's argument."""


def unit_contents(uri: str, unit: UnitText) -> types.TextResourceContents:
    """Return the whole text of a passage, with its place in the document."""
    place = {
        "section_id": unit.section_id,
        "doc_uri": unit.doc_uri,
        "document": document_uri(unit.doc_id),
        "title": unit.title,
        "start_char": unit.start_char,
        "end_char": unit.end_char,
        "line": unit.line,
        "size_bytes": len(unit.text.encode("utf-8", "surrogatepass")),
    }
    return text_contents(uri, unit.text, TEXT, place)


def chunk_contents(uri: str, unit: UnitText) -> types.TextResourceContents:
    """Return the start of a layer's chunk, up to the limit."""
    end = _end(unit.text)
    said = {
        "doc_id": unit.doc_id,
        "doc_uri": unit.doc_uri,
        "title": unit.title,
        "kind": unit.heading,
        "start_char": 0,
        "end_char": end,
        "n_chars": len(unit.text),
        "truncated": end < len(unit.text),
        "max_bytes": MAX_DOCUMENT_BYTES,
    }
    return text_contents(uri, unit.text[:end], TEXT, said)


def document_contents(uri: str, name: str, searcher: Searcher, scope: Scope) -> types.TextResourceContents:
    """Return the start of a document's text, up to the limit, with its outline.

    Raises:
        InvalidArgument: the scope has no such document.
    """
    try:
        document = searcher.catalog.document(name, scope)
    except InvalidArgument:
        raise unknown("document", name) from None
    end = _end(document.text)
    sections = [asdict(entry) for entry in document.outline[:MAX_OUTLINE]]
    said = {
        "doc_id": document.doc_id,
        "doc_uri": document.uri,
        "title": document.title,
        "tags": list(document.tags),
        "updated_at": document.updated_at,
        "start_char": 0,
        "end_char": end,
        "n_chars": len(document.text),
        "size_bytes": len(document.text.encode("utf-8", "surrogatepass")),
        "truncated": end < len(document.text),
        "max_bytes": MAX_DOCUMENT_BYTES,
        "sections": sections,
        "n_sections": len(document.outline),
    }
    return text_contents(uri, document.text[:end], TEXT, said)


def entity_contents(uri: str, name: str, searcher: Searcher, scope: Scope) -> types.TextResourceContents:
    """Return an entity as JSON: itself, the sections that define it, what it is related to.

    Raises:
        InvalidArgument: the scope has no such entity, or several of that name.
    """
    entity = _entity(name, searcher, scope)
    sections = searcher.graph.sections_for_entities(
        SectionsForEntitiesInput(entity_ids=[entity.id], max_per_entity=MAX_ENTITY_SECTIONS, scope=scope)
    )
    related = searcher.graph.expand(
        ExpandInput(node_ids=[entity.id], rel_types=["RELATED"], max_nodes=MAX_RELATED, scope=scope)
    )
    answer = {
        "entity": entity.model_dump(mode="json"),
        "sections": [item.model_dump(mode="json") for item in sections.items],
        "related": [item.model_dump(mode="json") for item in related.items],
        "scope": scope.model_dump(mode="json"),
        "snapshot_id": searcher.snapshot_id,
    }
    return text_contents(uri, _json(answer), JSON, {"entity_id": entity.id, "uri": entity_uri(entity.id)})


def status_contents(uri: str, status: dict[str, Any]) -> types.TextResourceContents:
    """Return the server's counters as JSON."""
    return text_contents(uri, _json(status), JSON)


def _entity(name: str, searcher: Searcher, scope: Scope) -> Node:
    if not name.strip() or len(name) > MAX_NAME_CHARS:
        raise unknown("entity", name)
    try:
        found = searcher.graph.describe(DescribeInput(node_ids=[name], scope=scope))
    except InvalidArgument:
        raise unknown("entity", name) from None
    for node in found.items:
        if node.kind == "entity":
            return node
    candidates = [node for asked in found.unresolved if asked.reason == "ambiguous" for node in asked.candidates]
    if not candidates:
        raise unknown("entity", name)
    raise ambiguous("entities", name, {entity_uri(node.id): f"{node.name}, {node.label}" for node in candidates})


def _end(text: str) -> int:
    """Return where a text is cut, between graphemes, to have at most `MAX_DOCUMENT_BYTES`."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= MAX_DOCUMENT_BYTES:
        return len(text)
    whole = encoded[:MAX_DOCUMENT_BYTES].decode("utf-8", "ignore")
    return cut_end(text, 0, len(whole))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
