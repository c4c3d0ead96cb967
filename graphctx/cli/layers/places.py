"""Which layer files a command is about: those of a folder, layers by their names, or files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.layers import LayerName, LayerStack

FILE_NAMES = ("AGENTS.db", "AGENTS.user.db", "AGENTS.delta.db", "AGENTS.local.db")
"""As `graphctx.layers.FILES` has them, which loads more than a help page should."""

DirOption = Annotated[
    Path | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="The folder of the layers; by default the nearest one with layers, from here up to the repository's root.",
    ),
]
FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="LAYER|FILE", help="Layers (base, user, delta, local) or files; all of the folder by default."
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Approve without a question, as CI does.")]


def folder_of(given: Path | None) -> Path:
    """The folder that a command works in.

    Raises:
        InvalidArgument: the given one is not there.
    """
    if given is not None:
        if not given.is_dir():
            raise InvalidArgument(
                f"There is no folder {given}. --dir names the folder that holds the layers.", path=str(given)
            )
        return given
    here = Path.cwd()
    for folder in (here, *here.parents):
        if any((folder / name).is_file() for name in FILE_NAMES):
            return folder
        if (folder / ".git").exists():
            break
    return here


def files_of(names: Sequence[str], folder: Path) -> list[Path]:
    """The files that were named, each once; those of the folder where none was.

    Raises:
        InvalidArgument: a file is not there, or the folder has none.
    """
    from graphctx.layers import FILES

    if not names:
        found = [folder / file for file in FILES.values() if (folder / file).is_file()]
        if not found:
            raise InvalidArgument(
                f"There is no AGENTS.db and no other layer in {folder}. Name files or --dir, or make a layer: "
                "graphctx layers compile docs",
                path=str(folder),
            )
        return found
    return list(dict.fromkeys(path for name in names for path in _named(name, folder)))


def file_of(name: str, folder: Path) -> Path:
    """The one file that was named.

    Raises:
        InvalidArgument: it is not there, or it is a folder.
    """
    found = files_of([name], folder)
    if len(found) != 1:
        raise InvalidArgument(f"{name} is a folder with {len(found)} layers. Name one of them.", path=name)
    return found[0]


def stack_of(names: Sequence[str], folder: Path) -> LayerStack:
    """Layers to read together.

    A file is the layer that its name stands for; a single one of another name is taken for a base layer, and more are
    told apart as ``base=FILE``.

    Raises:
        InvalidArgument: a file is not there, or nothing says which layer it is.
    """
    from graphctx.layers import FILES, LayerStack, layer_named, layer_of_file

    paths: dict[LayerName, Path] = {}
    for name in names or [""]:
        as_layer, _, file = name.partition("=")
        said = layer_named(as_layer) if file and as_layer in FILES else None
        for path in files_of([file if said else name] if name else [], folder):
            layer = said or layer_of_file(path) or (layer_named("base") if len(names) == 1 else None)
            if layer is None:
                raise InvalidArgument(
                    f"{path.name} is not named like a layer. Say which one it is: base={path}", path=str(path)
                )
            if paths.setdefault(layer, path) != path:
                raise InvalidArgument(
                    f"{paths[layer]} and {path} are both the {layer} layer. Name one of them, or say which layer the "
                    f"other one is: user={path}",
                    path=str(path),
                    layer=layer,
                )
    return LayerStack(paths)


def stack_in(folder: Path) -> LayerStack:
    """The layers of a folder, for commands that write.

    Raises:
        InvalidArgument: there is none.
    """
    from graphctx.layers import LayerStack

    files_of([], folder)
    return LayerStack(folder)


def _named(name: str, folder: Path) -> list[Path]:
    from graphctx.layers import FILES, layer_named

    path = folder / FILES[layer_named(name)] if name in FILES else Path(name).expanduser()
    if path.is_dir():
        return files_of([], path)
    if not path.is_file():
        there = [file for file in FILES.values() if (folder / file).is_file()]
        known = f"In {folder} there is {', '.join(there)}." if there else f"There is no layer in {folder} at all."
        if name.isdigit():
            known += f" A chunk is shown by: graphctx layers inspect --id {name}"
        raise InvalidArgument(f"There is no file {path}. {known}", path=str(path), there=there)
    return [path]
