"""``kb.toml``: which project a knowledge base belongs to, its engine, its embedder and its sources."""

from __future__ import annotations

import json
import logging
import math
import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphctx.errors import BackendUnavailable
from graphctx.settings import without_secrets
from graphctx.store.files import disk_errors, write_atomic
from graphctx.store.reasons import reason_of

log = logging.getLogger(__name__)

CONFIG_NAME = "kb.toml"
CONFIG_FORMAT = 1
MAX_PROJECT_CHARS = 200
"""Longest project_id, as long as the one that a request's scope may name."""

_COPY_DIR = "snapshots"
"""Where a copy lies under the same name. Who deletes the one seldom deletes the other."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class SourceEntry(BaseModel):
    """A folder that was ingested.

    Attributes:
        name: unique among the sources; documents remember it.
        path: where it lies on this machine.
        prefix: what its documents' URIs start with; empty as long as their paths clash with no other
            source's.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    path: str = Field(min_length=1)
    prefix: str = ""


class KbConfig(BaseModel):
    """The settings of one knowledge base.

    Attributes:
        project_id: fixed when the knowledge base is made; every request must name this one or none.
        engine: the graph engine, ``[graph] engine``.
        embedder: the embedder's name, ``[embedder] name``; empty means the default one.
        sources: what was ingested, in the order of the first ingest.
        settings: every other table and key of the file, kept as it stands.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: str = Field(min_length=1, max_length=MAX_PROJECT_CHARS)
    engine: Literal["kuzu", "ladybug"] = "kuzu"
    embedder: str = ""
    sources: tuple[SourceEntry, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)


def is_absent(kb_dir: Path) -> bool:
    """Whether a folder holds no part of a knowledge base: neither its settings nor snapshots."""
    return not any((kb_dir / name).exists() for name in (CONFIG_NAME, "snapshots"))


def read_config(kb_dir: Path) -> KbConfig:
    """Read ``kb.toml``.

    Raises:
        BackendUnavailable: there is none, it is unreadable or no TOML, a value is wrong, or its format is another.
    """
    path = Path(kb_dir) / CONFIG_NAME
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        if has_snapshots(kb_dir):
            raise BackendUnavailable(
                f"{CONFIG_NAME} is missing beside published snapshots. It may have drawn a boundary, so nothing is "
                "answered without it. Put it back, or run `graphctx ingest PATH`, which restores it as the last ingest "
                "knew it.",
                file=CONFIG_NAME,
            ) from None
        raise BackendUnavailable(
            f"There is no knowledge base here: {CONFIG_NAME} is missing. Make one: `graphctx ingest PATH`.",
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
    """Write ``kb.toml`` in one stroke, unless it already says the same (so that hand-written comments stay).

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    path = Path(kb_dir) / CONFIG_NAME
    try:
        if read_config(kb_dir) == config:
            return
    except BackendUnavailable:
        pass  # absent or unreadable: it is written anew
    own: dict[str, Any] = {"graph": {"engine": config.engine}}
    if config.embedder:
        own["embedder"] = {"name": config.embedder}
    tables = {key: value for key, value in config.settings.items() if isinstance(value, Mapping)}
    scalars = {key: value for key, value in config.settings.items() if key not in tables}
    merged = {key: {**own.get(key, {}), **tables.get(key, {})} for key in sorted({*own, *tables})}
    data = {"format": CONFIG_FORMAT, "project_id": config.project_id, **scalars, **merged}
    lines = [_dump(data)]
    lines += [f"\n[[sources]]\n{_dump(source.model_dump())}" for source in config.sources]
    with disk_errors(CONFIG_NAME):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, "".join(lines).encode("utf-8"))


def has_snapshots(kb_dir: Path) -> bool:
    """Whether there is a snapshot, whole or not."""
    return any((Path(kb_dir) / _COPY_DIR).glob("sn_*"))


def keep_copy(kb_dir: Path, config: KbConfig) -> None:
    """Keep what ``kb.toml`` says, without secrets, beside the snapshots, so that a lost one can be restored.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    copy = config.model_copy(update={"settings": without_secrets(config.settings)})
    write_config(Path(kb_dir) / _COPY_DIR, copy)


def restore_config(kb_dir: Path) -> None:
    """Write a lost ``kb.toml`` again from its copy.

    Raises:
        BackendUnavailable: the copy is lost too or cannot be read, or the disk refuses the write.
    """
    try:
        config = read_config(Path(kb_dir) / _COPY_DIR)
    except BackendUnavailable as error:
        raise BackendUnavailable(
            f"{CONFIG_NAME} is missing beside published snapshots, and its copy {_COPY_DIR}/{CONFIG_NAME} cannot be "
            f"used. Put one of them back from a backup, or write {CONFIG_NAME} again: the project_id that is in "
            f"{_COPY_DIR}/*/MANIFEST.json, and under [server] the boundary that you had drawn.",
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
    """Take ``[table] key`` out of ``data``, as ``{name: value}``; an empty table goes with it."""
    inner = data.get(table)
    if not isinstance(inner, dict) or key not in inner:
        return {}
    value = inner.pop(key)
    if not inner:
        del data[table]
    return {name: value}


def _dump(data: Mapping[str, Any], prefix: str = "") -> str:
    """TOML of a mapping: its plain values first, then each table within it under its own header."""
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value)}\n" for key, value in data.items() if key not in tables]
    for key, table in tables.items():
        name = f"{prefix}{_key(key)}"
        lines.append(f"\n[{name}]\n{_dump(table, f'{name}.')}")
    return "".join(lines)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(_value(item) for item in value) + "]"


def _wrong(reason: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"{CONFIG_NAME} cannot be used: {reason}. Mend that line.", file=CONFIG_NAME, reason=reason
    )
