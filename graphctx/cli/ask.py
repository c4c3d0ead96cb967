"""``graphctx ask``: a question in, exact quotes with citations out."""

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

_LOCAL = ("max_quotes", "max_quote_tokens", "context_tokens", "top_k", "mode")
_GLOBAL = ("points_tokens", "max_points")
"""The options of one kind of question, which mean nothing to the other."""


def ask(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question, as a full sentence.")],
    kb: KbOption = DEFAULT_KB,
    max_quotes: Annotated[int, typer.Option("--max-quotes", metavar="N", help="Most quotes in all (1 to 20).")] = 6,
    max_quote_tokens: Annotated[
        int, typer.Option("--max-quote-tokens", metavar="N", help="Longest quote, in tokens (8 to 200).")
    ] = 80,
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", metavar="N", help="Tokens of text around a quote (0 to 100).")
    ] = 20,
    top_k: Annotated[int, typer.Option("--top-k", metavar="N", help="From how many passages to quote.")] = 5,
    mode: ModeOption = "auto",
    whole: Annotated[
        bool,
        typer.Option(
            "--global",
            help="Ask about the documents as a whole: points of their themes.",
        ),
    ] = False,
    points_tokens: Annotated[
        int,
        typer.Option(
            "--points-tokens",
            metavar="N",
            help="With --global: tokens of all points together (50 to 4000).",
        ),
    ] = 1000,
    max_points: Annotated[
        int,
        typer.Option("--max-points", metavar="N", help="With --global: most points in all (1 to 100)."),
    ] = 40,
    tag: TagOption = [],  # noqa: B006 - typer copies the default
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Add counts of the stages to the JSON.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with quotes, word for word, each with its place.

    The JSON object is the output of the tool kb.retrieve_evidence, or with --global of kb.global_search.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.places import uri_prefix
    from graphctx.cli.show import show_evidence
    from graphctx.cli.show_global import show_global
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.requests import Mode
    from graphctx.retrieve.searcher import nothing_published

    _check_options(ctx, whole)
    with KnowledgeBase.open(kb) as base:
        if not base.snapshot_id:
            raise nothing_published()
        chosen = filters(tag, uri_prefix(base, path_prefix), updated_after)
        if whole:
            points = base.global_search(
                question,
                points_tokens=points_tokens,
                max_points=max_points,
                filters=chosen,
                include_diagnostics=diagnostics,
            )
            if as_json:
                print_json(points)
            else:
                show_global(output_console(), question, points, base.config.sources)
            return
        answer = base.retrieve_evidence(
            question,
            top_k=top_k,
            max_quotes=max_quotes,
            max_quote_tokens=max_quote_tokens,
            include_context_tokens=context_tokens,
            mode=cast(Mode, mode),
            filters=chosen,
            include_diagnostics=diagnostics,
        )
        if as_json:
            print_json(answer)
        else:
            show_evidence(output_console(), question, answer, base.config.sources)


def _check_options(ctx: typer.Context, whole: bool) -> None:
    """Refuse options of the other kind of question, as bad usage."""
    for name in _LOCAL if whole else _GLOBAL:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = f"--{name.replace('_', '-')}"
            raise typer.BadParameter(
                f"{option} has no meaning with --global; --points-tokens and --max-points say how much is answered."
                if whole
                else f"{option} needs --global.",
                ctx,
            )
