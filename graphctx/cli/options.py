"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_KB = Path(".graphctx")

KbOption = Annotated[
    Path,
    typer.Option("--kb", envvar="GRAPHCTX_KB", metavar="DIR", help="The knowledge base's folder."),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object, errors included."),
]
ModeOption = Annotated[
    str,
    typer.Option("--mode", metavar="auto|vector_only|hybrid_local", help="auto walks the graph where there is one."),
]
TagOption = Annotated[
    list[str], typer.Option("--tag", metavar="TAG", help="Only documents with one of these tags; may be repeated.")
]
PathPrefixOption = Annotated[
    str | None,
    typer.Option("--path-prefix", metavar="PREFIX", help="Only documents whose URI or path starts with this."),
]
UpdatedAfterOption = Annotated[
    str | None, typer.Option("--updated-after", metavar="DATE", help="Only documents updated after this ISO 8601 date.")
]


def filters(tag: list[str], path_prefix: str | None, updated_after: str | None) -> dict[str, object]:
    """The filters of a request, without those that were not given."""
    given = {"doc_tag": tag, "path_prefix": path_prefix, "updated_after": updated_after}
    return {name: value for name, value in given.items() if value}
