"""Evidence of a question that asks for the whole: the points of a global search, grown to quotes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.answers import Quote
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import RetrieveInput
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import Cut, quote
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.fragments import best_fragments
from graphctx.retrieve.global_search.rate import fit_of
from graphctx.retrieve.global_search.search import RELEVANCE_TESTS, GlobalSearch, Outcome
from graphctx.retrieve.selection import SentenceRuns
from graphctx.retrieve.sentences import sentence_pool

MOST_POINTS = 100
POINTS_TOKENS = 4_000
"""Points among which the quotes are looked for: those of one passage make one quote, so more than quotes are needed."""


@dataclass(frozen=True, slots=True)
class GlobalQuotes:
    """Quotes in order, the number of passages they are from, whether there were more passages, and counts."""

    quotes: list[Quote]
    candidates: int
    more_passages: bool
    stages: dict[str, str | int | float | bool]


def global_quotes(search: GlobalSearch, request: RetrieveInput, max_per_document: int) -> GlobalQuotes:
    """Quote the best points of a global search.

    Each point grows by whole neighbours as quotes do elsewhere, up to the length of a quote. Confidence is that of any
    quote: how likely its passage answers the question. Where everything is asked for there is no question that a
    passage could answer, and the point's rating stands in.

    Args:
        search: within the request's scope.
        request: how many quotes, from how many passages, how long.
        max_per_document: passages of one document.

    Returns:
        No quotes where nothing bears on the question.
    """
    outcome = search.run(
        tests=RELEVANCE_TESTS,
        points_tokens=POINTS_TOKENS,
        max_points=MOST_POINTS,
        max_point_tokens=request.max_quote_tokens,
    )
    if not search.bears(outcome):
        return GlobalQuotes([], 0, False, {})
    units = _passages(search, outcome, request.top_k, min(max_per_document, request.top_k))
    quotes = _grown(search, outcome, units, request)
    stages: dict[str, str | int | float | bool] = {
        "communities_rated": len(outcome.descent.ratings),
        "communities_descended": len(outcome.descent.descended),
        "sentences_rated": len(outcome.candidates),
    }
    pointed_at = {int(outcome.candidates.units[chosen.at]) for chosen in outcome.chosen}
    return GlobalQuotes(quotes, len(units), len(units) < len(pointed_at), stages)


def _passages(search: GlobalSearch, outcome: Outcome, most: int, max_per_document: int) -> Rows:
    """The units of the first points, at most so many and so many of one document."""
    taken: dict[int, int] = {}
    units: dict[int, None] = {}
    for chosen in outcome.chosen:
        unit = int(outcome.candidates.units[chosen.at])
        document = int(search.index.walk.unit_doc[unit])
        if unit in units or taken.get(document, 0) == max_per_document:
            continue
        units[unit] = None
        taken[document] = taken.get(document, 0) + 1
        if len(units) == most:
            break
    return np.array(list(units), dtype=np.int64)


def _grown(search: GlobalSearch, outcome: Outcome, units: Rows, request: RetrieveInput) -> list[Quote]:
    index, question, ranking, tokens = search.index, search.question, search.ranking, search.tokens
    pool = sentence_pool(index, question, units, tokens, request.max_quote_tokens)
    if not len(pool):
        return []
    place = {row: at for at, row in enumerate(ranking.rows.tolist())}
    # A unit that the plain search did not rank stands behind the last that it did.
    positions = np.array([place.get(row, len(ranking.rows) - 1) for row in units.tolist()], dtype=np.int64)
    confidence = Confidence.of(index, question, ranking, positions, pool)
    reach = SentenceRuns.of(pool, tokens, request.max_quote_tokens)
    fit = fit_of(index, question, pool.rows)
    covered = np.zeros(len(pool), dtype=bool)
    quotes: list[Quote] = []
    for chosen in outcome.chosen:
        checkpoint()
        row, cut = int(outcome.candidates.rows[chosen.at]), chosen.cut
        inside = np.flatnonzero((pool.rows == row) & (pool.end > cut.start_char))  # of a long one the part that was cut
        if len(quotes) == request.max_quotes:
            break
        if not len(inside) or covered[inside[0]]:
            continue
        at = int(inside[0])
        first, last = reach.grown(at, fit, covered)
        covered[first : last + 1] = True
        span = Cut(int(pool.start[first]), int(pool.end[last]), not (pool.whole[first] and pool.whole[last]))
        if not reach.fits(first, last):
            text = pool.documents[first].text
            limits = (span.start_char, span.end_char)
            span = best_fragments(index, question, text, limits, request.max_quote_tokens, tokens)
        rating = round(float(np.clip(outcome.candidates.rating[chosen.at], 0.0, 1.0)), 3)
        quotes.append(
            quote(
                index,
                int(units[pool.unit[first]]),
                span,
                context_tokens=request.include_context_tokens,
                confidence=rating if search.everything else confidence.of_run(first, last),
                tokens=tokens,
            )
        )
    return quotes
