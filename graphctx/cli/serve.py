"""``graphctx serve`` and ``mcp-config``: the MCP server, and the configuration with which clients start it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import errors_console, print_text, warn
from graphctx.cli.options import DEFAULT_KB, KbOption, require_choice
from graphctx.errors import BackendUnavailable, InvalidArgument

if TYPE_CHECKING:
    from graphctx.server.config import ServerConfig
    from graphctx.settings import Settings


def serve(
    kb: KbOption = DEFAULT_KB,
    transport: Annotated[
        str,
        typer.Option(
            "--transport", metavar="stdio|http", help="stdio is started by a client; http serves several clients."
        ),
    ] = "stdio",
    toolsets: Annotated[
        str | None,
        typer.Option(
            "--toolsets",
            metavar="LIST",
            help="Tools to offer, with commas between: core (the six most used, in a slim form), kb and graph (all, in "
            "full), compat (older names), connector (search and fetch), layers (with --layers), memory (what agents "
            "remember), iteration (the context of an orchestrator's iterations).",
            show_default="core",
        ),
    ] = None,
    layers: Annotated[
        Path | None,
        typer.Option(
            "--layers",
            metavar="DIR",
            help="Folder of AGENTS.db and its layers, to search and to write to, instead of [layers] folder.",
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            metavar="DIR",
            help="Folder of the memory that agents read and write, created if missing, instead of [memory] folder.",
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to bind (http).")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to bind (http).")] = 8765,
    allowed_host: Annotated[
        list[str],
        typer.Option(
            "--allowed-host",
            metavar="NAME:PORT",
            help="A Host header to allow; required where --host is not local; may be repeated (http).",
        ),
    ] = [],
    allowed_origin: Annotated[
        list[str],
        typer.Option("--allowed-origin", metavar="URL", help="A browser's Origin to allow; may be repeated (http)."),
    ] = [],
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Accepted bearer tokens, a line `name token` each, instead of [server] tokens (http).",
        ),
    ] = None,
    allow_anonymous: Annotated[
        bool,
        typer.Option(
            "--allow-anonymous",
            help="Bind an address that is not local without tokens: a proxy in front authenticates (http).",
        ),
    ] = False,
    ui: Annotated[
        bool, typer.Option("--ui", help="Also serve the web page at /, under the same tokens and limits (http).")
    ] = False,
    tool_names: Annotated[
        str | None,
        typer.Option(
            "--tool-names",
            metavar="underscore|dotted",
            help="How tools are named in lists and texts, kb_search or kb.search; both forms can always be called.",
            show_default="underscore",
        ),
    ] = None,
) -> None:
    """Serve the knowledge base, layers and a memory over MCP.

    With stdio, standard output holds the protocol alone, and logs are on standard error. The server answers tools/list
    at once and opens the knowledge base in the background; if it cannot be opened, calls say why, and work as soon as
    the cause is gone. With --layers or --memory and no knowledge base, their tools are served alone.

    With http the endpoint is /mcp. Without bearer tokens it accepts everybody who can reach it, so it is bound to a
    local address unless --allow-anonymous says that something in front authenticates.
    """
    require_choice("--transport", transport, ("stdio", "http"))
    if ui and transport == "stdio":
        raise InvalidArgument("--ui serves a web page, which needs --transport http.", field="ui", value=True)
    overrides: dict[str, Any] = {}
    if tool_names is not None:
        overrides["tool_names"] = tool_names
    if toolsets is not None:
        overrides["toolsets"] = [name.strip() for name in toolsets.split(",") if name.strip()]
    if token_file is not None:
        from graphctx.server.auth import read_token_file

        overrides["tokens"] = read_token_file(token_file)
    config = server_config(kb, transport, overrides, layers, memory)
    if transport == "stdio":
        from graphctx.server.stdio import serve_stdio

        serve_stdio(kb, config)
        return
    from graphctx.server.auth import BearerTokens
    from graphctx.server.http import HttpConfig, serve_http

    http = HttpConfig(host, port, allowed_host, allowed_origin, allow_anonymous)
    http.check(BearerTokens(config.tokens))
    if token_file is not None and os.name == "posix" and token_file.stat().st_mode & 0o077:
        warn(f"warning: others on this machine may read or change {token_file}: chmod 600 {token_file}")
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    page = f", the page at {url}/" if ui else ""
    pages = None
    if ui:
        from graphctx.ui import page_routes

        pages = page_routes(kb)
    serve_http(kb, config, http, lambda: errors_console().print(f"MCP at {url}/mcp{page} (stop with Ctrl-C)"), pages)


def server_config(
    kb: Path, transport: str, overrides: dict[str, Any], layers: Path | None, memory: Path | None
) -> ServerConfig:
    """Return the settings of the knowledge base, with those of the command line in their place."""
    from graphctx.model.arguments import parse_arguments
    from graphctx.server.config import MEMORY_TOOLSETS, ServerConfig, Transport
    from graphctx.settings import ServerSettings, layers_folder, load_settings, memory_folder
    from graphctx.store.config import has_snapshots, is_absent, read_config

    try:
        tables = read_config(kb).settings
    except BackendUnavailable:  # calls report it; a client that starts before the first ingest must not fail
        if transport == "http" and has_snapshots(kb):  # its tokens would be missing, and everybody accepted
            raise
        tables = {}
    loaded = load_settings(tables)
    asked = [name for name, folder in (("layers", layers), ("memory", memory)) if folder is not None]
    if asked and is_absent(kb) and "toolsets" not in loaded.server.model_fields_set:
        overrides = {"toolsets": asked, **overrides}
    if layers is None:
        layers = layers_folder(loaded, kb)
    else:
        _check_layers(layers, loaded)
    settings = parse_arguments(ServerSettings, {**loaded.server.model_dump(), **overrides})
    if memory is not None and is_absent(kb) and kb != DEFAULT_KB:
        warn(
            f"warning: there is no knowledge base in {kb}, so the memory is served without documents. Correct --kb or "
            f"leave it out; graphctx ingest FOLDER --kb {kb} makes one."
        )
    if memory is not None and not MEMORY_TOOLSETS & set(settings.toolsets):
        settings = settings.model_copy(update={"toolsets": (*settings.toolsets, "memory")})
    return ServerConfig.from_settings(
        settings,
        transport=cast(Transport, transport),
        layers=layers,
        layers_writable=loaded.layers.writable,
        memory=memory or memory_folder(loaded, kb),
        memory_settings=loaded.memory,
        llm=loaded.llm,
        context_settings=loaded.context,
    )


def _check_layers(layers: Path, settings: Settings) -> None:
    """Raise InvalidArgument if the folder does not exist, or if a boundary is set, which cannot hold for layers."""
    if not layers.is_dir():
        raise InvalidArgument(
            f"--layers is {str(layers)!r}, which is not a folder; name the folder of AGENTS.db.",
            field="layers",
            value=str(layers),
        )
    if (settings.server.doc_tags or settings.server.repositories) and not settings.layers.despite_boundary:
        raise InvalidArgument(
            "--layers: [server] doc_tags or repositories set a boundary, and layers have neither tags nor folders "
            "to which it could apply. Set [layers] despite_boundary to offer them anyway.",
            field="layers",
            value=str(layers),
            setting="layers.despite_boundary",
        )


_NAME = "graphctx"


@dataclass(frozen=True, slots=True)
class McpClient:
    """An MCP client and the form of its configuration.

    Attributes:
        place: the configuration's file, or where to find it; empty if ``render`` returns a shell command.
        render: a function from the server's command line to the text of the configuration.
    """

    place: str
    render: Callable[[list[str]], str]


def _under(key: str, **extra: Any) -> Callable[[list[str]], str]:
    def render(command: list[str]) -> str:
        entry = {**extra, "command": command[0], "args": command[1:]}
        return json.dumps({key: {_NAME: entry}}, indent=2, ensure_ascii=False)

    return render


def _toml(command: list[str]) -> str:
    # A JSON string or array of strings is also a TOML one.
    arguments = json.dumps(command[1:], ensure_ascii=False)
    return f"[mcp_servers.{_NAME}]\ncommand = {json.dumps(command[0], ensure_ascii=False)}\nargs = {arguments}"


CLIENTS: dict[str, McpClient] = {
    "claude-code": McpClient("", lambda command: f"claude mcp add {_NAME} -- {shlex.join(command)}"),
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
    memory: Annotated[
        Path | None,
        typer.Option("--memory", metavar="DIR", help="Also serve a memory; without a knowledge base, it alone."),
    ] = None,
) -> None:
    """Print the configuration with which an MCP client starts this server.

    The configuration is on standard output; where to put it, on standard error.
    """
    if client not in CLIENTS:
        raise InvalidArgument(
            f"There is no client {client!r} here; known: {', '.join(CLIENTS)}. Most others accept the form of "
            "claude-desktop.",
            field="client",
            value=client,
            allowed=list(CLIENTS),
        )
    from graphctx.store.objects import origin_of

    known = CLIENTS[client]
    is_there = (kb.expanduser() / "kb.toml").exists()
    command = [*program(), "serve"]
    if is_there or memory is None:
        command += ["--kb", origin_of(kb) or str(kb.expanduser().resolve())]
    if memory is not None:
        command += ["--memory", str(memory.expanduser().resolve())]
    instruction = f"Put this into: {known.place}" if known.place else "Run this in a shell:"
    errors_console().print(instruction, style="dim")
    if not is_there and (memory is None or kb != DEFAULT_KB):
        without = "" if memory is None else ", so the memory is served without documents"
        warn(f"There is no knowledge base in {kb} yet{without}: graphctx ingest FOLDER --kb {kb} creates it.")
    print_text(known.render(command))


def program() -> list[str]:
    """Return the command line that starts graphctx from anywhere: its script by absolute path, else the interpreter."""
    beside = Path(sys.executable).with_name("graphctx")
    if beside.exists():
        return [str(beside)]
    if (found := shutil.which("graphctx")) is not None:
        return [str(Path(found).absolute())]
    return [sys.executable, "-m", "graphctx.cli"]
