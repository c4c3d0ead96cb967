"""Scope and filters as a mask over the documents, and what to say where they leave none.

`SearchIndex.within` makes of the mask an index that holds nothing else: what is outside is never found, walked to or
through, quoted, named or counted. All that is counted when a question is asked is counted within: the frequencies and
the mean length of BM25, in how many units an entity stands, of how many it is a home, the share of its mentions that
are capitalised, how many units have a name of their own (the gate), which words and names are known at all. Scores,
ranks, quotes and confidences are therefore those of a snapshot from which everything outside was taken away, to the
last bit.

What ingest settled once for the whole corpus stays settled, and may be other than if the documents of the scope had
been ingested alone:

- which names are entities, how their forms are merged into one, and its label: names and descriptions are kept or
  dropped by how often all documents use them;
- homes that other documents make: what a link from outside calls a unit; headings and subjects from outside, which make
  a name of a word that the scope's documents merely use; terms that more than three documents define, which go;
- near-synonyms and communities.

Snapshots that were made before the counts were kept (`graphctx.store.frequencies`, `WalkArrays.pair_mentions`) have the
whole corpus's mean length in BM25, its shares of capitals, and its gate. The next ingest makes them anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.model.answers import EmptyReason
from graphctx.model.requests import Filters, Scope
from graphctx.model.scope import folders_of

if TYPE_CHECKING:
    from graphctx.retrieve.index import SearchIndex

Mask = npt.NDArray[np.bool_]

_NEVER = -(2**63)
"""Of a document without a time: before any other."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class DocumentRules:
    """Tells which documents of a snapshot arguments leave, each argument by a few operations on whole columns."""

    def __init__(self, documents: pa.Table) -> None:
        """Look at the documents of a snapshot.

        Args:
            documents: with ``uri``, ``tags``, ``updated_at`` and ``mtime``.
        """
        self._n = documents.num_rows
        self._uris = documents["uri"].combine_chunks()
        tags = documents["tags"].combine_chunks()
        self._tag, self._tagged = pc.list_flatten(tags), pc.list_parent_indices(tags)
        stated = zip(documents["updated_at"].to_pylist(), documents["mtime"].to_pylist(), strict=True)
        times = [_microseconds(own or mtime) if own or mtime else _NEVER for own, mtime in stated]
        self._times = np.array(times, dtype=np.int64)

    def each(self, scope: Scope, filters: Filters) -> dict[str, Mask]:
        """For each argument that is given the documents that it alone leaves, bool [D]; the scope's come first."""
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
        """The documents that all arguments leave, bool [D]."""
        return self.all_of(self.each(scope, filters).values())

    def all_of(self, masks: Iterable[Mask]) -> Mask:
        """The documents that are in all of some masks."""
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


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why there is nothing to look in, and which arguments (``scope.doc_tags``, …) leave nothing."""

    reason: EmptyReason
    filtered_by: tuple[str, ...] = ()


def why_nothing(index: SearchIndex, scope: Scope, filters: Filters) -> Nothing | None:
    """Why a request can see nothing at all; ``None`` where it sees something.

    Arguments are to blame which leave nothing alone (a filter: within the scope), or all of them where only their
    combination does.

    Args:
        index: of the whole snapshot, or of what a boundary leaves of it.
        scope, filters: of the request.
    """
    if not index.walk.n_units:
        return Nothing("empty_knowledge_base")
    if index.within(scope, filters).sees_anything:
        return None
    masks = index.rules.each(scope, filters)
    by_scope = {name: mask for name, mask in masks.items() if name.startswith("scope.")}
    in_scope = index.rules.all_of(by_scope.values())
    if index.visible_documents is not None:  # a boundary around all requests
        in_scope &= index.visible_documents
    if not in_scope.any():
        return Nothing("nothing_in_scope", _to_blame(by_scope))
    by_filter = {name: mask & in_scope for name, mask in masks.items() if name not in by_scope}
    return Nothing("filtered_out", _to_blame(by_filter))


def _to_blame(masks: Mapping[str, Mask]) -> tuple[str, ...]:
    alone = tuple(name for name, mask in masks.items() if not mask.any())
    return alone or tuple(masks)


def moment(text: str) -> datetime:
    """Parse an ISO 8601 date or time; one without a zone is taken as UTC."""
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _microseconds(text: str) -> int:
    passed = moment(text) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
