"""The map step: the sentences that communities and a plain search have for a question, each with a rating."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows, Scores, top_rows
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.global_search.descend import Descent
from graphctx.retrieve.global_search.evidence import home_of_units
from graphctx.retrieve.global_search.rate import fit_of, unit_of
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import RRF_K
from graphctx.text.prose import stands_alone

SEARCHED_UNITS = 100
"""Units of the plain search whose sentences are looked at: about as many sentences as a dozen communities have."""

MIN_CHARS = 24
"""A shorter sentence says nothing by itself; as where pages shorten an item."""

MOST = 400
"""The best candidates among which points are chosen: several times what the largest answer takes."""

FOUND = 0.05
"""What the first unit of the plain search adds to its sentences: it knows names and links, as no cosine does."""

FORM = 0.2
"""What a sentence that does not stand alone loses of its rating: a row of a table may still be what is asked for."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Sentences that may be told.

    Attributes:
        rows: sentence rows, distinct.
        units: of each.
        rating: float32, in 0..1.
        community: the row of the community that each is a point of, -1 where its unit names none.
    """

    rows: Rows
    units: Rows
    rating: Scores
    community: Rows

    def __len__(self) -> int:
        return len(self.rows)


def candidates_of(communities: Communities, question: Question, descent: Descent, units: Rows) -> Candidates:
    """The points of the chosen communities, and the sentences of the units that a plain search found.

    The latter reach what is in no community, or in one that was not rated. Each is a point of the finest community
    that its unit speaks of, or of the nearest one above it that was chosen.

    Args:
        communities: that may be seen.
        question: made ready.
        descent: with the chosen communities, best first.
        units: unit rows, best first.
    """
    index = communities.view.index
    mapped: dict[int, int] = {}
    for row in descent.chosen:
        checkpoint()
        for sentence in communities.points(row).tolist():
            mapped.setdefault(sentence, row)
    searched = units[:SEARCHED_UNITS]
    homes = chosen_above(communities, descent, home_of_units(communities, searched))
    sentences, owner = index.sentence_rows(searched)
    for sentence, home in zip(sentences.tolist(), homes[owner].tolist(), strict=True):
        mapped.setdefault(sentence, home)
    rows = np.array(sorted(mapped), dtype=np.int64)
    rows = rows[long_enough(index, rows)]
    checkpoint()
    rating = fit_of(index, question, rows) + FOUND * _place_of(units, unit_of(index, rows))
    best = np.sort(top_rows(rating, MOST))
    rows, rating = rows[best], rating[best]
    of = unit_of(index, rows)
    rating = np.round(rating * (1.0 - FORM * (1.0 - stand_alone(index, rows, of))), 6).astype(np.float32)
    community = np.array([mapped[row] for row in rows.tolist()], dtype=np.int64)
    return Candidates(rows, of, rating, community)


def chosen_above(communities: Communities, descent: Descent, rows: Rows) -> Rows:
    """Each community, or the nearest one above it that was chosen, where one was; -1 stays."""
    distinct, back = np.unique(rows, return_inverse=True)
    chosen = set(descent.chosen)
    parent = communities.hierarchy.parent
    found = []
    for row in distinct.tolist():
        at = row
        while at >= 0 and at not in chosen:
            at = int(parent[at])
        found.append(at if at >= 0 else row)
    above: Rows = np.array(found, dtype=np.int64)[back]
    return above


def _place_of(units: Rows, wanted: Rows) -> Scores:
    """How early the plain search has each unit, as in reciprocal rank fusion: from 1 down; 0 where it has not."""
    order = np.argsort(units)
    ranked = units[order]
    if not len(ranked):
        return np.zeros(len(wanted), dtype=np.float32)
    at = np.minimum(np.searchsorted(ranked, wanted), len(ranked) - 1)
    value: Scores = np.where(ranked[at] == wanted, (RRF_K + 1) / (RRF_K + 1 + order[at]), 0.0).astype(np.float32)
    return value


def stand_alone(index: SearchIndex, rows: Rows, units: Rows) -> Scores:
    """How well each sentence stands alone, in 0..1."""
    walk = index.walk
    found = np.empty(len(rows), dtype=np.float32)
    for at, (row, unit) in enumerate(zip(rows.tolist(), units.tolist(), strict=True)):
        text = index.text_of(int(walk.unit_doc[unit])).text
        sentence = text[walk.sentence_start[row] : walk.sentence_end[row]]
        found[at] = stands_alone(sentence, index.unit(unit).kind)
    return found


def long_enough(index: SearchIndex, rows: Rows) -> np.ndarray:
    """Which sentences are long enough to say something."""
    return index.walk.sentence_end[rows] - index.walk.sentence_start[rows] >= MIN_CHARS
