"""The base layer that a compilation makes: when it may be written, and what is told of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.cli.layers.places import FILE_NAMES
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphctx.layers import Chunk, LayerContent


def require_equal(target: Path, chunks: Sequence[Chunk]) -> None:
    """Refuse to replace a layer that says something else, before vectors are made.

    Raises:
        InvalidArgument: there is one.
    """
    from graphctx.layers import LayerFile

    if target.exists():
        with LayerFile.open(target) as old:
            same = list(old.chunks()) == list(chunks)
        if not same:
            refuse_another(target)


def refuse_another(target: Path) -> None:
    """Refuse to replace a layer.

    Raises:
        InvalidArgument: there is one.
    """
    if target.exists():
        raise InvalidArgument(
            f"{target.name} is there already and says something else; a base layer is never changed. Replace it whole "
            "with --force, or write another file with --out.",
            path=str(target),
        )


def differs(target: Path, content: LayerContent) -> bool:
    """Whether a file holds other bytes than a content makes, or is not there."""
    from graphctx.layers import to_bytes

    return not target.exists() or target.read_bytes() != to_bytes(content)


def report(target: Path, changed: bool, content: LayerContent, skipped: list[dict[str, str]], *, as_json: bool) -> None:
    """Tell what was made, and what does not fit it any more: a signature, the layers beside it."""
    from graphctx.cli.console import errors_console, output_console, print_json
    from graphctx.cli.layers.compact import warn_of_signature
    from graphctx.cli.layers.shown import counted
    from graphctx.cli.places import shown_path
    from graphctx.cli.summary import show_list
    from graphctx.store.files import sha256_of

    files = len({str(chunk.sources[0]).rpartition(":")[0] for chunk in content.chunks})
    size = target.stat().st_size
    if as_json:
        told = {"path": str(target), "changed": changed, "chunks": len(content.chunks), "files": files}
        print_json(told | {"bytes": size, "sha256": sha256_of(target), "skipped": skipped})
    else:
        stands = "" if changed else "; unchanged, it said so before"
        counts = f"{counted(len(content.chunks), 'chunk')} of {counted(files, 'file')}, {size:,} B"
        output_console().print(f"{shown_path(target)}: {counts}{stands}", style="bold", soft_wrap=True)
        show_list(errors_console(), "Skipped", [f"{item['uri']}: {item['reason']}" for item in skipped])
    if changed:
        warn_of_signature(target)
        _warn_of_others(target)


def _warn_of_others(target: Path) -> None:
    """Say that the layers beside a fresh base layer have other vectors, if so: all of them are searched together."""
    from graphctx.cli.console import errors_console
    from graphctx.cli.layers.check import why_apart

    paths = [path for name in FILE_NAMES if (path := target.parent / name).is_file()]
    if target.name == FILE_NAMES[0] and (reason := why_apart(paths)):
        errors_console().print(f"Layers cannot be searched together now: {reason}", style="yellow", soft_wrap=True)
