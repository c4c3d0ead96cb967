"""``graphctx ask``, ``search``, ``communities`` and ``cypher``: questions to a knowledge base."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from pydantic import BaseModel

from graphctx.cli.console import counted, errors_console, output_console, print_json, print_table, print_text
from graphctx.cli.options import (
    DEFAULT_KB,
    JsonOption,
    KbOption,
    ModeOption,
    PathPrefixOption,
    TagOption,
    UpdatedAfterOption,
    filters,
)
from graphctx.cli.places import DocumentFiles, uri_prefix
from graphctx.cli.show import show_answered, show_community, show_evidence, show_global, show_search, show_tree
from graphctx.errors import InvalidArgument
from graphctx.model.context import ContextInput
from graphctx.model.requests import (
    CommunitiesInput,
    GlobalSearchInput,
    LayerName,
    Mode,
    RetrieveInput,
    SearchInput,
    SearchOptions,
)

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.graph import CommunitiesAnswer, CommunityNode
    from graphctx.model.pages import Part
    from graphctx.model.results import GraphResults
    from graphctx.retrieve.searcher import Searcher

_LOCAL = ("max_quotes", "max_quote_tokens", "context_tokens", "top_k", "mode")
_GLOBAL = ("points_tokens", "max_points")
"""Options that only one kind of question has."""

_DEEPEST = 20
"""The deepest level that a request may name."""

_NO_LIMIT = 1_000_000_000
"""Tokens and bytes: output of the command line has no budget."""


def _number(option: str, model: type[BaseModel], name: str, only: str = "") -> Any:
    """Return an option for a number of a request, described by the request's field."""
    field = model.model_fields[name]
    bounds = {key: getattr(one, key) for one in field.metadata for key in ("ge", "le") if hasattr(one, key)}
    text = f"{(field.description or '').rstrip('.')}; {bounds['ge']} to {bounds['le']}."
    return typer.Option(
        field.default, option, metavar="N", help=f"{only}{text[0].lower() if only else text[0]}{text[1:]}"
    )


