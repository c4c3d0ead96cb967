"""The page of all commands, from the commands themselves."""

from __future__ import annotations

import inspect
from typing import Any

import typer

_NOTE = "<!-- Made by `make generate` from graphctx/cli. Do not edit. -->"


def commands_page() -> str:
    """``docs/reference/commands.md``."""
    from graphctx.cli.app import app

    root: Any = typer.main.get_command(app)
    parts = [
        f"# Commands\n\n{_NOTE}",
        "`--kb` defaults to `$GRAPHCTX_KB`, else `./.graphctx`. Results are on standard output, everything else on "
        "standard error. With `--json`, standard output holds one JSON object, which is the error's envelope if the "
        "command fails.",
        "| exit code | meaning |\n|---|---|\n| 0 | done |\n| 1 | an error, with one of the codes "
        "`INVALID_ARGUMENT`, `SCOPE_VIOLATION`, `BACKEND_UNAVAILABLE`, `TIMEOUT`, `BUDGET_EXCEEDED`, "
        "`INTERNAL_ERROR`; or `doctor` and `status` found a fault |\n| 2 | bad usage |\n| 130 | stopped by Ctrl-C |",
        "`GRAPHCTX_DEBUG=1` shows the traceback of an error, `GRAPHCTX_LOG=info` the server's log.",
    ]
    parts += [_section(path, command) for path, command in visible_commands(root, "graphctx")]
    return "\n\n".join(parts) + "\n"


def visible_commands(command: Any, path: str) -> list[tuple[str, Any]]:
    """Every command that does something and is not hidden, with its words."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [
        found
        for name, child in inner.items()
        if not child.hidden
        for found in visible_commands(child, f"{path} {name}")
    ]


def _section(path: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [
        parameter for parameter in command.params if parameter.param_type_name == "option" and not parameter.hidden
    ]
    pieces = command.collect_usage_pieces(command.context_class(command))
    usage = " ".join([path, *(piece for piece in pieces if piece != "[OPTIONS]"), "[OPTIONS]"])
    parts = [f"## {path}", inspect.cleandoc(command.help or ""), f"```\n{usage}\n```"]
    if arguments:
        parts.append("\n".join(f"- `{argument.metavar}`: {argument.help}" for argument in arguments))
    if options:
        rows = [f"| {_names(option)} | {_default(option)} | {option.help} |" for option in options]
        parts.append("\n".join(["| option | default | |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.is_flag:
        return names
    metavar = (option.metavar or "").replace("|", "\\|")
    return f"{names} {metavar}".strip()


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    if option.is_flag or option.default is None or option.default in ([], ()) or callable(option.default):
        return ""
    return f"`{option.default}`"
