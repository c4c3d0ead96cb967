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


def ask(
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
    tag: TagOption = [],  # noqa: B006 - typer copies the default
    path_prefix: PathPrefixOption = None,
    updated_after: UpdatedAfterOption = None,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="Add counts of the stages to the JSON.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with quotes, word for word, each with its place.

    The JSON object is the output of the tool kb.retrieve_evidence.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.show import show_evidence
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.requests import Mode
    from graphctx.published import nothing_published

    with KnowledgeBase.open(kb) as base:
        if not base.snapshot_id:
            raise nothing_published()
        answer = base.retrieve_evidence(
            question,
            top_k=top_k,
            max_quotes=max_quotes,
            max_quote_tokens=max_quote_tokens,
            include_context_tokens=context_tokens,
            mode=cast(Mode, mode),
            filters=filters(tag, path_prefix, updated_after),
            include_diagnostics=diagnostics,
        )
        if as_json:
            print_json(answer)
        else:
            show_evidence(output_console(), question, answer, base.config.sources)
