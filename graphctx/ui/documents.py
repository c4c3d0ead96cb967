"""``documents``: what is published, a page at a time, and what was skipped and why."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from graphctx.ingest.kept_reports import kept_reports
from graphctx.model.requests import Filters, Scope, Strict
from graphctx.model.scope import within
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.searcher import Searcher
from graphctx.store.texts import TEXTS_DIR, Texts
from graphctx.ui.operation import AnyOperation, Operation, PageCall

MAX_TAGS = 40
"""Tags that are offered as filters, the most used first."""


class DocumentsChoice(Strict):
    """Which documents to list."""

    query: str = Field("", max_length=200, description="Words that the title or the URI holds, in any order.")
    scope: Scope = Field(default_factory=Scope)
    filters: Filters = Field(default_factory=Filters)
    sort: Literal["uri", "title", "size", "updated"] = "uri"
    descending: bool = False
    offset: int = Field(0, ge=0)
    limit: int = Field(50, ge=1, le=200)


class SkippedChoice(Strict):
    """Which skipped files to list."""

    query: str = Field("", max_length=200)
    offset: int = Field(0, ge=0)
    limit: int = Field(50, ge=1, le=200)


def _documents(call: PageCall, asked: DocumentsChoice) -> dict[str, Any]:
    """Return a page of the published documents within the scope."""
    searcher = call.searcher()
    index = searcher.index
    table, sizes = index.documents, Texts(index.snapshot.directory / TEXTS_DIR).sizes
    seen = index.document_filter.visible(searcher.boundary.narrow(asked.scope), asked.filters)
    if index.visible_documents is not None:
        seen &= index.visible_documents
    names = pc.utf8_lower(pc.binary_join_element_wise(table["title"], table["uri"], " "))
    for word in asked.query.lower().split():
        seen &= pc.match_substring(names, word).to_numpy()
    rows = _sorted(index, np.flatnonzero(seen), sizes, asked)
    page = pa.array(rows[asked.offset : asked.offset + asked.limit])
    more = index.snapshot.table("documents", ["media_type", "n_units", "source"]).take(page).to_pylist()
    skips = skips_of(call, searcher)
    reasons = {item["uri"]: item["reason"] for item in skips}
    found = [
        {
            "doc_id": row["id"],
            "uri": row["uri"],
            "title": row["title"],
            "tags": row["tags"],
            "updated_at": row["updated_at"] or row["mtime"],
            "pages": len(row["page_starts"]),
            "bytes": int(size),
            "note": reasons.get(row["uri"].partition("#")[0], ""),
            **rest,
        }
        for row, rest, size in zip(table.take(page).to_pylist(), more, sizes[page].tolist(), strict=True)
    ]
    tags = pc.value_counts(pc.list_flatten(table["tags"].take(pa.array(rows)))).to_pylist()
    tags.sort(key=lambda item: (-item["counts"], item["values"]))
    return {
        "snapshot_id": searcher.snapshot_id,
        "total": len(rows),
        "documents": found,
        "tags": [{"tag": item["values"], "documents": item["counts"]} for item in tags[:MAX_TAGS]],
        "skipped": len(unpublished(searcher, skips)),
    }


def _skipped(call: PageCall, asked: SkippedChoice) -> dict[str, Any]:
    """Return a page of the files that the latest ingests skipped, without those of which a version is published."""
    searcher, words = call.searcher(), asked.query.lower().split()
    found = [
        item
        for item in unpublished(searcher, skips_of(call, searcher))
        if all(word in item["uri"].lower() for word in words)
    ]
    return {"total": len(found), "files": found[asked.offset : asked.offset + asked.limit]}


def unpublished(searcher: Searcher, skips: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the skipped files of which no version is published."""
    published = set(searcher.index.documents["uri"].to_pylist())
    return [item for item in skips if item["uri"] not in published]


def skips_of(call: PageCall, searcher: Searcher) -> list[dict[str, Any]]:
    """Return the skipped files within the boundary; none where it names tags, as files have none.

    Each has ``uri``, ``reason``, ``ended_at`` and ``uploaded``, whether it was uploaded on the page; what was deleted
    since is left out. A version of some may have been published before.
    """
    boundary, uploads = searcher.boundary, call.server.uploads
    if boundary.doc_tags:
        return []
    seen = within(repositories=boundary.repositories)
    found: dict[str, dict[str, Any]] = {}
    for kept in kept_reports(call.server.kb):
        uploaded = kept.paths == [str(uploads.folder)]
        for item in kept.report.skipped:
            if seen((), item.uri) and (not uploaded or uploads.holds(item.uri)):
                skip = {"uri": item.uri, "reason": item.reason, "ended_at": kept.ended_at, "uploaded": uploaded}
                found.setdefault(item.uri, skip)
    return [found[uri] for uri in sorted(found)]


def _sorted(index: SearchIndex, rows: Rows, sizes: npt.NDArray[np.int64], asked: DocumentsChoice) -> Rows:
    """Return rows in the order that was asked for; ties by URI, in which the table is sorted."""
    if asked.sort == "size":
        keys = sizes[rows]
    elif asked.sort == "uri":
        keys = rows
    else:
        table = index.documents
        titles, dates = pc.utf8_lower(table["title"]), pc.coalesce(table["updated_at"], table["mtime"])
        _, keys = np.unique(
            (titles if asked.sort == "title" else dates).to_numpy()[rows].astype(str), return_inverse=True
        )
    order = np.argsort(-keys if asked.descending else keys, kind="stable")
    return rows[order]


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("documents", DocumentsChoice, _documents),
    Operation("skipped", SkippedChoice, _skipped),
)
