"""Term coverage: the share of a question's terms that a text holds, weighted by inverse document frequency."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from graphctx.retrieve.arrays import Mask, Rows, Scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.text.lexical import terms


def text_coverage(question: Question, texts: list[str]) -> Scores:
    """Return the coverage of each text, float32 in 0..1."""
    return weigh_terms(question, terms_held(question, texts))


def sentence_coverage(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """Return the coverage of whole sentences, by row; their terms are in the snapshot."""
    return weigh_terms(question, index.sentence_terms.contains(question.terms, rows))


def terms_held(question: Question, texts: list[str]) -> Mask:
    """Return which texts hold which terms of the question, bool [len(texts), len(question.terms)]."""
    held = [[term in found for term in question.terms] for found in map(_terms_of, texts)]
    return np.array(held, dtype=bool).reshape(len(texts), len(question.terms))


def weigh_terms(question: Question, held: Mask) -> Scores:
    """Return the share of the question's idf that each row of ``held`` [n, terms] holds, float32 [n]."""
    total = sum(question.idf)
    if total <= 0:
        return np.zeros(len(held), dtype=np.float32)
    share: Scores = ((held.astype(np.float64) * np.array(question.idf)).sum(axis=1) / total).astype(np.float32)
    return share


@lru_cache(maxsize=1_024)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))