@contextmanager
def _published(kb: Path) -> Iterator[KnowledgeBase]:
    """Open a knowledge base; raises BackendUnavailable if nothing is published in it."""
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.retrieve.searcher import nothing_published

    with KnowledgeBase.open(kb) as base:
        if not base.snapshot_id:
            raise nothing_published()
        yield base


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, as a full sentence.")],
    kb: KbOption = DEFAULT_KB,
    max_quotes: int = _number("--max-quotes", RetrieveInput, "max_quotes"),
    max_quote_tokens: int = _number("--max-quote-tokens", RetrieveInput, "max_quote_tokens"),
    context_tokens: int = _number("--context-tokens", RetrieveInput, "include_context_tokens"),
    top_k: int = _number("--top-k", RetrieveInput, "top_k"),
    mode: ModeOption = "auto",
    whole: Annotated[
        bool, typer.Option("--global", help="Ask about the documents as a whole: points of their themes.")
    ] = False,
    points_tokens: int = _number("--points-tokens", GlobalSearchInput, "points_tokens", "With --global: "),
    max_points: int = _number("--max-points", GlobalSearchInput, "max_points", "With --global: "),
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Add counts of the stages to the JSON.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with quotes, word for word, each with its place.

    The JSON object is the output of the tool kb.retrieve_evidence, or with --global of kb.global_search.
    """
    for name in _LOCAL if whole else _GLOBAL:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            reason = (
                "has no effect with --global; use --points-tokens and --max-points." if whole else "needs --global."
            )
            raise typer.BadParameter(f"{option} {reason}", ctx)
    with _published(kb) as base:
        limits = filters(tag, uri_prefix(base, path_prefix), updated_after)
        if whole:
            points = base.global_search(
                question,
                points_tokens=points_tokens,
                max_points=max_points,
                filters=limits,
                include_diagnostics=diagnostics,
            )
            if as_json:
                print_json(points)
            else:
                show_global(output_console(), question, points, DocumentFiles(base))
            return
        answer = base.retrieve_evidence(
            question,
            top_k=top_k,
            max_quotes=max_quotes,
            max_quote_tokens=max_quote_tokens,
            include_context_tokens=context_tokens,
            mode=cast(Mode, mode),
            filters=limits,
            include_diagnostics=diagnostics,
        )
        if as_json:
            print_json(answer)
        else:
            show_evidence(output_console(), question, answer, DocumentFiles(base))


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or key words.")],
    kb: KbOption = DEFAULT_KB,
    top_k: int = _number("--top-k", SearchInput, "top_k"),
    max_per_doc: int = _number("--max-per-doc", SearchOptions, "max_per_doc"),
    max_snippet_chars: int = _number("--max-snippet-chars", SearchOptions, "max_snippet_chars"),
    scores: Annotated[bool, typer.Option("--scores", help="Add the parts of each score to the JSON.")] = False,
    mode: ModeOption = "auto",
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    as_json: JsonOption = False,
) -> None:
    """List passages that bear on a query.

    The JSON object is the output of the tool kb.search.
    """
    with _published(kb) as base:
        answer = base.search(
            query,
            top_k=top_k,
            max_per_doc=max_per_doc,
            max_snippet_chars=max_snippet_chars,
            include_scores=scores,
            mode=cast(Mode, mode),
            filters=filters(tag, uri_prefix(base, path_prefix), updated_after),
        )
        if as_json:
            print_json(answer)
        else:
            show_search(output_console(), query, answer, DocumentFiles(base))


def context(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, as a full sentence.")],
    kb: KbOption = DEFAULT_KB,
    tokens: int = _number("--tokens", ContextInput, "max_tokens"),
    flat: Annotated[bool, typer.Option("--flat", help="Take whole chunks in order of score.")] = False,
    layer: Annotated[
        list[str], typer.Option("--layer", metavar="NAME", help="Also this layer of AGENTS.db; may be repeated.")
    ] = [],
    with_memory: Annotated[
        bool, typer.Option("--with-memory", help="Also what is remembered: [memory] folder, or memory in --kb.")
    ] = False,
    memory: Annotated[
        Path | None, typer.Option("--memory", metavar="DIR", help="Also what is remembered in this folder.")
    ] = None,
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a composed context for a question: instructions, what the documents say, and the question.

    Where nothing fits the question, the context says so. The JSON object has the parts of the context, the span of each
    piece of text, the tokens of each part, and whether the question is answered: yes, near or no.
    """
    with _published(kb) as base, ExitStack() as opened_sources:
        sources = []
        if with_memory or memory:
            from graphctx.cli.memory.shared import opened
            from graphctx.memory import MemoryContextSource

            remembered = opened_sources.enter_context(opened(kb, memory))
            count = base.tokens.count
            sources.append(MemoryContextSource(remembered.store, remembered.scope, remembered.now, count))
        composed = base.compose_context(
            question,
            tokens,
            "flat" if flat else "hierarchical",
            sources=sources,
            layers=cast(list[LayerName], layer),
            filters=filters(tag, uri_prefix(base, path_prefix), updated_after),
        )
        if as_json:
            print_json(composed)
        else:
            print_text(composed.text)
            show_answered(composed)


