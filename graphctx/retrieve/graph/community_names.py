"""Communities by their ids and titles, and those that may be meant by something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import fuzz, process, utils

from graphctx.errors import InvalidArgument
from graphctx.model.graph import Named, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.lookup import MAX_NEAR, NEAR, entities_called, entities_near
from graphctx.retrieve.graph.resolve import MAX_AMBIGUOUS
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from graphctx.retrieve.communities import Communities

_ID = re.compile(r"[a-z]_[a-z2-7]{16}")
_POOL = 200
"""The largest communities, whose titles are compared with an unknown one."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The communities that some references stand for, by row, in the order in which they were asked for."""

    rows: list[int]
    unresolved: list[Unresolved]


def resolve_communities(communities: Communities, refs: Sequence[str], field: str) -> Meant:
    """Find the communities that references name.

    Args:
        communities: what may be seen; all others are unknown.
        refs: ids, ids of earlier snapshots, titles, or words that only one title begins with or holds.
        field: of the request that they come from.

    Raises:
        InvalidArgument: none of them is known, and none is ambiguous.
    """
    rows: dict[int, None] = {}
    unresolved: list[Unresolved] = []
    near: dict[int, None] = {}
    ambiguous = False
    for ref in dict.fromkeys(refs):
        checkpoint()
        asked = normalise(ref)
        row = communities.row(asked.strip())
        found = titled(communities, asked) if row is None else [row]
        partly = [] if found else _partly_titled(communities, asked)
        if len(partly) == 1:
            found = partly
        if len(found) == 1:
            rows.setdefault(found[0])
            continue
        ambiguous = ambiguous or bool(found)
        shown = found[:MAX_AMBIGUOUS] or list(dict.fromkeys([*partly, *_near(communities, asked.strip())]))[:MAX_NEAR]
        near |= dict.fromkeys(shown)
        candidates = [named(communities, at) for at in shown]
        unresolved.append(Unresolved(asked=asked, reason="ambiguous" if found else "unknown", candidates=candidates))
    if not rows and not ambiguous:
        raise _nothing_known(communities, [one.asked for one in unresolved], list(near)[:MAX_NEAR], field)
    return Meant(list(rows), unresolved)


def titled(communities: Communities, title: str) -> list[int]:
    """The communities of a title, the largest first; upper and lower case are one."""
    wanted = _folded(title)
    if communities.view.whole:
        rows = [row for row, own in enumerate(communities.hierarchy.titles) if _folded(own) == wanted]
    else:
        rows = [row for row in _likely(communities, title) if _folded(communities.title(row)) == wanted]
    found: list[int] = communities.ordered(np.array(rows, dtype=np.int64)).tolist()
    return found


def _partly_titled(communities: Communities, words: str) -> list[int]:
    """The communities of whose title some words are the beginning, or if of none all of them are in it, the largest
    first; none where more are seen through a scope than titles should be made for."""
    wanted = _words(words)
    rows = communities.ordered(np.arange(len(communities.hierarchy))).tolist()
    if not wanted or _ID.fullmatch(words.strip()) or not (communities.view.whole or len(rows) <= _POOL):
        return []
    titles = {row: _words(communities.title(row)) for row in rows}
    begun = [row for row, title in titles.items() if title[: len(wanted)] == wanted]
    return begun or [row for row, title in titles.items() if set(wanted) <= set(title)]


def named(communities: Communities, row: int) -> Named:
    """A community, in short."""
    return Named(id=communities.hierarchy.id(row), kind="community", name=communities.title(row))


def _likely(communities: Communities, title: str) -> list[int]:
    """The communities that hold an entity of the name with which a title begins; a name may have commas in it."""
    parts = title.split(",")
    rows: dict[int, None] = {}
    for n in range(1, len(parts) + 1):
        rows |= dict.fromkeys(_holding(communities, ",".join(parts[:n])))
    return list(rows)


def _holding(communities: Communities, name: str) -> list[int]:
    return _of_entities(communities, entities_called(communities.view, name))


def _of_entities(communities: Communities, entities: list[int]) -> list[int]:
    return [row for entity in entities for row in communities.holding(entity).tolist()]


def _near(communities: Communities, asked: str) -> list[int]:
    """At most five communities that may be meant: those of an entity that is called so, of a title like it, or of an
    entity of a name like it.
    """
    if _ID.fullmatch(asked):
        return []
    found = dict.fromkeys(_holding(communities, asked))
    every: Rows = communities.ordered(np.arange(len(communities.hierarchy)))[:_POOL]
    titles = {row: communities.title(row) for row in every.tolist()}
    alike = process.extract(
        asked, titles, scorer=fuzz.ratio, processor=utils.default_process, score_cutoff=NEAR, limit=MAX_NEAR
    )
    found |= dict.fromkeys(row for _, row in sorted((-round(score, 4), row) for _, score, row in alike))
    if not found:
        found |= dict.fromkeys(_of_entities(communities, entities_near(communities.view, asked)))
    return list(found)[:MAX_NEAR]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()


def _nothing_known(communities: Communities, asked: list[str], near: list[int], field: str) -> InvalidArgument:
    shown = [named(communities, row) for row in near]
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
