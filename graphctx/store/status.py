"""The state of a knowledge base, for people and for monitors."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import GraphctxError
from graphctx.store.communities import CommunityLevel, levels_in
from graphctx.store.config import KbConfig, SourceEntry
from graphctx.store.files import size_of
from graphctx.store.manifest import Versions, read_manifest
from graphctx.store.objects import origin_of
from graphctx.store.snapshot import current_id, recovery_note, verify_files


class Status(BaseModel):
    """The state of a knowledge base. Everything about a snapshot is empty before the first ingest.

    ``bytes_by_part`` has the bytes on disk of the folder's parts; ``fault`` is the first verification error.
    """

    model_config = ConfigDict(frozen=True)

    project_id: str
    engine: str
    embedder: str
    sources: list[SourceEntry]
    snapshot_id: str | None = None
    content_hash: str | None = None
    created_at: str | None = None
    versions: Versions | None = None
    counts: dict[str, int] = Field(default_factory=dict)
    community_levels: list[CommunityLevel] = Field(default_factory=list)
    bytes_by_part: dict[str, int] = Field(default_factory=dict)
    verified: bool = False
    fault: str | None = None
    notes: list[str] = Field(default_factory=list, description="What else a person should know.")


def status_of(kb_dir: Path, config: KbConfig) -> Status:
    """Read and verify the published snapshot and measure the folder."""
    common = Status(
        project_id=config.project_id,
        engine=config.engine,
        embedder=config.embedder or "minilm-int8",
        sources=list(config.sources),
        bytes_by_part={name: size_of(kb_dir / name) for name in ("snapshots", "cache")},
    )
    try:
        snapshot = current_id(kb_dir)
        if snapshot is None:
            return common
        url = origin_of(kb_dir)
        notes = [recovery_note(kb_dir), f"This is a copy of {url}." if url else None]
        common = common.model_copy(update={"notes": [note for note in notes if note]})
        directory = kb_dir / "snapshots" / snapshot
        manifest = read_manifest(directory)
    except GraphctxError as error:
        return common.model_copy(update={"fault": error.message})
    known = common.model_copy(
        update={
            "snapshot_id": manifest.snapshot_id,
            "content_hash": manifest.content_hash,
            "created_at": manifest.created_at,
            "versions": manifest.versions,
            "counts": manifest.counts,
            "community_levels": levels_in(directory),
        }
    )
    try:
        verify_files(directory, manifest)
    except GraphctxError as error:
        return known.model_copy(update={"fault": error.message})
    return known.model_copy(update={"verified": True})
