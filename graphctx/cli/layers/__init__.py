"""``graphctx layers``: files of layered context (AGENTS.db), from their making to their signature."""

from __future__ import annotations

import typer

from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.cli.layers.check import validate
from graphctx.cli.layers.compact import compact
from graphctx.cli.layers.compare import diff
from graphctx.cli.layers.compiling import compile_base
from graphctx.cli.layers.exchange import export, import_layers
from graphctx.cli.layers.inspect import inspect
from graphctx.cli.layers.listing import list_chunks
from graphctx.cli.layers.promote import promote
from graphctx.cli.layers.proposals import proposals
from graphctx.cli.layers.search import search
from graphctx.cli.layers.signing import key, sign, verify
from graphctx.cli.layers.write import tombstone, write

app = typer.Typer(
    cls=GuardedGroup,
    help="Layers of context in files beside the code: AGENTS.db, AGENTS.user.db, AGENTS.delta.db, AGENTS.local.db.",
    no_args_is_help=True,
)

app.command("compile", cls=GuardedCommand)(compile_base)
app.command("validate", cls=GuardedCommand)(validate)
app.command("inspect", cls=GuardedCommand)(inspect)
app.command("list", cls=GuardedCommand)(list_chunks)
app.command("search", cls=GuardedCommand)(search)
app.command("diff", cls=GuardedCommand)(diff)
app.command("write", cls=GuardedCommand)(write)
app.command("tombstone", cls=GuardedCommand)(tombstone)
app.command("proposals", cls=GuardedCommand)(proposals)
app.command("promote", cls=GuardedCommand)(promote)
app.command("compact", cls=GuardedCommand)(compact)
app.command("key", cls=GuardedCommand)(key)
app.command("sign", cls=GuardedCommand)(sign)
app.command("verify", cls=GuardedCommand)(verify)
app.command("export", cls=GuardedCommand)(export)
app.command("import", cls=GuardedCommand)(import_layers)
