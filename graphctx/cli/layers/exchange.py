"""``graphctx layers export``, ``import``, ``key``, ``sign`` and ``verify``: layers for others, and signatures."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from graphctx.cli.console import counted, output_console, print_json
from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.layers.shared import FILE_NAMES, DirOption, FilesArgument, files_of, folder_of
from graphctx.cli.options import JsonOption, require_choice
from graphctx.cli.places import shown_path
from graphctx.cli.progress import progress_view
from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.text.printable import printable_json

if TYPE_CHECKING:
    from graphctx.layers import LayerContent, LayerFile

_STEP = 256  # records or lines between two calls of progress

SignatureOption = Annotated[
    Path | None,
    typer.Option("--signature", metavar="FILE", help="The signature's file, of one layer; FILE.sig by default."),
]


def export(
    files: FilesArgument = [],
    format_: Annotated[
        str, typer.Option("--format", metavar="json|ndjson", help="One object, or a line for each chunk.")
    ] = "json",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write; standard output by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write layers as text: every record with its vector, revisions included, in the form that other tools read.

    With --out, the JSON object of --json has path, bytes and layers; without, it is the export itself.
    """
    from graphctx.export.target import check_target, written_file
    from graphctx.layers import LayerFile

    require_choice("--format", format_, ("json", "ndjson"))
    if as_json and out is None and format_ != "json":
        raise InvalidArgument("NDJSON is many JSON objects and --json is one. Name a file with --out.", field="out")
    paths = files_of(files, folder_of(dir_))
    names = [path.name for path in paths]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidArgument(
            f"Two of the files are called {twice}, and an import could not tell them apart. Export one at a time.",
            file=twice,
        )
    if out is not None:
        check_target(out, folder=False, replace=force)
    with ExitStack() as opened:
        layers = [opened.enter_context(LayerFile.open(path)) for path in paths]
        lines = _exported_lines(layers, format_)
        if out is None:
            for line in lines:
                sys.stdout.write(printable_json(line))
            return
        with written_file(out) as file:
            for line in lines:
                file.write(line.encode())
        counts = {layer.name: len(layer) for layer in layers}
    size = out.stat().st_size
    if as_json:
        print_json({"path": str(out), "bytes": size, "layers": counts})
    else:
        records = ", ".join(f"{name} {counted(count, 'records')}" for name, count in counts.items())
        output_console().print(f"{out}: {records}, {size:,} B")


def _exported_lines(layers: Sequence[LayerFile], format_: str) -> Iterator[str]:
    from graphctx.layers import to_bundle, to_ndjson

    with progress_view() as view:
        total = sum(map(len, layers))
        if format_ == "ndjson":
            for done, line in enumerate(to_ndjson(layers)):
                if done % _STEP == 0:
                    view.step("export", min(done, total), total, "records")
                yield f"{line}\n"
        else:
            yield json.dumps(to_bundle(layers), ensure_ascii=False, allow_nan=False) + "\n"
        view.step("export", total, total, "records")


