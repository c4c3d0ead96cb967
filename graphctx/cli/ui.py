"""``graphctx ui``: the web page on this machine."""

from __future__ import annotations

import secrets
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from graphctx.cli.console import errors_console
from graphctx.cli.memory.shared import FILE_NAME, folder_of
from graphctx.cli.options import DEFAULT_KB, KbOption
from graphctx.cli.serve import server_config
from graphctx.errors import BackendUnavailable

OWNER = "you"
"""The owner of the token with which the browser is opened."""


def ui(
    kb: KbOption = DEFAULT_KB,
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to bind.")] = 8760,
    layers: Annotated[
        Path | None,
        typer.Option("--layers", metavar="DIR", help="Folder of AGENTS.db and its layers, instead of [layers] folder."),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option("--memory", metavar="DIR", help="Folder of the memory, instead of [memory] folder."),
    ] = None,
    reports: Annotated[
        Path | None,
        typer.Option(
            "--reports", metavar="DIR", help="Folder of reports of `graphctx eval --report`; default: reports in --kb."
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address instead of opening a browser.")
    ] = False,
) -> None:
    """Open the web page: ask, see the evidence in its document, walk the graph.

    Without a knowledge base yet, the page is a place to drop files into. The address holds a token that is made anew
    each time, so that nobody else on this machine can use the page. MCP is served beside it, at /mcp. The memory that
    agents keep beside the knowledge base is shown too, if there is one.
    """
    from pydantic import SecretStr

    from graphctx.server.http import HttpConfig, serve_http
    from graphctx.store.config import is_absent
    from graphctx.ui import page_routes

    token = secrets.token_urlsafe(24)
    overrides: dict[str, Any] = {"tokens": {OWNER: SecretStr(token)}, "admins": [OWNER]}
    config = server_config(kb, "http", overrides, layers, memory or _existing_memory(kb))
    url = f"http://127.0.0.1:{port}/#token={token}"

    def listening() -> None:
        errors_console().print(f"The page is at {url} (stop with Ctrl-C)", soft_wrap=True)
        if is_absent(kb):
            errors_console().print(f"There is no knowledge base in {kb} yet: drop files into the page to make it.")
        if not no_browser:
            webbrowser.open(url)

    serve_http(kb, config, HttpConfig(port=port), listening, page_routes(kb, reports=reports, local=OWNER))


def _existing_memory(kb: Path) -> Path | None:
    """Return the folder of the memory of a knowledge base, if agents have stored something there."""
    with suppress(BackendUnavailable):  # the page reports it
        folder, _, _ = folder_of(kb, None)
        return folder if (folder / FILE_NAME).is_file() else None
    return None
