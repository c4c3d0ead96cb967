"""Commands that look into the memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import print_json, print_table, print_text
from graphctx.cli.memory.shared import (
    KindsOption,
    MemoryOption,
    PrincipalOption,
    ProjectOption,
    SessionOption,
    TokensOption,
    fields,
    opened,
    warn_degraded,
)
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.memory import MemoryItem


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

    with opened(kb, memory, project, session, principal) as (store, scope, now):
        asked = MemoryQuery(query, scope, now, MemoryFilter(kinds=cast(Any, tuple(kind))), limit=limit)
        found = store.search(asked, record_use=False)
    if as_json:
        items = [{"score": round(hit.score, 4), **fields(hit.item)} for hit in found.hits]
        print_json({"items": items, "stage": found.stage, "degraded": found.degraded})
        return
    warn_degraded(found.stage, found.degraded)
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

    with opened(kb, memory, project, session, principal) as (store, scope, now):
        if not item_id:
            items = store.select(scope, now, MemoryFilter(kinds=cast(Any, tuple(kind))), limit=limit)
            if as_json:
                print_json({"items": [fields(item) for item in items]})
            else:
                _show_items(items)
            return
        versions = store.history(item_id, scope)
        facts = [asdict(placed.fact) for placed in store.facts_of(item_id)]
    if as_json:
        print_json({"item": fields(versions[0]), "corrected": [fields(item) for item in versions[1:]], "facts": facts})
        return
    for name, value in fields(versions[0]).items():
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
    with opened(kb, memory, project, session, principal) as (store, scope, _):
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

    with opened(kb, memory, project, session, principal) as (store, scope, now):
        if iterations:
            client = IterationClient(store, scope, clock=lambda: now.at, strict=True)
            found = client.get_context_block(query, max_tokens=tokens)
            warn_degraded(found["stage"], found["degraded"])
            if as_json:
                print_json(found)
            elif found["block"]:
                print_text(found["block"])
            return
        asked = MemoryQuery(query, scope, now, limit=store.settings.ranking.top_k)
        budget = tokens or store.settings.token_budgets.default_retrieve_budget
        block = assemble_block(store, asked, budget, AnswerCounter().count)
    warn_degraded(block.stage, block.degraded)
    if as_json:
        n_tokens = sum(entry.tokens for entry in block.entries)
        ids = [entry.content.id for entry in block.entries]
        print_json({"block": block.text, "ids": ids, "tokens": n_tokens, "degraded": block.degraded})
    elif block.text:
        print_text(block.text)


def _show_items(items: list[MemoryItem]) -> None:
    rows = [
        (item.id, item.kind, f"{item.created_at:%Y-%m-%d %H:%M}", one_line(item.author), one_line(item.text))
        for item in items
    ]
    print_table(("id", "kind", "stored", "author", "text"), rows)
