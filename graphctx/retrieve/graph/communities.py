"""Communities as answers show them: a list in short, or some of them with what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.model.found import GraphFound
from graphctx.model.graph import Snippet, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_QUOTE_CHARS, CommunitiesInput
from graphctx.model.themes import CommunityNode, KeyEntity
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.community_names import resolve_communities
from graphctx.retrieve.graph.relations import fact_words
from graphctx.retrieve.graph.resolve import resolve
from graphctx.retrieve.graph.snippets import sentence_snippet
from graphctx.retrieve.graph.view import View
from graphctx.store.phrased import read_phrased

if TYPE_CHECKING:
    from graphctx.retrieve.communities import Communities

Item = TypeVar("Item")

KEY_ENTITIES = 10
LISTED_ENTITIES = 5
"""Of one community: as many as there are, or in a list."""


class Made(Sequence[Item]):
    """Items that are made when they are read: a page of a list takes a few of many."""

    def __init__(self, rows: Sequence[int], make: Callable[[int], Item]) -> None:
        self._rows = rows
        self._make = make

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        """One item, or those of a slice."""
        if isinstance(at, slice):
            return [self._made(row) for row in self._rows[at]]
        return self._made(self._rows[at])

    def __iter__(self) -> Iterator[Item]:
        return map(self._made, self._rows)

    def _made(self, row: int) -> Item:
        checkpoint()
        return self._make(row)


def find_communities(view: View, request: CommunitiesInput) -> GraphFound[CommunityNode]:
    """Describe the communities that a request names, or list those that it asks for.

    Raises:
        InvalidArgument: nothing that it names is known, or it asks for both.
    """
    snapshot_id = view.index.snapshot.id
    communities = view.tables.communities.within(view)
    if request.community_ids and (request.parent_id or request.entity_id or request.level is not None):
        raise InvalidArgument(
            "community_ids describes communities, and parent_id, level and entity_id choose some to list: give the one "
            "or the others.",
            field="community_ids",
            value=request.community_ids,
            allowed="alone, beside scope and filters",
        )
    if not communities.seen.any():
        return GraphFound(items=(), snapshot_id=snapshot_id, empty_reason="no_communities")
    unresolved: list[Unresolved] = []
    starts: list[str] = []
    if request.community_ids:
        meant = resolve_communities(communities, request.community_ids, "community_ids")
        rows, unresolved = meant.rows, meant.unresolved
    else:
        rows, unresolved, starts = _listed(communities, request)

    def make(row: int) -> CommunityNode:
        return community_node(communities, row, whole=bool(request.community_ids), snippets=request.include_snippet)

    nobody = any(one.reason == "ambiguous" for one in unresolved)
    return GraphFound(
        items=Made(rows, make),
        snapshot_id=snapshot_id,
        empty_reason=None if rows else "ambiguous" if nobody else "no_match",
        unresolved=unresolved,
        starts=starts,
    )


def community_node(communities: Communities, row: int, *, whole: bool, snippets: bool) -> CommunityNode:
    """A community: in a list its place, size and best names; whole with its facts and former ids too.

    Args:
        communities: within a scope.
        row: which one.
        whole: all of it.
        snippets: with the sentences of its summary and a language model's words for them; in a list the first sentence
            alone.
    """
    hierarchy, view = communities.hierarchy, communities.view
    parent = int(hierarchy.parent[row])
    keys = communities.key_entities(row, KEY_ENTITIES if whole else LISTED_ENTITIES)
    summary = communities.summary(row) if snippets else np.zeros(0, dtype=np.int64)
    said = summary if whole else summary[:1]
    facts = communities.key_facts(row) if whole else ()
    return CommunityNode(
        id=hierarchy.id(row),
        title=communities.title(row),
        level=int(hierarchy.level[row]),
        parent_id=hierarchy.id(parent) if parent >= 0 else None,
        n_children=len(communities.children(row)),
        n_entities=int(communities.n_entities[row]),
        n_units=communities.n_units(row),
        key_entities=[KeyEntity(id=view.tables.entities.id(entity), name=name) for entity, name in keys],
        key_facts=list(dict.fromkeys(fact_words(view, int(fact)) for fact in facts)),
        summary=[_sentence(view, int(sentence)) for sentence in said],
        phrased=_phrased(communities, row, summary) if whole and snippets else None,
        formerly=hierarchy.formerly(row) if whole else [],
    )


def _listed(communities: Communities, request: CommunitiesInput) -> tuple[list[int], list[Unresolved], list[str]]:
    """The rows of the communities that pass every condition of a request, what it could not name, and what it could."""
    unresolved: list[Unresolved] = []
    starts: list[str] = []
    hierarchy = communities.hierarchy
    rows = np.arange(len(hierarchy))
    parent: list[int] | None = None
    if request.parent_id is not None:
        meant = resolve_communities(communities, [request.parent_id], "parent_id")
        parent, unresolved = meant.rows, meant.unresolved
        starts += [hierarchy.id(row) for row in parent]
        rows = _below(communities, parent, request.level)
    elif request.level is not None or request.entity_id is None:
        rows = np.flatnonzero(hierarchy.level == (request.level or 0))
    if request.entity_id is None:
        return communities.ordered(rows).tolist(), unresolved, starts
    named = resolve(communities.view, [request.entity_id], "entity_id", ("entity",))
    starts += [communities.view.id(key) for key in named.keys]
    holding = [row for key in named.keys for row in communities.holding(key.row).tolist()]
    inside = set(rows.tolist())
    return [row for row in holding if row in inside], [*unresolved, *named.unresolved], starts


def _below(communities: Communities, parents: list[int], level: int | None) -> Rows:
    """The children of some communities, or what is below them on a level."""
    hierarchy = communities.hierarchy
    rows: Rows = np.array(parents, dtype=np.int64)
    for depth in range(int(hierarchy.level.max(initial=0))):
        rows = np.concatenate([np.zeros(0, np.int64), *(hierarchy.child[int(row)] for row in rows)])
        if depth == 0 and level is None:
            return rows
        if len(rows) and hierarchy.level[rows[0]] == level:
            return rows
    return np.zeros(0, dtype=np.int64)


def _sentence(view: View, sentence: int) -> Snippet:
    return sentence_snippet(view, sentence, MAX_QUOTE_CHARS)


def _phrased(communities: Communities, row: int, summary: Rows) -> str | None:
    """A language model's words, each sentence with the places of those in the summary that it cites."""
    sentences = read_phrased(communities.hierarchy.phrased(row))
    if not sentences or not communities.as_summarised(row):
        return None
    place = {sentence: number for number, sentence in enumerate(summary.tolist(), start=1)}
    return " ".join(
        " ".join([one.text, "".join(f"[{place[at]}]" for at in one.rows if at in place)]).strip() for one in sentences
    )
