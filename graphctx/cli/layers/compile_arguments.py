"""What ``graphctx layers compile`` was asked, checked before any work."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphctx.cli.layers.places import FILE_NAMES
from graphctx.errors import InvalidArgument

SPLITS = ("sections", "units", "files")
EMBEDDERS = ("minilm", "hash")
_MOST_MS = (1 << 64) - 1


def check(has_paths: bool, has_kb: bool, split: str | None, embedder: str) -> None:
    """Refuse what makes no sense together, and unknown choices.

    Raises:
        InvalidArgument: so it is.
    """
    if has_paths == has_kb:
        raise InvalidArgument(
            "Give documents or --kb DIR, and only one of them: graphctx layers compile docs AGENTS.md", field="paths"
        )
    for option, value, allowed in (("split", split, SPLITS), ("embedder", embedder, EMBEDDERS)):
        if value is not None and value not in allowed:
            raise InvalidArgument(
                f"--{option} is {value!r}; use {', '.join(allowed)}.", field=option, value=value, allowed=list(allowed)
            )


def check_options(given: dict[str, Any], what: str) -> None:
    """Refuse options that have a meaning for something else only.

    Args:
        given: the options with their values.
        what: what they are for.

    Raises:
        InvalidArgument: one has a value.
    """
    for option, value in given.items():
        if value:
            raise InvalidArgument(f"{option} has a meaning for {what} only. Leave it out.", field=option)


def target_of(path: Path) -> Path:
    """The file to write.

    Raises:
        InvalidArgument: it is another layer's, a folder, or in no folder.
    """
    if path.name in FILE_NAMES[1:]:
        raise InvalidArgument(
            f"{path.name} is not compiled: the user layer grows by promotion, and tools append to the others. Write "
            "AGENTS.db.",
            path=str(path),
        )
    if path.is_dir():
        raise InvalidArgument(f"{path} is a folder. Name a file: {path / FILE_NAMES[0]}", path=str(path))
    if not path.absolute().parent.is_dir():
        raise InvalidArgument(f"There is no folder {path.parent}. Make it first, or write elsewhere.", path=str(path))
    return path


def moment_of(given: str | None) -> int:
    """The time of every chunk, in milliseconds since 1970.

    Raises:
        InvalidArgument: it is no date, or before 1970.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given is None and not epoch:
        return 0
    field, text = ("--created-at", given) if given is not None else ("$SOURCE_DATE_EPOCH", epoch)
    try:
        if text.isascii() and text.isdigit():
            found = int(text) * (1 if given is not None else 1000)
        else:
            moment = datetime.fromisoformat(text)
            found = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= _MOST_MS:
        raise InvalidArgument(
            f"{field} is {text!r}; give an ISO 8601 date from 1970 on, such as 2026-01-31, or a whole number.",
            field="created_at",
            value=text,
        )
    return found
