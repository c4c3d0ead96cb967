"""``graphctx mcp-config``: the lines that make an MCP client start this server."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from graphctx.cli.options import DEFAULT_KB, KbOption
from graphctx.errors import InvalidArgument

NAME = "graphctx"


@dataclass(frozen=True, slots=True)
class McpClient:
    """An MCP client: where its configuration lies and what it looks like.

    Attributes:
        place: the file, or where to find it; empty for a command, which is to be run in a shell.
        render: command and arguments to the text of the configuration.
    """

    place: str
    render: Callable[[list[str]], str]


def _under(key: str, **extra: Any) -> Callable[[list[str]], str]:
    def render(command: list[str]) -> str:
        entry = {**extra, "command": command[0], "args": command[1:]}
        return json.dumps({key: {NAME: entry}}, indent=2, ensure_ascii=False)

    return render


def _toml(command: list[str]) -> str:
    # A JSON string or array of strings is also a TOML one.
    arguments = json.dumps(command[1:], ensure_ascii=False)
    return f"[mcp_servers.{NAME}]\ncommand = {json.dumps(command[0], ensure_ascii=False)}\nargs = {arguments}"


def _claude_code(command: list[str]) -> str:
    return f"claude mcp add {NAME} -- {shlex.join(command)}"


CLIENTS: dict[str, McpClient] = {
    "claude-code": McpClient("", _claude_code),
    "claude-desktop": McpClient("Settings › Developer › Edit Config", _under("mcpServers")),
    "codex": McpClient("~/.codex/config.toml", _toml),
    "copilot-cli": McpClient("~/.copilot/mcp-config.json", _under("mcpServers", type="local", tools=["*"])),
    "cursor": McpClient("~/.cursor/mcp.json, or .cursor/mcp.json in a project", _under("mcpServers")),
    "gemini-cli": McpClient("~/.gemini/settings.json", _under("mcpServers")),
    "vscode": McpClient(".vscode/mcp.json", _under("servers", type="stdio")),
    "zed": McpClient("Zed's settings.json", _under("context_servers")),
}


def mcp_config(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help=f"One of: {', '.join(CLIENTS)}.")],
    kb: KbOption = DEFAULT_KB,
) -> None:
    """Print the configuration with which an MCP client starts this server.

    The configuration is on standard output; where to put it, on standard error.
    """
    from graphctx.cli.console import errors_console, print_text

    if client not in CLIENTS:
        raise InvalidArgument(
            f"There is no client {client!r} here; known: {', '.join(CLIENTS)}. Most others take what "
            "claude-desktop takes.",
            field="client",
            value=client,
            allowed=list(CLIENTS),
        )
    known = CLIENTS[client]
    command = [*program(), "serve", "--kb", str(kb.expanduser().resolve())]
    console = errors_console()
    what = f"Put this into: {known.place}" if known.place else "Run this in a shell:"
    console.print(what, style="dim", soft_wrap=True)
    if not (kb.expanduser() / "kb.toml").exists():
        console.print(
            f"There is no knowledge base in {kb} yet: graphctx ingest FOLDER --kb {kb} makes it.",
            style="yellow",
            soft_wrap=True,
        )
    print_text(known.render(command))


def program() -> list[str]:
    """The command line that starts graphctx from anywhere: its script by absolute path, else the interpreter."""
    beside = Path(sys.executable).with_name("graphctx")
    if beside.exists():
        return [str(beside)]
    if (found := shutil.which("graphctx")) is not None:
        return [str(Path(found).absolute())]
    return [sys.executable, "-m", "graphctx.cli"]
