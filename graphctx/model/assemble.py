"""Answers from results: one function for each kind, shared by the façade, the command line and the server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import count

from graphctx.model.answers import (
    Diagnostics,
    EvidenceAnswer,
    GlobalAnswer,
    GlobalDiagnostics,
    PhrasedSentence,
    Point,
    Quote,
    RememberedBlock,
    SearchAnswer,
    SearchResult,
    answered_by,
)
from graphctx.model.pages import Pager, Part, Shorten
from graphctx.model.requests import ExtractEvidenceInput, GlobalSearchInput, RetrieveInput, SearchInput
from graphctx.model.results import EvidenceResults, GlobalResults, SearchResults
from graphctx.text.graphemes import cut_end, first_end


def search_answer(
    pager: Pager, request: SearchInput, found: SearchResults, render: Callable[[SearchAnswer], str] | None = None
) -> tuple[SearchAnswer, str]:
    """Return a page of results and its readable text.

    Raises:
        BudgetExceeded: not even one fits.
    """

    def build(part: Part[SearchResult]) -> SearchAnswer:
        notes = list(found.layer_notes)
        return SearchAnswer(
            results=part.items,
            layer_notes=notes,
            read_as=dict(found.read_as),
            snapshot_id=found.snapshot_id,
            **part.fields,
        )

    return pager.page(request, found, build, render, SHORTER_PREVIEW)


def evidence_answer(
    pager: Pager,
    request: RetrieveInput | ExtractEvidenceInput,
    evidence: EvidenceResults,
    render: Callable[[EvidenceAnswer], str] | None = None,
    memory: RememberedBlock | None = None,
) -> tuple[EvidenceAnswer, str]:
    """Return the quotes that fit and their readable text; ``memory`` is what is remembered beside them.

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
        fields = part.fields | {"truncated": shortened}
        if shortened and part.limit_reason == "none":
            fields["limit_reason"] = "token_cap"  # that of a quote
        return EvidenceAnswer(
            answered=answered_by((quote.confidence for quote in evidence.items), evidence.unknown_words)
            if isinstance(request, RetrieveInput)
            else None,
            read_as=dict(evidence.read_as),
            quotes=_without_repetition(part.items),
            diagnostics=diagnostics,
            nearest=list(evidence.nearest),
            unknown_words=list(evidence.unknown_words),
            layer_notes=list(evidence.layer_notes),
            memory=memory,
            **fields,
        )

    return pager.page(request, evidence, build, render, SHORTER_QUOTE)


def global_answer(
    pager: Pager,
    request: GlobalSearchInput,
    found: GlobalResults,
    render: Callable[[GlobalAnswer], str] | None = None,
) -> tuple[GlobalAnswer, str]:
    """Return the points that fit, with their communities and the phrased sentences about them, and the readable text.

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
        fields = part.fields | {"truncated": shortened}
        if shortened and part.limit_reason == "none":
            fields["limit_reason"] = "token_cap"  # that of a point
        themes = {point.community_id for point in part.items}
        phrased = _phrased(found, part.items)
        return GlobalAnswer(
            points=part.items,
            themes=[theme for theme in found.themes if theme.id in themes],
            phrased=phrased,
            extractive=not phrased,
            note=found.note,
            diagnostics=diagnostics,
            **fields,
        )

    return pager.page(request, found, build, render, SHORTER_POINT)


def points_by_theme(answer: GlobalAnswer) -> dict[str, list[tuple[int, Point]]]:
    """Return the points of each theme as they are shown, numbered from 1; those of no theme under an empty id.

    Themes and the points of each stand by rating, those of no theme last, and numbers have no gaps.
    """
    groups: dict[str, list[Point]] = {theme: [] for theme in [*(one.id for one in answer.themes), ""]}
    for point in sorted(answer.points, key=lambda point: -point.rating):
        groups[point.community_id if point.community_id in groups else ""].append(point)
    numbers = count(1)
    return {theme: [(next(numbers), point) for point in points] for theme, points in groups.items() if points}


def phrased_as_shown(answer: GlobalAnswer) -> list[PhrasedSentence]:
    """Return the phrased sentences with the numbers under which `points_by_theme` shows their points."""
    shown = {id(point): number for points in points_by_theme(answer).values() for number, point in points}
    return [
        one.model_copy(update={"points": sorted(shown[id(answer.points[at - 1])] for at in one.points)})
        for one in answer.phrased
    ]


def _phrased(found: GlobalResults, points: Sequence[Point]) -> list[PhrasedSentence]:
    """The phrased sentences that cite only some points, with the places of these points."""
    at = {(point.doc_uri, point.start_char): place for place, point in enumerate(points, 1)}
    place = {number: at.get((point.doc_uri, point.start_char), 0) for number, point in enumerate(found.items, 1)}
    cited = [(sentence, [place[number] for number in sentence.points]) for sentence in found.phrased]
    return [sentence.model_copy(update={"points": places}) for sentence, places in cited if all(places)]


def _without_repetition(quotes: Sequence[Quote]) -> list[Quote]:
    """Remove from the context of each quote what another quote holds."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for quote in quotes:
        spans.setdefault(quote.doc_uri, []).append((quote.start_char, quote.end_char))
    trimmed = []
    for quote in quotes:
        of_document = spans[quote.doc_uri]
        if len(of_document) > 1:
            free = quote.start_char - max((end for _, end in of_document if end <= quote.start_char), default=0)
            after = min((start for start, _ in of_document if start >= quote.end_char), default=sys.maxsize)
            before = quote.context_before
            surroundings = {
                "context_before": before[max(len(before) - free, 0) :].lstrip(),
                "context_after": quote.context_after[: after - quote.end_char].rstrip(),
            }
            quote = quote.model_copy(update=surroundings)
        trimmed.append(quote)
    return trimmed


def start_of(text: str, max_chars: int) -> str:
    """Return the start of a text, of at most ``max_chars`` characters and at least one grapheme."""
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
