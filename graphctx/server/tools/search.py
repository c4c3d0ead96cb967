"""kb.search: a short list of passages with previews, never their text (tool contract, section 4.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from graphctx.model.answers import SearchAnswer
from graphctx.model.assemble import search_answer
from graphctx.model.requests import SearchInput
from graphctx.server.call_context import CallContext
from graphctx.server.render import citation, head, how_named, mark_line, more, note_lines, quoted, respelt, why_empty
from graphctx.server.tool import Description, Reply, Tool


def _run(context: CallContext, request: SearchInput) -> Reply[SearchAnswer]:
    found = context.searcher.search(request)
    results = [
        result.model_copy(
            update={"passage_id": passage.passage_id, "scratch_uri": passage.uri, "size_bytes": passage.size_bytes}
        )
        for result, passage in zip(found.items, context.passages(found), strict=True)
    ]
    return Reply(*search_answer(context.pager, request, replace(found, items=results), partial(_text, context)))


def _text(context: CallContext, answer: SearchAnswer) -> str:
    """Return the previews below their citations."""
    start = f"{head(answer, len(answer.results), 'result')}."
    if answer.empty_reason:
        return "\n\n".join([f"{start} {why_empty(answer)}", *respelt(answer.read_as), *note_lines(answer.layer_notes)])
    blocks = [start]
    for result in answer.results:
        where = citation(result.title, result.heading, result.doc_uri, result.line, result.page)
        mark = f"\n{mark_line(result.layer)}" if result.layer else ""
        blocks.append(f"[{result.rank}] {where}\nsection {result.section_id}{mark}\n{quoted(result.preview)}")
    blocks += [*respelt(answer.read_as), *note_lines(answer.layer_notes), *more(context, answer, "kb.search")]
    follow = "These are previews. Text: kb.read_excerpt with "
    return "\n\n".join([*blocks, context.say(follow + how_named(context))])


SEARCH = Tool(
    name="kb.search",
    toolset="kb",
    title="Search the documents",
    description=Description(
        use_when="you want to see which documents and sections bear on a topic, or to choose passages yourself.",
        not_when="you have a question to answer: kb.retrieve_evidence finds and quotes in one call.",
        returns="top_k results ({top_k}), each with a preview of one to three sentences, word for word, never whole "
        "sections, within {response}.",
        follow_up="call kb.read_excerpt with a result's section_id, or again with next_cursor.",
    ),
    input=SearchInput,
    output=SearchAnswer,
    run=_run,
)
