"""Options of an export, and the report about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

ExportFormat = Literal["graphml", "parquet", "html", "redis"]
FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)

DEFAULT_MAX_ENTITIES = 2_000
"""As many circles as a browser pans and zooms smoothly; with their quotes they make a page of about 3 MB."""

DEFAULT_MAX_QUOTES = 3

OnProgress = Callable[[str, int, int, str], None]
"""Called with a step's name, how much of it is done, how much there is (0 where unknown), and what is counted."""


class ExportOptions(BaseModel):
    """Options of an export.

    ``path`` is the file or folder to write, ``to`` the address of a Redis for ``redis``. ``doc_tag`` and
    ``path_prefix`` filter as in a search; ``documents`` adds documents to GraphML; ``max_entities`` and ``max_quotes``
    (of each entity) bound the page.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: ExportFormat
    path: Path = Path()
    to: str = Field("", repr=False)
    replace: bool = False
    doc_tag: tuple[str, ...] = ()
    path_prefix: str | None = None
    documents: bool = False
    max_entities: int = Field(DEFAULT_MAX_ENTITIES, ge=1, le=20_000)
    max_quotes: int = Field(DEFAULT_MAX_QUOTES, ge=0, le=20)


def no_progress(step: str, done: int, total: int, unit: str) -> None:
    """Report nothing."""


class ExportedFile(BaseModel):
    """A file that was written."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="Relative to the folder that was written, or the file's own name.")
    bytes: int = Field(ge=0)
    sha256: str


class ExportReport(BaseModel):
    """Report of an export: what was written, from which snapshot, and what was left out."""

    model_config = ConfigDict(frozen=True)

    format: ExportFormat
    path: str = Field(description="What was written; of a Redis the address without a password.")
    snapshot_id: str
    files: list[ExportedFile]
    counts: dict[str, int] = Field(description="What is in it: entities, relations, communities, quotes, rows, keys.")
    left_out: list[str] = Field(description="One sentence for each limit that left something out.")
    notes: list[str] = Field([], description="Other remarks for the reader.")
