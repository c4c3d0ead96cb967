from __future__ import annotations

import json
import os
import shlex
import socket
import tomllib
from pathlib import Path
from typing import Any

import pytest

from graphctx.cli.serve import CLIENTS
from graphctx.server import http, stdio
from graphctx.server.config import ServerConfig
from graphctx.server.http import HttpConfig

from . import runner

Started = list[tuple[ServerConfig, HttpConfig | None]]

TOKEN = "ana-0123456789-abcdefgh"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What would be served: both transports are stopped at their door."""
    seen: Started = []
    monkeypatch.setattr(stdio, "serve_stdio", lambda kb, config: seen.append((config, None)))
    monkeypatch.setattr(http, "serve_http", lambda kb, config, http, on_listening, pages: seen.append((config, http)))
    return seen


def run(tmp_path: Path, *words: str) -> str:
    """Run the command and return the error message, or nothing where it starts."""
    done = runner.run("serve", "--kb", tmp_path / "kb", *words)
    assert (done.code == 0) != done.err.startswith("error: INVALID_ARGUMENT ")
    assert done.out == ""
    return done.err if done.code else ""


def test_toolsets_are_chosen_on_the_command_line_before_the_environment(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__TOOLSETS", '["connector"]')
    run(tmp_path)
    run(tmp_path, "--toolsets", "kb, compat,")
    assert [config.toolsets for config, _ in started] == [("connector",), ("kb", "compat")]


@pytest.mark.parametrize("toolsets", ["kb,everything", "", ",", "KB"])
def test_a_toolset_that_is_not_there_is_refused_by_name(started: Started, tmp_path: Path, toolsets: str) -> None:
    assert "toolsets" in run(tmp_path, "--toolsets", toolsets)
    assert started == []


def test_tokens_come_from_a_file_and_open_a_public_address(started: Started, tmp_path: Path) -> None:
    public = ("--transport", "http", "--host", "0.0.0.0", "--allowed-host", "kb.example:*")
    assert "no bearer token" in run(tmp_path, *public)
    run(tmp_path, *public, "--allow-anonymous")
    (tmp_path / "tokens").write_text(f"ana {TOKEN}\n")
    run(tmp_path, *public, "--token-file", str(tmp_path / "tokens"))
    (anonymous, door), (config, _) = started
    assert anonymous.tokens == {}
    assert door == HttpConfig("0.0.0.0", 8765, ["kb.example:*"], [], allow_anonymous=True)
    assert config.tokens["ana"].get_secret_value() == TOKEN


@pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX only")
@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_file_that_others_may_read_is_warned_of(
    started: Started, tmp_path: Path, mode: int, warned: bool
) -> None:
    file = tmp_path / "tokens"
    file.write_text(f"ana {TOKEN}\n")
    file.chmod(mode)
    done = runner.run("serve", "--kb", tmp_path / "kb", "--transport", "http", "--token-file", file)
    assert (done.code, len(started)) == (0, 1)
    assert (f"chmod 600 {file}" in done.err) == warned


def test_a_port_in_use_is_reported_with_what_to_do_and_nothing_is_said_to_listen(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = run(tmp_path, "--transport", "http", "--port", str(port))
    assert f"Port {port} of 127.0.0.1 is in use" in said
    assert "--port" in said
    assert "MCP at" not in said


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    address = ("--host", "192.0.2.1", "--allowed-host", "x")  # TEST-NET-1 (RFC 5737): nobody's
    said = run(tmp_path, "--transport", "http", *address, "--allow-anonymous")
    assert "192.0.2.1:8765 cannot be bound" in said


def test_a_token_that_cannot_be_used_stops_the_server_and_is_not_shown(started: Started, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("ana hush-hush\n")
    said = run(tmp_path, "--transport", "http", "--token-file", str(tmp_path / "tokens"))
    assert "'ana'" in said
    assert "hush" not in said
    assert started == []


def test_a_folder_of_layers_brings_their_tools_and_the_command_line_goes_before_the_settings(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    run(tmp_path, "--layers", str(tmp_path))  # where there is no knowledge base, and then where there is one
    (tmp_path / "kb" / "snapshots").mkdir(parents=True)
    run(tmp_path, "--layers", str(tmp_path))
    monkeypatch.setenv("GRAPHCTX_LAYERS__FOLDER", "../repository")
    run(tmp_path)
    run(tmp_path, "--layers", str(tmp_path), "--toolsets", "kb,layers")
    monkeypatch.setenv("GRAPHCTX_LAYERS__WRITABLE", "false")
    run(tmp_path)
    without, alone, given, settings, chosen, readable = (config for config, _ in started)
    assert (given.layers_writable, readable.layers_writable) == (True, False)
    assert (without.layers, without.toolsets) == (None, ("core",))
    assert (alone.layers, alone.toolsets) == (tmp_path, ("layers",))
    assert (given.layers, given.toolsets) == (tmp_path, ("core", "layers"))
    assert (settings.layers, settings.toolsets) == (tmp_path / "kb" / "../repository", ("core", "layers"))
    assert (chosen.layers, chosen.toolsets) == (tmp_path, ("kb", "layers"))


def test_a_folder_of_layers_that_is_not_there_is_refused(started: Started, tmp_path: Path) -> None:
    assert "is not a folder" in run(tmp_path, "--layers", str(tmp_path / "nowhere"))
    assert started == []


def test_a_boundary_of_documents_keeps_layers_out_unless_the_settings_say_otherwise(
    started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kb" / "snapshots").mkdir(parents=True)
    monkeypatch.setenv("GRAPHCTX_SERVER__DOC_TAGS", '["public"]')
    monkeypatch.setenv("GRAPHCTX_LAYERS__FOLDER", str(tmp_path))
    assert "despite_boundary" in run(tmp_path, "--layers", str(tmp_path))
    run(tmp_path)
    monkeypatch.setenv("GRAPHCTX_LAYERS__DESPITE_BOUNDARY", "true")
    run(tmp_path)
    run(tmp_path, "--layers", str(tmp_path))
    assert [config.layers for config, _ in started] == [None, tmp_path, tmp_path]
    assert [config.toolsets[1:] for config, _ in started] == [(), ("layers",), ("layers",)]


def entries(value: Any) -> list[dict[str, Any]]:
    """Every table named graphctx in a configuration."""
    if not isinstance(value, dict):
        return []
    found = [value["graphctx"]] if isinstance(value.get("graphctx"), dict) else []
    return found + [entry for inner in value.values() for entry in entries(inner)]


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_configuration_of_a_client_starts_the_server_by_absolute_paths(client: str, tmp_path: Path) -> None:
    kb = tmp_path / 'a "kb" with spaces'
    done = runner.run("mcp-config", client, "--kb", kb)
    assert done.code == 0
    assert CLIENTS[client].place in done.err
    if client == "claude-code":  # a command
        assert "Run this in a shell" in done.err
        *head, name, dashes, program, serve, option, folder = shlex.split(done.out)
        assert [*head, name, dashes, serve, option] == ["claude", "mcp", "add", "graphctx", "--", "serve", "--kb"]
    else:
        assert "Put this into" in done.err
        (entry,) = entries(tomllib.loads(done.out) if client == "codex" else json.loads(done.out))
        program, folder = entry["command"], entry["args"][entry["args"].index("--kb") + 1]
    assert Path(program).is_absolute()
    assert folder == str(kb)


def test_a_configuration_with_a_memory_names_it_and_no_knowledge_base_that_is_not_there(tmp_path: Path) -> None:
    done = runner.run("mcp-config", "cursor", "--memory", "notes", folder=tmp_path)
    (entry,) = entries(json.loads(done.out))
    assert entry["args"] == ["serve", "--memory", str(tmp_path / "notes")]


def test_a_memory_is_served_alone_where_there_is_no_knowledge_base(started: Started, tmp_path: Path) -> None:
    for words in (["--memory", "notes"], ["--memory", "notes", "--toolsets", "kb"], ["--toolsets", "memory"], []):
        done = runner.run("serve", "--kb", tmp_path / "kb", *words)
        assert done.code == 0
        assert ("served without documents" in done.err) is ("--memory" in words)
    assert [config.toolsets for config, _ in started] == [("memory",), ("kb", "memory"), ("memory",), ("core",)]
    notes, own = Path("notes"), tmp_path / "kb" / "memory"
    assert [config.memory for config, _ in started] == [notes, notes, own, None]
