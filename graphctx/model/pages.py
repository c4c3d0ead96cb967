"""Pagination: a page of an answer holds as many items from the cursor on as the page size and the budget allow.

The tools, the façade and the command line all cut lists here, except the connector's ``search``, whose form has
neither pages nor a budget (`graphctx.server.tools.connector`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, Generic, TypeVar

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import LOCAL_SESSION, Answer, Budget, EmptyReason, LimitReason, ListAnswer
from graphctx.model.budgets import CapReason, CountTokens, Fitted, Limits, Weight, fit, weigh
from graphctx.model.cursors import HEAVIEST_ID, SAMPLE_CURSOR, Cursors
from graphctx.model.requests import BudgetedRequest, Scope
from graphctx.model.results import Results
from graphctx.text.graphemes import MAX_GRAPHEME_CHARS, cut_end, first_end

Item = TypeVar("Item")
Out = TypeVar("Out", bound=ListAnswer)
Single = TypeVar("Single", bound=Answer)

MIN_CHARS = 24
"""The shortest text that a budget leaves of an item."""

_ANY_SNAPSHOT = f"sn_{HEAVIEST_ID}"


@dataclass(frozen=True, slots=True)
class Part(Generic[Item]):
    """The items of a page, and the fields of `ListAnswer` about those that it leaves out."""

    items: list[Item]
    partial: bool
    truncated: bool
    limit_reason: LimitReason
    next_cursor: str | None
    session_id: str
    session_note: str | None
    scope: Scope
    budget: Budget
    empty_reason: EmptyReason | None
    filtered_by: list[str]

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of `ListAnswer`, by name."""
        return {field.name: getattr(self, field.name) for field in fields_of(self) if field.name != "items"}


@dataclass(frozen=True, slots=True)
class Shorten(Generic[Item]):
    """How an item that does not fit is truncated.

    Attributes:
        length: characters of its text.
        to: returns the item with at most that many characters (at least one grapheme) and no context; its span
            stays exact.
    """

    length: Callable[[Item], int]
    to: Callable[[Item, int], Item]


