"""Selection of the sentences to quote from the best units.

Sentences are taken greedily by a fixed mix of features, less what the quotes taken before make them lose, in the manner
of maximal marginal relevance (Carbonell and Goldstein 1998): the quotes cover the hops of a question instead of
repeating the first one. docs/retrieval.md has the formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphctx.retrieve.arrays import Rows, Scores, is_in
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.runs import SentenceRuns
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
        The sentences of the units, and what was selected of them in reading order: the section with the surest quote
        first, its quotes in the order of the document.
    """
    pool = sentence_pool(index, question, ranking.rows[positions], tokens, max_quote_tokens)
    if not len(pool):
        return pool, []
    runs = SentenceRuns.of(pool, tokens, max_quote_tokens)
    repetition = _Repetition(index, pool.rows, weights.repeat_from)
    score = _scores(ranking, pool, positions, weights)
    penalty = weights.linked_penalty if _linked(ranking, weights.linked_from) else weights.unlinked_penalty
    confidence = Confidence.of(index, question, ranking, positions, pool)
    length = np.array([len(text) for text in pool.texts])
    barred = pool.links | runs.dangling
    if barred.all():
        barred = pool.links.copy()
    free = (length >= min(MIN_CHARS, int(length.max()))) & ~runs.touched(barred)
    covered = barred.copy()
    repeated, echoed = np.zeros(len(pool)), np.zeros(len(pool))
    taken = np.zeros(len(positions))
    cores: list[tuple[int, int]] = []
    while free.any():
        lost = penalty * taken[pool.unit] + weights.repeat * np.maximum(repeated, runs.unit_mean(echoed))
        lost += weights.room * (1.0 - runs.room(covered))
        value = np.where(free, np.round(score - lost, 6), -np.inf)
        at = int(np.argmax(value))
        core = runs.atom(at)
        free[core[0] : core[1] + 1] = False
        beside = next((n for n, other in enumerate(cores) if runs.joined(core, other)), None)
        if beside is not None:
            cores[beside] = min(core[0], cores[beside][0]), max(core[1], cores[beside][1])
            free[slice(cores[beside][0], cores[beside][1] + 1)] = False
            continue
        if any(runs.near(*other)[core[0] : core[1] + 1].any() for other in cores):
            continue
        if len(cores) == max_quotes:
            break
        cores.append(core)
        first, last = runs.grown(core, score, covered) if weights.grow else core
        quoted = {text for text in pool.texts[first : last + 1] if len(text) >= MIN_CHARS}
        own = np.arange(len(pool))
        covered |= np.array([text in quoted for text in pool.texts])
        free &= ~covered | ((own >= first) & (own <= last))
        free[core[0] : core[1] + 1] = False
        same = repetition.of(first, last)
        repeated = np.maximum(repeated, same)
        echoed = np.maximum(echoed, np.where(pool.unit == pool.unit[at], 0.0, same))
        taken[pool.unit[at]] += 1
    selected: list[Selected] = []
    for number, core in enumerate(cores):
        if weights.grow:
            kept = [runs.near(*other) for at, other in enumerate(cores) if at != number]
            cores[number] = runs.grown(core, score, np.logical_or.reduce([barred, *kept]))
    for first, last in cores:
        selected.append(
            Selected(first, last, confidence.of_run(first, last), runs.fits(first, last), _whole(pool, first, last))
        )
    return pool, _in_reading_order(pool, selected)


def _in_reading_order(pool: SentencePool, selected: list[Selected]) -> list[Selected]:
    """Quotes by section, the surest section first; all quotes of a section are as sure as the surest of them."""
    surest: dict[int, float] = {}
    for one in selected:
        section = int(pool.section[one.first])
        surest[section] = max(surest.get(section, 0.0), one.confidence)
    place = {section: (-value, at) for at, (section, value) in enumerate(surest.items())}
    ordered = [replace(one, confidence=surest[int(pool.section[one.first])]) for one in selected]
    ordered.sort(key=lambda one: (place[int(pool.section[one.first])], int(pool.start[one.first])))
    return ordered


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
