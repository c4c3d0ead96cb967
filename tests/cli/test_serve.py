from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphctx.cli import serve
from graphctx.cli.app import app
from graphctx.server import http, stdio
from graphctx.server.config import ServerConfig
from graphctx.server.http import Door

TOKEN = "ana-0123456789-abcdefgh"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ServerConfig, Door | None]]:
    """What would be served: both transports are stopped at their door."""
    seen: list[tuple[ServerConfig, Door | None]] = []
    monkeypatch.setattr(stdio, "serve_stdio", lambda kb, config: seen.append((config, None)))
    monkeypatch.setattr(http, "serve_http", lambda kb, config, door: seen.append((config, door)))
    return seen


def run(tmp_path: Path, *arguments: str) -> str:
    """The command; what it says of an error, or nothing where it starts."""
    shown = CliRunner().invoke(app, ["serve", "--kb", str(tmp_path / "kb"), *arguments])
    assert (shown.exit_code == 0) != shown.stderr.startswith("error: INVALID_ARGUMENT ")
    assert shown.stdout == ""
    return shown.stderr if shown.exit_code else ""


def test_toolsets_are_chosen_on_the_command_line_before_the_environment(
    started: list[tuple[ServerConfig, Door | None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__TOOLSETS", '["connector"]')
    run(tmp_path)
    run(tmp_path, "--toolsets", "kb, compat,")
    assert [config.toolsets for config, _ in started] == [("connector",), ("kb", "compat")]


@pytest.mark.parametrize("toolsets", ["kb,everything", "", ",", "KB"])
def test_a_toolset_that_is_not_there_is_refused_by_name(
    started: list[tuple[ServerConfig, Door | None]], tmp_path: Path, toolsets: str
) -> None:
    assert "toolsets" in run(tmp_path, "--toolsets", toolsets)
    assert started == []


def test_tokens_come_from_a_file_and_open_a_public_address(
    started: list[tuple[ServerConfig, Door | None]], tmp_path: Path
) -> None:
    public = ("--transport", "http", "--host", "0.0.0.0", "--allowed-host", "kb.example:*")
    assert "no bearer token" in run(tmp_path, *public)
    run(tmp_path, *public, "--allow-anonymous")
    (tmp_path / "tokens").write_text(f"ana {TOKEN}\n")
    run(tmp_path, *public, "--token-file", str(tmp_path / "tokens"))
    (anonymous, door), (config, _) = started
    assert anonymous.tokens == {}
    assert door == Door("0.0.0.0", 8765, ["kb.example:*"], [], allow_anonymous=True)
    assert config.tokens["ana"].get_secret_value() == TOKEN


def test_a_token_that_cannot_be_used_stops_the_server_and_is_not_shown(
    started: list[tuple[ServerConfig, Door | None]], tmp_path: Path
) -> None:
    (tmp_path / "tokens").write_text("ana hush-hush\n")
    said = run(tmp_path, "--transport", "http", "--token-file", str(tmp_path / "tokens"))
    assert "'ana'" in said
    assert "hush" not in said
    assert started == []


def test_the_command_says_what_it_means_to_have_no_tokens() -> None:
    assert "--allow-anonymous" in (serve.serve.__doc__ or "")
