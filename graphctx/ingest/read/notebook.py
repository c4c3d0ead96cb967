"""Jupyter notebooks: their cells, without outputs. The page of a passage is the number of its cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, decode, make_document
from graphctx.ingest.read.builder import TextBuilder
from graphctx.ingest.read.markdown import parse_markdown
from graphctx.text.normalise import normalise


class NotebookReader:
    """Notebooks of format 3 and 4."""

    media_types: ClassVar[Mapping[str, str]] = {".ipynb": "application/x-ipynb+json"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one notebook; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        builder = TextBuilder()
        cell_starts = []
        for kind, source in _cells(text, uri):
            cell_starts.append(builder.next)
            if kind == "markdown":
                markdown = normalise(source)
                builder.part(markdown, parse_markdown(markdown)[0])
            else:
                builder.block("code" if kind == "code" else "prose", source)
        pages = [min(start, len(builder.text)) for start in cell_starts]
        document = make_document(
            uri, self.media_types[".ipynb"], builder.text, builder.outline, page_starts=[0, *pages[1:]]
        )
        return ReadFile((document,), notes=notes)


def _cells(text: str, uri: str) -> list[tuple[str, str]]:
    """Return the kind and the source of each cell."""
    try:
        notebook: Any = json.loads(text)
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        sources = [cell.get("source", cell.get("input", "")) for cell in cells]
        return [
            (str(cell["cell_type"]), source if isinstance(source, str) else "".join(source))
            for cell, source in zip(cells, sources, strict=True)
        ]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise InvalidArgument(f"{uri} is damaged or not a notebook: {type(error).__name__}.", uri=uri) from error
