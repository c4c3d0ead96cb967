"""Options and arguments that several commands share, and checks of their values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from graphctx.errors import InvalidArgument

DEFAULT_KB = Path(".graphctx")

KbOption = Annotated[
    Path,
    typer.Option(
        "--kb",
        envvar="GRAPHCTX_KB",
        metavar="DIR",
        help="The knowledge base's folder, or its address on an object store.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, errors included.")]
ModeOption = Annotated[
    str,
    typer.Option(
        "--mode",
        metavar="auto|vector_only|hybrid_local",
        help="How passages are found; auto uses the graph where there is one.",
    ),
]
TagOption = Annotated[
    list[str], typer.Option("--tag", metavar="TAG", help="Only documents with one of these tags; may be repeated.")
]
PathPrefixOption = Annotated[
    str | None,
    typer.Option("--path-prefix", metavar="PREFIX", help="Only documents whose URI or path starts with PREFIX."),
]
UpdatedAfterOption = Annotated[
    str | None, typer.Option("--updated-after", metavar="DATE", help="Only documents updated after this ISO 8601 date.")
]
NoIgnoreOption = Annotated[
    bool, typer.Option("--no-ignore", help="Read also what files named .gitignore and .ignore exclude.")
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def filters(tag: list[str], path_prefix: str | None, updated_after: str | None) -> dict[str, object]:
    """Return the filters of a request that were set."""
    values = {"doc_tag": tag, "path_prefix": path_prefix, "updated_after": updated_after}
    return {name: value for name, value in values.items() if value}


def require_choice(option: str, value: str, allowed: Sequence[str]) -> None:
    """Raise InvalidArgument if an option's value is not one of those allowed."""
    if value not in allowed:
        choices = f"{', '.join(allowed[:-1])} or {allowed[-1]}" if len(allowed) > 1 else allowed[0]
        raise InvalidArgument(
            f"{option} is {value!r}; use {choices}.",
            field=option.lstrip("-").replace("-", "_"),
            value=value,
            allowed=list(allowed),
        )
