"""The readers by suffix, and their common version."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import PurePosixPath

from graphctx.ingest.read.agents_db import AgentsDbReader
from graphctx.ingest.read.base import DocumentReader, suffix_of
from graphctx.ingest.read.code import CodeReader
from graphctx.ingest.read.code_languages import FILE_NAMES
from graphctx.ingest.read.docx import DocxReader
from graphctx.ingest.read.html import HtmlReader
from graphctx.ingest.read.jsonl import JsonlReader
from graphctx.ingest.read.markdown import MarkdownReader
from graphctx.ingest.read.pdf import PdfFileReader
from graphctx.ingest.read.plain import PlainReader
from graphctx.ingest.read.rst import RstReader
from graphctx.model.ids import fingerprint

_ALL: tuple[DocumentReader, ...] = (
    MarkdownReader(),
    PlainReader(),
    HtmlReader(),
    RstReader(),
    PdfFileReader(),
    DocxReader(),
    JsonlReader(),
    CodeReader(),
    AgentsDbReader(),
)
_BY_SUFFIX = {suffix: reader for reader in _ALL for suffix in reader.media_types}
_TEXT_NAMES = frozenset(("README", "LICENSE", "NOTICE", "CHANGELOG", "CHANGES", "AUTHORS", "CONTRIBUTING", "TODO"))
_LIBRARIES = ("markdown-it-py", "PyYAML", "selectolax", "pypdf", "mammoth")
"""Another release of one of them may read the same bytes as another text."""


def readers() -> dict[str, DocumentReader]:
    """The reader of each suffix (lower case, with its dot), sorted by suffix."""
    return dict(sorted(_BY_SUFFIX.items()))


def reader_for(name: str) -> DocumentReader | None:
    """The reader of a file, by the suffix of its name or, without one, by the name; ``None`` if there is none."""
    suffix = suffix_of(name)
    if suffix:
        return _BY_SUFFIX.get(suffix)
    base = PurePosixPath(name).name
    if base in FILE_NAMES:
        return _BY_SUFFIX[".py"]
    return _BY_SUFFIX[".txt"] if base in _TEXT_NAMES else None


@lru_cache(maxsize=1)
def read_version() -> str:
    """A fingerprint of all that decides how bytes become documents: part of every memo key of this step."""
    own = [f"{type(reader).__name__} {reader.version} {' '.join(sorted(reader.media_types))}" for reader in _ALL]
    return fingerprint([*own, *(f"{name} {version(name)}" for name in _LIBRARIES)])
