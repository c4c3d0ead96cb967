"""``kb.toml``: which project a knowledge base belongs to, its engine, its embedder and its sources."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from graphctx.errors import BackendUnavailable
from graphctx.settings import without_secrets
from graphctx.store.files import disk_errors, reason_of, write_atomic
from graphctx.store.graph import DEFAULT_ENGINE, ENGINES

log = logging.getLogger(__name__)

CONFIG_NAME = "kb.toml"
CONFIG_FORMAT = 1
MAX_PROJECT_CHARS = 200
"""Longest project_id, as long as the one that a request's scope may name."""

_COPY_DIR = "snapshots"
"""The folder of the copy of ``kb.toml``: whoever deletes one of them seldom deletes the other."""


WEB_PREFIX = "web:"
"""The start of the path of a source that is a list of web pages; its name follows."""


class SourceEntry(BaseModel):
    """A folder that was ingested, or a list of web pages.

    Attributes:
        name: unique among the sources; stored with each document.
        path: the folder on this machine, or the name of the list after ``web:``.
        prefix: the start of its documents' URIs; empty unless their paths clash with another source's.
        reading: the patterns, tags, rules and columns of the last ingest of the folder, with which it is read again if
            the snapshot is unreadable.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    path: str = Field(min_length=1)
    prefix: str = ""
    reading: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_web(self) -> bool:
        """Whether it is a list of web pages."""
        return self.path.startswith(WEB_PREFIX)


class KbConfig(BaseModel):
    """The settings of one knowledge base.

    Attributes:
        project_id: fixed when the knowledge base is created; every request names this one or none.
        engine: the graph engine, ``[graph] engine``.
        embedder: the embedder's name, ``[embedder] name``; empty for the default.
        sources: the ingested folders, in the order of their first ingest.
        removed: the source of each URI that `graphctx remove` removed; later ingests leave them out unless their file
            is named. Of a list of URIs, the sources are unknown: empty.
        settings: every other table and key of the file, kept unchanged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: str = Field(min_length=1, max_length=MAX_PROJECT_CHARS)
    engine: str = DEFAULT_ENGINE
    embedder: str = ""
    sources: tuple[SourceEntry, ...] = ()
    removed: dict[str, str] = Field(default_factory=dict)
    settings: dict[str, Any] = Field(default_factory=dict)

    @field_validator("removed", mode="before")
    @classmethod
    def _listed(cls, removed: object) -> object:
        return dict.fromkeys(removed, "") if isinstance(removed, list) else removed

    @field_validator("engine")
    @classmethod
    def _known(cls, engine: str) -> str:
        if engine not in ENGINES:
            raise ValueError(f"there is no such graph engine; there are {', '.join(ENGINES)}")
        return engine


def is_absent(kb_dir: Path) -> bool:
    """Return whether a folder holds no part of a knowledge base: neither ``kb.toml`` nor snapshots."""
    return not any((kb_dir / name).exists() for name in (CONFIG_NAME, "snapshots"))


