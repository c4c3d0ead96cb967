"""The command ``graphctx``: its commands, in the order in which a user meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

import graphctx
from graphctx.cli import demo, doctor, evaluate, export, ingest, layers, memory, query, serve, snapshots, tools, ui
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
    pretty_exceptions_enable=False,  # GuardedCommand reports errors
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


_COMMANDS: dict[str, Callable[..., None]] = {
    "ingest": ingest.ingest,
    "ask": query.ask,
    "search": query.search,
    "context": query.context,
    "communities": query.communities,
    "ui": ui.ui,
    "serve": serve.serve,
    "tools": tools.tools,
    "call": tools.call,
    "mcp-config": serve.mcp_config,
    "eval": evaluate.evaluate,
    "status": snapshots.status,
    "doctor": doctor.doctor,
    "cypher": query.cypher,
    "export": export.export,
    "remove": snapshots.remove,
    "publish": snapshots.publish,
}
for name, command in _COMMANDS.items():
    app.command(name, cls=GuardedCommand)(command)
app.add_typer(snapshots.app, name="snapshots")
app.add_typer(layers.app, name="layers")
app.add_typer(memory.app, name="memory")
app.command("demo", cls=GuardedCommand, hidden=True)(demo.demo)


def main() -> None:
    """Run the command line and exit: 0 done, 1 a graphctx error, 2 bad usage, 130 stopped by Ctrl-C."""
    end_with_parent()
    guard_streams()
    app(prog_name="graphctx")
