"""What the two excerpt tools share: the answer around a span of a passage's document."""

from __future__ import annotations

from dataclasses import dataclass

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import Budget, Citation, ExcerptAnswer
from graphctx.model.budgets import CapReason, CountTokens, Weight
from graphctx.model.requests import ExpandExcerptInput, ReadExcerptInput, Scope
from graphctx.server.call_context import CallContext
from graphctx.server.clip import clip_end
from graphctx.server.render import excerpt_text
from graphctx.server.scratch import Passage
from graphctx.server.tool import Reply
from graphctx.text.graphemes import first_end


@dataclass(frozen=True, slots=True)
class Span:
    """A span to show.

    ``offset`` is where it starts in the passage (negative: before it); ``cut`` is what shortened it.
    """

    offset: int
    text: str
    cut: CapReason | None

    @classmethod
    def within(cls, offset: int, text: str, request: ReadExcerptInput | ExpandExcerptInput, count: CountTokens) -> Span:
        """The start of a text that keeps a request's limits.

        Raises:
            BudgetExceeded: not even its first grapheme does.
        """
        clip = clip_end(text, request.max_tokens, request.max_bytes, count)
        if text and not clip.length:
            first = text[: first_end(text, 0)]
            needed = Weight(count(first), len(first.encode("utf-8", "surrogatepass")))
            raise BudgetExceeded(
                f"max_tokens = {request.max_tokens}, max_bytes = {request.max_bytes}: the first character here has "
                f"{needed.tokens} tokens and {needed.bytes} bytes. Allow at least that.",
                needed_tokens=needed.tokens,
                needed_bytes=needed.bytes,
                max_tokens=request.max_tokens,
                max_bytes=request.max_bytes,
                reason=clip.cut,
            )
        return cls(offset, text[: clip.length], clip.cut)


def excerpt_reply(
    context: CallContext, passage: Passage, scope: Scope, span: Span, *, cite: bool = True, bullets: bool = False
) -> Reply[ExcerptAnswer]:
    """Answer with a span, shortened from its end if the response budget asks for that."""
    unit = passage.unit
    start = unit.start_char + span.offset
    place = _cite(passage, span.offset, context)

    def build(text: str, squeezed: CapReason | None, budget: Budget) -> ExcerptAnswer:
        cut = squeezed or span.cut
        end = span.offset + len(text)
        rest = cut is not None and 0 <= end < len(unit.text)
        return ExcerptAnswer(
            passage_id=passage.passage_id,
            excerpt=text,
            start_char=start,
            end_char=start + len(text),
            doc_uri=unit.doc_uri,
            line=place.line,
            page=place.page,
            anchor=unit.anchor,
            truncated=cut is not None,
            next_start_char=end if rest else None,
            limit_reason=cut or "none",
            citation=place if cite else None,
            session_id=context.session_id,
            session_note=context.session_note,
            scope=scope,
            budget=budget,
        )

    return Reply(
        *context.pager.span(span.text, build, lambda answer: excerpt_text(context, answer, unit.section_id, bullets))
    )


def _cite(passage: Passage, offset: int, context: CallContext) -> Citation:
    unit = passage.unit
    start = unit.start_char + offset
    if offset >= 0:
        line = unit.line + unit.text.count("\n", 0, offset)
    else:
        line = unit.line - context.document_text(unit).count("\n", start, unit.start_char)
    return Citation(
        section_id=unit.section_id,
        doc_tag=",".join(unit.tags),
        title=unit.title,
        heading=unit.heading,
        uri=passage.uri,
        doc_uri=unit.doc_uri,
        doc_id=unit.doc_id,
        line=line,
        page=unit.page(start),
        anchor=unit.anchor,
    )
