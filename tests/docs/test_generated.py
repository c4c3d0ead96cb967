"""Generated files are up to date, and what can be used is documented."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from graphctx.cli.reference import check, write

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / "reference" / f"{name}.md").read_text("utf-8")


def test_generated_files_are_up_to_date() -> None:
    assert check(ROOT) == []


def test_a_stale_or_missing_file_is_found(tmp_path: Path) -> None:
    written = write(tmp_path)
    assert check(tmp_path) == []
    for name in written[:2]:
        path = tmp_path / name
        text = path.read_text("utf-8")
        path.write_text(text + " ", "utf-8")
        assert check(tmp_path) == [name]
        path.unlink()
        assert check(tmp_path) == [name]
        path.write_text(text, "utf-8")


def test_every_command_and_option_is_documented() -> None:
    from typer.main import get_command

    from graphctx.cli.app import app
    from graphctx.cli.reference import visible_commands

    text = page("commands")
    found = visible_commands(get_command(app), "graphctx")
    assert {path.split()[1] for path, _ in found} >= set("ingest ask search serve status doctor cypher".split())
    for path, command in found:
        section = text.split(f"\n## {path}\n", 1)[1].split("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and not parameter.hidden:
                assert f"`{parameter.opts[0]}`" in section, (path, parameter.name)


def test_every_tool_and_argument_is_documented() -> None:
    from graphctx.server.tools import TOOLS

    text = page("tools")
    for tool in TOOLS:
        section = text.split(f"\n## {tool.name}\n", 1)[1].split("\n## ")[0]
        for name in tool.input.model_fields:
            assert re.search(rf"`{name}[.`]", section), (tool.name, name)
        for name in tool.output.model_fields:
            assert f"`{name}`" in section, (tool.name, name)


def test_every_setting_is_documented() -> None:
    from graphctx.settings import Settings

    text = page("settings")

    def documented(group: Any, prefix: str) -> None:
        for name, setting in group.model_fields.items():
            assert setting.description, name
            if isinstance(setting.annotation, type) and issubclass(setting.annotation, BaseModel):
                documented(setting.annotation, f"{prefix}{name.upper()}__")
            else:
                assert f"| `{name}` | `{prefix}{name.upper()}` |" in text

    for group, field in Settings.model_fields.items():
        documented(field.annotation, f"GRAPHCTX_{group.upper()}__")
