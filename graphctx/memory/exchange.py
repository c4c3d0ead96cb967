"""Memories as JSON Lines: our own form, which is exact, and that of the reference memory server (``memory.json``).

Our form has a line for each item, ``{"type": "item", …}``, with the fields of `MemoryItem`, and one for each fact,
``{"type": "fact", …}``, with those of `TemporalFact` and its place. The reference server's has lines of ``"type":
"entity"`` (name, entityType, observations) and ``"type": "relation"`` (from, to, relationType).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from graphctx.errors import InvalidArgument
from graphctx.memory.facts import PlacedFact
from graphctx.memory.items import MemoryDraft, MemoryItem, MemoryScope, Moment, TemporalFact, Triple, to_micros
from graphctx.memory.store import check_item

if TYPE_CHECKING:
    from graphctx.memory.memory import Memory

Placed = TypeVar("Placed", MemoryItem, PlacedFact)

_ITEM, _FACT = TypeAdapter(MemoryItem), TypeAdapter(TemporalFact)
_PLACE = ("principal", "project", "session", "persistence")
_STATED = "entity"
"""Key of an item's metadata: the entity whose observation it is."""

_BATCH = 256


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import added, and what was there before."""

    items: int
    facts: int
    known: int


def exported_lines(memory: Memory, scope: MemoryScope, *, all_projects: bool = False) -> Iterator[str]:
    """Yield the items and the facts of a project, or of all projects of the principal, as lines of our form."""
    items, facts = memory.everything(scope, all_projects=all_projects)
    for item in items:
        yield _line({"type": "item", **_ITEM.dump_python(item, mode="json")})
    for placed in facts:
        place = {name: getattr(placed, name) for name in _PLACE}
        yield _line({"type": "fact", **_FACT.dump_python(placed.fact, mode="json"), **place})


def reference_lines(memory: Memory, scope: MemoryScope, now: Moment) -> Iterator[str]:
    """Yield what the reference memory server reads: entities with their observations, and relations that hold.

    An item without an entity of its own is an observation of its author, or of ``memory``. Times, confidence and
    history are not part of this form.
    """
    observations: dict[str, tuple[str, list[str]]] = {}
    relations: dict[str, None] = {}
    items, facts = memory.everything(scope)
    for item in items:
        if item.valid_to is not None and item.valid_to <= now.at:
            continue
        stated = item.metadata.get(_STATED)
        name, kind = stated if isinstance(stated, list) and len(stated) == 2 else (item.author or "memory", "memory")
        said = item.metadata.get("observation", item.text)
        if said is not None:
            observations.setdefault(str(name), (str(kind), []))[1].append(str(said))
    for placed in facts:
        fact = placed.fact
        if fact.holds(now.at):
            for name in (fact.subject, fact.object):
                observations.setdefault(name, ("entity", []))
            relations[
                _line({"type": "relation", "from": fact.subject, "to": fact.object, "relationType": fact.predicate})
            ] = None
    for name, (kind, said) in observations.items():
        yield _line({"type": "entity", "name": name, "entityType": kind, "observations": said})
    yield from relations


def import_lines(
    memory: Memory, lines: Iterable[str], scope: MemoryScope, now: Moment, *, keep_project: bool = True
) -> ImportReport:
    """Import lines of either form; what is known already is left as it is.

    Args:
        memory: to import into.
        lines: JSON Lines, or the lines of one JSON object with ``entities`` and ``relations``.
        scope: whose memory it becomes; the place of what has none of its own.
        now: when entities and relations are stored.
        keep_project: whether items of our form keep their project and session.

    Raises:
        InvalidArgument: a line is of neither form; nothing is imported then.
    """
    n_items = n_facts = known = 0
    items: list[MemoryItem] = []
    facts: list[PlacedFact] = []
    drafts: list[MemoryDraft] = []
    for number, record in _records(lines):
        try:
            if record.get("type") == "item":
                items.append(_moved(_ITEM.validate_python(record), scope, keep_project))
                check_item(items[-1], memory.settings)
            elif record.get("type") == "fact":
                place = {name: str(record[name]) for name in _PLACE}
                fact = _FACT.validate_python(record)
                for moment in filter(None, (fact.temporal_start, fact.temporal_end, fact.recorded_at)):
                    to_micros(moment)
                facts.append(_moved(PlacedFact(fact=fact, **place), scope, keep_project))
            else:
                drafts += _drafts(record)
        except InvalidArgument as error:
            raise InvalidArgument(f"Line {number}: {error.message}", line=number) from None
        except (ValidationError, KeyError, TypeError, ValueError) as error:
            said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            why = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else {"msg": said}
            field = ".".join(map(str, why.get("loc", ())))
            raise InvalidArgument(
                f"Line {number} is not a memory: {f'{field}: ' if field else ''}{why['msg']}. Import a file of "
                "`graphctx memory export` or of the reference memory server.",
                line=number,
            ) from None
    # A file of our form has all facts; only those of turns may not have been extracted yet.
    stated = {placed.fact.source_item for placed in facts} | {item.id for item in items if item.kind != "turn"}
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        added = memory.restore(batch, stated_in=stated)
        n_items, known = n_items + added, known + len(batch) - added
    n_facts = memory.restore_facts(facts)
    if drafts:  # of the other form, which has no ids
        there = {item.text for item in memory.everything(scope)[0]}
        fresh = [draft for draft in drafts if draft.text not in there]
        known, drafts = known + len(drafts) - len(fresh), fresh
    for start in range(0, len(drafts), _BATCH):
        for outcome in memory.add(drafts[start : start + _BATCH], scope, now):
            n_items, known = n_items + outcome.created, known + (not outcome.created)
            n_facts += len(outcome.facts.added)
    return ImportReport(n_items, n_facts, known)


def _records(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    text = [line for line in lines if line.strip()]
    if text and not _is_object(text[0]):  # one object over several lines
        text = ["".join(text)]
    for number, line in enumerate(text, start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InvalidArgument(f"Line {number} is not JSON: {error}.", line=number) from None
        if not isinstance(record, dict):
            raise InvalidArgument(f"Line {number} is not a JSON object.", line=number)
        if "type" not in record and "entities" in record:
            for kind, key in (("entity", "entities"), ("relation", "relations")):
                for each in record.get(key) or ():
                    yield number, {"type": kind, **each}
        else:
            yield number, record


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _moved(placed: Placed, scope: MemoryScope, keep_project: bool) -> Placed:
    if keep_project:
        return replace(placed, principal=scope.principal)
    return replace(placed, principal=scope.principal, project=scope.project)


def _drafts(record: dict[str, Any]) -> Sequence[MemoryDraft]:
    """Return the drafts of an entity or a relation of the reference server."""
    if record.get("type") == "relation":
        subject, verb, other = str(record["from"]), str(record["relationType"]), str(record["to"])
        return [
            MemoryDraft(
                "fact",
                f"{subject} {verb.replace('_', ' ')} {other}.",
                verbatim=False,
                metadata={"observation": None},
                source="import",
                triples=(Triple(subject, verb, other),),
            )
        ]
    if record.get("type") != "entity":
        raise ValueError(f"its type is {record.get('type')!r}, and not item, fact, entity or relation")
    name, kind = str(record["name"]), str(record["entityType"])
    observations = record.get("observations") or []
    if not isinstance(observations, list):
        raise TypeError("observations is not a list")
    return [
        MemoryDraft(
            "fact",
            f"{name}: {said}",
            verbatim=False,
            metadata={_STATED: [name, kind], "observation": str(said)},
            source="import",
        )
        for said in map(str, observations)
        if said.strip()
    ]


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
