"""``graphctx layers search``: the union of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.layers.listing import KindOption, LiveOption
from graphctx.cli.layers.places import DirOption, folder_of, stack_of
from graphctx.cli.options import JsonOption

if TYPE_CHECKING:
    from graphctx.layers import LayerAnswer, LayerHit

_LINES = 12  # of a hit's content


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in quotes.")],
    layers: Annotated[
        list[str],
        typer.Option(
            "--layer",
            metavar="LAYER|FILE",
            help="Search this layer (base, user, delta, local), this file, or user=FILE; may be repeated.",
        ),
    ] = [],  # noqa: B006
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", min=1, help="At most so many chunks.")] = 5,
    kind: KindOption = [],  # noqa: B006
    live: LiveOption = False,
    metric: Annotated[
        str, typer.Option("--metric", metavar="cosine|dot", help="How vectors are compared; with dot, words are not.")
    ] = "cosine",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search layers together: by the vectors that their profile allows, by the words of the query, and for its text.

    Where layers disagree, it says so; nothing is settled. The JSON object has the fields of the tool agents_search:
    chunks, each with its whole content, layers_searched, layers_absent, conflicts and notes.
    """
    from graphctx.cli.console import print_json
    from graphctx.cli.layers.shown import conflict_json

    stack = stack_of(layers, folder_of(dir_))
    answer = stack.search(query, k, kinds=kind, layers=list(stack.paths), live=live, metric=cast(Any, metric))
    if as_json:
        print_json(
            {
                "query": query,
                "chunks": [_hit(rank, hit) for rank, hit in enumerate(answer.hits, start=1)],
                "layers_searched": list(answer.searched),
                "layers_absent": list(answer.absent),
                "conflicts": [conflict_json(conflict) for conflict in answer.conflicts],
                "notes": list(answer.notes),
            }
        )
    else:
        _show(query, answer, kind)


def _hit(rank: int, hit: LayerHit) -> dict[str, Any]:
    from graphctx.cli.layers.shown import chunk_json, retractions_json

    return {
        "rank": rank,
        "layer": hit.layer,
        **chunk_json(hit.chunk),
        "score": hit.score,
        "similarity": hit.similarity,
        "coverage": hit.coverage,
        "verbatim": hit.verbatim,
        "revisions": hit.revisions,
        "retracted_by": retractions_json(hit.retracted_by),
    }


def _show(query: str, answer: LayerAnswer, kinds: list[str]) -> None:
    from graphctx.cli.console import errors_console, output_console
    from graphctx.cli.layers.shown import conflict_text, remarks, show_chunk

    console = output_console()
    console.print(f"Query: {query}\n", style="bold", soft_wrap=True)
    for hit in answer.hits:
        note = ", ".join(part for part in (f"score {hit.score:.3f}", remarks(hit.revisions, hit.retracted_by)) if part)
        show_chunk(console, hit.layer, hit.chunk, note=note, lines=_LINES)
    if not answer.hits:
        of_kinds = f" of kind {', '.join(kinds)}" if kinds else ""
        console.print(f"There are no chunks{of_kinds} in {', '.join(answer.searched)}.", style="yellow", soft_wrap=True)
    for conflict in answer.conflicts:
        console.print(f"conflict: {conflict_text(conflict)}", style="yellow", soft_wrap=True)
    for note in answer.notes:
        errors_console().print(note, style="dim", soft_wrap=True)
