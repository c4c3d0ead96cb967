"""What may be asked of an export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

ExportFormat = Literal["graphml", "parquet", "html"]
FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)

DEFAULT_MAX_ENTITIES = 2_000
"""Circles that a browser pans and zooms smoothly, and names that make a page of about 3 MB with their quotes."""

DEFAULT_MAX_QUOTES = 3

OnProgress = Callable[[str, int, int, str], None]
"""Called with a step's name, how much of it is done, how much there is (0 where unknown), and what is counted."""


class ExportOptions(BaseModel):
    """An export, as it is asked for.

    ``doc_tag`` and ``path_prefix`` narrow it as a search's filters do; ``documents`` adds documents to GraphML;
    ``max_entities`` and ``max_quotes`` (of each entity) bound the page.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: ExportFormat
    path: Path
    replace: bool = False
    doc_tag: tuple[str, ...] = ()
    path_prefix: str | None = None
    documents: bool = False
    max_entities: int = Field(DEFAULT_MAX_ENTITIES, ge=1, le=20_000)
    max_quotes: int = Field(DEFAULT_MAX_QUOTES, ge=0, le=20)


def no_progress(step: str, done: int, total: int, unit: str) -> None:
    """Tell nobody."""
