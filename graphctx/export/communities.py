"""The communities as far as they may be seen.

Of a whole snapshot they are what its table says. Within a scope a community has the entities that something names
there, and the sentences that stand there; it is titled by the first of its characteristic entities that are left, as
they are called there, and has no words of a language model, which may have read of anything. Which entities make a
community is settled for the whole corpus (see `graphctx.retrieve.scope`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.export.seen import SeenEntity
from graphctx.retrieve.graph.view import View
from graphctx.retrieve.index import Rows
from graphctx.store.phrased import read_phrased
from graphctx.store.walk import gather

_TITLE_NAMES = 3
"""As many as a title has at most where communities are described."""

_COLUMNS = [
    "id",
    "level",
    "parent_id",
    "title",
    "entity_ids",
    "n_units",
    "key_entity_ids",
    "point_rows",
    "summary_rows",
    "phrased",
]


@dataclass(frozen=True, slots=True)
class SeenCommunity:
    """A community.

    Attributes:
        entities: rows, in the order of their ids.
        key: rows of the characteristic ones, the best first.
        n_units: how many units that may be seen treat of it.
        points: rows of sentences, the best first; ``summary`` is those that say most of it.
        phrased: a language model's sentences for it, if there are any.
    """

    id: str
    level: int
    parent_id: str | None
    title: str
    entities: tuple[int, ...]
    key: tuple[int, ...]
    n_units: int
    points: tuple[int, ...]
    summary: tuple[int, ...]
    phrased: tuple[str, ...]


def seen_communities(view: View, entities: Sequence[SeenEntity]) -> list[SeenCommunity]:
    """The communities that hold some of the entities, by level and id.

    Args:
        view: what may be seen.
        entities: all of `seen_entities`.

    Raises:
        BackendUnavailable: the snapshot is of an earlier version, whose communities have no sentences.
    """
    try:
        rows = view.index.snapshot.table("communities", _COLUMNS).to_pylist()
    except InvalidArgument as error:
        raise BackendUnavailable(
            "This snapshot was made by an earlier version of graphctx and does not describe its communities. "
            "Run `graphctx ingest` again.",
            snapshot=view.index.snapshot.id,
        ) from error
    known = {entity.id: entity for entity in entities}
    found = [_community(view, row, known) for row in rows]
    return [community for community in found if community.entities]


def _community(view: View, row: Mapping[str, Any], known: Mapping[str, SeenEntity]) -> SeenCommunity:
    inside = tuple(known[id_].row for id_ in row["entity_ids"] if id_ in known)
    key = [known[id_] for id_ in row["key_entity_ids"] if id_ in known]
    points, summary = _visible(view, row["point_rows"]), _visible(view, row["summary_rows"])
    if view.whole:
        title, n_units = row["title"], row["n_units"]
    else:
        best = key or sorted((known[id_] for id_ in row["entity_ids"] if id_ in known), key=_most_named)
        title, n_units = ", ".join(entity.name for entity in best[:_TITLE_NAMES]), _treating(view, inside)
    return SeenCommunity(
        id=row["id"],
        level=row["level"],
        parent_id=row["parent_id"],
        title=title,
        entities=inside,
        key=tuple(entity.row for entity in key),
        n_units=n_units,
        points=points,
        summary=summary or points[:_TITLE_NAMES],
        phrased=tuple(one.text for one in read_phrased(row["phrased"])) if view.whole else (),
    )


def _most_named(entity: SeenEntity) -> tuple[int, str]:
    return -entity.n_units, entity.id


def _visible(view: View, sentences: Sequence[int]) -> tuple[int, ...]:
    if view.index.visible is None:
        return tuple(sentences)
    rows = np.array(sentences, dtype=np.int64)
    return tuple(rows[view.index.visible[units_of_sentences(view, rows)]].tolist())


def units_of_sentences(view: View, sentences: Rows) -> Rows:
    """The unit row of each sentence row."""
    units: Rows = np.searchsorted(view.walk.unit_sentence, sentences, side="right").astype(np.int64) - 1
    return units


def _treating(view: View, entities: Sequence[int]) -> int:
    """How many units name two of some entities or are about one; where none does, how many name one."""
    positions, _ = gather(view.walk.entity_ptr, np.array(entities, dtype=np.int64))
    pairs = view.walk.entity_pair[positions]
    units, counts = np.unique(view.walk.pair_unit[pairs], return_counts=True)
    about = np.unique(view.walk.pair_unit[pairs[view.walk.pair_home[pairs] > 0]])
    return len(np.union1d(units[counts > 1], about)) or len(units)
