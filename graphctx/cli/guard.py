"""How a command fails: one readable panel or one JSON object, an exit code, and never a traceback."""

from __future__ import annotations

import json
import os
import traceback
from typing import Any

import typer
from typer.core import TyperCommand

from graphctx.cli.console import errors_console
from graphctx.errors import GraphctxError, InternalError

EXIT_ERROR = 1
EXIT_STOPPED = 130
"""128 + SIGINT, as shells report it."""

_HINTS = {
    "INVALID_ARGUMENT": "See {command} --help.",
    "SCOPE_VIOLATION": "graphctx status shows which project a knowledge base belongs to.",
    "BACKEND_UNAVAILABLE": "graphctx status and graphctx doctor say more.",
    "TIMEOUT": "Ask for less, or raise the limit.",
    "BUDGET_EXCEEDED": "Ask for fewer or shorter quotes, or raise [server] max_tokens and max_bytes.",
    "INTERNAL_ERROR": "This is a fault of graphctx. GRAPHCTX_DEBUG=1 shows where; graphctx doctor checks the rest.",
}


class GuardedCommand(TyperCommand):
    """A command whose errors are reported by their code."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command; turn its exceptions into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except GraphctxError as error:
            _debug_trace()
            _report(error, ctx)
        except KeyboardInterrupt:
            errors_console().print("stopped", style="yellow")
            raise typer.Exit(EXIT_STOPPED) from None
        except BrokenPipeError:
            # The reader has gone (`graphctx ask … | head`). Point standard output elsewhere, or the interpreter
            # complains at exit when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except Exception as error:
            if type(error).__module__.startswith(("click", "typer")):  # usage errors and exits have their own way
                raise
            _debug_trace()
            inside = InternalError(f"{type(error).__name__}: {error}", exception=type(error).__name__)
            _report(inside, ctx)
        raise typer.Exit(EXIT_ERROR)


def _report(error: GraphctxError, ctx: typer.Context) -> None:
    """Tell of an error: the envelope on standard output with ``--json``, else a panel on standard error."""
    if ctx.params.get("as_json"):
        typer.echo(json.dumps(error.envelope(), indent=2, ensure_ascii=False, default=str))
        return
    hint = _HINTS[error.code].format(command=ctx.command_path)
    if error.details.get("file") == "kb.toml":
        hint = f"Looked in {ctx.params.get('kb')}. --kb DIR or $GRAPHCTX_KB names another folder."
    console = errors_console()
    if not console.is_terminal:
        console.print(f"error: {error.code} {error.message}\nhint: {hint}", soft_wrap=True)
        return
    from rich.panel import Panel
    from rich.text import Text

    body = Text(error.message).append(f"\n{hint}", style="dim")
    console.print(Panel(body, title=f"error: {error.code}", title_align="left", border_style="red", expand=False))


def _debug_trace() -> None:
    if os.environ.get("GRAPHCTX_DEBUG", "") not in ("", "0"):
        traceback.print_exc()
