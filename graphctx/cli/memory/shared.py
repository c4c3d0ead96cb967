"""What the commands of the memory share: options, the open memory, items as fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.console import errors_console
from graphctx.errors import BackendUnavailable

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope, Moment
    from graphctx.settings import Settings

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


@contextmanager
def opened(
    kb: Path,
    memory: Path | None,
    project: str | None = None,
    session: str = "",
    principal: str = "",
    *,
    create: bool = False,
) -> Iterator[tuple[Memory, MemoryScope, Moment]]:
    """Open the memory, with the scope and the moment of a command."""
    folder, settings, own = folder_of(kb, memory)
    if not create and not (folder / FILE_NAME).exists():
        raise BackendUnavailable(
            f"There is no memory in {folder}. Name its folder with --memory; `graphctx serve --memory DIR` makes one.",
            path=str(folder),
        )
    from graphctx.memory import Memory, MemoryScope, Moment

    with Memory(folder, settings.memory) as store:
        yield store, MemoryScope(principal, own if project is None else project, session), Moment(datetime.now(UTC))


def fields(item: MemoryItem) -> dict[str, Any]:
    """Return an item as JSON values."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(item).items()}


def warn_degraded(stage: str, why: str) -> None:
    """Say on standard error why an answer is degraded, if it is."""
    if why:
        errors_console().print(f"Degraded ({stage}): {why}", style="yellow")
