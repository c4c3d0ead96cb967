"""What an export reports when it is done."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from graphctx.export.options import ExportFormat


class ExportedFile(BaseModel):
    """A file that was written."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="Relative to the folder that was written, or the file's own name.")
    bytes: int = Field(ge=0)
    sha256: str


class ExportReport(BaseModel):
    """What was written, from which snapshot, and what was left out of it."""

    model_config = ConfigDict(frozen=True)

    format: ExportFormat
    path: str
    snapshot_id: str
    files: list[ExportedFile]
    counts: dict[str, int] = Field(description="What is in it: entities, relations, communities, quotes, rows.")
    left_out: list[str] = Field(description="One sentence for each limit that left something out.")
    notes: list[str] = Field([], description="What else its reader should know.")
