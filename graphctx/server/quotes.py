"""What the two tools that return quotes share: passage ids on the quotes, and the answer around them."""

from __future__ import annotations

from collections.abc import Mapping

from graphctx.model.answers import Budget, Diagnostics, EvidenceAnswer, ExtractEvidenceInput, RetrieveInput
from graphctx.model.budgets import CapReason
from graphctx.model.cursors import read_cursor, write_cursor
from graphctx.server.backend import Evidence
from graphctx.server.desk import Desk
from graphctx.server.render import evidence_text
from graphctx.server.scratch import Passage
from graphctx.server.tool import Reply


def evidence_reply(
    desk: Desk,
    request: RetrieveInput | ExtractEvidenceInput,
    evidence: Evidence,
    passages: Mapping[str, Passage],
    with_stages: bool,
) -> Reply[EvidenceAnswer]:
    """Answer with quotes, as many as the budget takes, going on from the request's cursor.

    Args:
        desk: where the call is served.
        request: with the scope that applies.
        evidence: every quote, in rank order.
        passages: the passage of each quote, by section id.
        with_stages: whether the diagnostics carry the stages' counts.
    """
    start = read_cursor(request.cursor, request, evidence.snapshot_id)
    quotes = [
        quote.model_copy(
            update={
                "passage_id": passages[quote.section_id].passage_id,
                "uri": passages[quote.section_id].uri,
            }
        )
        for quote in evidence.quotes[start:]
    ]

    def build(n: int, cut: CapReason | None, budget: Budget) -> EvidenceAnswer:
        kept = quotes[:n]
        partial = n < len(quotes)
        return EvidenceAnswer(
            quotes=kept,
            partial=partial,
            truncated=cut is not None or any(quote.truncated for quote in kept),
            limit_reason=cut or "none",
            next_cursor=write_cursor(request, evidence.snapshot_id, start + n) if partial else None,
            session_id=desk.session_id,
            scope=request.scope,
            budget=budget,
            empty_reason=evidence.empty_reason,
            nearest=list(evidence.nearest) or None,
            diagnostics=Diagnostics(
                mode=evidence.mode,
                candidates=evidence.candidates,
                snapshot_id=evidence.snapshot_id,
                stages=dict(evidence.stages) if with_stages else None,
            ),
        )

    return desk.reply(len(quotes), build, evidence_text)
