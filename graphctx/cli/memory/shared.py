"""What the commands of the memory share: options, the open memory, items as fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from graphctx.cli.console import errors_console
from graphctx.cli.options import DEFAULT_KB, KbOption
from graphctx.errors import BackendUnavailable
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope, Moment
    from graphctx.settings import Settings

P = ParamSpec("P")

_MAX_PLACES = 10

FILE_NAME = "memory.db"
"""That of `graphctx.memory.FILE_NAME`, which is too slow to import for a help page."""

MemoryOption = Annotated[
    Path | None,
    typer.Option("--memory", metavar="DIR", help="The memory's folder; by default [memory] folder, or memory in --kb."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="The project; by default that of --kb, or the folder's name."),
]
SessionOption = Annotated[str, typer.Option("--session", metavar="NAME", help="Also items that only it sees.")]
PrincipalOption = Annotated[
    str, typer.Option("--principal", metavar="NAME", help="Whose memory: the owner of a bearer token; default: yours.")
]
TokensOption = Annotated[int | None, typer.Option("--tokens", metavar="N", min=1, help="Most tokens of the block.")]
KindsOption = Annotated[
    list[str], typer.Option("--kind", metavar="KIND", help="Only items of one of these kinds; may be repeated.")
]
AllProjectsOption = Annotated[bool, typer.Option("--all-projects", help="All projects, not one.")]


def folder_of(kb: Path, memory: Path | None) -> tuple[Path, Settings, str]:
    """Return the memory's folder, the settings, and the project that a server would use."""
    from graphctx.settings import load_settings, memory_folder, memory_project
    from graphctx.store.config import is_absent, read_config

    config = None if is_absent(kb) else read_config(kb)
    settings = load_settings(config.settings if config else {})
    folder = memory or memory_folder(settings, kb)
    project = config.project_id if config else memory_project(settings.memory, folder)
    return folder, settings, project


@dataclass(frozen=True, slots=True)
class CommandMemory:
    """The open memory of a command, with its scope and its moment."""

    store: Memory
    scope: MemoryScope
    now: Moment


def in_memory(
    *, session: str | None = "", create: bool = False
) -> Callable[[Callable[Concatenate[CommandMemory, P], None]], Callable[..., None]]:
    """Give a command the options that choose a memory, after its own; the open memory is its first argument.

    Args:
        session: default of ``--session``; ``None`` leaves the option out.
        create: whether a missing memory is created.
    """
    options: dict[str, tuple[Any, Any]] = {
        "memory": (MemoryOption, None),
        "project": (ProjectOption, None),
        "session": (SessionOption, session),
        "principal": (PrincipalOption, ""),
        "kb": (KbOption, DEFAULT_KB),
    }
    if session is None:
        del options["session"]

    def wrap(command: Callable[Concatenate[CommandMemory, P], None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]
        added = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=option, default=default)
            for name, (option, default) in options.items()
        ]
        json = [own.pop()] if own and own[-1].name == "as_json" else []

        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {name: given.pop(name) for name in options}
            with opened(**chosen, create=create) as found:
                command(found, **given)  # type: ignore[call-arg]

        run.__signature__ = Signature([*own, *added, *json])  # type: ignore[attr-defined]
        return run

    return wrap


@contextmanager
def opened(
    kb: Path,
    memory: Path | None,
    project: str | None = None,
    session: str = "",
    principal: str = "",
    *,
    create: bool = False,
) -> Iterator[CommandMemory]:
    """Open the memory of a command."""
    folder, settings, own = folder_of(kb, memory)
    if not create and not (folder / FILE_NAME).exists():
        raise BackendUnavailable(
            f"There is no memory in {folder}. Name its folder with --memory; `graphctx serve --memory DIR` makes one.",
            path=str(folder),
        )
    from graphctx.memory import Memory, MemoryScope, Moment

    with Memory(folder, settings.memory) as store:
        scope = MemoryScope(principal, own if project is None else project, session)
        yield CommandMemory(store, scope, Moment(datetime.now(UTC)))


def fields(item: MemoryItem) -> dict[str, Any]:
    """Return an item as JSON values."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(item).items()}


def elsewhere(found: CommandMemory) -> str:
    """Return the other projects and sessions that hold memories of the same owner, and the option that names one."""
    statistics, scope = found.store.statistics, found.scope
    projects = {name: n for name, n in statistics.projects(scope.principal).items() if name != scope.project}
    said = []
    for what, places in (("project", projects), ("session", statistics.other_sessions(scope))):
        if named := ", ".join(f"{one_line(name)} ({n})" for name, n in list(places.items())[:_MAX_PLACES]):
            said.append(f"Others hold memories: choose one with --{what}: {named}.")
    return " ".join(said)


def warn_degraded(stage: str, why: str) -> None:
    """Say on standard error why an answer is degraded, if it is."""
    if why:
        errors_console().print(f"Degraded ({stage}): {why}", style="yellow")
