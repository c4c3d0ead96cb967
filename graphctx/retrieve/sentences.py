"""The sentences of ranked units with the features that selection scores them by, as parallel arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.documents import BLOCK_KINDS
from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.arrays import Mask, Rows, Scores, is_in, turns
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.coverage import sentence_coverage, terms_held, weigh_terms
from graphctx.retrieve.documents import DocumentText
from graphctx.retrieve.fragments import split_fragments
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.store.walk import WalkArrays, gather

SHORT_UNITS = 2
"""A document of this many units is a single passage, as an entry of an encyclopedia."""

PROSE, LIST, CODE, TABLE = (BLOCK_KINDS.index(kind) for kind in ("prose", "list", "code", "table"))


@dataclass(frozen=True, slots=True)
class SentencePool:
    """Sentences of some units, in order; a sentence longer than a quote stands there as its fragments.

    Attributes:
        rows: sentence rows.
        unit: for each the position of its unit among the units of the pool.
        section: equal numbers for sentences of the same section.
        start, end: character offsets in its document.
        texts: their texts.
        tokens: how many tokens each has.
        documents: the documents that they stand in.
        cosine: with the question.
        lexical: the share of the question's terms that each holds, weighted by inverse document frequency.
        lead: 1 where it opens its unit.
        whole: whether it is a sentence and not a fragment of one.
        answer_type: 1 where it holds the sort of thing that the question asks for.
        kind: the kind of its block, a position in ``BLOCK_KINDS``.
        opens: whether it is the first of its block or of an item of a list.
        links: whether its block is mostly labels of links, or it is boilerplate.
        short: whether its document is short.
        cut: whether it is a fragment, or of an item of a list that another unit has the rest of.
    """

    rows: Rows
    unit: Rows
    section: Rows
    start: Rows
    end: Rows
    texts: list[str]
    tokens: Rows
    documents: list[DocumentText]
    cosine: Scores
    lexical: Scores
    lead: Scores
    whole: Mask
    answer_type: Scores
    kind: Rows
    opens: Mask
    links: Mask
    short: Mask
    cut: Mask

    def __len__(self) -> int:
        return len(self.rows)


def sentence_pool(
    index: SearchIndex, question: Question, unit_rows: Rows, tokens: TokenCounter | None = None, max_tokens: int = 0
) -> SentencePool:
    """Gather the sentences of units and their features.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        unit_rows: the units.
        tokens: counts tokens; without it all sentences stay whole.
        max_tokens: longest sentence (or block of code) that stays whole. Fragments share their sentence's cosine and
            entities; their terms, dates and numbers are their own.
    """
    walk = index.walk
    rows, unit = index.sentence_rows(unit_rows)
    documents = [index.text_of(row) for row in walk.unit_doc[unit_rows].tolist()]
    start, end = walk.sentence_start[rows].astype(np.int64), walk.sentence_end[rows].astype(np.int64)
    whole, n_tokens = np.ones(len(rows), dtype=bool), walk.sentence_tokens[rows].astype(np.int64)
    long = (end - start > MAX_QUOTE_CHARS) | (n_tokens > max_tokens)
    if tokens is not None and long.any():
        code = (walk.sentence_kind[rows] == CODE).tolist()
        spans = [
            split_fragments(documents[of].text, first, last, max_tokens, lines_only) if split else [(first, last)]
            for of, first, last, split, lines_only in zip(
                unit.tolist(), start.tolist(), end.tolist(), long.tolist(), code, strict=True
            )
        ]
        counts = np.array([len(parts) for parts in spans], dtype=np.int64)
        rows, unit, whole = np.repeat(rows, counts), np.repeat(unit, counts), np.repeat(counts == 1, counts)
        start, end = np.array([span for parts in spans for span in parts], dtype=np.int64).T
        n_tokens, long = np.repeat(n_tokens, counts), np.repeat(long, counts)
    texts = [
        documents[of].text[first:last]
        for of, first, last in zip(unit.tolist(), start.tolist(), end.tolist(), strict=True)
    ]
    if tokens is not None and long.any():
        n_tokens[long] = tokens.count_many([texts[at] for at in np.flatnonzero(long)])
    return SentencePool(
        rows=rows,
        unit=unit,
        section=index.section_numbers(unit_rows)[unit],
        start=start,
        end=end,
        texts=texts,
        tokens=n_tokens,
        documents=[documents[at] for at in unit.tolist()],
        cosine=question.sentences.at(rows),
        lexical=_coverage(index, question, rows, texts, start, end),
        lead=(start == walk.sentence_start[walk.unit_sentence[unit_rows[unit]]]).astype(np.float32),
        whole=whole,
        answer_type=np.maximum(
            _holds_answer_type(index, question, unit_rows, rows, texts),
            np.float32(question.kind == "code") * (walk.sentence_kind[rows] == CODE),
        ).astype(np.float32),
        kind=walk.sentence_kind[rows].astype(np.int64),
        opens=walk.sentence_opens[rows] & (start == walk.sentence_start[rows]),
        links=walk.sentence_links[rows],
        short=_in_short_document(walk.unit_doc, unit_rows)[unit],
        cut=~whole | _in_split_item(walk, rows, unit),
    )


def _in_short_document(documents: npt.NDArray[np.integer], unit_rows: Rows) -> Mask:
    """Whether the document of each unit has at most `SHORT_UNITS`; units of a document are next to each other."""
    own = documents[unit_rows]
    short: Mask = np.searchsorted(documents, own, "right") - np.searchsorted(documents, own, "left") <= SHORT_UNITS
    return short


def _in_split_item(walk: WalkArrays, rows: Rows, unit: Rows) -> Mask:
    """Whether each sentence is of a list's item that begins before its unit or goes on after it."""
    following = np.minimum(rows + 1, len(walk.sentence_kind) - 1)
    opens, opens_next = (walk.sentence_opens[of] | (walk.sentence_kind[of] != LIST) for of in (rows, following))
    changes = turns(unit)
    starts = np.maximum.accumulate(np.where(changes | opens, np.arange(len(rows)), 0))  # of each item
    goes_on = ~opens_next & (following > rows)
    goes_on[:-1] &= changes[1:]
    split: Mask = ~opens
    split[starts[goes_on]] = True
    parts: Mask = split[starts]
    return parts


