"""The sentences of the ranked units, with everything that evidence is scored by, as parallel arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.index import DocumentText, Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.store.walk import gather
from graphctx.text.lexical import terms


@dataclass(frozen=True, slots=True)
class SentencePool:
    """Sentences of some units.

    Attributes:
        rows: sentence rows.
        unit: for each the position of its unit in the ranking that the pool was made of.
        texts: their texts.
        cosine: with the question.
        lexical: the share of the question's terms that each holds, weighted by inverse document frequency.
        lead: whether it opens its unit.
        wanted: whether it holds the sort of thing that the question asks for.
    """

    rows: Rows
    unit: Rows
    texts: list[str]
    documents: list[DocumentText]
    cosine: Scores
    lexical: Scores
    lead: Scores
    wanted: Scores

    def __len__(self) -> int:
        return len(self.rows)


def sentence_pool(index: SearchIndex, question: Question, unit_rows: Rows) -> SentencePool:
    """Gather the sentences of units and their features."""
    walk = index.walk
    rows, unit = index.sentence_rows(unit_rows)
    documents = [index.text_of(int(walk.unit_doc[row])) for row in unit_rows]
    spans = zip(walk.sentence_start[rows], walk.sentence_end[rows], unit, strict=True)
    texts = [documents[at].text[start:end] for start, end, at in spans]
    labels = _labels(index, question, unit_rows)
    wanted = [question.wants(text, labels.get(int(row), frozenset())) for row, text in zip(rows, texts, strict=True)]
    return SentencePool(
        rows=rows,
        unit=unit,
        texts=texts,
        documents=[documents[at] for at in unit],
        cosine=index.sentence_similarity(question.vector, rows),
        lexical=lexical_cover(index, question, texts),
        lead=(rows == walk.unit_sentence[unit_rows[unit]]).astype(np.float32),
        wanted=np.array(wanted, dtype=np.float32),
    )


def lexical_cover(index: SearchIndex, question: Question, texts: list[str]) -> Scores:
    """The share of the question's terms in each text, weighted by idf, in 0..1."""
    weights = {term: index.bm25.idf(term) for term in question.terms}
    total = sum(weights.values())
    if total <= 0:
        return np.zeros(len(texts), dtype=np.float32)
    covered = [sum(weights[term] for term in sorted(weights.keys() & set(terms(text)))) for text in texts]
    return (np.array(covered) / total).astype(np.float32)


def _labels(index: SearchIndex, question: Question, unit_rows: Rows) -> dict[int, frozenset[int]]:
    """The labels of the entities that each sentence names and the question does not."""
    walk = index.walk
    pairs, _ = gather(walk.unit_pair, unit_rows)
    entity = walk.pair_entity[pairs]
    pairs = pairs[~np.isin(entity, question.entities)]
    positions, owner = gather(walk.pair_sentence_ptr, pairs)
    labels = walk.entity_label[walk.pair_entity[pairs[owner]]]
    found: dict[int, set[int]] = {}
    for row, label in zip(walk.pair_sentence[positions].tolist(), labels.tolist(), strict=True):
        found.setdefault(row, set()).add(label)
    return {row: frozenset(group) for row, group in found.items()}
