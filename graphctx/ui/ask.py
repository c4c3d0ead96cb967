"""What the view Ask needs beside the tools: ``explain``, ``readable`` and ``filters``."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from pydantic import Field

from graphctx.model.requests import Filters, RetrieveInput, Scope, Strict
from graphctx.text.readable import readable
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall

MAX_CHOICES = 200
"""Tags, and folders, that are listed."""


class Span(Strict):
    """A span of a document."""

    uri: str = Field(max_length=2000)
    text: str = Field(max_length=10_000)


class ReadableInput(Strict):
    """Arguments of ``readable``."""

    spans: list[Span] = Field(max_length=200)


def _explain(call: PageCall, asked: RetrieveInput) -> dict[str, Any]:
    """Return how a question is answered, stage by stage."""
    from graphctx.eval.explain import explain_request

    return explain_request(call.searcher(), asked).as_dict()


def _readable(call: PageCall, asked: ReadableInput) -> dict[str, Any]:
    """Return each span as a person reads it."""
    return {"texts": ["\n".join(readable(span.text, span.uri)) for span in asked.spans]}


def _filters(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return the tags and folders of the documents, the most frequent first, and the dates of the first and last."""
    searcher = call.searcher()
    visible = searcher.index.within(searcher.boundary.narrow(Scope()), Filters()).visible_documents
    documents = searcher.index.documents
    if visible is not None:
        documents = documents.take(np.flatnonzero(visible))
    tags = Counter(tag for tags in documents["tags"].to_pylist() for tag in tags)
    folders: Counter[str] = Counter()
    for uri in documents["uri"].to_pylist():
        parts = uri.split("#")[0].split("/")[:-1]
        folders.update("/".join(parts[:depth]) + "/" for depth in range(1, min(len(parts), 3) + 1))
    stated = zip(documents["updated_at"].to_pylist(), documents["mtime"].to_pylist(), strict=True)
    dates = sorted(filter(None, (own or mtime for own, mtime in stated)))
    return {
        "tags": _most(tags),
        "folders": _most(folders),
        "updated": [dates[0][:10], dates[-1][:10]] if dates else [],
        "documents": documents.num_rows,
    }


def _most(counts: Counter[str]) -> list[dict[str, Any]]:
    order = sorted(counts, key=lambda name: (-counts[name], name))
    return [{"name": name, "documents": counts[name]} for name in order[:MAX_CHOICES]]


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("explain", RetrieveInput, _explain),
    Operation("readable", ReadableInput, _readable),
    Operation("filters", NoInput, _filters),
)
