"""``graphctx serve``: the knowledge base as an MCP server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.options import DEFAULT_KB, KbOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.server.config import ServerConfig
    from graphctx.settings import Settings


def serve(
    kb: KbOption = DEFAULT_KB,
    transport: Annotated[
        str, typer.Option("--transport", metavar="stdio|http", help="stdio is started by a client; http is for many.")
    ] = "stdio",
    toolsets: Annotated[
        str | None,
        typer.Option(
            "--toolsets",
            metavar="LIST",
            help="Tools to offer, with commas between: kb, graph, compat (older names), connector (search and fetch), "
            "layers (with --layers).",
            show_default="kb,graph",
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
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to bind (http).")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to bind (http).")] = 8765,
    allowed_host: Annotated[
        list[str],
        typer.Option(
            "--allowed-host",
            metavar="NAME:PORT",
            help="A Host header to let in; required where --host is not local; may be repeated (http).",
        ),
    ] = [],  # noqa: B006 - typer copies the default
    allowed_origin: Annotated[
        list[str],
        typer.Option("--allowed-origin", metavar="URL", help="A browser's Origin to let in; may be repeated (http)."),
    ] = [],  # noqa: B006
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="Bearer tokens to let in, a line `name token` each, instead of [server] tokens (http).",
        ),
    ] = None,
    allow_anonymous: Annotated[
        bool,
        typer.Option(
            "--allow-anonymous",
            help="Bind an address that is not local without tokens: a proxy in front authenticates (http).",
        ),
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
    """Serve the knowledge base, and layers, over MCP.

    With stdio, nothing but protocol is on standard output and logs are on standard error. The server answers
    tools/list at once and opens the knowledge base in the background; if it cannot be opened, calls say why, and
    work as soon as the cause is gone. With --layers and no knowledge base, the tools of the layers are served alone.
    With http the endpoint is /mcp. Without bearer tokens it lets in whoever can
    reach it, so it is bound to a local address unless --allow-anonymous says that something in front authenticates.
    """
    if transport not in ("stdio", "http"):
        raise InvalidArgument(
            f"--transport is {transport!r}; use stdio or http.",
            field="transport",
            value=transport,
            allowed=["stdio", "http"],
        )
    given: dict[str, Any] = {}
    if tool_names is not None:
        given["tool_names"] = tool_names
    if toolsets is not None:
        given["toolsets"] = [name.strip() for name in toolsets.split(",") if name.strip()]
    if token_file is not None:
        from graphctx.server.auth import read_token_file

        given["tokens"] = read_token_file(token_file)
    config = _config(kb, transport, given, layers)
    if transport == "stdio":
        from graphctx.server.stdio import serve_stdio

        serve_stdio(kb, config)
    else:
        from graphctx.cli.console import errors_console
        from graphctx.server.auth import Tokens
        from graphctx.server.http import HttpConfig, serve_http

        http = HttpConfig(host, port, allowed_host, allowed_origin, allow_anonymous)
        http.check(Tokens(config.tokens))
        if token_file is not None:
            _warn_if_open(token_file)
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp"
        serve_http(kb, config, http, lambda: errors_console().print(f"MCP at {url} (stop with Ctrl-C)", soft_wrap=True))


def _warn_if_open(token_file: Path) -> None:
    """Say so where others on this machine may read the tokens."""
    from graphctx.cli.console import errors_console

    if os.name == "posix" and token_file.stat().st_mode & 0o077:
        errors_console().print(
            f"warning: others on this machine may read or change {token_file}: chmod 600 {token_file}",
            style="yellow",
            soft_wrap=True,
        )


def _config(kb: Path, transport: str, given: dict[str, Any], layers: Path | None) -> ServerConfig:
    """The settings of the knowledge base, and what the command line says instead."""
    from typing import cast

    from graphctx.errors import BackendUnavailable
    from graphctx.model.arguments import parse_arguments
    from graphctx.server.config import ServerConfig, Transport
    from graphctx.settings import ServerSettings, layers_folder, load_settings
    from graphctx.store.config import has_snapshots, is_absent, read_config

    try:
        tables = read_config(kb).settings
    except BackendUnavailable:  # calls tell of it; a client that starts before the first ingest must not fail
        if transport == "http" and has_snapshots(kb):  # once it can be read again, its tokens would be missing here
            raise
        tables = {}
    loaded = load_settings(tables)
    if layers is None:
        layers = layers_folder(loaded, kb)
    else:
        _check_layers(layers, loaded)
        if is_absent(kb) and "toolsets" not in loaded.server.model_fields_set:
            given = {"toolsets": ["layers"], **given}
    settings = parse_arguments(ServerSettings, {**loaded.server.model_dump(), **given})
    return ServerConfig.from_settings(
        settings, transport=cast(Transport, transport), layers=layers, layers_writable=loaded.layers.writable
    )


def _check_layers(layers: Path, settings: Settings) -> None:
    """Refuse a folder that is not there, and layers beside a boundary that cannot bind them."""
    if not layers.is_dir():
        raise InvalidArgument(
            f"--layers is {str(layers)!r}, which is no folder; name the one that holds AGENTS.db, or is to hold it.",
            field="layers",
            value=str(layers),
        )
    if (settings.server.doc_tags or settings.server.repositories) and not settings.layers.despite_boundary:
        raise InvalidArgument(
            "--layers: [server] doc_tags or repositories draw a boundary, and layers have neither tags nor folders "
            "that it could bind. Set [layers] despite_boundary to offer them all the same.",
            field="layers",
            value=str(layers),
            setting="layers.despite_boundary",
        )
