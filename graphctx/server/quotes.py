"""What the two tools that return quotes share: passage ids on the quotes, and the answer around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphctx.model.answers import EvidenceAnswer
from graphctx.model.assemble import evidence_answer
from graphctx.model.found import Evidence
from graphctx.model.requests import ExtractEvidenceInput, RetrieveInput
from graphctx.server.call_context import CallContext
from graphctx.server.render import evidence_text
from graphctx.server.scratch import Passage
from graphctx.server.tool import Reply


def evidence_reply(
    context: CallContext,
    request: RetrieveInput | ExtractEvidenceInput,
    evidence: Evidence,
    passages: Sequence[Passage],
) -> Reply[EvidenceAnswer]:
    """Answer with quotes, as many as the budget takes, going on from the request's cursor.

    Args:
        context: where the call is served.
        request: with the scope that applies.
        evidence: every quote, in rank order.
        passages: the passage of each quote.
    """
    quotes = [
        quote.model_copy(update={"passage_id": passage.passage_id, "uri": passage.uri})
        for quote, passage in zip(evidence.items, passages, strict=True)
    ]
    whole = replace(evidence, items=quotes)
    call = "kb.retrieve_evidence" if isinstance(request, RetrieveInput) else "kb.extract_evidence"
    return Reply(*evidence_answer(context.pager, request, whole, lambda answer: evidence_text(context, answer, call)))
