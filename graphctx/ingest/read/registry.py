"""The readers by suffix, and their common version."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import PurePosixPath

from graphctx.ingest.read.agents_db import AgentsDbReader
from graphctx.ingest.read.asciidoc import AsciiDocReader
from graphctx.ingest.read.base import DocumentReader, suffix_of
from graphctx.ingest.read.code import FILE_NAMES, CodeReader
from graphctx.ingest.read.docx import DocxReader
from graphctx.ingest.read.epub import EpubReader
from graphctx.ingest.read.html import HtmlReader
from graphctx.ingest.read.jsonl import JsonlReader, JsonReader
from graphctx.ingest.read.mail import EmlReader, MboxReader
from graphctx.ingest.read.markdown import MarkdownReader
from graphctx.ingest.read.notebook import NotebookReader
from graphctx.ingest.read.pdf import PdfFileReader
from graphctx.ingest.read.plain import PlainReader
from graphctx.ingest.read.pptx import PptxReader
from graphctx.ingest.read.rst import RstReader
from graphctx.ingest.read.subtitles import SubtitleReader
from graphctx.ingest.read.table import CsvReader, ParquetReader
from graphctx.ingest.read.xlsx import XlsxReader
from graphctx.model.ids import fingerprint

READERS: list[DocumentReader] = [
    MarkdownReader(),
    PlainReader(),
    HtmlReader(),
    RstReader(),
    PdfFileReader(),
    DocxReader(),
    JsonlReader(),
    CodeReader(),
    JsonReader(),
    CsvReader(),
    ParquetReader(),
    AgentsDbReader(),
    PptxReader(),
    XlsxReader(),
    EpubReader(),
    EmlReader(),
    MboxReader(),
    NotebookReader(),
    AsciiDocReader(),
    SubtitleReader(),
]
"""Every reader. Another format is a file here and a line in this list. If two claim a suffix, the later wins."""

_TEXT_NAMES = frozenset(("README", "LICENSE", "NOTICE", "CHANGELOG", "CHANGES", "AUTHORS", "CONTRIBUTING", "TODO"))
_LIBRARIES = ("charset-normalizer", "markdown-it-py", "PyYAML", "selectolax", "pypdfium2", "mammoth", "openpyxl")
"""Another release of one of them may read the same bytes as different text."""


def readers() -> dict[str, DocumentReader]:
    """The reader of each suffix (lower case, with its dot), sorted by suffix."""
    by_suffix = {suffix: reader for reader in READERS for suffix in reader.media_types}
    return dict(sorted(by_suffix.items()))


def reader_for(name: str) -> DocumentReader | None:
    """The reader of a file, by the suffix of its name or, without one, by the name; ``None`` if there is none."""
    suffix, base = suffix_of(name), PurePosixPath(name).name
    if not suffix and (base in FILE_NAMES or base in _TEXT_NAMES):
        suffix = ".py" if base in FILE_NAMES else ".txt"
    return next((reader for reader in reversed(READERS) if suffix in reader.media_types), None)


@lru_cache(maxsize=1)
def read_version() -> str:
    """A fingerprint of all that decides how bytes become documents: part of every memo key of this step."""
    own = [f"{type(reader).__name__} {reader.version} {' '.join(sorted(reader.media_types))}" for reader in READERS]
    return fingerprint([*own, *(f"{name} {version(name)}" for name in _LIBRARIES)])
