"""Evidence from ranked units: ``select -> cite``, or by shared words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from graphctx.model.answers import Quote
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import QuoteLimits
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import Cut, TokenCounter, cut_span, quote
from graphctx.retrieve.confidence import likely_answered
from graphctx.retrieve.fragments import best_fragments
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.selection import Selected, select_sentences
from graphctx.retrieve.sentences import LIST, TABLE, SentencePool
from graphctx.retrieve.variants import SelectionWeights
from graphctx.text.spans import best_spans

MAX_NEAREST = 3
"""Documents that an answer without evidence names as the nearest."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Quotes: the surest first, then in reading order.

    Attributes:
        quotes: distinct.
        rows: the unit row of each.
        n_sentences: the number of sentences that were scored.
        nearest: URIs of the nearest documents where no quote is likely to answer the question.
    """

    quotes: list[Quote]
    rows: list[int]
    n_sentences: int = 0
    nearest: list[str] = field(default_factory=list)


def semantic_quotes(
    index: SearchIndex,
    question: Question,
    ranking: Ranking,
    positions: Rows,
    max_units: int,
    limits: QuoteLimits,
    weights: SelectionWeights,
    tokens: TokenCounter,
) -> Quotes:
    """Quote the sentences that are likely to answer a question; none where no quote is.

    They are of the units at some positions of the ranking, of which ``max_units`` at most; ``limits`` says how many
    quotes, how long, and with how much around them.
    """
    pool, selected = select_sentences(
        index,
        question,
        ranking,
        positions,
        max_units=max_units,
        max_quotes=limits.max_quotes,
        max_quote_tokens=limits.max_quote_tokens,
        weights=weights,
        tokens=tokens,
    )
    checkpoint()
    rows = ranking.rows[positions]
    distinct: dict[str, tuple[Quote, int]] = {}
    for one in selected:  # long blocks that differ elsewhere may be cut to the same words
        row = int(rows[pool.unit[one.first]])
        cut = _cut(index, question, pool, one, limits.max_quote_tokens, tokens)
        made = quote(index, row, cut, limits.include_context_tokens, one.confidence, tokens)
        distinct.setdefault(made.quote, (made, row))
    quotes, units = [made for made, _ in distinct.values()], [row for _, row in distinct.values()]
    if quotes and not likely_answered(index, [made.confidence for made in quotes]):
        documents = list(dict.fromkeys(index.walk.unit_doc[rows].tolist()))[:MAX_NEAREST]
        return Quotes([], [], len(pool), [index.text_of(row).uri for row in documents])
    return Quotes(quotes, units, len(pool))


def lexical_quotes(
    index: SearchIndex, question: str, rows: Sequence[int], limits: QuoteLimits, tokens: TokenCounter
) -> Quotes:
    """Quote the spans of units that share most words with a question; the confidence is the share.

    The procedure of the tool contract, section 4.6.1. Arguments are those of `semantic_quotes`, with unit rows.
    """
    checkpoint()
    units = [index.unit(row) for row in rows]
    texts = [index.text_of(unit.doc_row).text for unit in units]
    passages = [text[unit.start_char : unit.end_char] for text, unit in zip(texts, units, strict=True)]
    found = Quotes([], [])
    for span in best_spans(question, passages, limits.max_quotes):
        unit = units[span.passage]
        start, end = unit.start_char + span.start_char, unit.start_char + span.end_char
        cut = cut_span(texts[span.passage], start, end, limits.max_quote_tokens, tokens)
        found.quotes.append(quote(index, unit.row, cut, limits.include_context_tokens, round(span.score, 3), tokens))
        found.rows.append(unit.row)
    return found


def _cut(
    index: SearchIndex,
    question: Question,
    pool: SentencePool,
    selected: Selected,
    max_tokens: int,
    tokens: TokenCounter,
) -> Cut:
    """The span of selected sentences; those that do not fit are cut to the fragments that bear on the question."""
    start, end = int(pool.start[selected.first]), int(pool.end[selected.last])
    if selected.fits:
        return Cut(start, end, not selected.whole, _going_on(index, pool, selected.last))
    text = pool.documents[selected.first].text
    return best_fragments(question, text, (start, end), max_tokens, tokens)


def _going_on(index: SearchIndex, pool: SentencePool, at: int) -> Literal["", "list", "table"]:
    """Return what goes on behind a sentence: the list or table that it is of."""
    walk, row, kind = index.walk, int(pool.rows[at]), int(pool.kind[at])
    if kind not in (LIST, TABLE) or row + 1 == len(walk.sentence_kind) or walk.sentence_kind[row + 1] != kind:
        return ""
    section, following = index.section_numbers(walk.unit_sentence.searchsorted(np.array([row, row + 1]), "right") - 1)
    if section != following:
        return ""
    return "list" if kind == LIST else "table"
