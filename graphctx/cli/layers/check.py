"""``graphctx layers validate``: every fault of every file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.layers.places import DirOption, FilesArgument, files_of, folder_of
from graphctx.cli.options import JsonOption

if TYPE_CHECKING:
    from graphctx.layers import FileFinding


def validate(files: FilesArgument = [], dir_: DirOption = None, as_json: JsonOption = False) -> None:  # noqa: B006
    """Check files against the rules of the format, and whether they can be searched together.

    Exits with 1 if a file breaks a rule, and lists all findings, each with its rule and the byte at which it stands.
    Warnings do no harm. The JSON object has files (path, layer, valid, findings), valid and together.
    """
    from graphctx.cli.console import print_json
    from graphctx.layers import layer_of_file
    from graphctx.layers import validate as findings_of

    found = {path: findings_of(path) for path in files_of(files, folder_of(dir_))}
    valid = {path: not any(finding.severity == "error" for finding in told) for path, told in found.items()}
    together = why_apart(list(found)) if all(valid.values()) else None
    if as_json:
        told: list[dict[str, Any]] = [
            {
                "path": str(path),
                "layer": layer_of_file(path),
                "valid": valid[path],
                "findings": [asdict(finding) for finding in findings],
            }
            for path, findings in found.items()
        ]
        print_json({"valid": all(valid.values()), "files": told, "together": together})
    else:
        for path, findings in found.items():
            _show(path, findings)
        if together:
            _warn(f"These layers cannot be searched together: {together}")
    if not all(valid.values()):
        raise typer.Exit(EXIT_ERROR)


def why_apart(paths: list[Path]) -> str | None:
    """Why layers cannot be searched together, if they cannot."""
    from graphctx.errors import InvalidArgument
    from graphctx.layers import LayerFile, LayerView
    from graphctx.layers.stack import require_compatible

    try:
        require_compatible([LayerView("base", LayerFile.open(path)) for path in paths])
    except InvalidArgument as error:
        return error.message
    return None


def _show(path: Path, findings: list[FileFinding]) -> None:
    from graphctx.cli.console import output_console
    from graphctx.cli.layers.shown import counted
    from graphctx.cli.places import shown_path
    from graphctx.layers import LayerFile

    console = output_console()
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        console.print(f"✗ {shown_path(path)}: {counted(errors, 'error')}", style="bold red", soft_wrap=True)
    else:
        with LayerFile.open(path) as layer:
            told = f"✓ {shown_path(path)}: valid, {counted(len(layer), 'record')}"
        console.print(told, style="green", soft_wrap=True)
    for finding in findings:
        style = "red" if finding.severity == "error" else "yellow"
        line = f"  {finding.severity} at byte {finding.offset:,}: {finding.message} ({finding.rule})"
        console.print(line, style=style, soft_wrap=True)
    if findings and not path.read_bytes().startswith(b"AGDB"):
        _warn(f"{shown_path(path)} is no layer at all: those begin with the letters AGDB.")
    elif errors:
        _warn("Restore the file from version control or a backup: a damaged layer is not mended in place.")


def _warn(sentence: str) -> None:
    from graphctx.cli.console import errors_console

    errors_console().print(sentence, style="yellow", soft_wrap=True)
