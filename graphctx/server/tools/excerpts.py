"""kb.read_excerpt and kb.expand_excerpt: the text of a passage, and around it (tool contract, sections 4.4 and 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.model.answers import Budget, Citation, ExcerptAnswer
from graphctx.model.budgets import CapReason, CountTokens, Limits, Weight
from graphctx.model.requests import ExcerptOptions, ExpandExcerptInput, ReadExcerptInput, Scope
from graphctx.model.results import UnitText
from graphctx.server.call_context import CallContext
from graphctx.server.clip import clip_end, clip_start
from graphctx.server.render import citation, one_line, quoted
from graphctx.server.resources import section_uri
from graphctx.server.scratch import Passage
from graphctx.server.tool import Description, Reply, Tool
from graphctx.text.graphemes import first_end, floor
from graphctx.text.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """A text to show: where it starts in the passage (negative: before it), and the limit that shortened it."""

    offset: int
    text: str
    cut: CapReason | None


def _read(context: CallContext, request: ReadExcerptInput) -> Reply[ExcerptAnswer]:
    if request.before_tokens or request.after_tokens:
        return _expand(context, request, request.options)
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
    excerpt = _clipped(start, text[start:], request, context.count)
    return _reply(context, passage, scope, excerpt, request.options)


def _expand(
    context: CallContext, request: ExpandExcerptInput | ReadExcerptInput, options: ExcerptOptions | None = None
) -> Reply[ExcerptAnswer]:
    scope = context.scope(request.scope)
    passage = context.passage(request.passage_id, scope)
    unit = passage.unit
    document = context.document_text(unit)
    if clip_end(unit.text, request.max_tokens, request.max_bytes, context.count).cut:
        return _reply(context, passage, scope, _clipped(0, unit.text, request, context.count), options)
    surroundings = _Surroundings.of(document, unit, request, context.count)
    part, cut = surroundings.share()
    while True:
        lead, text = surroundings.text(part)
        reply = _reply(context, passage, scope, _Excerpt(-lead, text, cut), options)
        if not lead or reply.answer.end_char >= unit.end_char:
            return reply
        # The response's own budget cuts off the end of the passage, which is worth more than the text around it.
        part, cut = part // 2, cut or ("byte_cap" if reply.answer.limit_reason == "byte_cap" else "token_cap")


def _clipped(offset: int, text: str, request: ReadExcerptInput | ExpandExcerptInput, count: CountTokens) -> _Excerpt:
    """Return the start of a text that keeps a request's limits.

    Raises:
        BudgetExceeded: not even its first grapheme keeps them.
    """
    clip = clip_end(text, request.max_tokens, request.max_bytes, count)
    if text and not clip.length:
        needed = _weight(text[: first_end(text, 0)], count)
        raise BudgetExceeded(
            f"max_tokens = {request.max_tokens}, max_bytes = {request.max_bytes}: the first character here has "
            f"{needed.tokens} tokens and {needed.bytes} bytes. Allow at least that.",
            needed_tokens=needed.tokens,
            needed_bytes=needed.bytes,
            max_tokens=request.max_tokens,
            max_bytes=request.max_bytes,
            reason=clip.cut,
        )
    return _Excerpt(offset, text[: clip.length], clip.cut)


def _weight(text: str, count: CountTokens) -> Weight:
    return Weight(count(text), len(text.encode("utf-8", "surrogatepass")))


_WHOLE = 1 << 16
"""All of the text that is asked for around a passage, in parts."""


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """A passage that fits, and as much of the text before and after it as is asked for.

    ``count`` is the one counter that every limit here is held against.
    """

    before: str
    passage: str
    after: str
    limits: Limits
    count: CountTokens

    @classmethod
    def of(
        cls, document: str, unit: UnitText, request: ExpandExcerptInput | ReadExcerptInput, count: CountTokens
    ) -> _Surroundings:
        """Take what a request asks for around a unit of a document."""
        before = document[max(0, unit.start_char - request.max_bytes) : unit.start_char]
        after = document[unit.end_char : unit.end_char + request.max_bytes]
        lead = clip_start(before, request.before_tokens, request.max_bytes, count).length
        tail = clip_end(after, request.after_tokens, request.max_bytes, count).length
        limits = Limits(request.max_tokens, request.max_bytes)
        return cls(before[len(before) - lead :], unit.text, after[:tail], limits, count)

    def share(self) -> tuple[int, CapReason | None]:
        """Return about which part of the surroundings fits beside the passage, and the limit that cuts off the rest."""
        whole, own = _weight(self.before + self.passage + self.after, self.count), _weight(self.passage, self.count)
        if self.limits.exceeded_by(whole) is None:
            return _WHOLE, None
        by_tokens = _WHOLE * (self.limits.max_tokens - own.tokens) // max(1, whole.tokens - own.tokens)
        by_bytes = _WHOLE * (self.limits.max_bytes - own.bytes) // max(1, whole.bytes - own.bytes)
        part = min(by_tokens, by_bytes)
        # A word that is cut can be more tokens.
        while part > 0 and self.limits.exceeded_by(_weight(self.text(part)[1], self.count)):
            part -= part // 8 + 1
        return max(0, part), "byte_cap" if by_bytes < by_tokens else "token_cap"

    def text(self, part: int) -> tuple[int, str]:
        """Return the passage with a part of its surroundings, and how many characters of them are before it."""
        sides = [
            (weight.tokens * part // _WHOLE, weight.bytes * part // _WHOLE, self.count)
            for weight in (_weight(self.before, self.count), _weight(self.after, self.count))
        ]
        lead = clip_start(self.before, *sides[0]).length
        tail = clip_end(self.after, *sides[1]).length
        return lead, self.before[len(self.before) - lead :] + self.passage + self.after[:tail]


def _reply(
    context: CallContext, passage: Passage, scope: Scope, excerpt: _Excerpt, options: ExcerptOptions | None
) -> Reply[ExcerptAnswer]:
    """Answer with an excerpt, shortened from its end if the response budget asks for that."""
    unit, options = passage.unit, options or ExcerptOptions()
    start = unit.start_char + excerpt.offset
    source = _cite(passage, excerpt.offset, context)

    def build(text: str, squeezed: CapReason | None, budget: Budget) -> ExcerptAnswer:
        cut = squeezed or excerpt.cut
        end = excerpt.offset + len(text)
        goes_on = cut is not None and 0 <= end < len(unit.text)
        return ExcerptAnswer(
            passage_id=passage.passage_id,
            excerpt=text,
            start_char=start,
            end_char=start + len(text),
            doc_uri=unit.doc_uri,
            line=source.line,
            page=source.page,
            anchor=unit.anchor,
            truncated=cut is not None,
            next_start_char=end if goes_on else None,
            limit_reason=cut or "none",
            citation=source if options.include_citation else None,
            session_id=context.session_id,
            session_note=context.session_note,
            scope=scope,
            budget=budget,
        )

    def render(answer: ExcerptAnswer) -> str:
        return _text(context, answer, unit.section_id, options.format == "bullets")

    return Reply(*context.pager.span(excerpt.text, build, render))


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


def _text(context: CallContext, answer: ExcerptAnswer, section_id: str, bullets: bool) -> str:
    """Return the excerpt below its citation, or the list of its sentences."""
    blocks = []
    if (source := answer.citation) is not None:
        where = citation(source.title, source.heading, source.doc_uri, source.line, source.page)
        blocks.append(f"{where}\nsection {section_id}, {section_uri(section_id)}")
    if bullets:
        sentences = (answer.excerpt[start:end] for start, end in split_sentences(answer.excerpt))
        blocks.append("\n".join(f"- {one_line(sentence)}" for sentence in sentences))
    else:
        blocks.append(quoted(answer.excerpt))
    if answer.next_start_char is not None:
        on = f"kb.read_excerpt with passage_id={section_id}, start_char={answer.next_start_char}"
        blocks.append(context.say(f"The passage goes on: {on}"))
    elif answer.truncated:
        blocks.append("Cut at the excerpt's limit: ask for less around the passage, or for more tokens.")
    return "\n\n".join(blocks)


READ_EXCERPT = Tool(
    name="kb.read_excerpt",
    toolset="kb",
    title="Read a passage",
    description=Description(
        use_when="a preview or a quote is not enough: read the passage that it comes from, or with before_tokens and "
        "after_tokens the text around that passage.",
        not_when="you have not narrowed down to three passages or fewer; kb.retrieve_evidence gives the sentences "
        "that matter.",
        returns="max_tokens tokens ({max_tokens}) and {max_bytes} bytes of one document, word for word.",
        follow_up="call again with start_char set to next_start_char.",
    ),
    input=ReadExcerptInput,
    output=ExcerptAnswer,
    run=_read,
)

EXPAND_EXCERPT = Tool(
    name="kb.expand_excerpt",
    toolset="kb",
    title="Read around a passage",
    description=Description(
        use_when="a passage starts or stops too early and you want the text of its document around it.",
        not_when="the passage itself has not been read to its end yet (kb.read_excerpt).",
        returns="max_tokens tokens ({max_tokens}) and {max_bytes} bytes: the passage with before_tokens and "
        "after_tokens around it, one contiguous span.",
        follow_up="call again with larger numbers, or kb.search for other passages of the document.",
    ),
    input=ExpandExcerptInput,
    output=ExcerptAnswer,
    run=_expand,
)
