"""The map step: candidate points for a question, rated.

Candidates are the sentences of the documents that a plain search found, and the points of the relevant communities. A
document that treats a matter as a whole (a guide, an overview, a list) has many units among those found, and states
parts of the answer in sentences that do not repeat the words of the question. So a sentence is worth more for the rank
of its unit and for its document's focus: how much of what was found is in it, for its length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows, Scores, top_rows
from graphctx.retrieve.coverage import sentence_coverage
from graphctx.retrieve.global_search.selection import CommunitySelection
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking

SEARCHED_UNITS = 100
"""Units of the plain search that are looked at."""

DIRECT_UNITS = 60
"""Of these, those with the best hybrid score come first: what edges lead to is detail."""

WHOLE_DOCUMENTS, WHOLE_UNITS = 20, 1_000
"""Documents all of whose units are candidates, those with the most of what the plain search found; and the largest
number of these units, of which the nearest are taken."""

RANK_HALF = 10.0
"""The unit at this rank, from 0, counts half of the first."""

UNIT_RANK, DOCUMENT_FOCUS = 2.0, 4.0
"""How many times its rating a sentence of the first unit is worth more, and one of the document with most focus."""

MIN_CHARS = 24
"""A shorter sentence says nothing by itself."""

MAX_CANDIDATES = 400
"""The best candidates, among which points are selected: several times what the largest answer takes."""

SENTENCE, UNIT, WORDS = 1.0, 0.5, 0.5
"""Weights of the cosines of the sentence and of its unit, and of the share of the question's terms by idf."""

PRIOR_SENTENCES = 30
"""The mean of this many sentences is taken out by half: the mean of a few is hardly more than what they say."""

BEST_POINTS = 3
"""The rating of a community is that of its best points: a broad one has some that do not bear on the question."""


@dataclass(frozen=True, slots=True)
class CandidatePoints:
    """Sentences from which points are selected.

    Attributes:
        rows: sentence rows, distinct.
        units: of each.
        rating: float32, in 0..1, how well each fits the question.
        worth: float32, above 0, by which points are selected.
    """

    rows: Rows
    units: Rows
    rating: Scores
    worth: Scores

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def best(cls, index: SearchIndex, rows: Rows, rating: Scores, worth: Scores) -> CandidatePoints:
        """Take the `MAX_CANDIDATES` of some rated sentences that are worth most."""
        best = np.sort(top_rows(worth, MAX_CANDIDATES))
        rating, worth = (np.round(values[best], 6).astype(np.float32) for values in (rating, worth))
        return cls(rows[best], units_of(index, rows[best]), rating, worth)


def direct_first(ranking: Ranking) -> Rows:
    """Return the units of a ranking, the `DIRECT_UNITS` with the best hybrid score first."""
    rows = ranking.rows
    first = rows[np.argsort(-ranking.hybrid.at(rows), kind="stable")[:DIRECT_UNITS]]
    return np.concatenate([first, rows[~np.isin(rows, first)]])


def candidate_points(
    communities: CommunityIndex, question: Question, selection: CommunitySelection, units: Rows
) -> CandidatePoints:
    """Return the sentences of the documents that a plain search found, and the points of the relevant communities.

    ``units`` are the rows of the plain search, best first.
    """
    index = communities.view.index
    units = units[:SEARCHED_UNITS]
    rank = RANK_HALF / (RANK_HALF + np.arange(len(units)))
    unit_doc = index.walk.unit_doc
    found = np.bincount(unit_doc[units], weights=rank, minlength=int(unit_doc.max(initial=-1)) + 1).astype(np.float32)
    length = np.bincount(unit_doc)
    focus = np.where(length > 1, found / np.sqrt(np.maximum(length, 1)), 0.0)  # one unit has its rank alone
    whole = _units_of_documents(index, question, top_rows(found, WHOLE_DOCUMENTS, among=found > 0))
    sentences, _ = index.sentence_rows(np.union1d(units, whole))
    rows = long_enough(index, np.unique(np.concatenate([sentences, *map(communities.points, selection.relevant)])))
    checkpoint()
    rating = rate_sentences(index, question, rows)
    by_unit = np.zeros(index.walk.n_units)
    by_unit[units] = rank
    unit = units_of(index, rows)
    focused = focus[unit_doc[unit]] / max(float(focus.max(initial=0.0)), 1e-9)
    gain = (1 + UNIT_RANK * by_unit[unit]) * (1 + DOCUMENT_FOCUS * focused)
    return CandidatePoints.best(index, rows, rating, (np.maximum(rating, 0.0) * gain).astype(np.float32))


def _units_of_documents(index: SearchIndex, question: Question, documents: Rows) -> Rows:
    """Return the units of documents; the `WHOLE_UNITS` nearest to the question where there are more."""
    start, end = (np.searchsorted(index.walk.unit_doc, documents, side=side) for side in ("left", "right"))
    units = np.concatenate([np.arange(*bounds) for bounds in zip(start, end, strict=True)] or [documents])
    if len(units) <= WHOLE_UNITS:
        return units
    nearest: Rows = units[top_rows(index.unit_similarity(question.vector, units), WHOLE_UNITS)]
    return nearest


def rate_community(communities: CommunityIndex, question: Question, row: int) -> float:
    """Return the mean rating of the best points of a community, in 0..1; 0 if it has no points."""
    points = communities.points(row)
    if not len(points):
        return 0.0
    best = np.sort(rate_sentences(communities.view.index, question, points))[::-1][:BEST_POINTS]
    return round(min(1.0, max(0.0, float(best.mean(dtype=np.float64)))), 6)


def rate_sentences(index: SearchIndex, question: Question, sentences: Rows) -> Scores:
    """Return how well sentences fit a question, at most 1 and seldom below 0, float32.

    ``(cosine + 0.5 * cosine of the unit + 0.5 * share of the terms by idf) / 2``. The cosine of the sentence is with
    the question's vector less its projection on the mean of all visible sentences: what is typical of the documents is
    no evidence for any question about them.
    """
    own = index.sentence_similarity(_beyond_the_mean(index, question), sentences)
    units, back = np.unique(units_of(index, sentences), return_inverse=True)
    around = index.unit_similarity(question.vector, units)[back]
    words = sentence_coverage(index, question, sentences)
    mixed = (SENTENCE * own + UNIT * around + WORDS * words) / (SENTENCE + UNIT + WORDS)
    rating: Scores = np.round(mixed, 6).astype(np.float32)
    return rating


def _beyond_the_mean(index: SearchIndex, question: Question) -> Scores:
    mean, n_sentences = index.typical
    length = float(np.einsum("i,i->", mean, mean))
    share = float(np.einsum("i,i->", mean, question.vector)) / length if length > 0 else 0.0
    share *= n_sentences / (n_sentences + PRIOR_SENTENCES)
    return (question.vector - np.float32(share) * mean).astype(np.float32)


def units_of(index: SearchIndex, sentences: Rows) -> Rows:
    """Return the units of sentences."""
    units: Rows = np.searchsorted(index.walk.unit_sentence, sentences, side="right").astype(np.int64) - 1
    return units


def long_enough(index: SearchIndex, rows: Rows) -> Rows:
    """Return the sentences that are long enough to say something."""
    kept: Rows = rows[index.walk.sentence_end[rows] - index.walk.sentence_start[rows] >= MIN_CHARS]
    return kept
