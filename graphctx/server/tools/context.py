"""search_context, optimize_context and index_directory: sections by level, texts made shorter, folders read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.model.answers import Answer, Answered, Budget, LimitReason, ListAnswer
from graphctx.model.budgets import weigh
from graphctx.model.context import (
    ContextSection,
    OptimizeContextInput,
    OptimizedContext,
    SearchContextInput,
)
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import Label, Request
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.render import ONLY_NEAR, citation, head, joined, more, one_line, quoted, unheld, why_empty
from graphctx.server.tool import AnyTool, Description, Reply, Tool
from graphctx.text.graphemes import cut_end, first_end

if TYPE_CHECKING:
    from graphctx.ingest.report import Progress

LEVEL_NAMES = {1: "concept", 2: "section", 3: "chunk", 4: "exact match"}

INDEX_SECONDS = 3600.0
"""An ingest goes on where its client waits; the published snapshot serves meanwhile."""

_SMALLER = 0.9
"""A text that is too long for an answer is made shorter by at least this much each time."""


class SearchContextAnswer(ListAnswer):
    """Output of search_context."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"nearest", "unknown_words"}

    answered: Answered = Field(
        "no", description="Whether what was found fits the query: yes; near if it only comes near; no if it is nothing."
    )
    results: list[ContextSection]
    nearest: list[str] = Field([], description="With no_evidence: URIs of the documents that come nearest.")
    unknown_words: list[str] = Field([], description="Key words of the question that no document holds.")
    snapshot_id: str


