"""A document's structure as one string, so that a snapshot alone is enough to split its documents again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graphctx.model.documents import Block, Document, Heading, Link


def outline_of(document: Document) -> str:
    """Return headings, blocks and links as JSON; equal structures have equal strings."""
    outline = {
        "headings": [[h.level, h.title, h.anchor, h.start_char, h.end_char] for h in document.headings],
        "blocks": [[b.kind, b.start_char, b.end_char] for b in document.blocks],
        "links": [[k.target, k.start_char, k.end_char] for k in document.links],
    }
    return json.dumps(outline, ensure_ascii=False, separators=(",", ":"))


def document_from_row(row: Mapping[str, Any]) -> Document:
    """Return the document of a row of the ``documents`` table."""
    outline = json.loads(row["outline"])
    return Document(
        id=row["id"],
        uri=row["uri"],
        title=row["title"],
        text=row["text"],
        sha256=row["sha256"],
        media_type=row["media_type"],
        tags=tuple(row["tags"]),
        updated_at=row["updated_at"],
        mtime=row["mtime"],
        headings=tuple(Heading(*values) for values in outline["headings"]),
        blocks=tuple(Block(*values) for values in outline["blocks"]),
        links=tuple(Link(*values) for values in outline["links"]),
        page_starts=tuple(row["page_starts"]),
        titled=row["titled"],
        formerly=tuple(row["formerly"]),
    )
