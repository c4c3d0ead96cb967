"""Lexical evidence from given passages: the contract of ``kb.extract_evidence`` (tool design, section 4.6.1)."""

from __future__ import annotations

from collections.abc import Sequence

from graphctx.model.answers import Quote as QuoteModel
from graphctx.model.requests import QuoteLimits
from graphctx.retrieve.cite import Tokens, cut_span, quote
from graphctx.retrieve.index import SearchIndex
from graphctx.text.spans import best_spans


def extract(
    index: SearchIndex, question: str, unit_rows: Sequence[int], limits: QuoteLimits, tokens: Tokens
) -> list[QuoteModel]:
    """Quote the spans of some units that share most words with the question, best first.

    The confidence is the span's score: the share of the question's tokens that it holds.
    """
    units = [index.unit(row) for row in unit_rows]
    texts = [index.text_of(unit.doc_row).text for unit in units]
    passages = [text[unit.start_char : unit.end_char] for text, unit in zip(texts, units, strict=True)]
    quotes = []
    for span in best_spans(question, passages, limits.max_quotes):
        unit = units[span.passage]
        start, end = unit.start_char + span.start_char, unit.start_char + span.end_char
        quotes.append(
            quote(
                index,
                unit.row,
                cut_span(texts[span.passage], start, end, limits.max_quote_tokens, tokens),
                context_tokens=limits.include_context_tokens,
                confidence=round(span.score, 3),
                tokens=tokens,
            )
        )
    return quotes
