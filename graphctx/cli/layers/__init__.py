"""``graphctx layers``: files of layered context (AGENTS.db)."""

from __future__ import annotations

from collections.abc import Callable

import typer

from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.cli.layers import compile as compiling
from graphctx.cli.layers import exchange, read, write

app = typer.Typer(
    cls=GuardedGroup,
    help="Layers of context in files beside the code: AGENTS.db, AGENTS.user.db, AGENTS.delta.db, AGENTS.local.db.",
    no_args_is_help=True,
)

_COMMANDS: dict[str, Callable[..., None]] = {
    "compile": compiling.compile_base,
    "validate": read.validate,
    "inspect": read.inspect,
    "list": read.list_chunks,
    "search": read.search,
    "diff": read.diff,
    "write": write.write,
    "tombstone": write.tombstone,
    "proposals": write.proposals,
    "promote": write.promote,
    "compact": write.compact,
    "key": exchange.key,
    "sign": exchange.sign,
    "verify": exchange.verify,
    "export": exchange.export,
    "import": exchange.import_layers,
}
for name, command in _COMMANDS.items():
    app.command(name, cls=GuardedCommand)(command)
