"""Selection of the sentences to quote from the best units.

Sentences are taken greedily by a fixed mix of features, less what the quotes taken before make them lose, in the manner
of maximal marginal relevance (Carbonell and Goldstein 1998): the quotes cover the hops of a question instead of
repeating the first one. docs/retrieval.md has the formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.arrays import Mask, Rows, Scores, is_in
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.sentences import SentencePool, sentence_pool
from graphctx.retrieve.variants import SelectionWeights

N_FRONT = 10
"""Unit scores are shares of the best among so many units, and definition edges between these link them."""

MIN_CHARS = 12
"""Shorter sentences are passed over where there are longer ones."""


@dataclass(frozen=True, slots=True)
class Selected:
    """Consecutive sentences of one unit to quote.

    Attributes:
        first, last: positions in the pool.
        confidence: in 0..1.
        fits: whether they keep to the limits of a quote.
        whole: whether no sentence is cut.
    """

    first: int
    last: int
    confidence: float
    fits: bool
    whole: bool


def select_sentences(
    index: SearchIndex,
    question: Question,
    ranking: Ranking,
    positions: Rows,
    *,
    max_quotes: int,
    max_quote_tokens: int,
    weights: SelectionWeights,
    tokens: TokenCounter,
) -> tuple[SentencePool, list[Selected]]:
    """Select the sentences to quote.

    Each quote starts as the best sentence that is left and grows by whole neighbours of its unit, the better one
    first, as long as it keeps to its length: an answer often stands beside the sentence that is like the question.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        ranking: units in rank order.
        positions: which of them to quote from.
        max_quotes: most quotes.
        max_quote_tokens: longest quote.
        weights: of the features and penalties.
        tokens: counts tokens.

    Returns:
        The sentences of the units, and what was selected of them, best first.
    """
    pool = sentence_pool(index, question, ranking.rows[positions], tokens, max_quote_tokens)
    if not len(pool):
        return pool, []
    runs = SentenceRuns.of(pool, tokens, max_quote_tokens)
    repetition = _Repetition(index, pool.rows, weights.repeat_from)
    score = _scores(ranking, pool, positions, weights)
    penalty = weights.linked_penalty if _linked(ranking, weights.linked_from) else weights.unlinked_penalty
    confidence = Confidence.of(index, question, ranking, positions, pool)
    selected: list[Selected] = []
    length = np.array([len(text) for text in pool.texts])
    free = length >= min(MIN_CHARS, int(length.max()))
    covered = np.zeros(len(pool), dtype=bool)
    repeated, echoed = np.zeros(len(pool)), np.zeros(len(pool))
    taken = np.zeros(len(positions))
    while len(selected) < max_quotes and free.any():
        lost = penalty * taken[pool.unit] + weights.repeat * np.maximum(repeated, runs.unit_mean(echoed))
        lost += weights.room * (1.0 - runs.room(covered))
        value = np.where(free, np.round(score - lost, 6), -np.inf)
        at = int(np.argmax(value))
        first, last = runs.grown(at, score, covered) if weights.grow else (at, at)
        selected.append(
            Selected(first, last, confidence.of_run(first, last), runs.fits(first, last), _whole(pool, first, last))
        )
        quoted = set(pool.texts[first : last + 1])
        covered |= np.array([text in quoted for text in pool.texts])
        free &= ~covered
        same = repetition.of(first, last)
        repeated = np.maximum(repeated, same)
        echoed = np.maximum(echoed, np.where(pool.unit == pool.unit[at], 0.0, same))
        taken[pool.unit[at]] += 1
    return pool, selected


def sentence_scores(pool: SentencePool, weights: SelectionWeights) -> Scores:
    """Return how well each sentence fits the question beside others of its unit."""
    values: Scores = (
        weights.cosine * pool.cosine
        + weights.lexical * pool.lexical
        + weights.lead * pool.lead
        + weights.answer_type * pool.answer_type
    ).astype(np.float32)
    return values


def _scores(ranking: Ranking, pool: SentencePool, positions: Rows, weights: SelectionWeights) -> Scores:
    """The scores of sentences with what their units give."""
    best = float(ranking.scores[:N_FRONT].max())
    share = ranking.scores[positions] / best if best > 0 else np.ones(len(positions))
    unit = weights.unit * share + weights.reached * ranking.expanded.gain.at(ranking.rows[positions])
    return (unit[pool.unit] + sentence_scores(pool, weights)).astype(np.float32)


def _whole(pool: SentencePool, first: int, last: int) -> bool:
    """Whether a run begins and ends where sentences do."""
    opens = pool.whole[first] or first == 0 or pool.rows[first - 1] != pool.rows[first]
    closes = pool.whole[last] or last + 1 == len(pool) or pool.rows[last + 1] != pool.rows[last]
    return bool(opens and closes)


def _linked(ranking: Ranking, linked_from: float) -> bool:
    """Whether a heavy definition edge leads from one of the best units to another."""
    edges = ranking.expanded.edges.get("definition")
    if edges is None:
        return False
    front, heavy = np.sort(ranking.rows[:N_FRONT]), edges.value > linked_from
    return bool((is_in(edges.source[heavy], front) & is_in(edges.target[heavy], front)).any())


@dataclass(frozen=True, slots=True)
class SentenceRuns:
    """Lengths of runs of consecutive sentences of a pool.

    Attributes:
        unit: the unit of each sentence.
        start, end: character offsets in its document.
        own: its tokens.
        before: tokens of all sentences before it, and of the text between those of one unit.
        max_tokens: the longest quote.
    """

    unit: Rows
    start: Rows
    end: Rows
    own: Rows
    before: Rows
    max_tokens: int

    @classmethod
    def of(cls, pool: SentencePool, tokens: TokenCounter, max_tokens: int) -> SentenceRuns:
        """Measure the sentences of a pool; each text is counted once."""
        beside = pool.unit[1:] == pool.unit[:-1]
        between = [
            pool.documents[at].text[pool.end[at] : pool.start[at + 1]] if beside[at] else ""
            for at in range(len(pool.rows) - 1)
        ]
        written = [at for at, text in enumerate(between) if text.strip()]  # list markers, table rules
        weight = pool.tokens.copy()
        weight[written] += np.array(tokens.count_many([between[at] for at in written]), dtype=np.int64)
        before = np.concatenate([[0], np.cumsum(weight)[:-1]])
        return cls(pool.unit, pool.start, pool.end, pool.tokens, before, max_tokens)

    def fits(self, first: int, last: int) -> bool:
        """Whether a run is short enough to be quoted whole."""
        tokens = self.before[last] - self.before[first] + self.own[last]
        return bool(tokens <= self.max_tokens and self.end[last] - self.start[first] <= MAX_QUOTE_CHARS)

    def grown(self, at: int, score: npt.NDArray[np.floating], covered: Mask) -> tuple[int, int]:
        """Grow from a sentence by whole neighbours of its unit, the better one first, as long as the run fits.

        Args:
            at: the sentence.
            score: of each sentence; ties go to the earlier one.
            covered: sentences that are quoted already.

        Returns:
            The first and the last sentence of the run.
        """
        first = last = at
        while True:
            options = [
                (float(score[added]), -added, low, high)
                for low, high, added in ((first - 1, last, first - 1), (first, last + 1, last + 1))
                if 0 <= added < len(self.unit)
                and self.unit[added] == self.unit[at]
                and not covered[added]
                and self.fits(low, high)
            ]
            if not options:
                return first, last
            _, _, first, last = max(options)

    def room(self, covered: Mask) -> npt.NDArray[np.float64]:
        """Return how much of the longest quote the uncovered sentences around each one can fill, in 0..1."""
        turns = (self.unit[1:] != self.unit[:-1]) | (covered[1:] != covered[:-1])
        run = np.concatenate([[0], np.cumsum(turns)])
        filled = np.bincount(run, weights=self.own)[run]
        share: npt.NDArray[np.float64] = np.minimum(filled / self.max_tokens, 1.0)
        return share

    def unit_mean(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return for each sentence the mean of some values over its unit, weighted by tokens."""
        total = np.maximum(np.bincount(self.unit, weights=self.own), 1.0)
        means: npt.NDArray[np.float64] = np.bincount(self.unit, weights=self.own * values) / total
        return means[self.unit]


class _Repetition:
    """How much the sentences of a pool say the same: 0 up to a cosine, rising to 1 where they are equal."""

    def __init__(self, index: SearchIndex, rows: Rows, since: float) -> None:
        vectors, scale = index.sentence_vectors
        self._rows = rows
        self._vectors = vectors[rows].astype(np.float32)  # sums of products of int8 are exact in any order
        self._scale = scale[rows]
        self._since = since

    def of(self, first: int, last: int) -> Scores:
        """Return how much each sentence repeats any of a run; fragments of one sentence do not repeat each other."""
        cosine = self._vectors @ self._vectors[first : last + 1].T * self._scale[first : last + 1]
        most = cosine.max(axis=1) * self._scale
        repeated: Scores = np.clip((most - self._since) / (1.0 - self._since), 0.0, 1.0)
        repeated[(self._rows >= self._rows[first]) & (self._rows <= self._rows[last])] = 0.0
        return repeated
