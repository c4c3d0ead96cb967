"""Scope and filters as a mask over the units: what is outside is never found, walked to, quoted or named.

Statistics are those of the whole corpus (document frequencies, the number of homes of a name, the gate), so that what
is outside may move the scores of what is inside.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from graphctx.model.requests import Filters, Scope
from graphctx.model.scope import within
from graphctx.retrieve.index import SearchIndex

Mask = npt.NDArray[np.bool_]


def unit_mask(index: SearchIndex, scope: Scope, filters: Filters) -> Mask | None:
    """Which units may be seen, bool [N]; ``None`` where all may."""
    rules = [within(*group) for group in ((scope.doc_tags, scope.repositories), (filters.doc_tag, ())) if any(group)]
    if not (rules or filters.path_prefix or filters.updated_after):
        return None
    documents = index.documents
    keep = np.ones(documents.num_rows, dtype=bool)
    uris = documents["uri"].to_pylist()
    if rules:
        tagged = zip(documents["tags"].to_pylist(), uris, strict=True)
        keep &= [all(rule(tags, uri) for rule in rules) for tags, uri in tagged]
    if filters.path_prefix:
        keep &= [uri.startswith(filters.path_prefix) for uri in uris]
    if filters.updated_after:
        after = moment(filters.updated_after)
        stated = zip(documents["updated_at"].to_pylist(), documents["mtime"].to_pylist(), strict=True)
        keep &= [bool(own or mtime) and moment(own or mtime) > after for own, mtime in stated]
    mask: Mask = keep[index.walk.unit_doc]
    return mask


def moment(text: str) -> datetime:
    """Parse an ISO 8601 date or time; one without a zone is taken as UTC."""
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
