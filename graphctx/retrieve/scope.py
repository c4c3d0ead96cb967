"""Scope and filters as a mask over the documents.

`SearchIndex.within` makes an index of the visible documents: what lies outside is never found, walked through, quoted,
named or counted. Every statistic of a question is taken within: document frequencies and mean length for BM25, in how
many units an entity stands, how many units define it, the share of its mentions that are capitalised, which words and
names are known at all. Scores, ranks, quotes and confidences are those of a snapshot of the visible documents alone, to
the last bit.

What ingest decides for the whole corpus stays decided, and may differ from an ingest of the scope's documents alone:

- which names are entities, how their forms are merged, and their labels;
- definitions that other documents make: what a link from outside calls a unit, terms that more than three documents
  define;
- communities.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.model.answers import EmptyReason
from graphctx.model.requests import Filters, Scope
from graphctx.model.scope import folders_of
from graphctx.retrieve.arrays import Mask

_NEVER = -(2**63)  # a document without a time is older than any other

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Empty:
    """Why a request sees no document, and which of its arguments (``scope.doc_tags``, …) match none."""

    reason: EmptyReason
    filtered_by: tuple[str, ...] = ()


class DocumentFilter:
    """Evaluates scopes and filters over the documents of a snapshot, column by column."""

    def __init__(self, documents: pa.Table) -> None:
        """Prepare the columns.

        Args:
            documents: table with ``uri``, ``tags``, ``updated_at`` and ``mtime``.
        """
        self._n = documents.num_rows
        self._uris = documents["uri"].combine_chunks()
        tags = documents["tags"].combine_chunks()
        self._tag, self._tagged = pc.list_flatten(tags), pc.list_parent_indices(tags)
        stated = zip(documents["updated_at"].to_pylist(), documents["mtime"].to_pylist(), strict=True)
        times = [_microseconds(own or mtime) if own or mtime else _NEVER for own, mtime in stated]
        self._times = np.array(times, dtype=np.int64)

    def each(self, scope: Scope, filters: Filters) -> dict[str, Mask]:
        """Return for each given argument the mask of the documents that match it, bool [D]; the scope's come first."""
        masks = {}
        if scope.doc_tags:
            masks["scope.doc_tags"] = self._with_tag(scope.doc_tags)
        if scope.repositories:
            masks["scope.repositories"] = self._below(folders_of(scope.repositories))
        if filters.doc_tag:
            masks["filters.doc_tag"] = self._with_tag(filters.doc_tag)
        if filters.path_prefix:
            masks["filters.path_prefix"] = self._below((filters.path_prefix,))
        if filters.updated_after:
            masks["filters.updated_after"] = self._times > _microseconds(filters.updated_after)
        return masks

    def visible(self, scope: Scope, filters: Filters) -> Mask:
        """Return the mask of the documents that match all arguments, bool [D]."""
        return self.all_of(self.each(scope, filters).values())

    def all_of(self, masks: Iterable[Mask]) -> Mask:
        """Return the conjunction of some masks."""
        every: Mask = np.logical_and.reduce([np.ones(self._n, dtype=bool), *masks])
        return every

    def _with_tag(self, tags: Sequence[str]) -> Mask:
        mask = np.zeros(self._n, dtype=bool)
        mask[self._tagged.filter(pc.is_in(self._tag, pa.array(tags, pa.string()))).to_numpy()] = True
        return mask

    def _below(self, prefixes: Sequence[str]) -> Mask:
        below: Mask = np.logical_or.reduce(
            [pc.starts_with(self._uris, prefix).to_numpy(zero_copy_only=False) for prefix in prefixes]
        )
        return below


def empty_because(masks: Mapping[str, Mask]) -> tuple[str, ...]:
    """Return the arguments that match no document alone, or all of them where only their combination does."""
    alone = tuple(name for name, mask in masks.items() if not mask.any())
    return alone or tuple(masks)


def moment(text: str) -> datetime:
    """Parse an ISO 8601 date or time; one without a zone is taken as UTC."""
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _microseconds(text: str) -> int:
    passed = moment(text) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
