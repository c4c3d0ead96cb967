"""Lexical evidence from given passages: the contract of ``kb.extract_evidence`` (tool design, section 4.6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from graphctx.model.answers import Quote as QuoteModel
from graphctx.model.answers import QuoteLimits
from graphctx.retrieve.cite import Tokens, quote
from graphctx.retrieve.index import SearchIndex
from graphctx.text.spans import best_spans


def extract(
    index: SearchIndex, question: str, unit_rows: Sequence[int], limits: QuoteLimits, tokens: Tokens
) -> list[QuoteModel]:
    """Quote the spans of some units that share most words with the question, best first.

    The confidence is the span's score: the share of the question's tokens that it holds.
    """
    units = [index.unit(row) for row in unit_rows]
    passages = [index.text_of(unit.doc_row).text[unit.start_char : unit.end_char] for unit in units]
    return [
        quote(
            index,
            units[span.passage].row,
            units[span.passage].start_char + span.start_char,
            units[span.passage].start_char + span.end_char,
            max_tokens=limits.max_quote_tokens,
            context_tokens=limits.include_context_tokens,
            confidence=round(span.score, 3),
            tokens=tokens,
        )
        for span in best_spans(question, passages, limits.max_quotes)
    ]
