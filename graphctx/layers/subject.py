"""What a chunk is about, told by its first line."""

from __future__ import annotations

import re

from graphctx.layers.reader import LayerFile

_BYTES = 1024  # of a content, in which its first line is looked for
_CHARS = 200

_LEADING_MARKUP = re.compile(r"^[\s#>*_`\-=+|]+")
_TRAILING_MARKUP = re.compile(r"(?<![\s#*_`.:;|])[\s#*_`.:;|]+$")


def subject_of(file: LayerFile, record: int) -> str:
    """The first line of a content in which there is text, without markup and case, 200 characters; may be empty."""
    number = int(file.layout.records["content_str_id"][record])
    for line in file.string_bytes(number, _BYTES).decode("utf-8", "ignore").splitlines():
        if text := " ".join(_TRAILING_MARKUP.sub("", _LEADING_MARKUP.sub("", line)).casefold().split()):
            return text[:_CHARS]
    return ""
