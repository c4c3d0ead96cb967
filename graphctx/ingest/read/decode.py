"""Bytes to normalised text: UTF-8, or UTF-16 with a byte order mark; anything else is refused with its place."""

from __future__ import annotations

import codecs

from graphctx.errors import InvalidArgument
from graphctx.text.normalise import normalise

PROBE_BYTES = 65_536
"""So much of a file is looked at to tell text from binary data."""

BINARY_SHARE = 0.01
"""From this share of NUL bytes on a file is binary; a stray NUL in text that decodes is replaced instead."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes, uri: str) -> str:
    """Decode and normalise a text file.

    Raises:
        InvalidArgument: the file is binary, or not UTF-8; ``byte_offset`` says where.
    """
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    if encoding != "utf-16":
        refuse_binary(data, uri)
    try:
        return normalise(data.decode(encoding))
    except UnicodeDecodeError as error:
        if encoding != "utf-16" and 0 in data[:PROBE_BYTES]:
            raise _binary(data, uri) from None
        offset = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise InvalidArgument(
            f"{uri} is not valid {name}: byte {offset} cannot be decoded. Save the file as UTF-8.",
            uri=uri,
            byte_offset=offset,
        ) from None


def refuse_binary(data: bytes, uri: str) -> None:
    """Raise ``InvalidArgument`` if the start of a file looks like binary data."""
    probe = data[:PROBE_BYTES]
    if probe.count(0) > BINARY_SHARE * len(probe):
        raise _binary(data, uri)


def _binary(data: bytes, uri: str) -> InvalidArgument:
    return InvalidArgument(f"{uri} looks like a binary file, not text.", uri=uri, byte_offset=data.index(0))
