"""The command ``graphctx``: its commands, in the order in which one meets them."""

from __future__ import annotations

from typing import Annotated

import typer

import graphctx
from graphctx.cli import (
    ask,
    call,
    communities,
    cypher,
    demo,
    doctor,
    evaluate,
    export,
    ingest,
    layers,
    mcp_config,
    purge,
    search,
    serve,
    snapshots,
    status,
    tools,
)
from graphctx.cli.console import guard_streams, print_text
from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.store.processes import end_with_parent

app = typer.Typer(
    name="graphctx",
    cls=GuardedGroup,
    help="Turn documents into a knowledge graph and answer questions with exact, cited quotes. "
    "Offline, without an LLM, and over MCP.",
    epilog="Start with: graphctx ingest FOLDER, then graphctx ask 'your question'.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # GuardedCommand reports every error in its own way
    rich_markup_mode=None,  # brackets of help texts are printed, and paragraphs wrap once
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print_text(f"graphctx {graphctx.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""


app.command("ingest", cls=GuardedCommand)(ingest.ingest)
app.command("ask", cls=GuardedCommand)(ask.ask)
app.command("search", cls=GuardedCommand)(search.search)
app.command("communities", cls=GuardedCommand)(communities.communities)
app.command("serve", cls=GuardedCommand)(serve.serve)
app.command("tools", cls=GuardedCommand)(tools.tools)
app.command("call", cls=GuardedCommand)(call.call)
app.command("mcp-config", cls=GuardedCommand)(mcp_config.mcp_config)
app.command("eval", cls=GuardedCommand)(evaluate.evaluate)
app.command("status", cls=GuardedCommand)(status.status)
app.command("doctor", cls=GuardedCommand)(doctor.doctor)
app.command("cypher", cls=GuardedCommand)(cypher.cypher)
app.command("export", cls=GuardedCommand)(export.export)
app.command("purge", cls=GuardedCommand)(purge.purge)
app.add_typer(snapshots.app, name="snapshots")
app.add_typer(layers.app, name="layers")
app.command("demo", cls=GuardedCommand, hidden=True)(demo.demo)


def main() -> None:
    """Run the command line and exit: 0 done, 1 an error of the taxonomy, 2 bad usage, 130 stopped by Ctrl-C."""
    end_with_parent()
    guard_streams()
    app(prog_name="graphctx")
