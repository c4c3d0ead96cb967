"""kb.headings: the headings of a document. The toy of the recipe for a tool: one file."""

from __future__ import annotations

from pydantic import Field

from graphctx.model.answers import Answer, ListAnswer
from graphctx.model.requests import NodeRef, PagedInput
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.render import head, more, one_line, why_empty
from graphctx.server.tool import Description, Reply, Tool


class HeadingsInput(PagedInput):
    """Arguments of kb.headings."""

    doc_uri: NodeRef = Field(description="A document by its URI or id.")
    page_size: int = Field(30, ge=1, le=100, description="How many headings per call.")


class Heading(Answer):
    """A heading of a document."""

    section_id: str
    title: str


class HeadingsAnswer(ListAnswer):
    """Output of kb.headings."""

    headings: list[Heading]


def _run(context: CallContext, asked: HeadingsInput) -> Reply[HeadingsAnswer]:
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    reference = context.section_id(request.doc_uri, "doc_uri")
    outline = context.searcher.catalog.document(reference, request.scope).outline
    headings = [Heading(section_id=entry.section_id, title=entry.title) for entry in outline]
    found = Results(
        items=headings,
        snapshot_id=context.searcher.snapshot_id,
        empty_reason=None if headings else "no_match",
    )
    page = context.pager.page(
        request,
        found,
        lambda part: HeadingsAnswer(headings=part.items, **part.fields),
        lambda answer: _text(context, answer),
    )
    return Reply(*page)


def _text(context: CallContext, answer: HeadingsAnswer) -> str:
    """Return the headings, one a line."""
    start = f"{head(answer, len(answer.headings), 'heading')}."
    if answer.empty_reason:
        return f"{start} {why_empty(answer)}"
    lines = [f"section {heading.section_id}: {one_line(heading.title)}" for heading in answer.headings]
    return "\n\n".join([start, "\n".join(lines), *more(context, answer, "kb.headings")])


HEADINGS = Tool(
    name="kb.headings",
    toolset="kb",
    title="List headings",
    description=Description(
        use_when="you want the headings of a document.",
        not_when="you look for something in it: kb.search finds it.",
        returns="page_size headings ({page_size}).",
        follow_up="repeat the call with next_cursor.",
    ),
    input=HeadingsInput,
    output=HeadingsAnswer,
    run=_run,
)
