"""``graphctx memory``: look into what is remembered, move it, and delete it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import errors_console, print_json, print_table, print_text
from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption, require_choice
from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.memory import ImportReport, Memory, MemoryItem, MemoryKind, MemoryScope, Moment
    from graphctx.settings import Settings

FILE_NAME = "memory.db"
"""That of `graphctx.memory.FILE_NAME`, which is too slow to import for a help page."""

app = typer.Typer(
    cls=GuardedGroup, help="What agents remember: search it, look into it, move it, delete it.", no_args_is_help=True
)

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


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    kind: KindsOption = [],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200, help="Most items.")] = 10,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    session: SessionOption = "",
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Find items by words and meaning, the best first."""
    from graphctx.memory import MemoryFilter, MemoryQuery

    with _opened(kb, memory, project, session, principal) as (store, scope, now):
        asked = MemoryQuery(query, scope, now, MemoryFilter(kinds=cast(Any, tuple(kind))), limit=limit)
        found = store.search(asked, record_use=False)
    if as_json:
        items = [{"score": round(hit.score, 4), **_fields(hit.item)} for hit in found.hits]
        print_json({"items": items, "stage": found.stage, "degraded": found.degraded})
        return
    if found.degraded:
        errors_console().print(f"Degraded ({found.stage}): {found.degraded}", style="yellow")
    _show_items([hit.item for hit in found.hits])


def show(
    item_id: Annotated[str, typer.Argument(metavar="[ID]", help="An item (m_…), with its history and facts.")] = "",
    kind: KindsOption = [],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Most items.")] = 20,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    session: SessionOption = "",
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Show an item with the versions that it corrected and its facts, or the newest items."""
    from graphctx.memory import MemoryFilter

    with _opened(kb, memory, project, session, principal) as (store, scope, now):
        if not item_id:
            items = store.select(scope, now, MemoryFilter(kinds=cast(Any, tuple(kind))), limit=limit)
            if as_json:
                print_json({"items": [_fields(item) for item in items]})
            else:
                _show_items(items)
            return
        versions = store.history(item_id, scope)
        facts = [asdict(placed.fact) for placed in store.facts_of(item_id)]
    if as_json:
        print_json(
            {"item": _fields(versions[0]), "corrected": [_fields(item) for item in versions[1:]], "facts": facts}
        )
        return
    for name, value in _fields(versions[0]).items():
        if value not in ("", None, [], {}, ()):
            print_text(f"{name}: {value}")
    for fact in facts:
        until = f" until {fact['temporal_end']}" if fact["temporal_end"] else ""
        words = " → ".join(one_line(fact[name]) for name in ("subject", "predicate", "object"))
        print_text(f"fact: {words} (since {fact['temporal_start']}{until})")
    for item in versions[1:]:
        print_text(f"corrected: {item.id} {one_line(item.text)}")


def stats(
    memory: MemoryOption = None,
    project: ProjectOption = None,
    session: SessionOption = "",
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Count what is remembered: by kind, tier, state and project."""
    with _opened(kb, memory, project, session, principal) as (store, scope, _):
        counts = {
            "project": scope.project,
            **store.statistics.counts(scope),
            "projects": store.statistics.projects(scope.principal),
        }
        counts["problems"] = store.database.integrity()
    if as_json:
        print_json(counts)
        return
    for name, value in counts.items():
        shown = ", ".join(f"{key}: {n}" for key, n in value.items()) if isinstance(value, dict) else value
        print_text(f"{name.removeprefix('n_').replace('_', ' ')}: {'none' if shown in ('', None, []) else shown}")


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about.")],
    iterations: Annotated[
        bool, typer.Option("--iterations", help="The context of an orchestrator's iterations, as Markdown.")
    ] = False,
    tokens: TokensOption = None,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    session: SessionOption = "",
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Print the memories that bear on a question as a block for a prompt; nothing if there are none."""
    from graphctx.memory import IterationClient, MemoryQuery, assemble_block
    from graphctx.nlp.tokens import AnswerCounter

    with _opened(kb, memory, project, session, principal) as (store, scope, now):
        if iterations:
            client = IterationClient(store, scope, clock=lambda: now.at, strict=True)
            found = client.get_context_block(query, max_tokens=tokens)
            if found["degraded"]:
                errors_console().print(f"Degraded ({found['stage']}): {found['degraded']}", style="yellow")
            if as_json:
                print_json(found)
            elif found["block"]:
                print_text(found["block"])
            return
        asked = MemoryQuery(query, scope, now, limit=store.settings.ranking.top_k)
        budget = tokens or store.settings.token_budgets.default_retrieve_budget
        block = assemble_block(store, asked, budget, AnswerCounter().count)
    if block.degraded:
        errors_console().print(f"Degraded ({block.stage}): {block.degraded}", style="yellow")
    if as_json:
        n_tokens = sum(entry.tokens for entry in block.entries)
        ids = [entry.content.id for entry in block.entries]
        print_json({"block": block.text, "ids": ids, "tokens": n_tokens, "degraded": block.degraded})
    elif block.text:
        print_text(block.text)


def export(
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
    memory: MemoryOption = None,
    project: ProjectOption = None,
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
) -> None:
    """Write items and facts as JSON Lines, those of every session and state, exactly as they are.

    The format reference is that of the memory.json of the reference memory server: entities with observations, and
    the relations that hold now. The format layer appends the items to the local layer --out, AGENTS.local.db.
    """
    from graphctx.memory import exported_lines, reference_lines

    require_choice("--format", format_, ("jsonl", "reference", "layer"))
    if all_projects and format_ != "jsonl":
        raise InvalidArgument(f"--all-projects: the format {format_} has no projects. Export one with --project.")
    with _opened(kb, memory, project, "", principal) as (store, scope, now):
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
            with out.open("w", encoding="utf-8") as file:
                for line in lines:
                    file.write(f"{line}\n")
                    n_lines += 1
        except OSError as error:
            raise InvalidArgument(f"{out.name} cannot be written: {error.strerror}.", field="out") from None
    errors_console().print(f"{n_lines:,} lines written to {out}")


def import_memories(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines, or - for standard input.")],
    keep_project: Annotated[
        bool, typer.Option("--keep-project/--into-project", help="Keep the items' own projects, or use --project.")
    ] = True,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    session: SessionOption = "import",
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Add the items and facts of an export, of the reference memory server's memory.json, or of an AGENTS.db layer.

    What is known already stays as it is, so that the same file can be imported again.
    """
    from graphctx.memory import import_lines

    with _opened(kb, memory, project, session, principal, create=True) as (store, scope, now):
        if file.endswith(".db"):
            report = _import_layer(store, Path(file), scope)
        else:
            report = import_lines(store, _lines_of(file), scope, now, keep_project=keep_project)
    if as_json:
        print_json(asdict(report))
    else:
        print_text(f"{report.items:,} items and {report.facts:,} facts added, {report.known:,} items known already.")


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    memory: MemoryOption = None,
    kb: KbOption = DEFAULT_KB,
) -> None:
    """Copy the store to a file, consistently, while servers use it. A backup is a store: put it into a folder."""
    if target.exists():
        raise InvalidArgument(f"{target.name} exists already; name another file.", field="target")
    with _opened(kb, memory) as (store, _, _now):
        store.database.backup(target)
    print_text(f"Backed up to {target} ({target.stat().st_size:,} bytes).")


