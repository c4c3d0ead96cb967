"""``graphctx layers export`` and ``import``: layers as JSON or NDJSON, and back to the same bytes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.layers.imported import read_export, safe_name
from graphctx.cli.layers.places import DirOption, FilesArgument, files_of, folder_of
from graphctx.cli.layers.telling import told_progress
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument
from graphctx.text.printable import printable_json

if TYPE_CHECKING:
    from graphctx.layers import LayerFile

_STEP = 256  # records between two calls of progress


def export(
    files: FilesArgument = [],  # noqa: B006
    format_: Annotated[
        str, typer.Option("--format", metavar="json|ndjson", help="One object, or a line for each chunk.")
    ] = "json",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write; standard output by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write layers as text: every record with its vector, revisions included, in the form other tools read.

    With --out, the JSON object of --json has path, bytes and layers; without, it is the export itself.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import counted
    from graphctx.export.target import check_target, written_file
    from graphctx.layers import LayerFile

    if format_ not in ("json", "ndjson"):
        raise InvalidArgument(
            f"--format is {format_!r}; use json or ndjson.", field="format", value=format_, allowed=["json", "ndjson"]
        )
    if as_json and out is None and format_ != "json":
        raise InvalidArgument("NDJSON is many JSON objects and --json is one. Name a file with --out.", field="out")
    paths = files_of(files, folder_of(dir_))
    _require_distinct(paths)
    if out is not None:
        check_target(out, folder=False, replace=force)
    with ExitStack() as opened:
        layers = [opened.enter_context(LayerFile.open(path)) for path in paths]
        lines = _lines(layers, format_)
        if out is None:
            for line in lines:
                sys.stdout.write(printable_json(line))
            return
        with written_file(out) as file:
            for line in lines:
                file.write(line.encode())
        counts = {layer.name: len(layer) for layer in layers}
    if as_json:
        print_json({"path": str(out), "bytes": out.stat().st_size, "layers": counts})
        return
    told = ", ".join(f"{name} {counted(count, 'record')}" for name, count in counts.items())
    output_console().print(f"{out}: {told}, {out.stat().st_size:,} B", soft_wrap=True)


def import_layers(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An export, as JSON or NDJSON; - for standard input.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace layers that are there, with all their records.")
    ] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make layer files of an export, the same files that were exported. All of them are read before one is written.

    The JSON object has layers, each with its path and its records.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import counted
    from graphctx.cli.places import shown_path
    from graphctx.layers import write_layer

    folder = folder_of(dir_) if dir_ else Path.cwd()
    contents = read_export(file)
    targets = {folder / safe_name(name): content for name, content in contents.items()}
    if not targets:
        raise InvalidArgument(f"{file} holds no layer, so nothing was imported.", file=file)
    there = [path.name for path in targets if path.exists()]
    if there and not force:
        raise InvalidArgument(
            f"{', '.join(there)}: there already in {folder}. Import into another folder with --dir, or replace with "
            "--force, which takes all their records away.",
            there=there,
        )
    for path, content in targets.items():
        write_layer(path, content, replace=force)
    if as_json:
        print_json({"layers": [{"path": str(path), "records": len(c.chunks)} for path, c in targets.items()]})
        return
    for path, content in targets.items():
        output_console().print(f"{shown_path(path)}: {counted(len(content.chunks), 'record')}", soft_wrap=True)


def _lines(layers: Sequence[LayerFile], format_: str) -> Iterator[str]:
    from graphctx.layers import to_bundle, to_ndjson

    with told_progress() as told:
        total = sum(map(len, layers))
        if format_ == "ndjson":
            for done, line in enumerate(to_ndjson(layers)):
                if done % _STEP == 0:
                    told("export", min(done, total), total, "records")
                yield f"{line}\n"
        else:
            yield json.dumps(to_bundle(layers), ensure_ascii=False, allow_nan=False) + "\n"
        told("export", total, total, "records")


def _require_distinct(paths: Sequence[Path]) -> None:
    names = [path.name for path in paths]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidArgument(
            f"Two of the files are called {twice}, and an import could not tell them apart. Export one at a time.",
            file=twice,
        )
