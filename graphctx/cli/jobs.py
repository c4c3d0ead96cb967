"""Job files: an ingest that is written down, for ``graphctx ingest --pipeline FILE``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import InvalidArgument
from graphctx.model.arguments import parse_arguments
from graphctx.settings import IngestSettings


class Job(BaseModel):
    """A job file. Paths in it are relative to the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: list[str] = Field(min_length=1, description="Files and folders to ingest.")
    kb: str | None = Field(None, description="The knowledge base's folder; --kb wins over it.")
    project_id: str | None = Field(None, min_length=1, max_length=200, description="Of a fresh knowledge base.")
    prune: bool = Field(False, description="Drop documents whose file has gone.")
    prune_most: bool = Field(False, description="Prune even if that drops more than half of the documents.")
    ingest: dict[str, Any] = Field(
        default_factory=dict, description="Settings of the group [ingest] for this run; they win over kb.toml."
    )


def read_job(file: Path) -> Job:
    """Read a job file, with its paths made absolute.

    Raises:
        InvalidArgument: it is absent, no TOML, has an unknown key or a wrong value.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidArgument(f"The job file {file} cannot be read: {error}.", file=str(file)) from error
    try:
        job = parse_arguments(Job, data)
        parse_arguments(IngestSettings, job.ingest)
    except InvalidArgument as error:
        raise InvalidArgument(f"The job file {file}: {error.message}", file=str(file), **error.details) from error
    folder = file.resolve().parent
    return job.model_copy(
        update={
            "paths": [str(folder / Path(path).expanduser()) for path in job.paths],
            "kb": str(folder / Path(job.kb).expanduser()) if job.kb else None,
        }
    )
