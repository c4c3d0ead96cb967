"""``graphctx memory``: look into what is remembered, move it, and delete it."""

from __future__ import annotations

from collections.abc import Callable

import typer

from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.cli.memory import exchange, read, upkeep

app = typer.Typer(
    cls=GuardedGroup, help="What agents remember: search it, look into it, move it, delete it.", no_args_is_help=True
)

_COMMANDS: dict[str, Callable[..., None]] = {
    "search": read.search,
    "show": read.show,
    "stats": read.stats,
    "context": read.context,
    "export": exchange.export,
    "import": exchange.import_memories,
    "backup": upkeep.backup,
    "correct": upkeep.correct,
    "forget": upkeep.forget,
    "wipe": upkeep.wipe,
    "repair": upkeep.repair,
    "reindex": upkeep.reindex,
}
for name, command in _COMMANDS.items():
    app.command(name, cls=GuardedCommand)(command)
