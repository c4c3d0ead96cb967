"""Answers from what was found: one function for each kind, for the façade, the command line and the server alike."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from graphctx.model.answers import (
    Diagnostics,
    EvidenceAnswer,
    GlobalAnswer,
    GlobalDiagnostics,
    PhrasedSentence,
    Point,
    Quote,
    SearchAnswer,
    SearchResult,
)
from graphctx.model.pages import Pager, Part, Shorten
from graphctx.model.requests import ExtractEvidenceInput, GlobalSearchInput, RetrieveInput, SearchInput
from graphctx.model.results import EvidenceResults, GlobalResults, SearchResults
from graphctx.text.graphemes import cut_end, first_end


def search_answer(
    pager: Pager, request: SearchInput, found: SearchResults, render: Callable[[SearchAnswer], str] | None = None
) -> tuple[SearchAnswer, str]:
    """A page of results, and its text.

    Raises:
        BudgetExceeded: not even one fits.
    """

    def build(part: Part[SearchResult]) -> SearchAnswer:
        notes = list(found.layer_notes)
        return SearchAnswer(results=part.items, layer_notes=notes, snapshot_id=found.snapshot_id, **part.said)

    return pager.page(request, found, build, render, SHORTER_PREVIEW)


def evidence_answer(
    pager: Pager,
    request: RetrieveInput | ExtractEvidenceInput,
    evidence: EvidenceResults,
    render: Callable[[EvidenceAnswer], str] | None = None,
) -> tuple[EvidenceAnswer, str]:
    """The quotes that fit, and their text.

    Raises:
        BudgetExceeded: not even one fits.
    """
    with_stages = isinstance(request, RetrieveInput) and request.options.include_diagnostics
    diagnostics = Diagnostics(
        mode=evidence.mode,
        candidates=evidence.candidates,
        snapshot_id=evidence.snapshot_id,
        stages=dict(evidence.stages) if with_stages else None,
    )

    def build(part: Part[Quote]) -> EvidenceAnswer:
        shortened = part.truncated or any(quote.truncated for quote in part.items)
        said = part.said | {"truncated": shortened}
        if shortened and part.limit_reason == "none":
            said["limit_reason"] = "token_cap"  # that of a quote
        told = {"nearest": list(evidence.nearest), "layer_notes": list(evidence.layer_notes)}
        return EvidenceAnswer(quotes=_once(part.items), diagnostics=diagnostics, **told, **said)

    return pager.page(request, evidence, build, render, SHORTER_QUOTE)


def global_answer(
    pager: Pager,
    request: GlobalSearchInput,
    found: GlobalResults,
    render: Callable[[GlobalAnswer], str] | None = None,
) -> tuple[GlobalAnswer, str]:
    """The points that fit, the communities that these come from, what is phrased of them alone, and their text.

    Args:
        pager: cuts the page.
        request: with the scope that applies.
        found: every point; on a server each with its ``passage_id`` and ``uri``.
        render: makes the readable text.

    Raises:
        BudgetExceeded: not even one point fits.
    """
    diagnostics = GlobalDiagnostics(
        communities=found.communities,
        rated=found.rated,
        descended=found.descended,
        dropped=found.dropped,
        snapshot_id=found.snapshot_id,
        stages=dict(found.stages) if request.options.include_diagnostics else None,
    )

    def build(part: Part[Point]) -> GlobalAnswer:
        shortened = part.truncated or any(point.truncated for point in part.items)
        said = part.said | {"truncated": shortened}
        if shortened and part.limit_reason == "none":
            said["limit_reason"] = "token_cap"  # that of a point
        themes = {point.community_id for point in part.items}
        phrased = _phrased(found, part.items)
        return GlobalAnswer(
            points=part.items,
            themes=[theme for theme in found.themes if theme.id in themes],
            phrased=phrased,
            extractive=not phrased,
            note=found.note,
            diagnostics=diagnostics,
            **said,
        )

    return pager.page(request, found, build, render, SHORTER_POINT)


def _phrased(found: GlobalResults, points: Sequence[Point]) -> list[PhrasedSentence]:
    """The phrased sentences that rest on some of the points alone, citing these by their place among them."""
    at = {(point.doc_uri, point.start_char): place for place, point in enumerate(points, 1)}
    place = {number: at.get((point.doc_uri, point.start_char), 0) for number, point in enumerate(found.items, 1)}
    cited = [(sentence, [place[number] for number in sentence.points]) for sentence in found.phrased]
    return [sentence.model_copy(update={"points": places}) for sentence, places in cited if all(places)]


def _once(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes, each without what others of them hold in the text around it."""
    told = []
    for quote in quotes:
        others = [other for other in quotes if other.doc_uri == quote.doc_uri]
        before = max((o.end_char for o in others if o.end_char <= quote.start_char), default=0)
        after = min((o.start_char for o in others if o.start_char >= quote.end_char), default=sys.maxsize)
        free = min(quote.start_char - before, len(quote.context_before))
        surroundings = {
            "context_before": quote.context_before[len(quote.context_before) - free :].lstrip(),
            "context_after": quote.context_after[: after - quote.end_char].rstrip(),
        }
        told.append(quote.model_copy(update=surroundings))
    return told


def start_of(text: str, max_chars: int) -> str:
    """The start of a text with at most so many characters, but one grapheme at least, cut between graphemes."""
    return text[: max(first_end(text, 0), cut_end(text, 0, max_chars))]


def _shorter_quote(quote: Quote, max_chars: int) -> Quote:
    text = start_of(quote.quote, max_chars)
    return quote.model_copy(
        update={
            "quote": text,
            "end_char": quote.start_char + len(text),
            "truncated": quote.truncated or len(text) < len(quote.quote),
            "context_before": "",
            "context_after": "",
        }
    )


def _shorter_preview(result: SearchResult, max_chars: int) -> SearchResult:
    text = start_of(result.preview, max_chars)
    return result.model_copy(
        update={
            "preview": text,
            "end_char": result.start_char + len(text),
            "context_before": "",
            "context_after": "",
        }
    )


def _shorter_point(point: Point, max_chars: int) -> Point:
    text = start_of(point.quote, max_chars)
    cut = point.truncated or len(text) < len(point.quote)
    return point.model_copy(update={"quote": text, "end_char": point.start_char + len(text), "truncated": cut})


SHORTER_POINT: Shorten[Point] = Shorten(lambda point: len(point.quote), _shorter_point)
SHORTER_QUOTE: Shorten[Quote] = Shorten(lambda quote: len(quote.quote), _shorter_quote)
SHORTER_PREVIEW: Shorten[SearchResult] = Shorten(lambda result: len(result.preview), _shorter_preview)
