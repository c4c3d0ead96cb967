"""An explanation of questions with points as a person reads it: where each point was lost, and in all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphctx.errors import InvalidArgument
from graphctx.eval.global_losses import STAGES, Losses, Tracer, totals
from graphctx.eval.global_measures import BUDGETS
from graphctx.eval.golden import bind
from graphctx.eval.show import Table

if TYPE_CHECKING:
    from graphctx.eval.suites import Suite
    from graphctx.knowledge_base import KnowledgeBase

ALL = "all"
"""Instead of an id: every question of the suite."""


def explain_points(suite: Suite, kb: KnowledgeBase, question: str) -> list[Losses]:
    """Follow the gold points of one question of a suite, or of all.

    Args:
        suite: of the kind ``points``.
        kb: with its documents.
        question: an id, the question itself, or `ALL`.

    Raises:
        InvalidArgument: the suite has no such question, or its gold is not in the knowledge base.
    """
    from graphctx.nlp.tokens import WordPieceCounter

    wanted = [item for item in suite.rows if question in (ALL, item.row.id, item.row.question)]
    if not wanted:
        raise InvalidArgument(
            f"{suite.name} has no question {question!r}, and what becomes of gold points can be told of its own alone. "
            f"Give one of their ids (the first is {suite.rows[0].row.id!r}), or {ALL!r}.",
            value=question,
        )
    tracer = Tracer(kb, WordPieceCounter())
    return [tracer.follow(golden) for golden in bind(wanted, kb, source=suite.path.name, prefix=suite.prefix)]


def as_dict(suite: str, found: Sequence[Losses]) -> dict[str, Any]:
    """The same as JSON values, with the number of points that ended at each stage by budget."""
    return {
        "suite": suite,
        "questions": [one.as_dict() for one in found],
        "totals": {str(budget): {name: counts[name] for name in STAGES} for budget, counts in totals(found).items()},
    }


def totals_table(found: Sequence[Losses]) -> Table:
    """How many points ended at each stage, by budget."""
    counts = totals(found)
    rows = [
        [stage, *(str(counts[budget][stage]) for budget in BUDGETS), meaning]
        for stage, meaning in STAGES.items()
        if any(counts[budget][stage] for budget in BUDGETS)
    ]
    return ["stage", *(f"at {budget}" for budget in BUDGETS), ""], rows


def points_table(losses: Losses) -> Table:
    """One row a point: where it ended at each budget, its place among the candidates, and who has it."""
    rows = [
        [
            one.point,
            *(one.stages[budget] for budget in BUDGETS),
            "" if one.rank is None else f"{one.rank} of {losses.candidates}",
            "; ".join(one.holding),
        ]
        for one in losses.points
    ]
    return ["point", *(f"at {budget}" for budget in BUDGETS), "rank", "communities with it"], rows


def headline(losses: Losses) -> list[str]:
    """The question, and how its search went, a line each."""
    chosen = "; ".join(f"{one.title} ({one.rating:.2f})" for one in losses.chosen)
    return [
        f"{losses.id}: {losses.question}",
        f"{losses.rated} of {losses.communities} communities rated, {losses.candidates} sentences looked at",
        f"chosen: {chosen or 'none'}",
    ]
