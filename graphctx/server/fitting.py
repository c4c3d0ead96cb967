"""Answers about changes: cut to what fits, never refused once the change is on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from graphctx.model.answers import Answer, Budget
from graphctx.model.budgets import Weight, weigh
from graphctx.server.call_context import CallContext
from graphctx.server.tool import Reply

Changed = TypeVar("Changed", bound=Answer)


def answer_weight(context: CallContext, answer: Changed, render: Callable[[Changed], str]) -> Weight:
    """Return what an answer weighs with its text and the reserve."""
    sent = context.payload_parts(render(answer), answer.model_dump_json())
    return weigh(sent, context.count) + context.config.limits.reserve


def first_fitting(
    context: CallContext, builds: Iterable[Callable[[Budget], Changed]], render: Callable[[Changed], str]
) -> Reply[Changed]:
    """Answer with the first of some answers that fits into the server's limits, else with the last."""
    limits = context.config.limits
    for build in builds:
        weight = answer_weight(context, build(limits.placeholder()), render)
        if limits.exceeded_by(weight) is None:
            break
    answer = build(limits.report(weight))
    return Reply(answer, render(answer))
