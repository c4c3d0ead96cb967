"""Answers in process: what was found, as much of it as the response budget takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from graphctx.model.answers import (
    Budget,
    Diagnostics,
    EvidenceAnswer,
    RetrieveInput,
    SearchAnswer,
    SearchInput,
)
from graphctx.model.budgets import CapReason, CountTokens, Limits, Weight, fit, weigh
from graphctx.model.found import Evidence, Found

Out = TypeVar("Out", SearchAnswer, EvidenceAnswer)


def search_answer(request: SearchInput, found: Found, limits: Limits, count: CountTokens) -> SearchAnswer:
    """All results on one page, as far as the budget goes.

    Raises:
        BudgetExceeded: not even one fits.
    """

    def build(n: int, cut: CapReason | None, budget: Budget) -> SearchAnswer:
        return SearchAnswer(
            results=list(found.results[:n]),
            partial=n < len(found.results),
            limit_reason=cut or "none",
            scope=request.scope,
            budget=budget,
            truncated=cut is not None,
            empty_reason=found.empty_reason,
            snapshot_id=found.snapshot_id,
        )

    return _within(len(found.results), build, limits, count)


def evidence_answer(request: RetrieveInput, evidence: Evidence, limits: Limits, count: CountTokens) -> EvidenceAnswer:
    """All quotes, as far as the budget goes.

    Raises:
        BudgetExceeded: not even one fits.
    """

    def build(n: int, cut: CapReason | None, budget: Budget) -> EvidenceAnswer:
        quotes = list(evidence.quotes[:n])
        return EvidenceAnswer(
            quotes=quotes,
            partial=n < len(evidence.quotes),
            truncated=cut is not None or any(quote.truncated for quote in quotes),
            limit_reason=cut or "none",
            scope=request.scope,
            budget=budget,
            empty_reason=evidence.empty_reason,
            nearest=list(evidence.nearest) or None,
            diagnostics=Diagnostics(
                mode=evidence.mode,
                candidates=evidence.candidates,
                snapshot_id=evidence.snapshot_id,
                stages=dict(evidence.stages) if request.options.include_diagnostics else None,
            ),
        )

    return _within(len(evidence.quotes), build, limits, count)


def _within(
    n_items: int, build: Callable[[int, CapReason | None, Budget], Out], limits: Limits, count: CountTokens
) -> Out:
    def weight_with(n: int, reason: CapReason | None) -> Weight:
        return weigh([build(n, reason, limits.placeholder()).model_dump_json()], count)

    fitted = fit(n_items, weight_with, limits)
    return build(fitted.n_items, fitted.reason, limits.report(fitted.weight))