def import_layers(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An export, as JSON or NDJSON; - for standard input.")],
    force: Annotated[bool, typer.Option("--force", help="Replace existing layers, with all their records.")] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make layer files from an export, equal to those that were exported. All are read before one is written.

    The JSON object has layers, each with its path and its records.
    """
    from graphctx.layers import write_layer

    folder = folder_of(dir_) if dir_ else Path.cwd()
    targets = {folder / _safe_name(name): content for name, content in _read_export(file).items()}
    if not targets:
        raise InvalidArgument(f"{file} holds no layer, so nothing was imported.", file=file)
    existing = [path.name for path in targets if path.exists()]
    if existing and not force:
        raise InvalidArgument(
            f"{', '.join(existing)}: there already in {folder}. Import into another folder with --dir, or replace with "
            "--force, which deletes all their records.",
            there=existing,
        )
    for path, content in targets.items():
        write_layer(path, content, replace=force)
    if as_json:
        print_json({"layers": [{"path": str(path), "records": len(c.chunks)} for path, c in targets.items()]})
        return
    for path, content in targets.items():
        output_console().print(f"{shown_path(path)}: {counted(len(content.chunks), 'records')}")


def _read_export(file: str) -> dict[str, LayerContent]:
    """Read the layers of an export; NDJSON line by line, so that only the layers take memory.

    Raises:
        InvalidArgument: the file is not an export.
        BackendUnavailable: the file cannot be read.
    """
    if file == "-":
        return _parse_export(sys.stdin.buffer, file)
    try:
        with Path(file).expanduser().open("rb") as stream:
            return _parse_export(stream, file)
    except OSError as error:
        raise BackendUnavailable(f"{file} cannot be read: {error.strerror}.", path=file) from error


def _parse_export(stream: BinaryIO, file: str) -> dict[str, LayerContent]:
    from graphctx.layers import from_json, from_ndjson

    first = stream.readline().removeprefix(codecs.BOM_UTF8)
    if first.startswith(b"AGDB"):
        raise InvalidArgument(
            f"{file} is a layer file already, not an export of one. Copy it to one of: {', '.join(FILE_NAMES)}.",
            file=file,
        )
    try:
        head: Any = json.loads(first)
    except (ValueError, RecursionError):
        head = None  # an object over several lines
    if isinstance(head, dict) and "layers" not in head and "type" in head:
        return from_ndjson(_imported_lines(first, stream, file))
    return from_json(_decoded(first + stream.read(), 0, file))


def _imported_lines(first: bytes, stream: BinaryIO, file: str) -> Iterator[str]:
    with progress_view() as view:
        offset = number = 0
        for number, line in enumerate(chain([first], stream)):
            if number % _STEP == 0:
                view.step("import", number, 0, "lines")
            yield _decoded(line, offset, file)
            offset += len(line)
        view.step("import", number + 1, 0, "lines")


def _decoded(data: bytes, offset: int, file: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = offset + error.start
        raise InvalidArgument(f"{file} is not an export: byte {at} is not UTF-8.", file=file, byte_offset=at) from None


def _safe_name(name: str) -> str:
    """Return a layer's file name; raises InvalidArgument if it is a path, which could lead out of the folder."""
    if name != Path(name).name or "\\" in name or "\0" in name or name.startswith(".") or not name.endswith(".db"):
        raise InvalidArgument(
            f"The export calls a layer {name!r}; a file's name ending in .db is expected. Correct its path in the "
            "export.",
            field="path",
            value=name,
        )
    return name


def key(
    private: Annotated[Path, typer.Argument(metavar="PRIVATE", help="The file for the private key, to be kept safe.")],
    public: Annotated[
        Path | None,
        typer.Option("--public", metavar="FILE", help="The file for the public key; PRIVATE.pub by default."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a pair of Ed25519 keys, as PEM files.

    The JSON object has private and public.
    """
    from graphctx.layers import make_key

    other = public or Path(f"{private}.pub")
    for path in (private, other):
        if not path.absolute().parent.is_dir():
            raise InvalidArgument(f"There is no folder {path.parent} for {path.name}. Make it first.", path=str(path))
    make_key(private, other)
    if as_json:
        print_json({"private": str(private), "public": str(other)})
        return
    console = output_console()
    console.print(f"{private}: the private key. Keep it out of the repository.")
    console.print(f"{other}: the public key, for those who verify.")


def sign(
    key_file: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The private key; graphctx layers key makes one.")
    ],
    files: FilesArgument = [],
    signature: SignatureOption = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign valid layer files.

    The JSON object has files, each with its path and its signature's.
    """
    from graphctx import layers

    signed = [(path, layers.sign(path, key_file, signature)) for path in _signed_files(files, dir_, signature)]
    if as_json:
        print_json({"files": [{"path": str(path), "signature": str(target)} for path, target in signed]})
        return
    for path, target in signed:
        output_console().print(f"{shown_path(path)}: signed, {shown_path(target)}")


def verify(
    key_file: Annotated[Path, typer.Option("--key", metavar="FILE", help="The public key.")],
    files: FilesArgument = [],
    signature: SignatureOption = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Verify that files are as the owner of a key signed them. Exits with 1 if one is not.

    The JSON object has verified, and files with path, signature and verified.
    """
    from graphctx import layers

    signatures = {path: signature or Path(f"{path}.sig") for path in _signed_files(files, dir_, signature)}
    for path, file in signatures.items():
        if not file.is_file():
            raise InvalidArgument(
                f"There is no signature {file} of {path.name}. graphctx layers sign makes one; --signature names "
                "another file.",
                path=str(path),
                signature=str(file),
            )
    verified = {path: layers.verify(path, key_file, signature) for path in signatures}
    if as_json:
        listed = [{"path": str(p), "signature": str(file), "verified": verified[p]} for p, file in signatures.items()]
        print_json({"verified": all(verified.values()), "files": listed})
    else:
        console = output_console()
        for path, good in verified.items():
            if good:
                console.print(f"✓ {shown_path(path)}: as it was signed", style="green")
            else:
                console.print(f"✗ {shown_path(path)}: not signed so by the owner of this key", style="bold red")
                console.print("  The file or the signature was changed, or the key is another one.")
    if not all(verified.values()):
        raise typer.Exit(EXIT_ERROR)


def _signed_files(files: list[str], dir_: Path | None, signature: Path | None) -> list[Path]:
    paths = files_of(files, folder_of(dir_))
    if signature is not None and len(paths) > 1:
        raise InvalidArgument(
            f"--signature names one file, and there are {len(paths)} layers. Name the layer, or leave it out.",
            field="signature",
        )
    return paths