def communities(
    community: Annotated[
        str | None, typer.Argument(metavar="COMMUNITY", help="Show this one, by its id or its title.")
    ] = None,
    kb: KbOption = DEFAULT_KB,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            min=1,
            max=_DEEPEST,
            help="Show N levels in full; by default the largest communities of one level, with --json two levels.",
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option("--level", metavar="N", min=0, max=_DEEPEST, help="Begin at this level; 0 is the broadest."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show every level, whole.")] = False,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="Only communities that hold this entity.")
    ] = None,
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the themes of the documents, from broad to fine, or what one of them says.

    The JSON object is the output of the tool graph.communities, with all levels that are shown.
    """
    from graphctx.model.arguments import parse_arguments

    if community is not None and (entity is not None or level is not None):
        raise typer.BadParameter("COMMUNITY shows one; --level and --entity choose from all. Give one or the other.")
    fields: dict[str, object] = {"level": level, "entity_id": entity}
    if community is not None:
        fields = {"community_ids": [community], "include_snippet": True}
    levels = _DEEPEST if everything else depth or (2 if as_json or community is not None else 1)
    console = output_console()
    with _published(kb) as base:
        set_fields = {name: value for name, value in fields.items() if value is not None}
        limits = filters(tag, uri_prefix(base, path_prefix), updated_after)
        request = parse_arguments(CommunitiesInput, {**set_fields, "filters": limits})
        searcher = base.searcher()
        found = searcher.communities(request)
        below = [] if entity is not None else _descendants(searcher, request, found.items, levels)
        for unresolved in found.unresolved if community is not None else ():
            several = ", ".join(f"{one.name} ({one.id})" for one in unresolved.candidates)
            raise InvalidArgument(
                f"{unresolved.asked!r} is the title of several communities. Ask by id: {several}.",
                field="community",
                value=unresolved.asked,
                near=[one.id for one in unresolved.candidates],
            )
        whole = everything or depth is not None or entity is not None
        if as_json:
            print_json(_communities_answer(base, request, found, [*found.items, *below]))
        elif not found.items:
            console.print(_why_empty(found), style="yellow")
        elif community is not None:
            [one] = found.items
            parents: Sequence[CommunityNode] = ()
            if one.parent_id:
                parents = searcher.communities(request.model_copy(update={"community_ids": [one.parent_id]})).items
            show_community(console, one, parents, DocumentFiles(base))
            if below:
                console.print()
                show_tree(console, "Below it", below, whole=whole)
        else:
            title = f"{base.project_id}: {counted(len(found.items), 'communities')}"
            title += f" of level {request.level}" if request.level else ""
            title += f" with {entity}" if entity is not None else ""
            show_tree(console, title, [*found.items, *below], whole=whole)


def _descendants(
    searcher: Searcher, request: CommunitiesInput, tops: Sequence[CommunityNode], levels: int
) -> list[CommunityNode]:
    """Return the communities below some, level by level; ``levels`` counts theirs as the first."""
    found: list[CommunityNode] = []
    parents = {top.id for top in tops}
    first = min((top.level for top in tops), default=0) + 1
    for level in range(first, min(first + levels - 1, _DEEPEST + 1)):
        every = searcher.communities(CommunitiesInput(level=level, filters=request.filters)).items
        children = [community for community in every if community.parent_id in parents]
        if not children:
            break
        found += children
        parents = {community.id for community in children}
    return found


def _communities_answer(
    base: KnowledgeBase, request: CommunitiesInput, found: GraphResults[CommunityNode], items: Sequence[CommunityNode]
) -> CommunitiesAnswer:
    """Return the output of the tool as one page."""
    from graphctx.model.budgets import Limits
    from graphctx.model.graph import CommunitiesAnswer
    from graphctx.model.pages import Pager
    from graphctx.model.requests import Scope
    from graphctx.nlp.tokens import AnswerCounter

    scope = base.searcher().boundary.narrow(Scope())
    whole = request.model_copy(update={"scope": scope, "page_size": len(items)})
    pager = Pager(Limits(_NO_LIMIT, _NO_LIMIT), AnswerCounter().count)

    def build(part: Part[CommunityNode]) -> CommunitiesAnswer:
        return CommunitiesAnswer(
            communities=part.items,
            unresolved=list(found.unresolved),
            snapshot_id=found.snapshot_id,
            **part.fields,
        )

    return pager.page(whole, replace(found, items=items), build)[0]


def _why_empty(found: GraphResults[CommunityNode]) -> str:
    if found.empty_reason == "no_communities":
        return "There are no communities: the documents name too few things together. Add some with graphctx ingest."
    if found.empty_reason in ("filtered_out", "nothing_in_scope"):
        return "No document passes the filters. Drop --tag, --path-prefix or --updated-after."
    return "No community matches; graphctx communities without --level and --entity shows all."


def cypher(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A read-only Cypher statement.")],
    kb: KbOption = DEFAULT_KB,
    param: Annotated[
        list[str],
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME, as JSON or as text; may be repeated."),
    ] = [],
    max_rows: Annotated[int, typer.Option("--max-rows", metavar="N", min=1, help="Print at most N rows.")] = 100,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop the query after this time.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a read-only Cypher statement.

    'CALL show_tables() RETURN *' lists the tables of nodes and relations, and "CALL table_info('Entity') RETURN *" the
    properties of one. The JSON object has columns, rows and truncated.
    """
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        limit = None if timeout is None else max(1, int(timeout * 1000))
        result = base.cypher(query, dict(map(_parameter, param)), timeout_ms=limit, max_rows=max_rows)
    if as_json:
        rows = [list(row) for row in result.rows]
        print_json({"columns": list(result.columns), "rows": rows, "truncated": result.truncated})
        return
    print_table(result.columns, ([_cell(value) for value in row] for row in result.rows))
    cut = ", cut; see --max-rows" if result.truncated else ""
    errors_console().print(f"{counted(len(result.rows), 'rows')}{cut}", style="dim")


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidArgument(f"--param is {text!r}; write it as NAME=VALUE.", field="param", value=text)
    return name, json_or_text(value)


def json_or_text(text: str) -> Any:
    """Return the value of JSON, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
