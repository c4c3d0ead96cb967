"""``MANIFEST.json``: the files of a snapshot with their checksums. Written last, read first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from graphctx.errors import BackendUnavailable
from graphctx.model.ids import content_id
from graphctx.store.files import reason_of, write_atomic

MANIFEST_NAME = "MANIFEST.json"
FORMAT_VERSION = 8
"""Version of the snapshot layout. A snapshot of another version is refused."""

ID_PATTERN = r"sn_[a-z2-7]{16}"

REMEDY = "Run `graphctx ingest` again, or go back with `graphctx snapshots rollback`."


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class FileEntry(_Model):
    """The size in bytes and the hex SHA-256 of a file."""

    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Versions(_Model):
    """Versions of programs, fingerprints of models and a hash of the settings that made a snapshot."""

    graphctx: str
    embedder: str = ""
    extractor: str = ""
    settings: str = ""
    engine: str = ""


class Manifest(_Model):
    """The manifest of a snapshot.

    Attributes:
        format_version: `FORMAT_VERSION` of the graphctx that wrote it.
        snapshot_id: ``sn_…``, from the content, the engine, the format and the variant.
        content_hash: ``content.content_hash`` of tables, vectors, arrays and matrices.
        created_at: ISO 8601, UTC; outside every hash.
        project_id: the project of the knowledge base.
        parent: the snapshot that was current before, if any.
        engine: the graph engine, whose name is the graph file's suffix.
        counts: rows of each table.
        table_versions: the LanceDB version of each table; empty without LanceDB tables.
        files: every file of the snapshot but this one, by its path below the snapshot.
        versions: of what made it.
    """

    format_version: int
    snapshot_id: str = Field(pattern=f"^{ID_PATTERN}$")
    content_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    created_at: str
    project_id: str
    parent: str | None = None
    engine: str
    counts: dict[str, int]
    table_versions: dict[str, int]
    files: dict[str, FileEntry]
    versions: Versions

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, FileEntry]) -> dict[str, FileEntry]:
        for name in files:
            path = PurePosixPath(name)
            if path.is_absolute() or ".." in path.parts or not path.parts:
                raise ValueError(f"{name!r} is not a path inside the snapshot")
        return files

    @property
    def size_bytes(self) -> int:
        """The bytes of all files."""
        return sum(entry.size for entry in self.files.values())


def snapshot_id(content_hash: str, engine: str, variant: Sequence[str] = ()) -> str:
    """Return the id of a snapshot.

    Args:
        content_hash: 64 hexadecimal characters.
        engine: the graph engine.
        variant: what else distinguishes snapshots of the same content, such as the parameters of an index that is not
            part of the content.
    """
    base = content_id("s", content_hash, engine, FORMAT_VERSION, *variant)
    return f"sn_{base.partition('_')[2]}"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest with a checksum over the rest of it."""
    data = manifest.model_dump(mode="json")
    text = json.dumps({**data, "checksum": checksum_of(data)}, indent=1, ensure_ascii=False)
    write_atomic(directory / MANIFEST_NAME, text.encode("utf-8") + b"\n")


def read_manifest(directory: Path) -> Manifest:
    """Read and check a snapshot's manifest.

    Raises:
        BackendUnavailable: absent, damaged, of another format, or of another snapshot than its directory.
    """
    where = f"snapshots/{directory.name}/{MANIFEST_NAME}"
    try:
        data: Any = json.loads((directory / MANIFEST_NAME).read_text("utf-8"))
    except FileNotFoundError:
        raise BackendUnavailable(f"{where} is missing: the snapshot is not complete. {REMEDY}", file=where) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(where, reason_of(error, directory)) from error
    if not isinstance(data, dict):
        raise _damaged(where, "it is not a JSON object")
    found = data.get("format_version")
    if isinstance(found, int) and found != FORMAT_VERSION:
        raise BackendUnavailable(
            f"{where} is of format {found}; this version of graphctx reads format {FORMAT_VERSION}. "
            + (
                "Use the version that wrote it, or ingest into another knowledge base."
                if found > FORMAT_VERSION
                else "Run `graphctx ingest` again, or use the version that wrote it."
            ),
            file=where,
            format_version=found,
        )
    if data.pop("checksum", None) != checksum_of(data):
        raise _damaged(where, "its checksum does not match")
    try:
        manifest = Manifest.model_validate(data)
    except ValidationError as error:
        raise _damaged(where, str(error.errors(include_url=False)[0]["msg"])) from error
    if manifest.snapshot_id != directory.name:
        raise _damaged(where, f"it is the manifest of {manifest.snapshot_id}")
    return manifest


def checksum_of(data: dict[str, Any]) -> str:
    """Return the checksum of a manifest's other values, hex SHA-256 of their canonical JSON."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _damaged(where: str, reason: str) -> BackendUnavailable:
    return BackendUnavailable(f"{where} is damaged: {reason}. {REMEDY}", file=where, reason=reason)