def read_config(kb_dir: Path) -> KbConfig:
    """Read ``kb.toml``.

    Raises:
        BackendUnavailable: the file is missing, unreadable, not TOML or of another format, or a value is wrong.
    """
    path = Path(kb_dir) / CONFIG_NAME
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if has_snapshots(kb_dir):
            raise BackendUnavailable(
                f"{CONFIG_NAME} is missing beside published snapshots. It may have set a boundary, so nothing is "
                "answered without it. Put it back, or run `graphctx ingest PATH`, which restores it as the last ingest "
                "knew it.",
                file=CONFIG_NAME,
            ) from None
        raise BackendUnavailable(
            "There is no knowledge base here. Make one: `graphctx ingest PATH`.",
            file=CONFIG_NAME,
        ) from None
    except OSError as error:
        reason = reason_of(error)
        raise BackendUnavailable(
            f"{CONFIG_NAME} cannot be read: {reason}. Check the knowledge base's folder and its permissions.",
            file=CONFIG_NAME,
            reason=reason,
        ) from error
    except UnicodeDecodeError as error:
        raise BackendUnavailable(
            f"{CONFIG_NAME} is not UTF-8 (byte {error.start}). Save it as UTF-8.",
            file=CONFIG_NAME,
            reason=error.reason,
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise _wrong(str(error)) from error
    found = data.pop("format", CONFIG_FORMAT)
    if found != CONFIG_FORMAT:
        raise BackendUnavailable(
            f"{CONFIG_NAME} is of format {found!r}; this version of graphctx reads format {CONFIG_FORMAT}. "
            "Use the version that wrote it, or ingest into a new knowledge base.",
            file=CONFIG_NAME,
            format=found,
        )
    values = {
        "project_id": data.pop("project_id", ""),
        "sources": data.pop("sources", []),
        "removed": data.pop("removed", {}),
        **_lift(data, "graph", "engine", "engine"),
        **_lift(data, "embedder", "name", "embedder"),
        "settings": data,
    }
    try:
        return KbConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _wrong(f"{where}: {first['msg']} (found {first['input']!r})") from error


def write_config(kb_dir: Path, config: KbConfig) -> None:
    """Replace ``kb.toml`` atomically, unless it already says the same. Hand-written comments stay.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    path = Path(kb_dir) / CONFIG_NAME
    before = None
    with suppress(BackendUnavailable):  # absent or unreadable: write it
        if read_config(kb_dir) == config:
            return
        before = path.read_text("utf-8")
    with disk_errors(CONFIG_NAME):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, config_text(config, before).encode("utf-8"))


def config_text(config: KbConfig, before: str | None = None) -> str:
    """Return the text of ``kb.toml``.

    Args:
        config: what it says.
        before: a text of ``kb.toml``, of which comments and the order of keys are kept.
    """
    import tomlkit

    own: dict[str, Any] = {"graph": {"engine": config.engine}}
    if config.embedder:
        own["embedder"] = {"name": config.embedder}
    tables = {key: value for key, value in config.settings.items() if isinstance(value, Mapping)}
    scalars = {key: value for key, value in config.settings.items() if key not in tables}
    merged = {key: {**own.get(key, {}), **tables.get(key, {})} for key in sorted({*own, *tables})}
    data = {"format": CONFIG_FORMAT, "project_id": config.project_id, **scalars, **merged}
    if config.removed:
        data["removed"] = dict(sorted(config.removed.items()))
    if config.sources:
        data["sources"] = [
            source.model_dump(exclude=None if source.reading else {"reading"}) for source in config.sources
        ]
    document = tomlkit.parse(before or "")
    _update(document, data)
    return tomlkit.dumps(document)


def _update(table: MutableMapping[str, Any], data: Mapping[str, Any]) -> None:
    """Change the values of a TOML table that differ, and leave the others with their comments."""
    for key in table.keys() - data.keys():
        del table[key]
    for key, value in data.items():
        if isinstance(value, Mapping) and isinstance(table.get(key), MutableMapping):
            _update(table[key], value)
        elif table.get(key) != value:
            table[key] = value


def has_snapshots(kb_dir: Path) -> bool:
    """Return whether there is a snapshot, whole or not."""
    return any((Path(kb_dir) / _COPY_DIR).glob("sn_*"))


def keep_copy(kb_dir: Path, config: KbConfig) -> None:
    """Write a copy of ``kb.toml`` without secrets beside the snapshots, from which a lost one can be restored.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    copy = config.model_copy(update={"settings": without_secrets(config.settings)})
    write_config(Path(kb_dir) / _COPY_DIR, copy)


def restore_config(kb_dir: Path) -> None:
    """Restore a lost ``kb.toml`` from its copy.

    Raises:
        BackendUnavailable: the copy is missing or cannot be read, or the disk refuses the write.
    """
    try:
        config = read_config(Path(kb_dir) / _COPY_DIR)
    except BackendUnavailable as error:
        raise BackendUnavailable(
            f"{CONFIG_NAME} is missing beside published snapshots, and its copy {_COPY_DIR}/{CONFIG_NAME} cannot be "
            f"used. Put one of them back from a backup, or write {CONFIG_NAME} again: the project_id that is in "
            f"{_COPY_DIR}/*/MANIFEST.json, and under [server] the boundary that you had set.",
            file=CONFIG_NAME,
            reason=error.message,
        ) from error
    write_config(kb_dir, config)
    log.warning(
        "%s was missing. It is restored as the last ingest knew it: project %r, engine, embedder, sources and "
        "settings, a boundary among them. Look through it: what was changed after that ingest is lost, and tokens and "
        "keys are never kept.",
        CONFIG_NAME,
        config.project_id,
    )


def _lift(data: dict[str, Any], table: str, key: str, name: str) -> dict[str, Any]:
    """Move ``[table] key`` out of ``data`` into ``{name: value}``; remove the table if that leaves it empty."""
    inner = data.get(table)
    if not isinstance(inner, dict) or key not in inner:
        return {}
    value = inner.pop(key)
    if not inner:
        del data[table]
    return {name: value}


def _wrong(reason: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"{CONFIG_NAME} cannot be used: {reason}. Correct that line.", file=CONFIG_NAME, reason=reason
    )
