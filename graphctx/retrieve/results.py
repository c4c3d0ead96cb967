"""Results of a search: ranked units, each with a preview that shows why it is found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphctx.model.answers import SearchResult
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import SearchInput
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import TokenCounter, preview_span
from graphctx.retrieve.fragments import best_fragments
from graphctx.retrieve.index import SearchIndex, Unit
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.selection import sentence_scores
from graphctx.retrieve.sentences import sentence_pool
from graphctx.retrieve.variants import SelectionWeights


def search_results(
    index: SearchIndex,
    question: Question,
    ranking: Ranking,
    positions: Rows,
    request: SearchInput,
    weights: SelectionWeights,
    tokens: TokenCounter,
) -> Iterator[SearchResult]:
    """Yield the results of the units at some positions of a ranking, best first: their places, scores and previews.

    ``weights`` are those of the features of sentences, which choose the preview.
    """
    pool = sentence_pool(index, question, ranking.rows[positions])
    values = sentence_scores(pool, weights)
    limit = request.options.max_snippet_chars
    for number, position in enumerate(positions.tolist()):
        checkpoint()
        unit = index.unit(int(ranking.rows[position]))
        document = index.text_of(unit.doc_row)
        own = np.flatnonzero(pool.unit == number)
        spans = [(int(pool.start[at]), int(pool.end[at])) for at in own]
        start, end = preview_span(spans or [(unit.start_char, unit.end_char)], values[own].tolist() or [0.0], limit)
        if end - start > limit:
            # No token is empty, so a limit of characters is a limit of as many tokens.
            part = best_fragments(question, document.text, (start, end), limit, tokens, limit)
            start, end = part.start_char, part.end_char
        yield SearchResult(
            section_id=unit.id,
            doc_uri=document.uri,
            doc_id=document.id,
            doc_tag=",".join(document.tags),
            title=document.title,
            heading=unit.heading,
            rank=number + 1,
            score=round(float(ranking.scores[position]), 4),
            source=ranking.sources[position],
            preview=document.text[start:end],
            start_char=start,
            end_char=end,
            line=document.line(start),
            page=document.page(start),
            anchor=unit.anchor,
            size_bytes=len(document.text[unit.start_char : unit.end_char].encode("utf-8")),
            scores=_score_parts(ranking, position) if request.options.include_scores else None,
            debug=_debug(unit, ranking) if request.options.include_debug else None,
        )


def _score_parts(ranking: Ranking, position: int) -> dict[str, float]:
    parts = ranking.score_parts(ranking.rows[position : position + 1])
    return {name: round(float(values[0]), 4) for name, values in parts.items()}


def _debug(unit: Unit, ranking: Ranking) -> dict[str, str | int | float | bool]:
    """The place and the kind of the whole unit, and how many units are ranked."""
    return {
        "mode": ranking.mode,
        "unit_kind": unit.kind,
        "unit_start_char": unit.start_char,
        "unit_end_char": unit.end_char,
        "units_ranked": len(ranking.rows),
    }
