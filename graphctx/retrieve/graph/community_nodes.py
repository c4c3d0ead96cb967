"""Communities as `graph.communities` answers them: named by a request or listed, in short or whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

import numpy as np
from rapidfuzz import fuzz, process, utils

from graphctx.errors import InvalidArgument
from graphctx.model.graph import CommunityNode, KeyEntity, NodeSummary, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_QUOTE_CHARS, CommunitiesInput
from graphctx.model.results import GraphResults
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.nodes import sentence_snippet, stated_facts
from graphctx.retrieve.graph.resolve import (
    MAX_AMBIGUOUS,
    MAX_NEAR,
    MIN_SIMILARITY,
    entities_called,
    resolve,
    resolve_each,
    similar_entities,
)
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.communities import read_phrased

Item = TypeVar("Item")

KEY_ENTITIES = 10
LISTED_ENTITIES = 5
"""Key entities of a community that is described whole, and of one in a list."""

MAX_TITLES = 200
"""The largest communities, whose titles are compared with an unknown one."""

_ID = re.compile(r"[a-z]_[a-z2-7]{16}")


class LazySequence(Sequence[Item]):
    """A sequence whose items are made when they are read: a page takes a few of a long list."""

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
        """Return one item, or those of a slice."""
        return self._item(self._rows[at]) if isinstance(at, int) else [self._item(row) for row in self._rows[at]]

    def __iter__(self) -> Iterator[Item]:
        return map(self._item, self._rows)

    def _item(self, row: int) -> Item:
        checkpoint()
        return self._make(row)


def find_communities(view: GraphView, request: CommunitiesInput) -> GraphResults[CommunityNode]:
    """Describe the communities that a request names, or list those that meet its conditions.

    Raises:
        InvalidArgument: the request names nothing that is known, or both names communities and sets conditions.
    """
    snapshot_id = view.index.snapshot.id
    communities = CommunityIndex(view)
    if request.community_ids and (request.parent_id or request.entity_id or request.level is not None):
        raise InvalidArgument(
            "community_ids describes communities, and parent_id, level and entity_id choose some to list: give the one "
            "or the others.",
            field="community_ids",
            value=request.community_ids,
            allowed="alone, beside scope and filters",
        )
    if not communities.visible.any():
        return GraphResults(items=(), snapshot_id=snapshot_id, empty_reason="no_communities")
    starts: list[str] = []
    if request.community_ids:
        rows, unresolved = resolve_communities(communities, request.community_ids, "community_ids")
    else:
        rows, unresolved, starts = _listed(communities, request)

    def make(row: int) -> CommunityNode:
        return community_node(communities, row, whole=bool(request.community_ids), snippets=request.include_snippet)

    ambiguous = any(one.reason == "ambiguous" for one in unresolved)
    return GraphResults(
        items=LazySequence(rows, make),
        snapshot_id=snapshot_id,
        empty_reason=None if rows else "ambiguous" if ambiguous else "no_match",
        unresolved=unresolved,
        starts=starts,
    )


def community_node(communities: CommunityIndex, row: int, *, whole: bool, snippets: bool) -> CommunityNode:
    """Return a community.

    Args:
        communities: of the scope.
        row: of the community.
        whole: with its key facts, former ids, all key entities and the whole summary; else as in a list.
        snippets: with the sentences of its summary and a language model's words for them; in a list the first sentence
            alone.
    """
    hierarchy, view = communities.hierarchy, communities.view
    parent = int(hierarchy.parent[row])
    keys = communities.key_entities(row, KEY_ENTITIES if whole else LISTED_ENTITIES)
    summary = communities.summary(row).tolist() if snippets else []
    facts = communities.key_facts(row).tolist() if whole else []
    return CommunityNode(
        id=hierarchy.id(row),
        title=communities.title(row),
        level=int(hierarchy.level[row]),
        parent_id=hierarchy.id(parent) if parent >= 0 else None,
        n_children=len(communities.children(row)),
        n_entities=int(communities.n_entities[row]),
        n_units=communities.n_units(row),
        key_entities=[KeyEntity(id=view.tables.entities.id(entity), name=name) for entity, name in keys],
        documents=communities.document_titles(row),
        key_facts=stated_facts(view, facts, len(facts)),
        summary=[sentence_snippet(view, one, MAX_QUOTE_CHARS) for one in (summary if whole else summary[:1])],
        phrased=_phrased(communities, row, summary) if whole and snippets else None,
        formerly=hierarchy.formerly(row) if whole else [],
    )


def _phrased(communities: CommunityIndex, row: int, summary: Sequence[int]) -> str | None:
    """Return a language model's words, each sentence with the places in the summary that it cites."""
    sentences = read_phrased(communities.hierarchy.phrased(row))
    if not sentences or not communities.as_summarised(row):
        return None
    place = {sentence: number for number, sentence in enumerate(summary, start=1)}
    return " ".join(
        " ".join([one.text, "".join(f"[{place[at]}]" for at in one.rows if at in place)]).strip() for one in sentences
    )


def _listed(communities: CommunityIndex, request: CommunitiesInput) -> tuple[list[int], list[Unresolved], list[str]]:
    """Return the rows that meet every condition of a request, its unresolved references, and the ids of the others."""
    unresolved: list[Unresolved] = []
    starts: list[str] = []
    hierarchy = communities.hierarchy
    rows = np.arange(len(hierarchy))
    if request.parent_id is not None:
        parents, unresolved = resolve_communities(communities, [request.parent_id], "parent_id")
        starts += [hierarchy.id(row) for row in parents]
        rows = _below(communities, parents, request.level)
    elif request.level is not None or request.entity_id is None:
        rows = np.flatnonzero(hierarchy.level == (request.level or 0))
    if request.entity_id is None:
        return communities.ordered(rows).tolist(), unresolved, starts
    named = resolve(communities.view, [request.entity_id], "entity_id", ("entity",))
    starts += [communities.view.id(key) for key in named.keys]
    inside = set(rows.tolist())
    holding = [row for row in _of_entities(communities, [key.row for key in named.keys]) if row in inside]
    return holding, [*unresolved, *named.unresolved], starts


