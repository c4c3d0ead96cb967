"""An export as it is read: somebody else's text, of which nothing is believed."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from graphctx.cli.layers.places import FILE_NAMES
from graphctx.cli.layers.telling import OnProgress, told_progress
from graphctx.errors import BackendUnavailable, InvalidArgument

if TYPE_CHECKING:
    from graphctx.layers import LayerContent

_STEP = 256  # lines between two calls of progress


def read_export(file: str) -> dict[str, LayerContent]:
    """The layers of an export. NDJSON is read line by line, so that a large one needs no more memory than its layers.

    Raises:
        InvalidArgument: it is no export.
        BackendUnavailable: it cannot be read.
    """
    if file == "-":
        return _parsed(sys.stdin.buffer, file)
    try:
        with Path(file).expanduser().open("rb") as stream:
            return _parsed(stream, file)
    except OSError as error:
        raise BackendUnavailable(f"{file} cannot be read: {error.strerror}.", path=file) from error


def _parsed(stream: BinaryIO, file: str) -> dict[str, LayerContent]:
    from graphctx.layers import from_json, from_ndjson

    first = stream.readline().removeprefix(codecs.BOM_UTF8)
    if first.startswith(b"AGDB"):
        raise InvalidArgument(
            f"{file} is a layer file already, not an export of one. Copy it to where it belongs: "
            f"{', '.join(FILE_NAMES)}.",
            file=file,
        )
    if not _is_ndjson(first):
        return from_json(_text(first + stream.read(), 0, file))
    with told_progress() as told:
        return from_ndjson(_texts(first, stream, file, told))


def _texts(first: bytes, stream: BinaryIO, file: str, told: OnProgress) -> Iterator[str]:
    """The lines of NDJSON."""
    at = number = 0
    for number, line in enumerate(chain([first], stream)):
        if number % _STEP == 0:
            told("import", number, 0, "lines")
        yield _text(line, at, file)
        at += len(line)
    told("import", number + 1, 0, "lines")


def _text(data: bytes, at: int, file: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{file} is no export: byte {at + error.start} is not UTF-8.", file=file, byte_offset=at + error.start
        ) from None


def _is_ndjson(first: bytes) -> bool:
    """Whether the first line of an export is a whole object, and not one that holds all layers."""
    try:
        told: Any = json.loads(first)
    except (ValueError, RecursionError):
        return False  # an object over several lines
    return isinstance(told, dict) and "layers" not in told and "type" in told


def safe_name(name: str) -> str:
    """A layer's file name, which must not lead out of the folder.

    Raises:
        InvalidArgument: it is a path.
    """
    if name != Path(name).name or "\\" in name or "\0" in name or name.startswith(".") or not name.endswith(".db"):
        raise InvalidArgument(
            f"The export calls a layer {name!r}; a file's name ending in .db is expected. Correct its path in the "
            "export.",
            field="path",
            value=name,
        )
    return name
