"""Commands that move memories in and out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.console import counted, errors_console, print_json, print_text
from graphctx.cli.memory.shared import AllProjectsOption, CommandMemory, in_memory
from graphctx.cli.options import JsonOption, require_choice
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.memory import ImportReport, Memory, MemoryItem, MemoryKind, MemoryScope


@in_memory(session=None)
def export(
    memory: CommandMemory,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="jsonl|reference|layer",
            help="Ours, that of the reference memory server, or a layer of AGENTS.db.",
        ),
    ] = "jsonl",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write; standard output by default.")
    ] = None,
    all_projects: AllProjectsOption = False,
) -> None:
    """Write items and facts as JSON Lines, those of every session and state, exactly as they are.

    The format reference is that of the memory.json of the reference memory server: entities with observations, and
    the relations that hold now. The format layer appends the items to the local layer --out, AGENTS.local.db.
    """
    from graphctx.memory import exported_lines, reference_lines

    require_choice("--format", format_, ("jsonl", "reference", "layer"))
    if all_projects and format_ != "jsonl":
        raise InvalidArgument(f"--all-projects: the format {format_} has no projects. Export one with --project.")
    store, scope, now = memory.store, memory.scope, memory.now
    if format_ == "layer":
        if out is None:
            raise InvalidArgument("A layer is a file; name it with --out AGENTS.local.db.", field="out")
        n_lines = _append_to_layer(out, store.everything(scope)[0])
        errors_console().print(f"{n_lines:,} chunks appended to {out}")
        return
    if format_ == "reference":
        lines = reference_lines(store, scope, now)
    else:
        lines = exported_lines(store, scope, all_projects=all_projects)
    if out is None:
        for line in lines:
            sys.stdout.buffer.write(f"{line}\n".encode())
        sys.stdout.buffer.flush()
        return
    if out.exists():
        raise InvalidArgument(f"{out.name} exists already; name another file with --out.", field="out")
    n_lines = 0
    try:
        out.touch(mode=0o600)
        with out.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(f"{line}\n")
                n_lines += 1
    except OSError as error:
        raise InvalidArgument(f"{out.name} cannot be written: {error.strerror}.", field="out") from None
    errors_console().print(f"{n_lines:,} lines written to {out}")


@in_memory(session="import", create=True)
def import_memories(
    memory: CommandMemory,
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines, or - for standard input.")],
    keep_project: Annotated[
        bool, typer.Option("--keep-project/--into-project", help="Keep the items' own projects, or use --project.")
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Add the items and facts of an export, of the reference memory server's memory.json, or of an AGENTS.db layer.

    What is known already stays as it is, so that the same file can be imported again.
    """
    from graphctx.memory import import_lines

    store, scope = memory.store, memory.scope
    if file.endswith(".db"):
        report = _import_layer(store, Path(file), scope)
    else:
        report = import_lines(store, _lines_of(file), scope, memory.now, keep_project=keep_project)
    if as_json:
        print_json(asdict(report))
    else:
        added = f"{counted(report.items, 'items')} and {counted(report.facts, 'facts')} added"
        print_text(f"{added}, {counted(report.known, 'items')} known already.")


def _lines_of(name: str) -> list[str]:
    """Return the lines of a file."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8").split("\n")
    path = Path(name)
    try:
        data = path.read_bytes()
        return data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise InvalidArgument(f"{path.name} is not text in UTF-8. Import JSON Lines.", field="file") from None
    except OSError as error:
        raise InvalidArgument(f"{path.name} cannot be read: {error.strerror}.", field="file") from None


def _append_to_layer(path: Path, items: list[MemoryItem]) -> int:
    """Append items to a local layer as chunks; return how many were not in it yet."""
    from graphctx.layers import LayerStack, write_context

    stack = LayerStack({"local": path})
    there = {entry.chunk.content for entry in stack.entries(["local"])} if path.exists() else set()
    fresh = [item for item in items if item.text not in there and item.valid_to is None]
    for item in fresh:
        at = int(item.created_at.timestamp() * 1000)
        write_context(
            stack, content=item.text, kind=item.kind, confidence=item.confidence, scope="local", at_unix_ms=at
        )
    return len(fresh)


def _import_layer(store: Memory, path: Path, scope: MemoryScope) -> ImportReport:
    """Import the chunks of a layer of AGENTS.db that are not retracted."""
    from graphctx.layers import LayerStack
    from graphctx.layers.chunk import is_bookkeeping
    from graphctx.memory import KINDS, ImportReport, MemoryDraft, Moment

    if not path.exists():
        raise InvalidArgument(f"There is no {path.name}.", field="file")
    n_items = n_facts = known = 0
    there = {item.text for item in store.everything(scope)[0]}
    for entry in LayerStack({"local": path}).entries(["local"]):
        chunk = entry.chunk
        if entry.retracted_by or is_bookkeeping(chunk.kind):
            continue
        if chunk.content in there:
            known += 1
            continue
        kind: MemoryKind = next((each for each in KINDS if each == chunk.kind), "fact")
        draft = MemoryDraft(
            kind,
            chunk.content,
            metadata={"layer_kind": chunk.kind, "sources": list(chunk.sources)},
            source="user" if chunk.author == "human" else "agent",
            confidence=chunk.confidence,
        )
        at = datetime.fromtimestamp(chunk.created_at_unix_ms / 1000, UTC)
        outcome = store.add([draft], scope, Moment(at))[0]
        n_items, n_facts = n_items + outcome.created, n_facts + len(outcome.facts.added)
    return ImportReport(n_items, n_facts, known)
