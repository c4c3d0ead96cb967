"""kb.expand_excerpt: a passage with some of the document around it (tool contract, section 4.5)."""

from __future__ import annotations

from dataclasses import replace

from graphctx.errors import InvalidArgument
from graphctx.model.answers import ExcerptAnswer
from graphctx.model.requests import ExpandExcerptInput
from graphctx.server.clip import clip_end, clip_start
from graphctx.server.desk import Desk
from graphctx.server.excerpts import Span, excerpt_reply
from graphctx.server.tool import Description, Reply, Tool


def _run(desk: Desk, request: ExpandExcerptInput) -> Reply[ExcerptAnswer]:
    scope = desk.scope(request.scope)
    passage = desk.passage(request.passage_id, scope)
    unit = passage.unit
    document = desk.document_text(unit)
    if document[unit.start_char : unit.end_char] != unit.text:
        raise InvalidArgument(
            f"{unit.doc_uri} has changed since this passage was found. "
            "Repeat the kb.search or kb.retrieve_evidence call and use the new passage_id.",
            field="passage_id",
            value=request.passage_id,
            allowed="a passage_id of the published snapshot",
        )
    n_before, n_after = _shares(request, request.max_tokens - desk.count(unit.text))
    before = document[max(0, unit.start_char - request.max_bytes) : unit.start_char]
    lead = clip_start(before, n_before, request.max_bytes, desk.count).length
    after = document[unit.end_char : unit.end_char + request.max_bytes]
    tail = clip_end(after, n_after, request.max_bytes, desk.count).length
    span = Span.within(-lead, document[unit.start_char - lead : unit.end_char + tail], request, desk.count)
    if span.cut is None and n_before + n_after < request.before_tokens + request.after_tokens:
        span = replace(span, cut="token_cap")
    return excerpt_reply(desk, passage, scope, span)


def _shares(request: ExpandExcerptInput, spare: int) -> tuple[int, int]:
    """Tokens before and after, scaled down together to what the cap leaves beside the passage."""
    asked, spare = request.before_tokens + request.after_tokens, max(0, spare)
    if asked <= spare:
        return request.before_tokens, request.after_tokens
    return request.before_tokens * spare // asked, request.after_tokens * spare // asked


EXPAND_EXCERPT = Tool(
    name="kb.expand_excerpt",
    toolset="kb",
    title="Read around a passage",
    description=Description(
        use_when="a passage starts or stops too early and you want the text of the document around it.",
        not_when="the passage itself has not been read to its end yet (kb.read_excerpt).",
        returns="max_tokens tokens (800) and max_bytes bytes (32 KB): the passage with before_tokens and "
        "after_tokens of its document around it, one contiguous span, with its citation.",
        follow_up="call again with larger numbers, or kb.search for other passages of the document.",
        defaults="before_tokens 150, after_tokens 150, max_tokens 800, max_bytes 32768. "
        "Max: 800 tokens before, after and in all, max_bytes 32768.",
    ),
    input=ExpandExcerptInput,
    output=ExcerptAnswer,
    run=_run,
)
