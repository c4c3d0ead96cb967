"""Evidence: which sentences of the best units are quoted.

Sentences are taken greedily by a fixed mix of features, minus a penalty for each quote that was already taken
from the same unit, so that the quotes cover the hops of a question instead of repeating the first. Weights are
those of docs/retrieval.md, evidence. The penalty of unlinked units is 0.1: with quotes that grow it finds more answers
than a smaller one on every development set with long units, and no fewer on the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.answers import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Tokens
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.rank import Ranking, cap_per_document
from graphctx.retrieve.recipe import QuoteWeights
from graphctx.retrieve.scope import Mask
from graphctx.retrieve.sentences import SentencePool, sentence_pool

BRIDGE_POOL = 10
"""Bridges count between this many of the best units."""

MIN_CHARS = 12
"""A shorter sentence quotes nothing."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Consecutive sentences to quote: positions in the pool, the score of the best, and its confidence in 0..1."""

    first: int
    last: int
    score: float
    confidence: float


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
    pool = sentence_pool(index, question, ranking.rows[positions])
    if not len(pool):
        return Evidence(pool, positions, [])
    score, linked = _scores(ranking, pool, positions, weights)
    penalty = weights.linked_penalty if linked else weights.unlinked_penalty
    confidence = confidences(pool)
    picks: list[Pick] = []
    free = np.array([len(text) >= MIN_CHARS for text in pool.texts])
    covered = np.zeros(len(pool), dtype=bool)
    taken = np.zeros(len(positions))
    while len(picks) < max_quotes and free.any():
        value = np.where(free, np.round(score - penalty * taken[pool.unit], 6), -np.inf)
        at = int(np.argmax(value))
        first = last = at
        if weights.grow:
            first, last = _grow(index, pool, score, covered, at, max_quote_tokens, tokens)
        sure = round(float(confidence[first : last + 1].max()), 3)  # again: float32 has no 0.487
        picks.append(Pick(first, last, float(value[at]), sure))
        covered[first : last + 1] = True
        quoted = set(pool.texts[first : last + 1])
        free &= [text not in quoted for text in pool.texts]
        taken[pool.unit[at]] += 1
    return Evidence(pool, positions, picks)


def _scores(ranking: Ranking, pool: SentencePool, positions: Rows, weights: QuoteWeights) -> tuple[Scores, bool]:
    """The fixed mix of features for each sentence, and whether the best units are linked."""
    best = float(ranking.scores[:BRIDGE_POOL].max())
    unit_score = ranking.scores[positions] / best if best > 0 else np.ones(len(positions))
    bridges, linked = _bridges(ranking, pool, weights.linked_from)
    score: Scores = (
        weights.unit * unit_score[pool.unit]
        + weights.cosine * pool.cosine
        + weights.lexical * pool.lexical
        + weights.lead * pool.lead
        + weights.bridge * bridges
        + weights.kind * pool.wanted
    ).astype(np.float32)
    return score, linked


def _grow(
    index: SearchIndex, pool: SentencePool, score: Scores, covered: Mask, at: int, max_tokens: int, tokens: Tokens
) -> tuple[int, int]:
    """The first and last position of the quote around a sentence."""
    starts, ends = index.walk.sentence_start[pool.rows], index.walk.sentence_end[pool.rows]
    text = pool.documents[at].text
    first = last = at
    while True:
        options = []
        for low, high, added in ((first - 1, last, first - 1), (first, last + 1, last + 1)):
            if not 0 <= added < len(pool) or pool.unit[added] != pool.unit[at] or covered[added]:
                continue
            span = text[starts[low] : ends[high]]
            if len(span) <= MAX_QUOTE_CHARS and tokens.count(span) <= max_tokens:
                options.append((float(score[added]), -added, low, high))
        if not options:
            return first, last
        _, _, first, last = max(options)


def confidences(pool: SentencePool) -> Scores:
    """How likely each sentence bears on the question: its cosine and its lexical cover, evenly, in 0..1."""
    return np.round(np.clip(0.5 * np.maximum(pool.cosine, 0) + 0.5 * pool.lexical, 0.0, 1.0), 3)


def _bridges(ranking: Ranking, pool: SentencePool, linked_from: float) -> tuple[Scores, bool]:
    """The value of the best edge that each sentence carries between two of the best units, and whether they link."""
    values = np.zeros(len(pool), dtype=np.float32)
    if ranking.walk is None:
        return values, False
    front = ranking.rows[:BRIDGE_POOL]
    linked = False
    for edges in (ranking.walk.home, ranking.walk.carried):
        inside = np.isin(edges.source, front) & np.isin(edges.target, front)
        if edges is ranking.walk.home:
            linked = bool(inside.any() and edges.value[inside].max() > linked_from)
        for row, value in zip(edges.sentence[inside], edges.value[inside], strict=True):
            values[pool.rows == row] = np.maximum(values[pool.rows == row], value)
    return np.minimum(values, 1.0), linked
