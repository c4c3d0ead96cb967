"""``graphctx layers key``, ``sign`` and ``verify``: Ed25519 signatures beside the files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.layers.places import DirOption, FilesArgument, files_of, folder_of
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument

SignatureOption = Annotated[
    Path | None,
    typer.Option("--signature", metavar="FILE", help="The signature's file, of one layer; FILE.sig by default."),
]


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
    from graphctx.cli.console import output_console, print_json
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
    console.print(f"{private}: the private key. Keep it out of the repository.", soft_wrap=True)
    console.print(f"{other}: the public key, for those who verify.", soft_wrap=True)


def sign(
    key_file: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="The private key; graphctx layers key makes one.")
    ],
    files: FilesArgument = [],  # noqa: B006
    signature: SignatureOption = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign valid layer files.

    The JSON object has files, each with its path and its signature's.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.places import shown_path
    from graphctx.layers import sign as signed

    paths = _paths(files, dir_, signature)
    made = [(path, signed(path, key_file, signature)) for path in paths]
    if as_json:
        print_json({"files": [{"path": str(path), "signature": str(target)} for path, target in made]})
        return
    for path, target in made:
        output_console().print(f"{shown_path(path)}: signed, {shown_path(target)}", soft_wrap=True)


def verify(
    key_file: Annotated[Path, typer.Option("--key", metavar="FILE", help="The public key.")],
    files: FilesArgument = [],  # noqa: B006
    signature: SignatureOption = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that files are as the owner of a key signed them. Exits with 1 if one is not.

    The JSON object has verified, and files with path, signature and verified.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.places import shown_path
    from graphctx.layers import verify as verified

    paths = _paths(files, dir_, signature)
    for path in paths:
        if not (given := signature or Path(f"{path}.sig")).is_file():
            raise InvalidArgument(
                f"There is no signature {given} of {path.name}. graphctx layers sign makes one; --signature names "
                "another file.",
                path=str(path),
                signature=str(given),
            )
    good = {path: verified(path, key_file, signature) for path in paths}
    if as_json:
        listed = [{"path": str(p), "signature": str(signature or f"{p}.sig"), "verified": ok} for p, ok in good.items()]
        print_json({"verified": all(good.values()), "files": listed})
    else:
        console = output_console()
        for path, ok in good.items():
            if ok:
                console.print(f"✓ {shown_path(path)}: as it was signed", style="green", soft_wrap=True)
            else:
                told = f"✗ {shown_path(path)}: not signed so by the owner of this key"
                console.print(told, style="bold red", soft_wrap=True)
                console.print("  The file, the signature or the key is another one than it was.", soft_wrap=True)
    if not all(good.values()):
        raise typer.Exit(EXIT_ERROR)


def _paths(files: list[str], dir_: Path | None, signature: Path | None) -> list[Path]:
    paths = files_of(files, folder_of(dir_))
    if signature is not None and len(paths) > 1:
        raise InvalidArgument(
            f"--signature names one file, and there are {len(paths)} layers. Name the layer, or leave it out.",
            field="signature",
        )
    return paths
