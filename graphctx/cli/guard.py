"""How a command fails: one readable message or one JSON object, an exit code, and no traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from graphctx.cli.console import errors_console, print_json
from graphctx.cli.options import DEFAULT_KB
from graphctx.errors import GraphctxError, InternalError, InvalidArgument
from graphctx.store.objects import object_url

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_STOPPED = 130
"""128 + SIGINT, as shells report it."""

_HINTS = {
    "INVALID_ARGUMENT": "See {command} --help.",
    "SCOPE_VIOLATION": "graphctx status shows which project a knowledge base belongs to.",
    "BACKEND_UNAVAILABLE": "graphctx status and graphctx doctor say more.",
    "TIMEOUT": "Ask for less, or raise the limit.",
    "BUDGET_EXCEEDED": "Ask for fewer or shorter quotes, or raise [server] max_tokens and max_bytes.",
    "INTERNAL_ERROR": "This is a bug in graphctx. GRAPHCTX_DEBUG=1 shows where; graphctx doctor checks the rest.",
}

_KB_FILES = ("kb.toml", "CURRENT")
"""If one of these is missing or damaged, the user may have meant another folder."""

_QUOTED = {
    "ask": 'the question in quotes: {command} "What is …"',
    "search": 'the question in quotes: {command} "What is …"',
    "communities": 'the title in quotes: {command} "One, another"',
}
"""Commands whose argument is a text of several words, with the correct form."""

_CONTENT_DETAILS = frozenset({"rule", "line", "faults", "skipped", "path", "question", "suite"})
"""Details of errors in a file's content, which the help of the command does not explain."""


class _Described:
    """A command or group whose first paragraph of help is shown whole in the list of commands."""

    help: str | None

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first paragraph of the help, uncut."""
        return " ".join((self.help or "").partition("\n\n")[0].split())


class GuardedCommand(_Described, TyperCommand):
    """A command that reports its errors by their code."""

    def collect_usage_pieces(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """Return the parts of the usage line, without the braces that Typer puts around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]
        """Write arguments and options with their help, without the Python types of arguments."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            parameters = [one for one in self.get_params(ctx) if one.param_type_name == kind]
            records = [record for one in parameters if (record := one.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([(name.partition(" <")[0], text) for name, text in records])

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments; if there are too many words, say that a text needs quotes."""
        words = [word for word in args if not word.startswith("-")]
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _drop_far_options(error)
            message = str(getattr(error, "message", ""))
            if "unexpected extra argument" in message and len(words) > 1 and self.name in _QUOTED:
                remedy = _QUOTED[self.name].format(command=ctx.command_path)
                error.message = f"{message}. Put {remedy}"  # type: ignore[attr-defined]
            raise

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command; turn its exceptions into a message and an exit code."""
        try:
            try:
                if object_url(ctx.params.get("kb") or ""):
                    from graphctx.store.replica import local_folder

                    ctx.params["kb"] = local_folder(ctx.params["kb"])
                return super().invoke(ctx)
            except BaseExceptionGroup as group:
                error: BaseException = group
                while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                    error = error.exceptions[0]
                raise error from None
        except GraphctxError as error:
            _print_debug_trace()
            _report(error, ctx)
        except KeyboardInterrupt:
            errors_console().print("stopped", style="yellow")
            raise typer.Exit(EXIT_STOPPED) from None
        except BrokenPipeError:
            # The reader has gone (`graphctx ask … | head`). Point standard output elsewhere, or the interpreter
            # complains at exit when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        except Exception as error:
            if type(error).__module__.startswith(("click", "typer")):  # usage errors and exits
                raise
            _print_debug_trace()
            _report(InternalError(f"{type(error).__name__}: {error}", exception=type(error).__name__), ctx)
        raise typer.Exit(EXIT_ERROR)


class GuardedGroup(_Described, TyperGroup):
    """A group of commands that explains that an option given before the command belongs after it.

    With ``--json`` on the command line it reports bad usage as an envelope, too.
    """

    def main(self, args: Sequence[str] | None = None, **options: Any) -> Any:  # type: ignore[override]
        """Run the command line and exit."""
        words = sys.argv[1:] if args is None else args
        if "--json" not in takewhile(lambda word: word != "--", words):
            return super().main(args, **options)
        try:
            sys.exit(super().main(args, **{**options, "standalone_mode": False}))
        except typer.Abort:
            sys.exit(EXIT_ERROR)
        except Exception as error:
            if not hasattr(error, "format_message"):  # not of click
                raise
            fault = InvalidArgument(error.format_message())
            if (context := getattr(error, "ctx", None)) is not None:
                fault.details["hint"] = f"See {context.command_path} --help."
            print_json(fault.envelope())
            sys.exit(EXIT_USAGE)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Parse the arguments before the command."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _drop_far_options(error)
            name = getattr(error, "option_name", "")
            if any(name in option.opts for command in self.commands.values() for option in command.params):
                remedy = f"Put it after the command: {ctx.command_path} COMMAND {name} …"
                error.message = f"{name} belongs after a command. {remedy}"  # type: ignore[attr-defined]
            raise


def _drop_far_options(error: Any) -> None:
    """Of an unknown option, keep only suggestions whose name is near: every option has two dashes in common."""
    if near := getattr(error, "possibilities", None):
        name = str(getattr(error, "option_name", "")).lstrip("-")
        error.possibilities = [one for one in near if not name or get_close_matches(name, [one.lstrip("-")])]


def _report(error: GraphctxError, ctx: typer.Context) -> None:
    """Print an error: the envelope on standard output with ``--json``, else a message on standard error."""
    where = ""
    if error.details.get("file") in _KB_FILES and "kb" in ctx.params:
        folder = ctx.params["kb"] or os.environ.get("GRAPHCTX_KB") or DEFAULT_KB
        where = f"Looked in {folder}. --kb DIR or $GRAPHCTX_KB names another folder."
    if ctx.params.get("as_json"):
        envelope = error.envelope()
        if where:
            envelope["error"]["details"] = {**error.details, "hint": where}
        print_json(envelope)
        return
    hint = where
    if not hint and not error.details.keys() & _CONTENT_DETAILS:
        hint = _HINTS[error.code].format(command=ctx.command_path)
        if ctx.info_name == "call" and error.code == "INVALID_ARGUMENT" and error.details.get("field") != "tool":
            hint = f"See graphctx tools {ctx.params['tool']}."
    console = errors_console()
    if not console.is_terminal:
        console.print(f"error: {error.code} {error.message}" + (f"\nhint: {hint}" if hint else ""))
        return
    from rich.panel import Panel
    from rich.text import Text

    body = Text(error.message).append(f"\n{hint}" if hint else "", style="dim")
    console.print(Panel(body, title=f"error: {error.code}", title_align="left", border_style="red", expand=False))


def _print_debug_trace() -> None:
    if os.environ.get("GRAPHCTX_DEBUG", "") not in ("", "0"):
        traceback.print_exc()
