"""The sentences of the ranked units, with everything that evidence is scored by, as parallel arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Cut, Tokens, cut_span
from graphctx.retrieve.focus import focus, parts_of
from graphctx.retrieve.index import DocumentText, Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.scope import Mask
from graphctx.store.walk import gather
from graphctx.text.lexical import terms


@dataclass(frozen=True, slots=True)
class SentencePool:
    """Sentences of some units, in order; those that no quote can hold are there in parts.

    Attributes:
        rows: sentence rows.
        unit: for each the position of its unit in the ranking that the pool was made of.
        start, end: character offsets in its document.
        texts: their texts.
        documents: that they stand in.
        cosine: with the question.
        lexical: the share of the question's terms that each holds, weighted by inverse document frequency.
        lead: whether it opens its unit.
        whole: whether it is a sentence, and not a part of one.
        wanted: whether it holds the sort of thing that the question asks for.
    """

    rows: Rows
    unit: Rows
    start: Rows
    end: Rows
    texts: list[str]
    documents: list[DocumentText]
    cosine: Scores
    lexical: Scores
    lead: Scores
    whole: Mask
    wanted: Scores

    def __len__(self) -> int:
        return len(self.rows)


def sentence_pool(
    index: SearchIndex, question: Question, unit_rows: Rows, tokens: Tokens | None = None, max_tokens: int = 0
) -> SentencePool:
    """Gather the sentences of units and their features.

    Args:
        index: of the snapshot.
        question: made ready.
        unit_rows: the units.
        tokens: counts them; without it all sentences stay whole.
        max_tokens: a longer sentence (or block of code) is taken apart into its lines and clauses. They share the
            sentence's cosine and the entities in it; terms, dates and numbers are their own.
    """
    walk = index.walk
    rows, unit = index.sentence_rows(unit_rows)
    documents = [index.text_of(int(walk.unit_doc[row])) for row in unit_rows]
    start, end = walk.sentence_start[rows].astype(np.int64), walk.sentence_end[rows].astype(np.int64)
    whole = np.ones(len(rows), dtype=bool)
    if tokens is not None:
        placed = list(zip([documents[of].text for of in unit], start.tolist(), end.tolist(), strict=True))
        n_tokens = tokens.count_many([text[first : min(last, first + MAX_QUOTE_CHARS)] for text, first, last in placed])
        spans = [
            [(first, last)]
            if last - first <= MAX_QUOTE_CHARS and count <= max_tokens
            else parts_of(text, first, last, max_tokens)
            for (text, first, last), count in zip(placed, n_tokens, strict=True)
        ]
        counts = np.array([len(parts) for parts in spans], dtype=np.int64)
        rows, unit, whole = np.repeat(rows, counts), np.repeat(unit, counts), np.repeat(counts == 1, counts)
        start, end = np.array([span for parts in spans for span in parts], dtype=np.int64).reshape(-1, 2).T
    texts = [
        documents[of].text[first:last]
        for of, first, last in zip(unit.tolist(), start.tolist(), end.tolist(), strict=True)
    ]
    own = (start == walk.sentence_start[rows]) & (end == walk.sentence_end[rows])
    return SentencePool(
        rows=rows,
        unit=unit,
        start=start,
        end=end,
        texts=texts,
        documents=[documents[at] for at in unit],
        cosine=index.sentence_similarity(question.vector, rows),
        lexical=_sentence_cover(index, question, rows, texts, own),
        lead=(start == walk.sentence_start[walk.unit_sentence[unit_rows[unit]]]).astype(np.float32),
        whole=whole,
        wanted=_wanted(index, question, unit_rows, rows, texts),
    )


def lexical_cover(index: SearchIndex, question: Question, texts: list[str]) -> Scores:
    """The share of the question's terms in each text, weighted by idf, in 0..1."""
    return _share(index, question, _held(question, texts))


def best_part(
    index: SearchIndex,
    question: Question,
    text: str,
    span: tuple[int, int],
    max_tokens: int,
    tokens: Tokens,
    max_chars: int = MAX_QUOTE_CHARS,
) -> Cut:
    """The part of a span that bears on the question, from the start of a line on; all of it where that fits."""
    start, end = span
    at = focus(
        text,
        start,
        end,
        max_tokens=max_tokens,
        max_chars=max_chars,
        tokens=tokens,
        cover=lambda lines: lexical_cover(index, question, lines),
    )
    cut = cut_span(text, at, end, max_tokens, tokens, max_chars)
    return Cut(cut.start_char, cut.end_char, cut.truncated or at > start)


def cover_of_sentences(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """The same of whole sentences, by row."""
    if index.sentence_terms is not None:
        return _share(index, question, index.sentence_terms.held(question.terms, rows))
    walk = index.walk
    units = np.searchsorted(walk.unit_sentence, rows, side="right") - 1
    documents = [index.text_of(int(row)) for row in walk.unit_doc[units]]
    spans = zip(documents, walk.sentence_start[rows].tolist(), walk.sentence_end[rows].tolist(), strict=True)
    return lexical_cover(index, question, [document.text[start:end] for document, start, end in spans])


def _sentence_cover(index: SearchIndex, question: Question, rows: Rows, texts: list[str], own: Mask) -> Scores:
    """That of sentences and parts of such; the terms of the former, those of ``own`` text, are known."""
    if index.sentence_terms is None:
        return lexical_cover(index, question, texts)
    held = np.empty((len(rows), len(question.terms)), dtype=bool)
    held[own] = index.sentence_terms.held(question.terms, rows[own])
    held[~own] = _held(question, [texts[at] for at in np.flatnonzero(~own)])
    return _share(index, question, held)


def _held(question: Question, texts: list[str]) -> Mask:
    """Which texts hold which of the question's terms, bool [len(texts), len(question.terms)]."""
    held = [[term in found for term in question.terms] for found in map(_term_set, texts)]
    return np.array(held, dtype=bool).reshape(len(texts), len(question.terms))


def _share(index: SearchIndex, question: Question, held: Mask) -> Scores:
    weights = [index.bm25.idf(term) for term in question.terms]
    total = sum(weights)
    if total <= 0:
        return np.zeros(len(held), dtype=np.float32)
    share: Scores = ((held.astype(np.float64) * np.array(weights)).sum(axis=1) / total).astype(np.float32)
    return share


@lru_cache(maxsize=1_024)
def _term_set(text: str) -> frozenset[str]:
    """The index terms of a text. Questions about one thing come back to the same ones; about 1.5 MB."""
    return frozenset(terms(text))


def _wanted(index: SearchIndex, question: Question, unit_rows: Rows, rows: Rows, texts: list[str]) -> Scores:
    """Whether each sentence holds the sort of thing that is asked for, and that the question does not hold itself."""
    says = question.pattern_wanted()
    if says is not None:
        return np.array([says(text) for text in texts], dtype=np.float32)
    labels = question.labels_wanted()
    if not labels:
        return np.zeros(len(rows), dtype=np.float32)
    walk = index.walk
    pairs, _ = gather(walk.unit_pair, unit_rows)
    entity = walk.pair_entity[pairs]
    named = np.isin(walk.entity_label[entity], sorted(labels)) & ~np.isin(entity, question.entities)
    positions, _ = gather(walk.pair_sentence_ptr, pairs[named])
    return np.isin(rows, walk.pair_sentence[positions]).astype(np.float32)
