"""The desk at which one call is served: backend, session, scope and budget in one place."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from graphctx.errors import ScopeViolation
from graphctx.model.answers import Answer, Budget, Scope
from graphctx.model.budgets import CapReason, CountTokens, Weight, fit, weigh
from graphctx.model.scope import Boundary, within
from graphctx.server.backend import Backend, UnitText
from graphctx.server.config import ServerConfig
from graphctx.server.names import NameStyle, restyle
from graphctx.server.scratch import Passage, ScratchStore
from graphctx.server.tool import Reply

Out = TypeVar("Out", bound=Answer)

_RANDOM_ID = re.compile(r"\b([px])_[a-z2-7]{16}\b")
_SAME_COST = r"\1_4q7zk2vx5wj3hy6n"  # random ids differ in estimated tokens; what fits must not depend on that

_NUMBERS_RESERVE = 8
"""Tokens that the two numbers of the budget may take beyond those that stood in their place while weighing."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a tool's handler may use."""

    backend: Backend
    count: CountTokens
    scratch: ScratchStore
    session_id: str
    config: ServerConfig
    style: NameStyle = "dotted"

    def say(self, sentence: str) -> str:
        """A sentence of ours with the names of tools as this client knows them."""
        return restyle(sentence, self.style)

    def scope(self, asked: Scope) -> Scope:
        """The scope that applies: what was asked for, within the settings.

        Raises:
            ScopeViolation: something outside them is asked for.
        """
        boundary = Boundary(
            self.backend.project_id, self.backend.environment, self.config.doc_tags, self.config.repositories
        )
        return boundary.narrow(asked)

    def shelve(self, section_id: str) -> Passage:
        """Put a unit into this session's scratch store."""
        return self._shelved(self.backend.unit(section_id))

    def passage(self, passage_id: str, scope: Scope) -> Passage:
        """The passage that a caller names by its passage id or by its section id.

        Raises:
            InvalidArgument: no such passage for this session.
            ScopeViolation: it lies outside ``scope``.
        """
        held = self.scratch.get(self.session_id, passage_id) if passage_id.startswith("p_") else None
        unit = held.unit if held else self.backend.unit(passage_id)
        if not within(scope.doc_tags, scope.repositories)(unit.tags, unit.doc_uri):
            raise ScopeViolation(
                f"passage {passage_id!r} lies outside the doc_tags or repositories of the scope. "
                "Widen the scope if you may, or search within it.",
                field="passage_id",
                value=passage_id,
                allowed=scope.model_dump(mode="json"),
            )
        return held or self._shelved(unit)

    def _shelved(self, unit: UnitText) -> Passage:
        return self.scratch.put(self.session_id, self.backend.snapshot_id, unit)

    def reply(
        self,
        n_items: int,
        build: Callable[[int, CapReason | None, Budget], Out],
        render: Callable[[Desk, Out], str],
    ) -> Reply[Out]:
        """Make the answer with as many leading items as the response budget takes.

        This is the one place where the budget is enforced: on text and structure together. What is reported is an
        upper bound, exact but for the budget's own numbers.

        Args:
            n_items: how many items there are to give.
            build: makes the answer of the first ``n`` items, told what cut the others off and the budget.
            render: makes the readable text.

        Raises:
            BudgetExceeded: not even one item fits.
        """
        limits = self.config.limits

        def weight_with(n: int, reason: CapReason | None) -> Weight:
            answer = build(n, reason, limits.placeholder())
            texts = (render(self, answer), answer.model_dump_json())
            weight = weigh([_RANDOM_ID.sub(_SAME_COST, text) for text in texts], self.count)
            return Weight(weight.tokens + _NUMBERS_RESERVE, weight.bytes)

        fitted = fit(n_items, weight_with, limits)
        answer = build(fitted.n_items, fitted.reason, limits.report(fitted.weight))
        return Reply(answer, render(self, answer))
