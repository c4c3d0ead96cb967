"""How well sentences and communities fit a question."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphctx.retrieve.arrays import Rows, Scores, inner_products
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.coverage import sentence_coverage
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question

MEANING, PLACE, WORDS = 1.0, 0.5, 0.5
"""Weights of a sentence's own cosine, of that of the unit around it, and of the question's words that it holds."""

BESIDE = 0.2
"""What the sentences before and after count: what is said in a passage on the subject is likely about it."""

FEW = 30
"""Of so many sentences the mean is taken out by half: it is hardly more than what they themselves say."""

BEST_POINTS = 3
"""The best points of a community speak for it: a broad one has some that say nothing to the question."""

NAMED = 0.5
"""What the entities that the question names count in a rating, beside the summary and the best points with 1 each."""


def fit_of(index: SearchIndex, question: Question, sentences: Rows) -> Scores:
    """How well sentences fit a question, at most 1 and seldom below 0, float32 [len(sentences)].

    By themselves ``(cosine + 0.5 * cosine of the unit + 0.5 * share of the words by idf) / 2``; to which the mean of
    that of the sentences before and after, as far as they are of the same unit, adds a fifth. The cosine is with what
    the question has beyond the corpus: without its share in the mean of all sentences, since what is typical of the
    documents is no evidence for any question about them.

    Args:
        index: of what may be seen.
        question: made ready.
        sentences: sentence rows.
    """
    units = unit_of(index, sentences)
    before = np.where(sentences > index.walk.unit_sentence[units], sentences - 1, sentences)
    after = np.where(sentences + 1 < index.walk.unit_sentence[units + 1], sentences + 1, sentences)
    rows, places = np.unique(np.concatenate([sentences, before, after]), return_inverse=True)
    alone = _fit_alone(index, question, rows)[places].reshape(3, -1)
    n_beside = np.maximum((before != sentences).astype(np.int64) + (after != sentences), 1)
    beside = (alone[1] * (before != sentences) + alone[2] * (after != sentences)) / n_beside
    beside = np.where((before == sentences) & (after == sentences), alone[0], beside)
    fit: Scores = np.round((alone[0] + BESIDE * beside) / (1.0 + BESIDE), 6).astype(np.float32)
    return fit


def _fit_alone(index: SearchIndex, question: Question, sentences: Rows) -> Scores:
    own = index.sentence_similarity(_beyond(index, question), sentences)
    units, back = np.unique(unit_of(index, sentences), return_inverse=True)
    around = inner_products(index.vectors, units, question.vector)[back]
    words = sentence_coverage(index, question, sentences)
    mixed: Scores = (MEANING * own + PLACE * around + WORDS * words) / (MEANING + PLACE + WORDS)
    return mixed


def _beyond(index: SearchIndex, question: Question) -> Scores:
    """The vector of a question without its projection on the mean of the corpus, as far as that has enough of it."""
    mean, n_sentences = index.typical
    length = float(np.einsum("i,i->", mean, mean))
    share = float(np.einsum("i,i->", mean, question.vector)) / length if length > 0 else 0.0
    return (question.vector - np.float32(share * n_sentences / (n_sentences + FEW)) * mean).astype(np.float32)


def unit_of(index: SearchIndex, sentences: Rows) -> Rows:
    """The units of sentences."""
    units: Rows = np.searchsorted(index.walk.unit_sentence, sentences, side="right").astype(np.int64) - 1
    return units


class Rater:
    """Compares communities with one question.

    Args:
        communities: that may be seen.
        question: made ready.
    """

    def __init__(self, communities: Communities, question: Question) -> None:
        self._communities = communities
        self._index = communities.view.index
        self._question = question

    def __call__(self, row: int) -> float:
        """How well a community fits, in 0..1: 0 where it has no points.

        The mean of the cosine of its summary, of the fit of its best points, and, where the question names entities, of
        the share of them that are its members, which weighs half.
        """
        points = self._communities.points(row)
        if not len(points):
            return 0.0
        fits = np.sort(fit_of(self._index, self._question, points))[::-1][:BEST_POINTS]
        value, weight = max(0.0, float(fits.mean(dtype=np.float64))) + max(0.0, self._summary(row)), 2.0
        named = self._question.entities
        if len(named):
            value += NAMED * float(np.isin(named, self._communities.hierarchy.entities[row]).mean())
            weight += NAMED
        return round(min(1.0, value / weight), 6)

    def _summary(self, row: int) -> float:
        """The cosine of the summary; within a scope that of the mean of its sentences that may be seen."""
        if self._communities.view.whole:
            vector = np.asarray(self._vectors[row], dtype=np.float32)
            return float(np.einsum("i,i->", vector, self._question.vector))
        values, scale = self._index.sentence_vectors
        rows = self._communities.summary(row)
        mean = (values[rows].astype(np.float32) * scale[rows, None]).mean(axis=0, dtype=np.float64)
        length = float(np.sqrt(np.einsum("i,i->", mean, mean)))
        return float(np.einsum("i,i->", mean, self._question.vector)) / length if length > 0 else 0.0

    @cached_property
    def _vectors(self) -> Scores:
        """Summary vectors, float32 [C, d], mapped."""
        vectors: Scores = self._index.snapshot.matrix("communities")
        return vectors


class Size:
    """Rates communities by their size alone, for questions that ask for everything.

    Args:
        communities: that may be seen.
    """

    def __init__(self, communities: Communities) -> None:
        self._sizes = np.log1p(communities.n_entities.astype(np.float64))
        self._most = max(float(self._sizes.max(initial=0.0)), 1e-9)

    def __call__(self, row: int) -> float:
        """``log(1 + n) / log(1 + largest)`` of the members that may be seen, in 0..1."""
        return round(float(self._sizes[row]) / self._most, 6)
