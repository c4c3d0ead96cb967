"""Commands that look into the memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import print_json, print_table, print_text, warn
from graphctx.cli.memory.shared import (
    CommandMemory,
    KindsOption,
    TokensOption,
    elsewhere,
    fields,
    in_memory,
    warn_degraded,
)
from graphctx.cli.options import JsonOption
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.memory import MemoryItem


@in_memory()
def search(
    memory: CommandMemory,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    kind: KindsOption = [],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200, help="Most items.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Find items by words and meaning, the best first."""
    from graphctx.memory import MemoryFilter, MemoryQuery

    asked = MemoryQuery(query, memory.scope, memory.now, MemoryFilter(kinds=cast(Any, tuple(kind))), limit=limit)
    found = memory.store.search(asked, record_use=False)
    if as_json:
        items = [{"score": round(hit.score, 4), **fields(hit.item)} for hit in found.hits]
        print_json({"items": items, "stage": found.stage, "degraded": found.degraded})
        return
    warn_degraded(found.stage, found.degraded)
    if not found.hits:
        warn(f"Nothing that is remembered here bears on this. {elsewhere(memory)}".strip())
        return
    _show_items([hit.item for hit in found.hits])


@in_memory()
def show(
    memory: CommandMemory,
    item_id: Annotated[str, typer.Argument(metavar="[ID]", help="An item (m_…), with its history and facts.")] = "",
    kind: KindsOption = [],
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Most items.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Show an item with the versions that it corrected and its facts, or the newest items."""
    from graphctx.memory import MemoryFilter

    if not item_id:
        chosen = MemoryFilter(kinds=cast(Any, tuple(kind)))
        items = memory.store.select(memory.scope, memory.now, chosen, limit=limit)
        if as_json:
            print_json({"items": [fields(item) for item in items]})
        else:
            _show_items(items)
        return
    versions = memory.store.history(item_id, memory.scope)
    facts = [asdict(placed.fact) for placed in memory.store.facts_of(versions[0].id)]
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


@in_memory()
def stats(
    memory: CommandMemory,
    as_json: JsonOption = False,
) -> None:
    """Count what is remembered: by kind, tier, state and project."""
    statistics, scope = memory.store.statistics, memory.scope
    counts = {
        "project": scope.project,
        **statistics.counts(scope),
        "projects": statistics.projects(scope.principal),
        "problems": memory.store.database.integrity(),
    }
    if as_json:
        print_json(counts)
        return
    for name, value in counts.items():
        shown = ", ".join(f"{key}: {n}" for key, n in value.items()) if isinstance(value, dict) else value
        print_text(f"{name.removeprefix('n_').replace('_', ' ')}: {'none' if shown in ('', None, []) else shown}")


@in_memory()
def context(
    memory: CommandMemory,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about.")],
    iterations: Annotated[
        bool, typer.Option("--iterations", help="The context of an orchestrator's iterations, as Markdown.")
    ] = False,
    tokens: TokensOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the memories that bear on a question as a block for a prompt; nothing, and why, if there are none."""
    from graphctx.memory import IterationClient, MemoryQuery, assemble_block
    from graphctx.nlp.tokens import AnswerCounter

    store, scope, now = memory.store, memory.scope, memory.now
    if iterations:
        client = IterationClient(store, scope, clock=lambda: now.at, strict=True)
        answer = client.get_context_block(query, max_tokens=tokens)
        stage, block = answer["stage"], answer["block"]
        why_empty = "" if block else "Nothing of the context that is stored here bears on this."
    else:
        budget = tokens or store.settings.token_budgets.default_retrieve_budget
        asked = MemoryQuery(query, scope, now, limit=store.settings.ranking.top_k)
        found = assemble_block(store, asked, budget, AnswerCounter().count)
        stage, block, why_empty = found.stage, found.text, found.why_empty
        answer = {
            "block": block,
            "ids": [entry.content.id for entry in found.entries],
            "tokens": sum(entry.tokens for entry in found.entries),
            "degraded": found.degraded,
        }
    warn_degraded(stage, answer["degraded"])
    why_empty = f"{why_empty} {elsewhere(memory)}".strip() if why_empty else ""
    if as_json:
        print_json({**answer, "why_empty": why_empty})
    elif block:
        print_text(block)
    else:
        warn(why_empty)


def _show_items(items: list[MemoryItem]) -> None:
    rows = [
        (item.id, item.kind, f"{item.created_at:%Y-%m-%d %H:%M}", one_line(item.author), one_line(item.text))
        for item in items
    ]
    print_table(("id", "kind", "stored", "author", "text"), rows)
