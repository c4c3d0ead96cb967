"""Source code and configuration: one document a file, blocks at the blank lines between top-level definitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

from graphctx.ingest.read.base import Outline, ReadFile, make_document, suffix_of
from graphctx.ingest.read.code_languages import LANGUAGES, language_of
from graphctx.ingest.read.decode import decode
from graphctx.ingest.read.lines import Lines
from graphctx.model.documents import Block, Heading

MAX_LINE_CHARS = 2000
"""A longer line is generated or minified and defines nothing that a person would look for."""

_LEADING = re.compile(r"(?:@|#\[|#|//|/\*|\*|--|;|\"\"\")")
"""What stands directly above a definition and belongs to it: decorators, attributes, comments."""


class CodeReader:
    """Programs, scripts and configuration files, as text."""

    media_types: ClassVar[Mapping[str, str]] = {
        suffix: language.media_type for language in LANGUAGES for suffix in sorted(language.suffixes)
    }
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; its title is the file's name. See :class:`graphctx.ingest.read.base.DocumentReader`."""
        text = decode(data, uri)
        name = uri.rpartition("/")[2]
        media_type = self.media_types.get(suffix_of(uri), "text/plain")
        document = make_document(uri, media_type, text, outline_code(text, uri), name=name)
        return ReadFile((document,))


def outline_code(text: str, uri: str) -> Outline:
    """Find the top-level definitions and the chunks of a source file.

    A definition is a heading that covers its line and the comments and decorators directly above it; the block
    that holds its code starts at the same character, so that the code stays whole.

    Args:
        text: the normalised source.
        uri: the file's name tells the language.
    """
    lines = Lines(text)
    definition = language_of(uri).definition
    outline = Outline()
    cuts = {0, len(lines)}
    for number, line in enumerate(lines.lines):
        if not line or line[0].isspace():
            continue
        found = definition.match(line) if definition and len(line) <= MAX_LINE_CHARS else None
        if found:
            first = number
            while first and _LEADING.match(lines.lines[first - 1]):
                first -= 1
            cuts.add(first)
            title = " ".join(found.group().strip(" \t({:=<").split()) or line.strip()
            start, end = lines.span(first, number + 1)
            outline.headings.append(Heading(1, title, found.group("name"), start, end))
        elif number and not lines.lines[number - 1].strip():
            cuts.add(number)
    edges = sorted(cuts)
    for first, last in pairwise(edges):
        outline.blocks.extend(_chunk(lines, first, last))
    return outline


def _chunk(lines: Lines, first: int, last: int) -> list[Block]:
    block = lines.block("code", first, last)
    return [b for b in block if any(c.isalnum() for c in lines.text[b.start_char : b.end_char])]
