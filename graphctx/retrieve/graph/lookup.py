"""Entities by name: those that have it, and those whose names come near."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz, process, utils

from graphctx.retrieve.graph.names import is_called, names_of
from graphctx.retrieve.graph.view import View
from graphctx.store.walk import name_hash
from graphctx.text.gazetteer import name_words
from graphctx.text.names import normalise_name

MAX_NEAR = 5
"""Names that are offered in the place of an unknown one."""

NEAR = 60.0
"""Of 100: names less alike than this are no misspelling of each other (``rapidfuzz.fuzz.ratio``)."""

_POOL = 50
"""Names that are looked at again by what may be seen of them."""


def entities_called(view: View, name: str) -> list[int]:
    """The rows of the entities that what may be seen calls by a name, the most mentioned first.

    Names are compared as `normalise_name` folds them, over names and aliases.
    """
    key = normalise_name(name)
    if not key:
        return []
    entities = view.tables.entities
    folded, owner = entities.folded
    # What is folded alike holds the longest word of the key as it is, unless it has accents; the hash has one entity.
    longest = max(key.split(), key=lambda word: (len(word), word))
    close = owner[pc.match_substring(folded, longest).to_numpy(zero_copy_only=False)]
    rows = sorted({*np.unique(close).tolist(), *_hashed(view, key)})
    called = [
        row
        for row in rows
        if any(normalise_name(surface) == key for surface in entities.surfaces(row)) and is_called(view, row, key)
    ]
    return sorted(called, key=lambda row: (-_mentioned(view, row), row))


def entities_near(view: View, name: str) -> list[int]:
    """The rows of at most five entities whose names are like a name, the most alike first."""
    folded, owner = view.tables.entities.folded
    asked = utils.default_process(name)
    if not len(folded) or not asked:
        return []
    seen = np.diff(view.walk.entity_ptr)[owner] > 0
    surfaces, owner = folded.filter(pa.array(seen)).to_pylist(), owner[seen]
    found = process.extract(asked, surfaces, scorer=fuzz.ratio, score_cutoff=NEAR, limit=_POOL)
    scored = []
    for row in dict.fromkeys(int(owner[at]) for _, _, at in found):
        names = names_of(view, row)
        if names is not None:
            alike = max(fuzz.ratio(asked, utils.default_process(own)) for own in (names.name, *names.aliases))
            if alike >= NEAR:  # by what may be seen: what else it is called must not bring it up
                scored.append((-round(alike, 4), -_mentioned(view, row), row))
    return [row for _, _, row in sorted(scored)[:MAX_NEAR]]


def _mentioned(view: View, row: int) -> int:
    return int(view.mention_counts(view.pairs_of(row)).sum())


def _hashed(view: View, key: str) -> list[int]:
    walk = view.walk
    wanted = np.uint64(name_hash([word for word, _, _ in name_words(key)]))
    at = int(np.searchsorted(walk.name_hash, wanted))
    return [int(walk.name_entity[at])] if at < len(walk.name_hash) and walk.name_hash[at] == wanted else []
