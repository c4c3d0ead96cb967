"""``document``: a window of a document's text, with its outline, its pages and the names in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field

from graphctx.model.knowledge import LABELS
from graphctx.model.requests import Filters, Scope, Strict
from graphctx.store.walk import gather
from graphctx.ui.operation import AnyOperation, Operation, PageCall

if TYPE_CHECKING:
    from graphctx.retrieve.documents import DocumentText
    from graphctx.retrieve.graph.view import GraphView

MAX_WINDOW = 100_000
"""Most characters of one window."""
MAX_LINE = 5_000
"""Characters by which a window grows so that it begins and ends with a line; longer lines are cut."""
MAX_OUTLINE = 2_000
MAX_ENTITIES = 400


class DocumentInput(Strict):
    """Arguments of ``document``."""

    uri: str = Field(min_length=1, max_length=2000, description="URI or id of the document.")
    start: int = Field(0, ge=0, description="First character of the window.")
    end: int | None = Field(None, ge=0, description="Its end; default: as much as a window may hold.")
    outline: bool = Field(True, description="Also the outline and the pages; false for a further window.")


def _document(call: PageCall, asked: DocumentInput) -> dict[str, Any]:
    """Return a window of a document, extended to whole lines."""
    from graphctx.retrieve.graph.view import GraphView

    searcher = call.searcher()
    scope = searcher.boundary.narrow(Scope())
    index = searcher.index.within(scope, Filters())
    document = index.document(asked.uri, "uri")
    start, end = _window(document, asked)
    found: dict[str, Any] = {
        "uri": document.uri,
        "doc_id": document.id,
        "title": document.title,
        "tags": document.tags,
        "updated_at": document.updated_at,
        "snapshot_id": searcher.snapshot_id,
        "length": len(document.text),
        "start": start,
        "end": end,
        "line": document.line(start),
        "text": document.text[start:end],
        "entities": _entities(GraphView(index, searcher.graph.tables), document, start, end),
    }
    if asked.outline:
        sections = searcher.catalog.document(document.id, scope).outline
        headings = [entry for entry in sections if entry.level]
        found |= {
            "outline": [
                {"level": entry.level, "title": entry.title, "start": entry.start_char}
                for entry in headings[:MAX_OUTLINE]
            ],
            "n_headings": len(headings),
            "page_starts": document.page_starts,
        }
    return found


def _window(document: DocumentText, asked: DocumentInput) -> tuple[int, int]:
    """Return the span of a window: whole lines, unless these are very long."""
    length, lines = len(document.text), document.line_starts
    start = min(asked.start, length)
    end = min(length, start + MAX_WINDOW, length if asked.end is None else max(asked.end, start))
    before = lines[bisect_right(lines, start) - 1]
    at = bisect_left(lines, end)
    after = lines[at] if at < len(lines) else length
    return (
        before if start - before <= MAX_LINE else start,
        after if end > start and after - end <= MAX_LINE else end,
    )


def _entities(view: GraphView, document: DocumentText, start: int, end: int) -> list[dict[str, Any]]:
    """Return the entities that a window mentions, each at the first sentence of the window that does."""
    walk, own = view.walk, view.tables.units.of_document(document.row)
    starts, ends = (view.index.units[name].slice(own.start, len(own)) for name in ("start_char", "end_char"))
    units = own.start + np.flatnonzero((starts.to_numpy() < end) & (ends.to_numpy() > start))
    first: dict[int, int] = {}
    for pair in gather(walk.unit_pair, units)[0].tolist():
        sentences = walk.pair_sentence[walk.pair_sentence_ptr[pair] : walk.pair_sentence_ptr[pair + 1]]
        places = walk.sentence_start[sentences]
        inside = places[(places >= start) & (places < end)]
        if len(inside):
            row = int(walk.pair_entity[pair])
            first[row] = min(first.get(row, end), int(inside.min()))
    order = sorted(first, key=lambda row: (first[row], row))[:MAX_ENTITIES]
    labels: list[str] = np.asarray(LABELS)[walk.entity_label[order]].tolist()
    found = []
    for row, label in zip(order, labels, strict=True):
        names = view.names_of(row)
        if names is not None:
            entity_id, n_units = view.id(view.key("entity", row)), len(view.pairs_of(row))
            found.append({"id": entity_id, "name": names.name, "label": label, "start": first[row], "n_units": n_units})
    return found


OPERATIONS: tuple[AnyOperation, ...] = (Operation("document", DocumentInput, _document),)
