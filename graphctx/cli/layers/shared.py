"""What the commands of layers share: options, which files a command works on, chunks as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.console import counted, output_console, warn
from graphctx.cli.show import show_block, span_lines
from graphctx.errors import InvalidArgument
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.layers import Chunk, Conflict, LayerName, LayerStack, Source

FILE_NAMES = ("AGENTS.db", "AGENTS.user.db", "AGENTS.delta.db", "AGENTS.local.db")
"""Those of `graphctx.layers.FILES`, which is too slow to import for a help page."""

_TITLE_CHARS = 72

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
KindOption = Annotated[
    list[str], typer.Option("--kind", metavar="KIND", help="Only chunks of one of these kinds; may be repeated.")
]
LiveOption = Annotated[
    bool,
    typer.Option("--live", help="Leave out retracted chunks and internal records: tombstones, options, proposals."),
]
ScopeOption = Annotated[
    str, typer.Option("--layer", metavar="user|delta|local", help="The layer to write to; created if it is missing.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Approve without asking, as CI does.")]


def folder_of(given: Path | None) -> Path:
    """Return the folder that a command works in.

    Raises:
        InvalidArgument: ``--dir`` does not exist.
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
    """Return the files of layers or files by their names, each once; without names those of the folder.

    Raises:
        InvalidArgument: a file does not exist, or the folder has no layer.
    """
    from graphctx.layers import FILES, layer_named

    if not names:
        found = [folder / file for file in FILES.values() if (folder / file).is_file()]
        if not found:
            raise InvalidArgument(
                f"There is no AGENTS.db and no other layer in {folder}. Name files or --dir, or make a layer: "
                "graphctx layers compile docs",
                path=str(folder),
            )
        return found
    paths: list[Path] = []
    for name in names:
        path = folder / FILES[layer_named(name)] if name in FILES else Path(name).expanduser()
        if path.is_dir():
            paths += files_of([], path)
            continue
        if not path.is_file():
            present = [file for file in FILES.values() if (folder / file).is_file()]
            known = f"In {folder} there is {', '.join(present)}." if present else f"There is no layer in {folder}."
            if name.isdigit():
                known += f" To show a chunk: graphctx layers inspect --id {name}"
            raise InvalidArgument(f"There is no file {path}. {known}", path=str(path), there=present)
        paths.append(path)
    return list(dict.fromkeys(paths))


def file_of(name: str, folder: Path) -> Path:
    """Return the file of one layer.

    Raises:
        InvalidArgument: it does not exist, or it is a folder with several layers.
    """
    found = files_of([name], folder)
    if len(found) != 1:
        raise InvalidArgument(f"{name} is a folder with {len(found)} layers. Name one of them.", path=name)
    return found[0]


def stack_of(names: Sequence[str], folder: Path) -> LayerStack:
    """Return layers to read together.

    The name of a file says which layer it is. A single file of another name counts as a base layer; ``base=FILE`` says
    which layer a file is.

    Raises:
        InvalidArgument: a file does not exist, or it is not clear which layer it is.
    """
    from graphctx.layers import FILES, LayerStack, layer_named, layer_of_file

    paths: dict[LayerName, Path] = {}
    for name in names or [""]:
        prefix, _, file = name.partition("=")
        named = layer_named(prefix) if file and prefix in FILES else None
        for path in files_of([file if named else name] if name else [], folder):
            layer = named or layer_of_file(path) or (layer_named("base") if len(names) == 1 else None)
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
    """Return the layers of a folder, for commands that write; raises InvalidArgument if there is none."""
    from graphctx.layers import LayerStack

    files_of([], folder)
    return LayerStack(folder)


def incompatibility(paths: Sequence[Path]) -> str | None:
    """Return why layers cannot be searched together, or None if they can."""
    from graphctx.layers import LayerFile, LayerView
    from graphctx.layers.stack import require_compatible

    try:
        require_compatible([LayerView("base", LayerFile.open(path)) for path in paths])
    except InvalidArgument as error:
        return error.message
    return None


def warn_of_signature(path: Path) -> None:
    """Warn if a file that was replaced has a signature."""
    if Path(f"{path}.sig").is_file():
        warn(f"{path.name}.sig is of the file that was there before: sign again.")


def title_of(content: str) -> str:
    """Return the first line of a chunk's content, shortened."""
    from graphctx.layers.chunk import first_line

    return one_line(first_line(content, _TITLE_CHARS))


def moment(unix_ms: int) -> str:
    """Return a time as ISO 8601 to the second; empty for 0, the number itself outside of the calendar."""
    if not unix_ms:
        return ""
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return str(unix_ms)


def source_text(source: Source) -> str:
    """Return a source in words."""
    return f"chunk {source}" if isinstance(source, int) else one_line(source)


def chunk_json(chunk: Chunk, *, content: bool = True) -> dict[str, Any]:
    """Return a chunk with the format's names of its fields; without ``content`` the first line stands for it."""
    fields = {
        "id": chunk.id,
        "kind": chunk.kind,
        "author": chunk.author,
        "confidence": round(chunk.confidence, 6),
        "created_at_unix_ms": chunk.created_at_unix_ms,
        "sources": list(chunk.sources),
    }
    return fields | ({"content": chunk.content} if content else {"title": title_of(chunk.content)})


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """Return a conflict: its subject, the first and the authoritative layer, and the sides."""
    return {
        "reason": conflict.reason,
        "about": conflict.about,
        "first": conflict.first,
        "canonical": conflict.canonical,
        "members": [
            {"layer": m.layer, "id": m.id, "excerpt": title_of(m.claim or m.content)} for m in conflict.members
        ],
    }


def conflict_text(conflict: Conflict) -> str:
    """Return a conflict in a line."""
    sides = ", ".join(f"{member.layer} {member.id}" for member in conflict.members)
    canonical = f"; {conflict.canonical} is canonical" if conflict.first != conflict.canonical else ""
    return f"{sides} disagree ({conflict.reason}: {one_line(conflict.about)}){canonical}"


def retractions_json(retracted_by: Iterable[tuple[LayerName, int]]) -> list[dict[str, Any]]:
    """Return the tombstones of a chunk, or the chunks of a tombstone."""
    return [{"layer": layer, "id": chunk_id} for layer, chunk_id in retracted_by]


def remarks(revisions: int, retracted_by: Sequence[tuple[LayerName, int]]) -> str:
    """Return how often a chunk was edited and what took it back, in a few words."""
    parts = [f"edited {revisions - 1}×"] if revisions > 1 else []
    return ", ".join(parts + [f"retracted by {layer} {chunk_id}" for layer, chunk_id in retracted_by])


def show_chunk(
    layer: str, chunk: Chunk, *, note: str = "", lines: int | None = None, console: Console | None = None
) -> None:
    """Print a chunk in a block."""
    from rich.text import Text

    console = console or output_console()
    sources = ", ".join(map(source_text, chunk.sources))
    title = Text(f"{sources} · " if sources else "", style="bold")
    console.print(title.append(f"{layer} {chunk.id} ", style="bold cyan").append(one_line(chunk.kind), style="bold"))
    content = span_lines(console, chunk.content)
    show_block(console, content[:lines])
    if lines is not None and len(content) > lines:
        rest = counted(len(content) - lines, "more lines")
        console.print(f"    and {rest} (graphctx layers inspect --id {chunk.id})", style="dim")
    parts = [one_line(chunk.author), f"confidence {chunk.confidence:.2f}", moment(chunk.created_at_unix_ms)]
    parts += ["" if sources else "no sources", note]
    console.print(f"    {' · '.join(part for part in parts if part)}\n", style="dim")