def wipe(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    all_projects: AllProjectsOption = False,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Delete everything that is remembered in a project, or in all, from the disk too."""
    with _opened(kb, memory, project, "", principal) as (store, scope, _):
        what = "all projects" if all_projects else f"project {scope.project!r}"
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise InvalidArgument(f"This deletes everything remembered in {what}; confirm it with --yes.")
            typer.confirm(f"Delete everything remembered in {what} for good?", abort=True, err=True)
        n_deleted = store.wipe(scope, all_projects=all_projects)
    if as_json:
        print_json({"deleted": n_deleted})
    else:
        print_text(f"{n_deleted:,} items deleted.")


def repair(memory: MemoryOption = None, kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Make a sound store of what can be read of a damaged one, whose file is kept. Stop the servers first."""
    from graphctx.memory import repair as repair_store

    report = repair_store(_folder(kb, memory)[0])
    if as_json:
        print_json(asdict(report))
        return
    print_text(f"{report.items:,} items and {report.facts:,} facts saved; {report.lost:,} rows could not be read.")
    print_text(f"The former file is kept as {report.damaged_file}; delete it when nothing is missing.")


def reindex(memory: MemoryOption = None, kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Embed items that have no vector, or all after another embedder was set."""
    with _opened(kb, memory) as (store, _, _now):
        n_items = store.reindex()
    if as_json:
        print_json({"items": n_items})
    else:
        print_text(f"{n_items:,} items embedded.")


def _folder(kb: Path, memory: Path | None) -> tuple[Path, Settings, str]:
    """Return the memory's folder, the settings, and the project that a server would use."""
    from graphctx.settings import load_settings, memory_folder, memory_project
    from graphctx.store.config import is_absent, read_config

    config = None if is_absent(kb) else read_config(kb)
    settings = load_settings(config.settings if config else {})
    folder = memory or memory_folder(settings, kb)
    project = config.project_id if config else memory_project(settings.memory, folder)
    return folder, settings, project


@contextmanager
def _opened(
    kb: Path,
    memory: Path | None,
    project: str | None = None,
    session: str = "",
    principal: str = "",
    *,
    create: bool = False,
) -> Iterator[tuple[Memory, MemoryScope, Moment]]:
    """Open the memory, with the scope and the moment of a command."""
    folder, settings, own = _folder(kb, memory)
    if not create and not (folder / FILE_NAME).exists():
        raise BackendUnavailable(
            f"There is no memory in {folder}. Name its folder with --memory; `graphctx serve --memory DIR` makes one.",
            path=str(folder),
        )
    from graphctx.memory import Memory, MemoryScope, Moment

    with Memory(folder, settings.memory) as store:
        yield store, MemoryScope(principal, own if project is None else project, session), Moment(datetime.now(UTC))


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


def _fields(item: MemoryItem) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(item).items()}


def _show_items(items: list[MemoryItem]) -> None:
    rows = [
        (item.id, item.kind, f"{item.created_at:%Y-%m-%d %H:%M}", one_line(item.author), one_line(item.text))
        for item in items
    ]
    print_table(("id", "kind", "stored", "author", "text"), rows)


_COMMANDS: dict[str, Callable[..., None]] = {
    "search": search,
    "show": show,
    "stats": stats,
    "context": context,
    "export": export,
    "import": import_memories,
    "backup": backup,
    "wipe": wipe,
    "repair": repair,
    "reindex": reindex,
}
for name, command in _COMMANDS.items():
    app.command(name, cls=GuardedCommand)(command)