@dataclass(frozen=True, slots=True)
class Pager:
    """Cuts pages for one session.

    Attributes:
        limits: the largest response.
        count: estimates tokens.
        session_id: of the answers.
        cursors: writes cursors; ``None`` where an answer has one page.
        normalise_ids: replaces random ids by fixed ones of the same length and at least as many tokens, so that the
            same items fit in every session.
        payload_parts: which of the readable text and the JSON are sent, and so counted.
        json: writes the JSON of an answer.
        session_note: a note about the ``session_id`` of the request, if there is one.
    """

    limits: Limits
    count: CountTokens
    session_id: str = LOCAL_SESSION
    cursors: Cursors | None = None
    normalise_ids: Callable[[str], str] = str
    payload_parts: Callable[[str, str], list[str]] = lambda text, structure: [text, structure]
    session_note: str | None = None
    json: Callable[[Answer], str] = Answer.model_dump_json

    def page(
        self,
        request: BudgetedRequest,
        listing: Results[Item],
        build: Callable[[Part[Item]], Out],
        render: Callable[[Out], str] | None = None,
        shorten: Shorten[Item] | None = None,
    ) -> tuple[Out, str]:
        """Build the answer with as many items from the cursor on as fit.

        Args:
            request: the request, with ``cursor`` and ``page_size`` where it has them.
            listing: all items.
            build: builds the answer from a page.
            render: renders the readable text, which counts too.
            shorten: truncates the first item where it does not fit.

        Returns:
            The answer and its text. The budget that it reports is an upper bound, and the same for the same question.

        Raises:
            BudgetExceeded: not even one item fits.
            InvalidArgument: the cursor is not one of this request.
        """
        if listing.scope is not None:
            request = request.model_copy(update={"scope": listing.scope})
        start, rest = self._rest(request, listing)
        limits = self.limits.within(request.max_tokens, request.max_bytes)

        def draft(items: Sequence[Item], cut: CapReason | None) -> Out:
            partial = start + len(items) < len(listing.items)
            part = Part(
                items=list(items),
                partial=partial,
                truncated=cut is not None or (not partial and listing.capped != "none"),
                limit_reason=cut or ("page_size" if partial else listing.capped),
                next_cursor=SAMPLE_CURSOR if partial and self.cursors is not None else None,
                session_id=self.session_id,
                session_note=self.session_note,
                scope=request.scope,
                budget=limits.placeholder(),
                empty_reason=listing.empty_reason,
                filtered_by=list(listing.filtered_by),
            )
            return build(part)

        weighed: tuple[Sequence[Item], CapReason | None, Out] | None = None

        def weight_of(items: Sequence[Item], cut: CapReason | None) -> Weight:
            nonlocal weighed
            weighed = items, cut, draft(items, cut)
            return self._weight(weighed[2], self._text(weighed[2], render), limits, listing.snapshot_id)

        fitted, chosen = _fitted(rest, weight_of, limits, shorten)
        is_last = weighed is not None and (list(weighed[0]), weighed[1]) == (list(chosen), fitted.reason)
        answer = weighed[2] if weighed is not None and is_last else draft(chosen, fitted.reason)
        final: dict[str, Any] = {"budget": limits.report(fitted.weight)}
        if answer.next_cursor is not None and self.cursors is not None:
            final["next_cursor"] = self.cursors.write(request, listing.version, start + len(chosen))
        answer = answer.model_copy(update=final)
        return answer, self._text(answer, render)

    def span(
        self,
        text: str,
        build: Callable[[str, CapReason | None, Budget], Single],
        render: Callable[[Single], str] | None = None,
    ) -> tuple[Single, str]:
        """Build an answer around one span of text, truncated at its end to fit the limits.

        Args:
            text: the span.
            build: builds the answer from the start of the span and the limit that cut it.
            render: renders the readable text.

        Raises:
            BudgetExceeded: not even one grapheme fits.
        """
        least = first_end(text, 0)

        def kept(n: int) -> str:
            return text[: max(least, cut_end(text, 0, least + n - 1))]

        def weight_of(n: int, cut: CapReason | None) -> Weight:
            answer = build(kept(n), cut, self.limits.placeholder())
            return self._weight(answer, self._text(answer, render), self.limits, "")

        # `cut_end` leaves more than half of what is asked for, and no character is less than a byte: with so many the
        # answer is too heavy, whatever comes after them.
        most = 2 * self.limits.max_bytes + 2 * MAX_GRAPHEME_CHARS
        fitted = fit(min(len(text) - least + 1, most), weight_of, self.limits)
        answer = build(kept(fitted.n_items), fitted.reason, self.limits.report(fitted.weight))
        return answer, self._text(answer, render)

    def _text(self, answer: Single, render: Callable[[Single], str] | None) -> str:
        text = render(answer) if render else ""
        return f"{self.session_note}\n\n{text}" if text and self.session_note else text

    def _weight(self, answer: Answer, text: str, limits: Limits, snapshot_id: str) -> Weight:
        """An upper bound of a response's size, for any random ids and any numbers in its budget.

        The snapshot's id counts as any other would: it depends on earlier snapshots, and the same content has to give
        the same answer whatever came before.
        """

        def steady(part: str) -> str:
            return self.normalise_ids(part.replace(snapshot_id, _ANY_SNAPSHOT) if snapshot_id else part)

        parts = self.payload_parts(text, self.json(answer))
        return weigh([steady(part) for part in parts], self.count) + limits.reserve

    def _rest(self, request: BudgetedRequest, listing: Results[Item]) -> tuple[int, list[Item]]:
        """The offset of the first item of this page, and the items of the page before the budget."""
        asked, start = vars(request), 0  # not every request has these fields
        if asked.get("cursor") is not None:
            start = (self.cursors or Cursors()).read(asked["cursor"], request, listing.version)
        return start, list(listing.items[start : start + asked.get("page_size", len(listing.items))])


def _fitted(
    items: list[Item],
    weight_of: Callable[[Sequence[Item], CapReason | None], Weight],
    limits: Limits,
    shorten: Shorten[Item] | None,
) -> tuple[Fitted, list[Item]]:
    """The leading items that fit, or else the first one, truncated as little as possible."""
    try:
        fitted = fit(len(items), lambda n, cut: weight_of(items[:n], cut), limits)
    except BudgetExceeded:
        if not items or shorten is None:
            raise
        to, first = shorten.to, items[0]
        longest = shorten.length(first)
        shortest = min(MIN_CHARS, longest)
        cut: CapReason = limits.exceeded_by(weight_of(items[:1], "token_cap")) or "token_cap"
        tries = fit(
            longest - shortest + 1,
            lambda n, why: weight_of([to(first, shortest + n - 1)], why or cut),
            limits,
        )
        return Fitted(1, tries.weight, tries.reason or cut), [to(first, shortest + tries.n_items - 1)]
    return fitted, items[: fitted.n_items]
