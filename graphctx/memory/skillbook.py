"""Skills of a ``skillbook.json``, as ACE (agentic context engineering) writes it, and feedback for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from graphctx.errors import BackendUnavailable
from graphctx.memory.feedback import FEEDBACK, feedback_count
from graphctx.memory.items import MemoryDraft, MemoryFilter, MemoryItem, MemoryScope, Moment
from graphctx.memory.memory import Memory
from graphctx.memory.store import MAX_TAG_CHARS
from graphctx.settings import MemoryScoringSettings

SKILL = "graphctx:skill"
"""Entry of the metadata of an item that comes from a skillbook: ``id``, ``section``, ``helpful``, ``harmful``."""

FEEDBACK_FILE = "feedback.json"
"""Beside ``skillbook.json``: an update batch of ACE with the feedback that is not yet in it."""

_COUNTS = ("helpful", "harmful")
_INITIAL_USEFULNESS = 0.5


@dataclass(frozen=True, slots=True)
class BookSkill:
    """A skill of a skillbook; ``helpful`` and ``harmful`` count its uses there."""

    id: str
    section: str
    content: str
    helpful: int
    harmful: int

    @property
    def entry(self) -> dict[str, Any]:
        """The entry `SKILL` of the metadata of its item."""
        return {"id": self.id, "section": self.section, "helpful": self.helpful, "harmful": self.harmful}


def read_skillbook(path: Path) -> tuple[BookSkill, ...]:
    """Return the valid skills of a skillbook; none if the file is absent.

    Raises:
        BackendUnavailable: the file cannot be read as one.
    """
    try:
        stat = path.stat()
        return _parsed(path, stat.st_mtime_ns, stat.st_size)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BackendUnavailable(f"{path.name} cannot be read as a skillbook: {error}.") from error


def sync_skillbook(memory: Memory, path: Path, scope: MemoryScope, now: Moment) -> None:
    """Make the skills of the memory those of a skillbook: new, changed and removed ones.

    The usefulness of a skill follows from its counts in the skillbook whenever these change, and from feedback that
    was not exported yet. A removed skill stays in the history.

    Raises:
        BackendUnavailable: the skillbook cannot be read, or the memory cannot be used.
    """
    skills = read_skillbook(path)
    known = {item.metadata[SKILL]["id"]: item for item in _book_items(memory, scope, now)}
    for skill in skills:
        item = known.pop(skill.id, None)
        if item is None or item.text != skill.content:
            draft = MemoryDraft(
                "skill",
                skill.content,
                tags=(skill.section[:MAX_TAG_CHARS],) if skill.section.strip() else (),
                metadata={**(item.metadata if item else {}), SKILL: skill.entry},
                source_ids=(item.id,) if item else (),
                source="skillbook",
                usefulness=_usefulness(skill, item, memory.settings.scoring),
            )
            memory.add([draft], scope, now, extract=False)
            if item is not None:
                _retire(memory, item, now)
        elif item.metadata[SKILL] != skill.entry:
            memory.update(
                item.id,
                scope,
                lambda item, skill=skill: {  # type: ignore[misc]
                    "metadata": {**item.metadata, SKILL: skill.entry},
                    "usefulness": _usefulness(skill, item, memory.settings.scoring),
                },
            )
    for item in known.values():
        _retire(memory, item, now)


def export_feedback(memory: Memory, path: Path, scope: MemoryScope, now: Moment) -> None:
    """Write feedback on the skills of a skillbook that was not exported yet to `FEEDBACK_FILE` beside it.

    The file is an update batch of ACE, whose operations add to the counts of skills. What it has from before stays:
    whoever applies it deletes it.

    Raises:
        BackendUnavailable: the file cannot be written; the feedback waits for the next time.
    """
    target = path.with_name(FEEDBACK_FILE)
    try:
        with FileLock(target.with_suffix(".lock"), timeout=memory.settings.storage.busy_timeout_seconds):
            operations = _operations(target)
            changed = [item for item in _book_items(memory, scope, now) if any(_unexported(item).values())]
            for item in changed:
                skill = item.metadata[SKILL]
                operation = operations.setdefault(
                    skill["id"],
                    {"type": "TAG", "section": skill["section"], "skill_id": skill["id"], "metadata": {}},
                )
                for name, count in _unexported(item).items():
                    if count:
                        operation["metadata"][name] = operation["metadata"].get(name, 0) + count
            if not changed:
                return
            batch = {
                "reasoning": "Feedback of mark_useful.",
                "operations": [operations[key] for key in sorted(operations)],
            }
            part = target.with_suffix(".part")
            part.write_text(json.dumps(batch, indent=2, ensure_ascii=False), encoding="utf-8")
            part.replace(target)
            for item in changed:
                done = {f"exported_{name}": feedback_count(item, name) for name in _COUNTS}
                memory.update(
                    item.id,
                    scope,
                    lambda item, done=done: {  # type: ignore[misc]
                        "metadata": {**item.metadata, FEEDBACK: {**item.metadata[FEEDBACK], **done}}
                    },
                )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BackendUnavailable(f"Feedback could not be written to {target.name}: {error}.") from error


@lru_cache(maxsize=8)
def _parsed(path: Path, modified: int, size: int) -> tuple[BookSkill, ...]:
    """Return the skills of a file; it is read again if its time or size changes."""
    book = json.loads(path.read_text(encoding="utf-8"))["skills"]
    return tuple(
        BookSkill(
            str(key),
            str(skill.get("section") or ""),
            str(skill["content"]),
            int(skill.get("helpful") or 0),
            int(skill.get("harmful") or 0),
        )
        for key, skill in sorted(book.items())
        if skill.get("status", "active") == "active" and str(skill["content"]).strip()
    )


def _book_items(memory: Memory, scope: MemoryScope, now: Moment) -> list[MemoryItem]:
    """Return the skills of the project that come from a skillbook."""
    skills = memory.select(scope, now, MemoryFilter(kinds=("skill",)))
    return [item for item in skills if item.project == scope.project and isinstance(item.metadata.get(SKILL), dict)]


def _unexported(item: MemoryItem) -> dict[str, int]:
    return {name: feedback_count(item, name) - feedback_count(item, f"exported_{name}") for name in _COUNTS}


def _usefulness(skill: BookSkill, item: MemoryItem | None, settings: MemoryScoringSettings) -> float:
    own = _unexported(item) if item else dict.fromkeys(_COUNTS, 0)
    usefulness = (
        _INITIAL_USEFULNESS
        + settings.helpful_step * (skill.helpful + own["helpful"])
        - settings.unhelpful_step * (skill.harmful + own["harmful"])
    )
    return min(1.0, max(0.0, usefulness))


def _retire(memory: Memory, item: MemoryItem, now: Moment) -> None:
    scope = MemoryScope(item.principal, item.project, item.session)
    memory.update(item.id, scope, lambda _: {"valid_to": now.at})


def _operations(target: Path) -> dict[str, dict[str, Any]]:
    """Return the operations of a batch that waits, by skill."""
    if not target.exists():
        return {}
    waiting: Mapping[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return {operation["skill_id"]: operation for operation in waiting["operations"]}
