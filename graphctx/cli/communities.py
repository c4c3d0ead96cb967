"""``graphctx communities``: what the documents are about, as a tree, or one theme of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.options import (
    DEFAULT_KB,
    JsonOption,
    KbOption,
    PathPrefixOption,
    TagOption,
    UpdatedAfterOption,
    filters,
)

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.graph import CommunitiesAnswer, CommunityNode
    from graphctx.model.pages import Part
    from graphctx.model.requests import CommunitiesInput
    from graphctx.model.results import GraphResults
    from graphctx.retrieve.searcher import Searcher

_DEPTH = 2
_NO_LIMIT = 1_000_000_000
"""Tokens and bytes: a command line reads as much as there is."""


def communities(
    community: Annotated[
        str | None, typer.Argument(metavar="COMMUNITY", help="Show this one, by its id or its title.")
    ] = None,
    kb: KbOption = DEFAULT_KB,
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=20, help="How many levels to show.")
    ] = _DEPTH,
    level: Annotated[
        int | None, typer.Option("--level", metavar="N", min=0, max=20, help="Begin at this level; 0 is the broadest.")
    ] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="Only those that hold this entity.")
    ] = None,
    tag: TagOption = [],  # noqa: B006 - typer copies the default
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the themes of the documents, from broad to fine, or what one of them says.

    The JSON object is the output of the tool graph.communities, with all levels that are shown.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.places import uri_prefix
    from graphctx.cli.show_global import show_community, show_tree
    from graphctx.errors import InvalidArgument
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.arguments import parse_arguments
    from graphctx.model.requests import CommunitiesInput
    from graphctx.retrieve.searcher import nothing_published

    if community is not None and (entity is not None or level is not None):
        raise typer.BadParameter("COMMUNITY shows one; --level and --entity choose from all. Give one or the other.")
    given: dict[str, object] = {"level": level, "entity_id": entity} if community is None else {}
    if community is not None:
        given |= {"community_ids": [community], "include_snippet": True}
    given = {name: value for name, value in given.items() if value is not None}
    console = output_console()
    with KnowledgeBase.open(kb) as base:
        if not base.snapshot_id:
            raise nothing_published()
        given |= {"filters": filters(tag, uri_prefix(base, path_prefix), updated_after)}
        request = parse_arguments(CommunitiesInput, given)
        searcher = base.searcher()
        found = searcher.communities(request)
        below = [] if entity is not None else _below(searcher, request, found.items, depth)
        if community is not None:
            for unresolved in found.unresolved:
                several = ", ".join(f"{one.name} ({one.id})" for one in unresolved.candidates)
                raise InvalidArgument(
                    f"{unresolved.asked!r} is the title of several communities. Ask by id: {several}.",
                    field="community",
                    value=unresolved.asked,
                    near=[one.id for one in unresolved.candidates],
                )
        if as_json:
            print_json(_answer(base, request, found, [*found.items, *below]))
        elif not found.items:
            console.print(_why_empty(found), style="yellow", soft_wrap=True)
        elif community is not None:
            [one] = found.items
            parents = [one.parent_id] if one.parent_id else []
            above = searcher.communities(request.model_copy(update={"community_ids": parents})).items if parents else ()
            show_community(console, one, above, base.config.sources)
            if below:
                console.print()
                show_tree(console, "Below it", below)
        else:
            n = len(found.items)
            of = f" of level {request.level}" if request.level else ""
            holding = f" with {entity}" if entity is not None else ""
            what = "community" if n == 1 else "communities"
            show_tree(console, f"{base.project_id}: {n} {what}{of}{holding}", [*found.items, *below])


def _below(
    searcher: Searcher, request: CommunitiesInput, tops: Sequence[CommunityNode], depth: int
) -> list[CommunityNode]:
    """The communities below some, down to a depth that counts these as the first level, level by level."""
    from graphctx.model.requests import CommunitiesInput

    found: list[CommunityNode] = []
    inside = {top.id for top in tops}
    for level in range(min((top.level for top in tops), default=0) + 1, 21):
        if depth <= 1:
            break
        depth -= 1
        here = searcher.communities(CommunitiesInput(level=level, filters=request.filters)).items
        kept = [community for community in here if community.parent_id in inside]
        if not kept:
            break
        found += kept
        inside = {community.id for community in kept}
    return found


def _answer(
    base: KnowledgeBase, request: CommunitiesInput, found: GraphResults[CommunityNode], items: Sequence[CommunityNode]
) -> CommunitiesAnswer:
    """The output of the tool, uncut: the command line has no pages."""
    from graphctx.model.budgets import Limits
    from graphctx.model.graph import CommunitiesAnswer
    from graphctx.model.pages import Pager
    from graphctx.model.requests import Scope
    from graphctx.model.scope import Boundary
    from graphctx.nlp.tokens import AnswerCounter

    server = base.settings.server
    scope = Boundary(base.project_id, base.environment, server.doc_tags, server.repositories).narrow(Scope())
    whole = request.model_copy(update={"scope": scope, "page_size": len(items)})
    pager = Pager(Limits(_NO_LIMIT, _NO_LIMIT), AnswerCounter().count)

    def build(part: Part[CommunityNode]) -> CommunitiesAnswer:
        return CommunitiesAnswer(
            communities=part.items,
            unresolved=list(found.unresolved),
            snapshot_id=found.snapshot_id,
            **part.said,
        )

    return pager.page(whole, replace(found, items=items), build)[0]


def _why_empty(found: GraphResults[CommunityNode]) -> str:
    if found.empty_reason == "no_communities":
        return "There are no communities: the documents name too few things together. Add some with graphctx ingest."
    if found.empty_reason in ("filtered_out", "nothing_in_scope"):
        return "No document passes the filters. Drop --tag, --path-prefix or --updated-after."
    return "There is none of this kind; graphctx communities without --level and --entity shows all."
