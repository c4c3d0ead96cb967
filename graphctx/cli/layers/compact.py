"""``graphctx layers compact``: layers folded into a new base layer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.layers.approval import approved
from graphctx.cli.layers.places import DirOption, YesOption, folder_of, stack_in
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.layers import Compacted, LayerName, LayerStack


def compact(
    layers: Annotated[
        list[str],
        typer.Argument(metavar="LAYER", help="Layers to fold into the base layer; user by default."),
    ] = [],  # noqa: B006
    yes: YesOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fold the user layer into a new base layer, and archive the files that went into it.

    The new file takes the place of AGENTS.db whole; the old one and the folded layers go to agents-archive. A person
    or CI (--yes) approves it. The JSON object has chunks, folded, dropped_revisions, renumbered and archived.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import counted
    from graphctx.cli.places import shown_path
    from graphctx.layers import compact as compacted

    folder = folder_of(dir_)
    stack = stack_in(folder)
    folded = _wanted(stack, layers)
    _preview(stack, folded)
    names = " ".join(layers)
    command = f"graphctx layers compact {names}".rstrip()
    if approved(f"Fold {' and '.join(folded)} into a new base layer?", yes=yes, command=command) is None:
        if as_json:
            print_json({"refused": True})
        else:
            output_console().print("Nothing was done.", style="yellow")
        raise typer.Exit(1)
    done = compacted(stack, folded)
    if as_json:
        print_json(_json(done))
        return
    console = output_console()
    counts = ", ".join(f"{count:,} from {name}" for name, count in done.folded.items())
    console.print(
        f"{shown_path(folder / 'AGENTS.db')}: {counted(done.chunks, 'chunk')}, {counts}", style="bold", soft_wrap=True
    )
    for layer, before, after in done.renumbered:
        console.print(f"  {layer} {before} is {after} now, since its id was another chunk's", soft_wrap=True)
    if done.dropped_revisions:
        console.print(f"  in the archive only: {counted(done.dropped_revisions, 'older record')}", soft_wrap=True)
    console.print(f"archived: {', '.join(done.archived)}", soft_wrap=True)
    warn_of_signature(folder / "AGENTS.db")


def warn_of_signature(path: Path) -> None:
    """Say that a file's signature, if it has one, is of the file that was there before."""
    from graphctx.cli.console import errors_console

    if Path(f"{path}.sig").is_file():
        errors_console().print(
            f"{path.name}.sig is of the file that was there before: sign again.", style="yellow", soft_wrap=True
        )


def _wanted(stack: LayerStack, layers: list[str]) -> list[LayerName]:
    from graphctx.layers import FILES, layer_named

    wanted: list[LayerName] = [name for name in dict.fromkeys(map(layer_named, layers or ["user"])) if name != "base"]
    if not wanted:
        raise InvalidArgument("The base layer alone is compact already. Name user, or leave the names out.")
    there: list[LayerName] = [name for name in wanted if stack.view(name) is not None]
    if missing := [FILES[name] for name in wanted if name not in there]:
        raise InvalidArgument(
            f"There is no {' and no '.join(missing)} to fold into the base layer. graphctx layers promote fills the "
            "user layer.",
            missing=missing,
        )
    return there


def _preview(stack: LayerStack, folded: list[LayerName]) -> None:
    from graphctx.cli.console import errors_console
    from graphctx.cli.layers.shown import counted
    from graphctx.layers import proposals

    console = errors_console()
    base = stack.view("base")
    counts = {"base": len(base.records) if base is not None else 0}
    counts |= {name: len(view.records) for name, view in stack.views(folded).items()}
    console.print(", ".join(f"{name}: {counted(count, 'chunk')}" for name, count in counts.items()), soft_wrap=True)
    if unapproved := [name for name in folded if name in ("delta", "local")]:
        console.print(
            f"{' and '.join(unapproved)}: nobody has approved these chunks yet, and the base layer is canonical.",
            style="yellow",
            soft_wrap=True,
        )
    if "delta" in folded and (pending := proposals(stack, "pending")):
        console.print(f"Pending: {counted(len(pending), 'proposal')}.", style="yellow", soft_wrap=True)


def _json(done: Compacted) -> dict[str, Any]:
    return {
        "chunks": done.chunks,
        "folded": dict(done.folded),
        "dropped_revisions": done.dropped_revisions,
        "renumbered": [{"layer": layer, "id": before, "new_id": after} for layer, before, after in done.renumbered],
        "archived": list(done.archived),
    }
