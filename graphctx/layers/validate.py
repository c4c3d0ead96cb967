"""Every fault of a layer file, for people who repair them."""

from __future__ import annotations

from pathlib import Path

from graphctx.layers.findings import Finding
from graphctx.layers.reader import examine, map_file


def validate(path: Path | str) -> list[Finding]:
    """What is wrong with a file, errors and warnings, in the order of its tables; empty if nothing is.

    Raises:
        BackendUnavailable: it is not there or cannot be read.
    """
    _, found = examine(map_file(Path(path)))
    return found.all