def _coverage(index: SearchIndex, question: Question, rows: Rows, texts: list[str], start: Rows, end: Rows) -> Scores:
    """Term coverage; the terms of whole sentences are in the snapshot, those of fragments are not."""
    walk = index.walk
    stored = (start == walk.sentence_start[rows]) & (end == walk.sentence_end[rows])
    if stored.all():
        return sentence_coverage(index, question, rows)
    held = np.empty((len(rows), len(question.terms)), dtype=bool)
    held[stored] = index.sentence_terms.contains(question.terms, rows[stored])
    held[~stored] = terms_held(question, [texts[at] for at in np.flatnonzero(~stored)])
    return weigh_terms(question, held)


def _holds_answer_type(index: SearchIndex, question: Question, unit_rows: Rows, rows: Rows, texts: list[str]) -> Scores:
    """Whether each sentence holds the sort of thing that is asked for and that the question does not hold itself."""
    holds = question.answer_pattern()
    if holds is not None:
        return np.array([holds(text) for text in texts], dtype=np.float32)
    labels = question.answer_labels()
    if not labels:
        return np.zeros(len(rows), dtype=np.float32)
    walk = index.walk
    pairs, _ = gather(walk.unit_pair, unit_rows)
    entity = walk.pair_entity[pairs]
    named = is_in(walk.entity_label[entity], np.array(sorted(labels))) & ~is_in(entity, question.entities)
    positions, _ = gather(walk.pair_sentence_ptr, pairs[named])
    return is_in(rows, np.sort(walk.pair_sentence[positions])).astype(np.float32)
