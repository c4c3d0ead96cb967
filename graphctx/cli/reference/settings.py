"""The page of all settings, from the settings' models."""

from __future__ import annotations

import inspect

from pydantic import BaseModel

_NOTE = "<!-- Made by `make generate` from graphctx/settings.py. Do not edit. -->"


def settings_page() -> str:
    """``docs/reference/settings.md``."""
    from graphctx.settings import Settings

    parts = [
        f"# Settings\n\n{_NOTE}",
        "A value is taken from the first of these that has it: an argument in code or on the command line, the "
        "environment variable, the file `kb.toml` of the knowledge base, the default. In `kb.toml` a group is a "
        "table:",
        "```toml\n[retrieve]\ncandidates = 400\n```",
    ]
    for name, field in Settings.model_fields.items():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseModel):
            parts.append(_group(name, group))
    parts.append(
        "## Elsewhere in kb.toml\n\n"
        "`project_id` is fixed when the knowledge base is made. `[graph] engine` is `kuzu` or `ladybug`; change it "
        "and ingest again. `[embedder] name` is `minilm-int8`, or `st:` with a folder or a model's name "
        "(`graphctx[st]`). `[[sources]]` lists the folders that were ingested."
    )
    return "\n\n".join(parts) + "\n"


def _group(name: str, group: type[BaseModel]) -> str:
    rows = [
        f"| `{key}` | `GRAPHCTX_{name.upper()}__{key.upper()}` | `{_shown(field.default)}` | {field.description} |"
        for key, field in group.model_fields.items()
    ]
    title = f"## [{name}]\n\n{inspect.cleandoc(group.__doc__ or '')}"
    return "\n".join([title, "", "| name | environment variable | default | |", "|---|---|---|---|", *rows])


def _shown(value: object) -> str:
    return "[]" if value == () else str(value)
