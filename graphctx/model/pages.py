"""One page of an answer: from the cursor on, as many items as the page and the response budget take.

Lists are cut here, for every tool, for the façade and for the command line; but for the connector's ``search``, whose
form has neither pages nor a budget to tell (`graphctx.server.tools.connector`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import LOCAL_SESSION, Answer, Budget, EmptyReason, LimitReason, ListAnswer
from graphctx.model.budgets import CapReason, CountTokens, Fitted, Limits, Weight, fit, weigh
from graphctx.model.cursors import HEAVIEST_ID, SAMPLE_CURSOR, Cursors
from graphctx.model.requests import Bounded, Scope
from graphctx.model.results import Results
from graphctx.text.graphemes import MAX_GRAPHEME_CHARS, cut_end, first_end

Item = TypeVar("Item")
Out = TypeVar("Out", bound=ListAnswer)
Single = TypeVar("Single", bound=Answer)

MIN_CHARS = 24
"""A text that is shortened to less says nothing."""

_ANY_SNAPSHOT = f"sn_{HEAVIEST_ID}"


@dataclass(frozen=True, slots=True)
class Part(Generic[Item]):
    """The items that an answer carries, and what it says of the others."""

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
    def said(self) -> dict[str, Any]:
        """The fields of `ListAnswer`."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "items"}


@dataclass(frozen=True, slots=True)
class Shorten(Generic[Item]):
    """How one item is made to fit where the whole of it does not.

    Attributes:
        length: characters of its text.
        to: the item with at most so many of them (but one grapheme at least), and without the text around it; its
            span stays exact.
    """

    length: Callable[[Item], int]
    to: Callable[[Item, int], Item]


@dataclass(frozen=True, slots=True)
class Pager:
    """Cuts the pages of one session.

    Attributes:
        limits: what a response may weigh at most.
        count: estimates tokens.
        session_id: whose answers these are.
        cursors: makes cursors; ``None`` where an answer has one page.
        steady: replaces random ids, which must not decide what fits, by others of their length that no such id
            outweighs.
        sent: which of the readable text and the structure as JSON are sent, and so weighed.
        session_note: what an answer says first of the ``session_id`` that was sent, if anything.
    """

    limits: Limits
    count: CountTokens
    session_id: str = LOCAL_SESSION
    cursors: Cursors | None = None
    steady: Callable[[str], str] = str
    sent: Callable[[str, str], list[str]] = lambda text, structure: [text, structure]
    session_note: str | None = None

    def page(
        self,
        request: Bounded,
        listing: Results[Item],
        build: Callable[[Part[Item]], Out],
        render: Callable[[Out], str] | None = None,
        shorten: Shorten[Item] | None = None,
    ) -> tuple[Out, str]:
        """Make the answer with as many items from the cursor on as fit.

        Args:
            request: what was asked, perhaps with ``cursor`` and ``page_size``.
            listing: all items.
            build: makes the answer.
            render: makes the readable text, which is weighed too.
            shorten: makes the first item fit if nothing does.

        Returns:
            The answer and its text. The budget that it reports is an upper bound, and the same for the same question.

        Raises:
            BudgetExceeded: not even one item fits.
            InvalidArgument: the cursor does not belong here.
        """
        if listing.scope is not None:
            request = request.model_copy(update={"scope": listing.scope})
        start, rest = self._rest(request, listing)
        limits = self.limits.within(request.max_tokens, request.max_bytes)

        def made(items: Sequence[Item], cut: CapReason | None, budget: Budget, *, final: bool) -> tuple[Out, str]:
            after = start + len(items)
            partial = after < len(listing.items)
            cursor = None
            if partial and self.cursors is not None:
                cursor = self.cursors.write(request, listing.edition, after) if final else SAMPLE_CURSOR
            part = Part(
                items=list(items),
                partial=partial,
                truncated=cut is not None or (not partial and listing.capped != "none"),
                limit_reason=cut or ("page_size" if partial else listing.capped),
                next_cursor=cursor,
                session_id=self.session_id,
                session_note=self.session_note,
                scope=request.scope,
                budget=budget,
                empty_reason=listing.empty_reason,
                filtered_by=list(listing.filtered_by),
            )
            answer = build(part)
            return answer, self._text(answer, render)

        def weight_of(items: Sequence[Item], cut: CapReason | None) -> Weight:
            answer, text = made(items, cut, limits.placeholder(), final=False)
            return self._weight(answer, text, limits, listing.snapshot_id)

        fitted, chosen = _fitted(rest, weight_of, limits, shorten)
        return made(chosen, fitted.reason, limits.report(fitted.weight), final=True)

    def span(
        self,
        text: str,
        build: Callable[[str, CapReason | None, Budget], Single],
        render: Callable[[Single], str] | None = None,
    ) -> tuple[Single, str]:
        """Make the answer around one span of text, shortened from its end as far as the limits ask for.

        Args:
            text: the span.
            build: makes the answer with the start of the span, told what cut it.
            render: makes the readable text.

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
        """What a response may weigh at most, whatever its random parts and the numbers of its budget turn out to be.

        The snapshot's id is weighed as any other would be: it tells of earlier snapshots too, and the same content is
        to give the same answer whatever came before it.
        """

        def steady(said: str) -> str:
            return self.steady(said.replace(snapshot_id, _ANY_SNAPSHOT) if snapshot_id else said)

        parts = self.sent(text, answer.model_dump_json())
        return weigh([steady(part) for part in parts], self.count) + limits.reserve

    def _rest(self, request: Bounded, listing: Results[Item]) -> tuple[int, list[Item]]:
        """The offset of the first item of this page, and the items of the page before the budget."""
        cursor = getattr(request, "cursor", None)
        start = (self.cursors or Cursors()).read(cursor, request, listing.edition)
        size = getattr(request, "page_size", None) or len(listing.items)
        return start, list(listing.items[start : start + size])


def _fitted(
    items: list[Item],
    weight_of: Callable[[Sequence[Item], CapReason | None], Weight],
    limits: Limits,
    shorten: Shorten[Item] | None,
) -> tuple[Fitted, list[Item]]:
    """What fits: leading items, or else the first one, shortened as little as need be."""
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
