"""Evidence: which sentences of the best units are quoted.

Sentences are taken greedily by a fixed mix of features, less what they lose by the quotes that were taken before, so
that the quotes cover the hops of a question instead of repeating the first. docs/retrieval.md has the formula, and
`QuoteWeights` the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.cite import Tokens
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.rank import Ranking, cap_per_document
from graphctx.retrieve.reach import Reach
from graphctx.retrieve.recipe import QuoteWeights
from graphctx.retrieve.sentences import SentencePool, sentence_pool

FRONT = 10
"""Unit scores are shares of the best among so many, and home edges between these link them."""

MIN_CHARS = 12
"""A shorter sentence quotes nothing, where there are longer ones."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Consecutive sentences to quote.

    ``first`` and ``last`` are positions in the pool, ``score`` is that of the best, ``confidence`` in 0..1. ``fits``
    tells whether they keep to the limits of a quote, ``whole`` whether no sentence is cut.
    """

    first: int
    last: int
    score: float
    confidence: float
    fits: bool
    whole: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """The pool, and what was picked from it in rank order."""

    pool: SentencePool
    unit_positions: np.ndarray
    picks: list[Pick]


def find_evidence(
    index: SearchIndex,
    question: Question,
    ranking: Ranking,
    *,
    top_units: int,
    max_per_document: int,
    max_quotes: int,
    max_quote_tokens: int,
    weights: QuoteWeights,
    tokens: Tokens,
) -> Evidence:
    """Pick the sentences to quote.

    Each quote starts as the best sentence that is left and grows by whole neighbours of its unit, the better one
    first, as long as it keeps to its length: an answer often stands beside the sentence that is like the question.

    Args:
        index: of the snapshot.
        question: made ready.
        ranking: units in rank order.
        top_units: quote from the best so many units.
        max_per_document: of those, at most so many from one document.
        max_quotes: at most so many quotes.
        max_quote_tokens: a quote grows up to so many tokens.
        weights: of the features and penalties.
        tokens: counts them.
    """
    positions = cap_per_document(index, ranking, top_units, max_per_document)
    pool = sentence_pool(index, question, ranking.rows[positions], tokens, max_quote_tokens)
    if not len(pool):
        return Evidence(pool, positions, [])
    reach = Reach.of(pool, tokens, max_quote_tokens)
    repeats = _Repeats(index, pool.rows, weights.repeat_from)
    score = _scores(ranking, pool, positions, weights)
    again = weights.linked_penalty if _linked(ranking, weights.linked_from) else weights.unlinked_penalty
    confidence = Confidence.of(index, question, ranking, positions, pool)
    picks: list[Pick] = []
    length = np.array([len(text) for text in pool.texts])
    free = length >= min(MIN_CHARS, int(length.max()))  # "Port: 80." is short, but may be all that there is
    covered = np.zeros(len(pool), dtype=bool)
    repeated, echoed = np.zeros(len(pool)), np.zeros(len(pool))
    taken = np.zeros(len(positions))
    while len(picks) < max_quotes and free.any():
        lost = again * taken[pool.unit] + weights.repeat * np.maximum(repeated, reach.share(echoed))
        lost += weights.room * (1.0 - reach.room(covered))
        value = np.where(free, np.round(score - lost, 6), -np.inf)
        at = int(np.argmax(value))
        first, last = reach.around(at, score, covered) if weights.grow else (at, at)
        sure = confidence.of_run(first, last)
        picks.append(Pick(first, last, float(value[at]), sure, reach.fits(first, last), _is_whole(pool, first, last)))
        quoted = set(pool.texts[first : last + 1])
        covered |= [text in quoted for text in pool.texts]
        free &= ~covered
        same = repeats.of(first, last)
        repeated = np.maximum(repeated, same)
        echoed = np.maximum(echoed, np.where(pool.unit == pool.unit[at], 0.0, same))
        taken[pool.unit[at]] += 1
    return Evidence(pool, positions, picks)


def _scores(ranking: Ranking, pool: SentencePool, positions: Rows, weights: QuoteWeights) -> Scores:
    """The fixed mix of features for each sentence."""
    best = float(ranking.scores[:FRONT].max())
    share = ranking.scores[positions] / best if best > 0 else np.ones(len(positions))
    unit = weights.unit * share + weights.reached * ranking.gain.at(ranking.rows[positions])
    return (unit[pool.unit] + preview_values(pool, weights)).astype(np.float32)


def preview_values(pool: SentencePool, weights: QuoteWeights) -> Scores:
    """How well each sentence fits the question beside others of its unit: all of the mix but what the unit gives."""
    values: Scores = (
        weights.cosine * pool.cosine
        + weights.lexical * pool.lexical
        + weights.lead * pool.lead
        + weights.kind * pool.wanted
    ).astype(np.float32)
    return values


def _is_whole(pool: SentencePool, first: int, last: int) -> bool:
    """Whether a run begins and ends where sentences do."""
    opens = pool.whole[first] or first == 0 or pool.rows[first - 1] != pool.rows[first]
    closes = pool.whole[last] or last + 1 == len(pool) or pool.rows[last + 1] != pool.rows[last]
    return bool(opens and closes)


def _linked(ranking: Ranking, linked_from: float) -> bool:
    """Whether a home edge above a value leads from one of the best units to another."""
    if ranking.walk is None:
        return False
    home, front = ranking.walk.home, ranking.rows[:FRONT]
    strong = home.value > linked_from
    return bool((np.isin(home.source[strong], front) & np.isin(home.target[strong], front)).any())


class _Repeats:
    """How much the sentences of a pool say the same: 0 up to a cosine of theirs, rising to 1 where they are equal."""

    def __init__(self, index: SearchIndex, rows: Rows, since: float) -> None:
        vectors, scale = index.sentence_vectors
        self._rows = rows
        self._vectors = vectors[rows].astype(np.float32)  # sums of products of int8 are exact in any order
        self._scale = scale[rows]
        self._since = since

    def of(self, first: int, last: int) -> Scores:
        """For each sentence how much it repeats any of a run; parts of one sentence do not repeat each other."""
        cosine = self._vectors @ self._vectors[first : last + 1].T * self._scale[first : last + 1]
        most = cosine.max(axis=1) * self._scale
        repeated: Scores = np.clip((most - self._since) / (1.0 - self._since), 0.0, 1.0)
        repeated[np.isin(self._rows, self._rows[first : last + 1])] = 0.0
        return repeated