class OptimizeContextAnswer(OptimizedContext):
    """Output of optimize_context."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"limit_reason"})

    truncated: bool = False
    limit_reason: LimitReason = "none"
    budget: Budget


class IndexDirectoryInput(Request):
    """Arguments of index_directory."""

    path: str = Field(min_length=1, max_length=4000, description="A folder on the server's machine.")
    file_patterns: list[Label] = Field(
        ["*.md", "*.py", "*.yaml"], min_length=1, max_length=100, description="Names of the files to read."
    )


class IndexDirectoryAnswer(Answer):
    """Output of index_directory."""

    indexed: int = Field(description="Documents that were added or replaced.")
    unchanged: int
    skipped: int
    documents: int = Field(description="Documents of the knowledge base.")
    snapshot_id: str


def _search(context: CallContext, asked: SearchContextInput) -> Reply[SearchContextAnswer]:
    from graphctx.context import HierarchicalRetriever
    from graphctx.nlp.tokens import AnswerCounter

    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    found = HierarchicalRetriever(context.searcher, AnswerCounter(), context.config.context_settings).retrieve(request)
    listing = Results(
        items=found.sections,
        snapshot_id=context.searcher.snapshot_id,
        empty_reason=found.empty_reason,
        filtered_by=found.filtered_by,
    )

    def build(part: Part[ContextSection]) -> SearchContextAnswer:
        return SearchContextAnswer(
            answered=found.answered,
            results=part.items,
            nearest=list(found.nearest),
            unknown_words=list(found.unknown_words),
            snapshot_id=listing.snapshot_id,
            **part.fields,
        )

    return Reply(*context.pager.page(request, listing, build, lambda made: _sections_text(context, made), _SHORTER))


def _shorter(section: ContextSection, max_chars: int) -> ContextSection:
    end = max(cut_end(section.content, 0, max_chars), first_end(section.content, 0))
    place = section.metadata | {"end_char": section.metadata["start_char"] + end, "truncated": True}
    return section.model_copy(update={"content": section.content[:end], "metadata": place})


_SHORTER: Shorten[ContextSection] = Shorten(lambda section: len(section.content), _shorter)


def _sections_text(context: CallContext, answer: SearchContextAnswer) -> str:
    start = head(answer, len(answer.results), "section")
    if answer.empty_reason:
        less = " A smaller min_relevance may show what comes near." if answer.empty_reason == "no_evidence" else ""
        near = f" Closest documents (weak matches): {joined(answer.nearest, ', ')}." if answer.nearest else ""
        return "\n\n".join([f"{start}. {why_empty(answer)}{near}{less}", *unheld(answer.unknown_words)])
    blocks = [f"{start}, broad ones first, word for word."]
    for section in answer.results:
        place = section.metadata
        where = citation(place["title"], place["heading"], place["doc_uri"], place["line"], place.get("page"))
        name = f" {one_line(section.label)};" if section.hierarchy_level == 1 else ""
        ids = f"section {place['section_id']}, relevance {section.relevance_score:.2f}"
        blocks.append(f"[{LEVEL_NAMES[section.hierarchy_level]}]{name} {where}\n{ids}\n{quoted(section.content)}")
    if answer.answered == "near":
        blocks.append(ONLY_NEAR)
    return "\n\n".join([*blocks, *unheld(answer.unknown_words), *more(context, answer, "search_context")])


def _optimize(context: CallContext, request: OptimizeContextInput) -> Reply[OptimizeContextAnswer]:
    from graphctx.context import ContextOptimizer
    from graphctx.nlp.tokens import AnswerCounter

    limits, target, cut = context.config.limits, request.target_tokens, None
    published, tokens = context.searcher.published, AnswerCounter()
    embedder = published.embedder if published is not None else None
    optimizer = ContextOptimizer(request.current_context, tokens, request.query or "", embedder)
    while True:
        found = optimizer.fit(target)
        answer = OptimizeContextAnswer(
            **found.model_dump(),
            truncated=cut is not None,
            limit_reason=cut or "none",
            budget=limits.placeholder(),
        )
        sent = context.payload_parts(_optimized_text(answer), answer.model_dump_json(context=context.form))
        weight = weigh(sent, context.count) + limits.reserve
        over = limits.exceeded_by(weight)
        if over is None or target == 1:
            break
        share = min(limits.max_tokens / weight.tokens, limits.max_bytes / weight.bytes, _SMALLER)
        cut, target = over, max(1, int(min(target, found.tokens) * share))
    answer = answer.model_copy(update={"budget": limits.report(weight)})
    return Reply(answer, _optimized_text(answer))


def _optimized_text(answer: OptimizeContextAnswer) -> str:
    """Return the shortened text behind a line about it."""
    said = [f"{answer.tokens} of {answer.source_tokens} tokens are kept, word for word."]
    if answer.repeated:
        said.append(f"Repeated and left out: {answer.repeated}.")
    if answer.cut:
        said.append("Not whole: " + ", ".join(f"{kind} {count}" for kind, count in answer.cut.items()) + ".")
    if answer.limit_reason != "none":
        said.append("The limit of an answer allows no more.")
    return f"{' '.join(said)}\n\n{answer.text}"


def _not_a_folder(path: str) -> InvalidArgument:
    return InvalidArgument(
        f"path = {path[:200]!r} is not a folder.", field="path", value=path[:200], allowed="an existing folder"
    )


def _index(context: CallContext, request: IndexDirectoryInput) -> Reply[IndexDirectoryAnswer]:
    context.require_writer("the knowledge base")
    try:
        folder = Path(request.path).resolve()
    except (OSError, RuntimeError, ValueError):  # a NUL, a lone surrogate, a loop of links
        raise _not_a_folder(request.path) from None
    roots = [Path(root).expanduser().resolve() for root in context.config.index_roots]
    if context.ingest is None or not any(folder.is_relative_to(root) for root in roots):
        raise ScopeViolation(
            f"path = {request.path[:200]!r} is not below a folder that this server may read. The operator names such "
            "folders by [server] index_roots.",
            field="path",
            value=request.path[:200],
            allowed="a folder below [server] index_roots",
        )
    if not os.path.isdir(folder):  # noqa: PTH112 - `Path.is_dir` raises for names that are too long
        raise _not_a_folder(request.path)

    def on_progress(progress: Progress) -> None:
        context.say_progress(f"indexing: {progress.step} {progress.done} of {progress.total}")

    try:
        report = context.ingest(folder, include=request.file_patterns, processes=1, on_progress=on_progress)
    except InvalidArgument as error:
        message = error.message.replace(str(folder), folder.name)
        if "include" in error.details:
            patterns, allowed = request.file_patterns, "patterns of file names, such as *.md"
            raise InvalidArgument(message, field="file_patterns", value=patterns, allowed=allowed) from None
        allowed = "a folder with files that can be read"
        raise InvalidArgument(message, field="path", value=request.path[:200], allowed=allowed) from None
    answer = IndexDirectoryAnswer(
        indexed=report.added + report.replaced,
        unchanged=report.unchanged,
        skipped=len(report.skipped),
        documents=report.documents,
        snapshot_id=report.snapshot_id,
    )
    text = (
        f"{answer.indexed} documents were indexed, {answer.unchanged} are unchanged and {answer.skipped} were skipped; "
        f"the knowledge base has {answer.documents}."
    )
    return Reply(answer, text)


SEARCH_CONTEXT = Tool(
    name="search_context",
    toolset="context",
    title="Search for context, from concepts to exact matches",
    description=Description(
        use_when="you want to see first which themes and sections bear on a question, and then the detail.",
        not_when="you want the sentences that answer it: kb.retrieve_evidence quotes them.",
        returns="{max_results} sections of relevance {min_relevance} or more, concepts first, word for word, within "
        "{response}.",
        follow_up="repeat with next_cursor, a smaller min_relevance or larger max_results.",
    ),
    input=SearchContextInput,
    output=SearchContextAnswer,
    run=_search,
)

OPTIMIZE_CONTEXT = Tool(
    name="optimize_context",
    toolset="context",
    title="Shorten a text to what bears on a question",
    description=Description(
        use_when="a text is too long for the room that is left: a conversation, retrieved passages, a document.",
        not_when="the text is to be summed up in other words: sentences are kept or left out, and never rewritten.",
        returns="{target_tokens} tokens of the text in its order, with a map to where each span was, within "
        "{response}.",
        follow_up="repeat with a query, or with the text in parts.",
    ),
    input=OptimizeContextInput,
    output=OptimizeContextAnswer,
    run=_optimize,
)

INDEX_DIRECTORY = Tool(
    name="index_directory",
    toolset="context",
    title="Read a folder into the knowledge base",
    description=Description(
        use_when="a folder has documents that the knowledge base lacks or has in an older form.",
        not_when="the operator has named no folder that may be read ([server] index_roots), or only a search is asked "
        "for.",
        returns="the counts of one ingest; unchanged documents are not worked on again.",
        follow_up="search again: the new snapshot serves the next call.",
    ),
    input=IndexDirectoryInput,
    output=IndexDirectoryAnswer,
    run=_index,
    effect="append_once",
    timeout_seconds=INDEX_SECONDS,
)

CONTEXT_TOOLS: tuple[AnyTool, ...] = (SEARCH_CONTEXT, OPTIMIZE_CONTEXT, INDEX_DIRECTORY)