def _below(communities: CommunityIndex, parents: list[int], level: int | None) -> Rows:
    """Return the children of some communities, or what is below them on a level."""
    hierarchy = communities.hierarchy
    none = np.zeros(0, dtype=np.int64)
    rows: Rows = np.array(parents, dtype=np.int64)
    while len(rows):
        rows = np.concatenate([none, *(hierarchy.child[row] for row in rows.tolist())])
        if level is None or (len(rows) and hierarchy.level[rows[0]] == level):
            return rows
    return none


def resolve_communities(
    communities: CommunityIndex, refs: Sequence[str], field: str
) -> tuple[list[int], list[Unresolved]]:
    """Return the rows of the communities that references name, in their order, and the other references.

    Args:
        communities: of the scope; all others are unknown.
        refs: ids, ids of earlier snapshots, titles, or words that only one title begins with or holds.
        field: the field of the request that holds them.

    Raises:
        InvalidArgument: no reference is known or ambiguous.
    """

    def find(asked: str) -> tuple[list[int], list[int]]:
        row = communities.row(asked)
        found = _titled(communities, asked) if row is None else [row]
        partly = [] if found else _partly_titled(communities, asked)
        if len(partly) == 1:
            found = partly
        if found:
            return found, found[:MAX_AMBIGUOUS]
        return [], list(dict.fromkeys([*partly, *_similar(communities, asked)]))[:MAX_NEAR]

    rows, unresolved, near = resolve_each(refs, find, lambda row: _short(communities, row))
    if not rows and all(one.reason == "unknown" for one in unresolved):
        raise _nothing_known(communities, [one.asked for one in unresolved], near[:MAX_NEAR], field)
    return rows, unresolved


def _titled(communities: CommunityIndex, title: str) -> list[int]:
    """Return the communities of a title, in any case, the largest first."""
    wanted = _folded(title)
    if communities.view.whole:
        rows = list(range(len(communities.hierarchy)))
    else:  # only those that hold an entity of the name that the title begins with; a name may have commas in it
        parts = title.split(",")
        names = [",".join(parts[:n]) for n in range(1, len(parts) + 1)]
        rows = [row for name in names for row in _of_entities(communities, entities_called(communities.view, name))]
    found = [row for row in dict.fromkeys(rows) if _folded(communities.title(row)) == wanted]
    ordered: list[int] = communities.ordered(np.array(found, dtype=np.int64)).tolist()
    return ordered


def _partly_titled(communities: CommunityIndex, asked: str) -> list[int]:
    """Return the communities whose title begins with some words, else those whose title has all of them.

    The largest first. None within a scope of more than `MAX_TITLES` communities: it would have to make all titles.
    """
    wanted = _words(asked)
    rows = communities.ordered(np.arange(len(communities.hierarchy))).tolist()
    if not wanted or _ID.fullmatch(asked.strip()) or not (communities.view.whole or len(rows) <= MAX_TITLES):
        return []
    titles = {row: _words(communities.title(row)) for row in rows}
    begun = [row for row, title in titles.items() if title[: len(wanted)] == wanted]
    return begun or [row for row, title in titles.items() if set(wanted) <= set(title)]


def _similar(communities: CommunityIndex, asked: str) -> list[int]:
    """Return communities of an entity of that name, with a similar title, or else of an entity of a similar name."""
    if _ID.fullmatch(asked):
        return []
    found = dict.fromkeys(_of_entities(communities, entities_called(communities.view, asked)))
    rows = communities.ordered(np.arange(len(communities.hierarchy)))[:MAX_TITLES].tolist()
    alike = process.extract(
        asked,
        {row: communities.title(row) for row in rows},
        scorer=fuzz.ratio,
        processor=utils.default_process,
        score_cutoff=MIN_SIMILARITY,
        limit=MAX_NEAR,
    )
    found |= dict.fromkeys(row for _, row in sorted((-round(score, 4), row) for _, score, row in alike))
    return list(found) or list(dict.fromkeys(_of_entities(communities, similar_entities(communities.view, asked))))


def _of_entities(communities: CommunityIndex, entities: Sequence[int]) -> list[int]:
    return [row for entity in entities for row in communities.holding(entity).tolist()]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()


def _short(communities: CommunityIndex, row: int) -> NodeSummary:
    return NodeSummary(id=communities.hierarchy.id(row), kind="community", name=communities.title(row))


def _nothing_known(communities: CommunityIndex, asked: list[str], near: list[int], field: str) -> InvalidArgument:
    shown = [_short(communities, row) for row in near]
    hint = (
        "Near it: " + ", ".join(f"{one.name!r} ({one.id})" for one in shown) + "."
        if shown
        else "graph.communities without it lists the communities, and with entity_id those of an entity."
    )
    return InvalidArgument(
        f"{field}: no community within this scope is known as {', '.join(map(repr, asked))}. {hint}",
        field=field,
        value=asked if len(asked) > 1 else asked[0],
        allowed="ids or titles of communities within this scope",
        near=[{"id": one.id, "name": one.name} for one in shown],
    )
