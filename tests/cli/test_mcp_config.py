from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphctx.cli.app import app
from graphctx.cli.mcp_config import CLIENTS


def configuration(client: str, kb: Path) -> str:
    shown = CliRunner().invoke(app, ["mcp-config", client, "--kb", str(kb)])
    assert shown.exit_code == 0
    assert CLIENTS[client].place in shown.stderr
    return shown.stdout


def entries(value: Any) -> list[dict[str, Any]]:
    """Every table named graphctx in a configuration."""
    if not isinstance(value, dict):
        return []
    found = [value["graphctx"]] if isinstance(value.get("graphctx"), dict) else []
    return found + [entry for inner in value.values() for entry in entries(inner)]


@pytest.mark.parametrize("client", sorted(set(CLIENTS) - {"claude-code"}))
def test_a_configuration_starts_the_server_by_absolute_paths(client: str, tmp_path: Path) -> None:
    kb = tmp_path / 'a "kb" with spaces'
    text = configuration(client, kb)
    (entry,) = entries(tomllib.loads(text) if client == "codex" else json.loads(text))
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][entry["args"].index("--kb") + 1] == str(kb)


def test_a_command_is_to_be_run_and_not_put_anywhere(tmp_path: Path) -> None:
    for client in CLIENTS:
        said = CliRunner().invoke(app, ["mcp-config", client, "--kb", str(tmp_path)]).stderr
        assert ("Put this into" in said) != (client == "claude-code")
        assert ("Run this in a shell" in said) == (client == "claude-code")


def test_the_command_for_a_shell_quotes_its_arguments(tmp_path: Path) -> None:
    import shlex

    words = shlex.split(configuration("claude-code", tmp_path / "a kb"))
    assert words[:5] == ["claude", "mcp", "add", "graphctx", "--"]
    assert words[-1] == str(tmp_path / "a kb")
