"""kb.retrieve_evidence: a question in, cited quotes out, in one call (tool contract, section 4.7)."""

from __future__ import annotations

from graphctx.model.answers import EvidenceAnswer
from graphctx.model.requests import RetrieveInput
from graphctx.server.call_context import CallContext
from graphctx.server.quotes import evidence_reply
from graphctx.server.tool import Description, Reply, Tool


def _run(context: CallContext, request: RetrieveInput) -> Reply[EvidenceAnswer]:
    evidence = context.searcher.evidence(request)
    return evidence_reply(context, request, evidence, context.passages(evidence))


RETRIEVE_EVIDENCE = Tool(
    name="kb.retrieve_evidence",
    toolset="kb",
    title="Quote the documents on a question",
    description=Description(
        use_when="you need to answer a question from this knowledge base. This is the tool to try first: it "
        "searches, follows links between documents and picks the sentences that bear on the question.",
        not_when="you want to browse candidates (kb.search), or to quote from passages that you already have "
        "(kb.extract_evidence).",
        returns="max_quotes quotes (6) of max_quote_tokens (80) each, word for word from the documents, with "
        "citation and character offsets. The response keeps to {response}, or to less by "
        "max_tokens and max_bytes.",
        follow_up="call kb.read_excerpt or kb.expand_excerpt with a quote's section_id as passage_id, "
        "again with next_cursor if there is one, or ask in other words or with a larger top_k.",
        defaults="top_k 5, max_quotes 6, max_quote_tokens 80, include_context_tokens 20, mode auto. "
        "Max: top_k 50, max_quotes 20, max_quote_tokens 200, include_context_tokens 100.",
    ),
    input=RetrieveInput,
    output=EvidenceAnswer,
    run=_run,
)
