"""kb.expand_excerpt: a passage with some of the document around it (tool contract, section 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

from graphctx.model.answers import ExcerptAnswer
from graphctx.model.budgets import CapReason, CountTokens, Limits, Weight
from graphctx.model.found import UnitText
from graphctx.model.requests import ExpandExcerptInput
from graphctx.server.call_context import CallContext
from graphctx.server.clip import clip_end, clip_start
from graphctx.server.excerpts import Span, excerpt_reply
from graphctx.server.tool import Description, Reply, Tool


def _run(context: CallContext, request: ExpandExcerptInput) -> Reply[ExcerptAnswer]:
    scope = context.scope(request.scope)
    passage = context.passage(request.passage_id, scope)
    unit = passage.unit
    document = context.document_text(unit)
    if clip_end(unit.text, request.max_tokens, request.max_bytes, context.count).cut:
        return excerpt_reply(context, passage, scope, Span.within(0, unit.text, request, context.count))
    around = _Around.of(document, unit, request, context.count)
    part, cut = around.share()
    while True:
        lead, text = around.text(part)
        reply = excerpt_reply(context, passage, scope, Span(-lead, text, cut))
        if not lead or reply.answer.end_char >= unit.end_char:
            return reply
        # The response's own budget leaves out the end of the passage, which goes before what is around it.
        part, cut = part // 2, cut or ("byte_cap" if reply.answer.limit_reason == "byte_cap" else "token_cap")


_WHOLE = 1 << 16
"""All of what is asked for around a passage, in parts."""


@dataclass(frozen=True, slots=True)
class _Around:
    """A passage that fits, and as much of the text before and after it as is asked for.

    ``count`` is the one counter that every limit here is held against.
    """

    before: str
    passage: str
    after: str
    limits: Limits
    count: CountTokens

    @classmethod
    def of(cls, document: str, unit: UnitText, request: ExpandExcerptInput, count: CountTokens) -> _Around:
        """Take what a request asks for around a unit of a document."""
        before = document[max(0, unit.start_char - request.max_bytes) : unit.start_char]
        after = document[unit.end_char : unit.end_char + request.max_bytes]
        lead = clip_start(before, request.before_tokens, request.max_bytes, count).length
        tail = clip_end(after, request.after_tokens, request.max_bytes, count).length
        limits = Limits(request.max_tokens, request.max_bytes)
        return cls(before[len(before) - lead :], unit.text, after[:tail], limits, count)

    def share(self) -> tuple[int, CapReason | None]:
        """Which part of the text around the passage fits beside it, about, and the limit that leaves out the rest."""
        whole, own = self._weight(self.before + self.passage + self.after), self._weight(self.passage)
        if self.limits.exceeded_by(whole) is None:
            return _WHOLE, None
        by_tokens = _WHOLE * (self.limits.max_tokens - own.tokens) // max(1, whole.tokens - own.tokens)
        by_bytes = _WHOLE * (self.limits.max_bytes - own.bytes) // max(1, whole.bytes - own.bytes)
        part = min(by_tokens, by_bytes)
        while part and self.limits.exceeded_by(self._weight(self.text(part)[1])):  # a word that is cut can be more
            part -= part // 8 + 1
        return max(0, part), "byte_cap" if by_bytes < by_tokens else "token_cap"

    def text(self, part: int) -> tuple[int, str]:
        """The passage with a part of the text around it, and how many characters of that are before it."""
        sides = [
            (weight.tokens * part // _WHOLE, weight.bytes * part // _WHOLE, self.count)
            for weight in (self._weight(self.before), self._weight(self.after))
        ]
        lead = clip_start(self.before, *sides[0]).length
        tail = clip_end(self.after, *sides[1]).length
        return lead, self.before[len(self.before) - lead :] + self.passage + self.after[:tail]

    def _weight(self, text: str) -> Weight:
        return Weight(self.count(text), len(text.encode("utf-8", "surrogatepass")))


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
