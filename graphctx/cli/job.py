"""Job files: an ingest of several sources, written as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.source import Source, is_web_address


class IngestJob(BaseModel):
    """A job file: an ingest for ``--pipeline``. Paths in it are relative to the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: list[str] = Field([], description="Files and folders to ingest.")
    sources: list[Source] = Field([], description="Files, folders and lists of web pages, with what is read of them.")
    kb: str | None = Field(None, description="The knowledge base's folder; --kb wins over it.")
    project_id: str | None = Field(None, min_length=1, max_length=200, description="Of a fresh knowledge base.")
    prune: bool = Field(False, description="Drop documents whose file or page has gone, or that no source chooses.")
    prune_most: bool = Field(False, description="Prune even if that drops more than half of the documents.")
    quiet_seconds: float = Field(
        2.0, gt=0, le=3600, description="With --watch, publish when nothing has changed for so long."
    )
    engine: Literal["local", "dask"] = Field(
        "local", description="Where documents are read and embedded; see --engine."
    )
    scheduler: str | None = Field(None, description="The scheduler of a Dask cluster; see --scheduler.")
    publish_to: str | None = Field(
        None, description="Publish each snapshot there too: s3://bucket/path; see graphctx publish."
    )
    ingest: dict[str, Any] = Field(
        default_factory=dict, description="Settings of the group [ingest] for this run; they win over kb.toml."
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.paths or self.sources):
            raise ValueError("a job has paths or [[sources]]")
        for path in self.paths:
            if is_web_address(path):
                raise ValueError(f"{path} is a web page; list it in the urls of a [[sources]] table")
        return self

    @property
    def all_sources(self) -> list[Source]:
        """Everything that the job reads."""
        return [*(Source(path=path) for path in self.paths), *self.sources]


def read_job(file: Path) -> IngestJob:
    """Read a job file and make its paths absolute.

    Raises:
        InvalidArgument: the file is missing, is not TOML, has an unknown key or a wrong value.
    """
    from graphctx.model.arguments import parse_arguments
    from graphctx.settings import IngestSettings

    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidArgument(f"The job file {file} cannot be read: {error}.", file=str(file)) from error
    try:
        job = parse_arguments(IngestJob, data)
        parse_arguments(IngestSettings, job.ingest)
    except InvalidArgument as error:
        raise InvalidArgument(f"The job file {file}: {error.message}", file=str(file), **error.details) from error
    folder = file.resolve().parent

    def absolute(path: str | None) -> str | None:
        return str(folder / Path(path).expanduser()) if path else path

    return job.model_copy(
        update={
            "paths": [absolute(path) for path in job.paths],
            "sources": [
                source.model_copy(update={"path": absolute(source.path), "url_file": absolute(source.url_file)})
                for source in job.sources
            ],
            "kb": absolute(job.kb),
        }
    )
