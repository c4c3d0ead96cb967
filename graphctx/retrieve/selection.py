"""Selection of the sentences to quote from the best units.

Sentences are taken greedily by a fixed mix of features, less what the quotes taken before make them lose, in the manner
of maximal marginal relevance (Carbonell and Goldstein 1998): the quotes cover the hops of a question instead of
repeating the first one. docs/retrieval.md has the formula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Mask, Rows, Scores, is_in
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.runs import MIN_CHARS, Run, SentenceRuns
from graphctx.retrieve.sentences import PROSE, SentencePool, sentence_pool
from graphctx.retrieve.variants import SelectionWeights

N_FRONT = 10
"""Unit scores are shares of the best among this many units."""

N_TOGETHER = 6
"""This many quotes are put into reading order at a time, best first: a budget that cuts many cuts the weakest."""


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
    max_units: int,
    max_quotes: int,
    max_quote_tokens: int,
    weights: SelectionWeights,
    tokens: TokenCounter,
) -> tuple[SentencePool, list[Selected]]:
    """Select the sentences to quote from the units at some positions of a ranking, of which ``max_units`` at most.

    Each quote starts as the best atom that is left and grows by whole neighbours of its unit, the better one first, as
    long as it keeps to its length: an answer often stands beside the sentence that is like the question. A good atom
    that still fits into a quote widens it. No two quotes nearly touch: of two that would, the better one stays.

    Returns:
        The sentences of the units, and what was selected of them in reading order: the surest quote, then the others of
        its document and those of further documents, in the order of each document.
    """
    pool = sentence_pool(index, question, ranking.rows[positions], tokens, max_quote_tokens)
    if not len(pool):
        return pool, []
    runs = SentenceRuns.of(pool, tokens, max_quote_tokens)
    repetition = _Repetition(index, pool.rows, weights.repeat_from)
    confidence = Confidence.of(index, question, ranking, positions, pool)
    barred = pool.links | runs.dangling
    if barred.all():
        barred = pool.links
    score = _scores(ranking, pool, positions, weights)
    # A short answer is the best of the usual one, with its surest quote.
    quotes = _quoted(pool, runs, score, barred, max_units, max(max_quotes, N_TOGETHER), weights, repetition)
    selected = [
        Selected(first, last, confidence.of_run(first, last), runs.fits(first, last), _whole(pool, first, last))
        for first, last in quotes
    ]
    return pool, _in_reading_order(pool, selected, max_quotes)


def _quoted(
    pool: SentencePool,
    runs: SentenceRuns,
    score: Scores,
    barred: Mask,
    max_units: int,
    max_quotes: int,
    weights: SelectionWeights,
    repetition: _Repetition,
) -> list[Run]:
    """Return the sentences of each quote, best first: the best atom left, grown; one that fits widens a quote."""
    lengths = [len(text) for text in pool.texts]
    free = (np.array(lengths) >= min(MIN_CHARS, max(lengths))) & ~runs.touched(barred)
    covered, barred_beside = barred.copy(), barred.copy()
    lost_by_cut = runs.touched(pool.cut) * np.where(pool.kind == PROSE, weights.cut, weights.cut_item)
    same_unit = np.where(pool.short, weights.same_short_unit, weights.same_unit)
    lost_by_unit, repeated, echoed = np.zeros(len(pool)), None, None
    quotes: list[Run] = []
    units: set[int] = set()
    while True:
        lost = lost_by_unit + (weights.room * (1.0 - runs.room(covered)) + lost_by_cut)
        if repeated is not None and echoed is not None:
            lost += weights.repeat * np.maximum(repeated, runs.unit_mean(echoed))
        core = _next_core((score - lost).round(6), free, barred_beside, runs, quotes)
        if core is None or len(quotes) == max_quotes:
            return quotes
        first, last = runs.grown(core, score, barred_beside) if weights.grow else core
        quotes.append((first, last))
        said = runs.said((first, last))
        covered |= said
        barred_beside |= said | runs.near((first, last))
        said[first : last + 1] = False
        free &= ~said
        same, here = repetition.of(first, last), pool.unit == pool.unit[first]
        if same is not None:
            elsewhere = np.where(here, np.float32(0.0), same)
            repeated = same if repeated is None else np.maximum(repeated, same)
            echoed = elsewhere if echoed is None else np.maximum(echoed, elsewhere)
        lost_by_unit += same_unit * here
        units.add(runs.at.unit[first])
        if len(units) == max_units:
            free &= is_in(pool.unit, np.array(sorted(units)))


def _next_core(
    value: npt.NDArray[np.float64], free: Mask, barred_beside: Mask, runs: SentenceRuns, quotes: list[Run]
) -> Run | None:
    """Return the best free atom that stands apart from all quotes; better ones widen the quote that they fit into.

    What is looked at is no longer free, and ``barred_beside`` gains what no quote may hold beside a widened one.
    """
    some, section = free.nonzero()[0], runs.at.section
    for at in some[(-value[some]).argsort(kind="stable")].tolist():
        if not free[at]:
            continue
        core = runs.atom(at)
        free[core[0] : core[1] + 1] = False
        beside = [n for n, other in enumerate(quotes) if section[other[0]] == section[at]]
        joining = next((n for n in beside if runs.joined(core, quotes[n])), None)
        if joining is not None:
            core = min(core[0], quotes[joining][0]), max(core[1], quotes[joining][1])
        if any(runs.is_near(quotes[n], core) for n in beside if n != joining):
            continue
        if joining is None:
            return core
        quotes[joining] = core
        barred_beside |= runs.near(core) | runs.said(core)
        free[core[0] : core[1] + 1] = False
    return None


def _in_reading_order(pool: SentencePool, selected: list[Selected], most: int) -> list[Selected]:
    """Return at most this many quotes: the surest first, then document by document, each in its own order.

    The document with the surest quote comes first.
    """
    surest: dict[str, float] = {}
    for one in selected:
        uri = pool.documents[one.first].uri
        surest[uri] = max(surest.get(uri, 0.0), one.confidence)
    place = {uri: (-value, at) for at, (uri, value) in enumerate(surest.items())}
    first = max(selected, key=lambda one: one.confidence, default=None)
    rated = sorted(selected, key=lambda one: one is not first)[:most]

    def key(one: Selected) -> tuple[bool, tuple[float, int], int]:
        return one is not first, place[pool.documents[one.first].uri], int(pool.start[one.first])

    return [one for at in range(0, len(rated), N_TOGETHER) for one in sorted(rated[at : at + N_TOGETHER], key=key)]


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


class _Repetition:
    """How much the sentences of a pool say the same: 0 up to a cosine, rising to 1 where they are equal."""

    def __init__(self, index: SearchIndex, rows: Rows, since: float) -> None:
        vectors, scale = index.sentence_vectors
        self._rows = rows.tolist()
        self._vectors = vectors[rows].astype(np.float32)  # sums of products of int8 are exact in any order
        self._scale = scale[rows]
        self._since = since

    def of(self, first: int, last: int) -> Scores | None:
        """Return how much each sentence repeats any of a run; ``None`` where none does.

        Fragments of one sentence do not repeat each other.
        """
        cosine = self._vectors @ self._vectors[first : last + 1].T * self._scale[first : last + 1]
        most = cosine.max(axis=1) * self._scale
        rows = self._rows
        most[rows.index(rows[first]) : last + rows[last:].count(rows[last])] = 0.0
        if most.max() <= self._since:
            return None
        repeated: Scores = np.minimum(np.maximum((most - self._since) / (1.0 - self._since), 0.0), 1.0)
        return repeated
