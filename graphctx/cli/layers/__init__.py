"""``graphctx layers``: files of layered context (AGENTS.db), from their making to their signature."""

from __future__ import annotations

import typer

from graphctx.cli.guard import GuardedCommand
from graphctx.cli.layers import (
    check,
    compact,
    compare,
    compiling,
    exchange,
    inspect,
    listing,
    promote,
    proposals,
    search,
    signing,
)

app = typer.Typer(
    help="Layers of context in files beside the code: AGENTS.db, AGENTS.user.db, AGENTS.delta.db, AGENTS.local.db.",
    no_args_is_help=True,
)

app.command("compile", cls=GuardedCommand)(compiling.compile_base)
app.command("validate", cls=GuardedCommand)(check.validate)
app.command("inspect", cls=GuardedCommand)(inspect.inspect)
app.command("list", cls=GuardedCommand)(listing.list_chunks)
app.command("search", cls=GuardedCommand)(search.search)
app.command("diff", cls=GuardedCommand)(compare.diff)
app.command("proposals", cls=GuardedCommand)(proposals.proposals)
app.command("promote", cls=GuardedCommand)(promote.promote)
app.command("compact", cls=GuardedCommand)(compact.compact)
app.command("key", cls=GuardedCommand)(signing.key)
app.command("sign", cls=GuardedCommand)(signing.sign)
app.command("verify", cls=GuardedCommand)(signing.verify)
app.command("export", cls=GuardedCommand)(exchange.export)
app.command("import", cls=GuardedCommand)(exchange.import_layers)
