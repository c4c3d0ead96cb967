"""kb.extract_evidence: quotes on a question from given passages (tool contract, section 4.6)."""

from __future__ import annotations

from graphctx.model.answers import EvidenceAnswer
from graphctx.model.requests import ExtractEvidenceInput
from graphctx.server.call_context import CallContext
from graphctx.server.quotes import evidence_reply
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.units import is_chunk


def _run(context: CallContext, asked: ExtractEvidenceInput) -> Reply[EvidenceAnswer]:
    scope = context.scope(asked.scope)
    request = asked.model_copy(update={"scope": scope})
    held = [context.passage(passage_id, scope, "passage_ids") for passage_id in request.passage_ids]
    passages = {passage.unit.section_id: passage for passage in held}
    chunks = [passage.unit for passage in passages.values() if is_chunk(passage.unit)]
    evidence = context.searcher.extract(request, [p.unit.section_id for p in passages.values() if not is_chunk(p.unit)])
    if chunks:
        evidence = context.layer_source().extracted(request, chunks, evidence)
    return evidence_reply(context, request, evidence, [passages[quote.section_id] for quote in evidence.items])


EXTRACT_EVIDENCE = Tool(
    name="kb.extract_evidence",
    toolset="kb",
    title="Quote given passages on a question",
    description=Description(
        use_when="you have passage ids from kb.search and want only the sentences in them that bear on a question.",
        not_when="you have no passages yet (kb.retrieve_evidence finds and quotes in one call), or want to "
        "read a passage through (kb.read_excerpt).",
        returns="max_quotes quotes (6) of max_quote_tokens (80) each, word for word from the passages, with "
        "citation and character offsets; confidence is the share of the question's words in a quote. The "
        "response keeps to {response}, or to less by max_tokens and max_bytes.",
        follow_up="call kb.read_excerpt with a quote's section_id as passage_id, or again with "
        "next_cursor or other passages.",
        defaults="max_quotes 6, max_quote_tokens 80, include_context_tokens 20. "
        "Max: 20 passage_ids, max_quotes 20, max_quote_tokens 200, include_context_tokens 100.",
    ),
    input=ExtractEvidenceInput,
    output=EvidenceAnswer,
    run=_run,
)
