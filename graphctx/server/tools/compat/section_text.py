"""get_section_text: the texts of several sections, each bounded as an excerpt is (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.assemble import start_of
from graphctx.model.compat import GetSectionTextInput, SectionText, SectionTextAnswer
from graphctx.model.found import Listing
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import MAX_EXCERPT_TOKENS
from graphctx.server.call_context import CallContext
from graphctx.server.clip import clip_end
from graphctx.server.quoting import quoted
from graphctx.server.render import citation, searched
from graphctx.server.scratch import Passage
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.compat.wrapper import in_older_names, older_description


def _run(context: CallContext, asked: GetSectionTextInput) -> Reply[SectionTextAnswer]:
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    passages = [context.passage(ref, request.scope, "section_ids") for ref in asked.section_ids]
    held = {passage.unit.section_id: passage for passage in passages}
    sections = [_section(context, passage, request.max_bytes_per) for passage in held.values()]
    listing = Listing(items=sections, snapshot_id=context.searcher.snapshot_id)

    def build(part: Part[SectionText]) -> SectionTextAnswer:
        cut = part.truncated or any(section.truncated for section in part.items)
        return SectionTextAnswer(
            sections=part.items, snapshot_id=listing.snapshot_id, **part.fields | {"truncated": cut}
        )

    return Reply(*context.pager.page(request, listing, build, _text, _SHORTER))


def _section(context: CallContext, passage: Passage, max_bytes: int) -> SectionText:
    unit = passage.unit
    text = unit.text[: clip_end(unit.text, MAX_EXCERPT_TOKENS, max_bytes, context.count).length]
    cut = len(text) < len(unit.text)
    return SectionText(
        section_id=unit.section_id,
        passage_id=passage.passage_id,
        doc_id=unit.doc_id,
        doc_uri=unit.doc_uri,
        doc_tag=",".join(unit.tags),
        title=unit.title,
        heading=unit.heading,
        text=text,
        truncated=cut,
        next_start_char=len(text) if cut else None,
        start_char=unit.start_char,
        end_char=unit.start_char + len(text),
        line=unit.line,
        page=unit.page(unit.start_char),
        anchor=unit.anchor,
        size_bytes=passage.size_bytes,
    )


def _shorter(section: SectionText, max_chars: int) -> SectionText:
    text = start_of(section.text, max_chars)
    if len(text) == len(section.text):
        return section
    return section.model_copy(
        update={
            "text": text,
            "end_char": section.start_char + len(text),
            "truncated": True,
            "next_start_char": len(text),
        }
    )


def _text(answer: SectionTextAnswer) -> str:
    """Each text below its citation, then what is missing."""
    blocks = [f"{len(answer.sections)} sections from {searched(answer.scope)}, word for word."]
    for section in answer.sections:
        where = citation(section.title, section.heading, section.doc_uri, section.line, section.page)
        rest = f"\nThe section goes on at character {section.next_start_char}." if section.truncated else ""
        blocks.append(f"{where}\nsection {section.section_id}\n{quoted(section.text)}{rest}")
    if answer.next_cursor is not None:
        blocks.append(
            f"Cut ({answer.limit_reason}). For the other sections, repeat get_section_text with "
            f"cursor={answer.next_cursor}"
        )
    return "\n\n".join(blocks)


_SHORTER: Shorten[SectionText] = Shorten(lambda section: len(section.text), _shorter)

GET_SECTION_TEXT = Tool(
    name="get_section_text",
    toolset="compat",
    title="Read sections (older name)",
    description=older_description(
        "get_section_text",
        "kb.read_excerpt",
        GetSectionTextInput,
        returns="max_bytes_per bytes (8192) and 800 tokens of each section, word for word",
    ),
    input=GetSectionTextInput,
    output=SectionTextAnswer,
    run=in_older_names(_run),
)
