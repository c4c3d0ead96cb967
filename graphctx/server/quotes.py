"""What the two tools that return quotes share: passage ids on the quotes, and the answer around them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphctx.model.answers import EvidenceAnswer
from graphctx.model.assemble import evidence_answer
from graphctx.model.requests import ExtractEvidenceInput, RetrieveInput
from graphctx.server.backend import Evidence
from graphctx.server.desk import Desk
from graphctx.server.render import evidence_text
from graphctx.server.scratch import Passage
from graphctx.server.tool import Reply


def evidence_reply(
    desk: Desk,
    request: RetrieveInput | ExtractEvidenceInput,
    evidence: Evidence,
    passage_of: Callable[[str], Passage],
) -> Reply[EvidenceAnswer]:
    """Answer with quotes, as many as the budget takes, going on from the request's cursor.

    Args:
        desk: where the call is served.
        request: with the scope that applies.
        evidence: every quote, in rank order.
        passage_of: the passage of a quote, by section id.
    """
    quotes = []
    for quote in evidence.items:
        passage = passage_of(quote.section_id)
        quotes.append(quote.model_copy(update={"passage_id": passage.passage_id, "uri": passage.uri}))
    whole = replace(evidence, items=quotes)
    call = "kb.retrieve_evidence" if isinstance(request, RetrieveInput) else "kb.extract_evidence"
    return Reply(*evidence_answer(desk.pager, request, whole, lambda answer: evidence_text(desk, answer, call)))
