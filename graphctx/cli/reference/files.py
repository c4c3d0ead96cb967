"""Which files are generated, and from what."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_TOOLS = "schemas/tools"


def generated() -> dict[str, str]:
    """Every generated file but those in ``schemas/tools``: its path below the repository's root, and its text."""
    from graphctx.cli.jobs import Job
    from graphctx.cli.reference.commands import commands_page
    from graphctx.cli.reference.settings import settings_page
    from graphctx.cli.reference.tools import tools_page
    from graphctx.ingest.report import IngestReport
    from graphctx.settings import Settings
    from graphctx.store.graph.schema import ddl
    from graphctx.store.manifest import Manifest
    from graphctx.store.status import Status

    models: dict[str, type[BaseModel]] = {
        "ingest-report": IngestReport,
        "job": Job,
        "manifest": Manifest,
        "settings": Settings,
        "status": Status,
    }
    pages: dict[str, Callable[[], str]] = {
        "docs/reference/commands.md": commands_page,
        "docs/reference/settings.md": settings_page,
        "docs/reference/tools.md": tools_page,
        "schemas/graph.cypher": ddl,
        "schemas/tables.json": _tables,
    }
    schemas = {f"schemas/{name}.schema.json": _json(model.model_json_schema()) for name, model in models.items()}
    return {**schemas, **{name: page() for name, page in pages.items()}}


def write(root: Path) -> list[str]:
    """Write all generated files and return their paths below ``root``."""
    from graphctx.server.listing import write_schemas
    from graphctx.server.tools import TOOLS

    texts = generated()
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    tools = write_schemas(root / _TOOLS, TOOLS)
    return sorted([*texts, *(path.relative_to(root).as_posix() for path in tools)])


def check(root: Path) -> list[str]:
    """The generated files below ``root`` that are absent or differ from what `write` would write."""
    from graphctx.server.listing import check_schemas
    from graphctx.server.tools import TOOLS

    stale = [f"{_TOOLS}/{name}" for name in check_schemas(root / _TOOLS, TOOLS)]
    for name, text in generated().items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    return sorted(stale)


def _tables() -> str:
    from graphctx.store.manifest import FORMAT_VERSION
    from graphctx.store.schema import TABLES, UNHASHED_COLUMNS

    tables = {
        name: [
            {
                "name": field.name,
                "type": str(field.type),
                "nullable": field.nullable,
                "in_content_hash": field.name not in UNHASHED_COLUMNS.get(name, ()),
            }
            for field in schema
        ]
        for name, schema in TABLES.items()
    }
    return _json({"format_version": FORMAT_VERSION, "tables": tables})


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
