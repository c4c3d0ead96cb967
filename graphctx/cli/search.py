"""``graphctx search``: passages that bear on a query, with previews."""

from __future__ import annotations

from typing import Annotated, cast

import typer

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


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question or key words.")],
    kb: KbOption = DEFAULT_KB,
    top_k: Annotated[int, typer.Option("--top-k", metavar="N", help="Most results in all (1 to 50).")] = 5,
    max_per_doc: Annotated[
        int, typer.Option("--max-per-doc", metavar="N", help="Most results from one document (1 to 20).")
    ] = 1,
    max_snippet_chars: Annotated[
        int, typer.Option("--max-snippet-chars", metavar="N", help="Longest preview (40 to 1000).")
    ] = 280,
    scores: Annotated[bool, typer.Option("--scores", help="Add the parts of each score to the JSON.")] = False,
    mode: ModeOption = "auto",
    tag: TagOption = [],  # noqa: B006 - typer copies the default
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    as_json: JsonOption = False,
) -> None:
    """List passages that bear on a query.

    The JSON object is the output of the tool kb.search.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.places import uri_prefix
    from graphctx.cli.show import show_search
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.requests import Mode
    from graphctx.retrieve.searcher import nothing_published

    with KnowledgeBase.open(kb) as base:
        if not base.snapshot_id:
            raise nothing_published()
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
            show_search(output_console(), query, answer, base.config.sources)
