"""kb.read_excerpt: a bounded piece of a passage's text (tool contract, section 4.4)."""

from __future__ import annotations

from graphctx.errors import InvalidArgument
from graphctx.model.answers import ExcerptAnswer
from graphctx.model.requests import ReadExcerptInput
from graphctx.server.call_context import CallContext
from graphctx.server.excerpts import Span, excerpt_reply
from graphctx.server.tool import Description, Reply, Tool
from graphctx.text.graphemes import floor


def _run(context: CallContext, request: ReadExcerptInput) -> Reply[ExcerptAnswer]:
    scope = context.scope(request.scope)
    passage = context.passage(request.passage_id, scope)
    text = passage.unit.text
    if request.start_char >= len(text):
        raise InvalidArgument(
            f"start_char = {request.start_char}: the passage has {len(text)} characters; "
            f"start_char must be from 0 to {len(text) - 1}.",
            field="start_char",
            value=request.start_char,
            allowed=f"0 to {len(text) - 1}",
        )
    start = floor(text, request.start_char)
    span = Span.within(start, text[start:], request, context.count)
    return excerpt_reply(
        context,
        passage,
        scope,
        span,
        cite=request.options.include_citation,
        bullets=request.options.format == "bullets",
    )


READ_EXCERPT = Tool(
    name="kb.read_excerpt",
    toolset="kb",
    title="Read a passage",
    description=Description(
        use_when="a preview or a quote is not enough and you want to read the passage that it comes from.",
        not_when="you have not narrowed down to three passages or fewer; kb.retrieve_evidence and "
        "kb.extract_evidence give only the sentences that matter.",
        returns="max_tokens tokens (300) and max_bytes bytes (32 KB) of one passage, word for word, with its citation.",
        follow_up="call again with start_char set to next_start_char, or kb.expand_excerpt for the text "
        "around the passage.",
        defaults="max_tokens 300, max_bytes 32768, start_char 0, format text. Max: max_tokens 800, max_bytes 32768.",
    ),
    input=ReadExcerptInput,
    output=ExcerptAnswer,
    run=_run,
)
