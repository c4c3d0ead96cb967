"""Items of the context of iterations as the JSON values of answers."""

from __future__ import annotations

from typing import Any

from graphctx.memory.compress import summarise_items
from graphctx.memory.feedback import feedback_count
from graphctx.memory.items import ITERATIONS_TAG, MemoryItem
from graphctx.memory.search import MemoryHit
from graphctx.memory.skillbook import SKILL
from graphctx.nlp.tokens import AnswerCounter
from graphctx.settings import MemorySettings

RESULT_TAG = "iteration-result"
"""Tag of the result of an iteration."""

RESERVED = "graphctx:"
"""What names in an item's metadata begin with that callers neither see nor set."""


def found_record(hit: MemoryHit, settings: MemorySettings, counter: AnswerCounter) -> dict[str, Any]:
    """Return a hit as the item of an answer; a long one that is summarized has an extract."""
    item = hit.item
    summary = None
    if item.state == "summarized":
        extract = summarise_items([item], settings.compression.session_summary_tokens, counter).text
        summary = extract if len(extract) < len(item.text) else None
    return {
        "id": item.id,
        "content": item.text,
        "content_type": item.kind,
        "state": item.state,
        "created_at": item.created_at.isoformat(),
        "created_iteration": item.created_iteration,
        "source": item.source,
        "tags": [tag for tag in item.tags if tag not in (RESULT_TAG, ITERATIONS_TAG)],
        "metadata": {name: value for name, value in item.metadata.items() if not name.startswith(RESERVED)},
        "usefulness_score": round(item.usefulness, 6),
        "access_count": item.access_count,
        "last_accessed": None if item.used_at is None else item.used_at.isoformat(),
        "summary": summary,
        "original_length": None if summary is None else len(item.text),
        "source_ids": list(item.source_ids),
        "score": round(hit.score, 6),
    }


def iteration_number(item: MemoryItem) -> int:
    """Return the number of an iteration as the orchestrator counts."""
    number = item.metadata.get("iteration")
    return number if isinstance(number, int) else item.created_iteration


def result_record(item: MemoryItem) -> dict[str, Any]:
    """Return the result of an iteration."""
    fields = ("success", "duration_ms", "tokens_used", "cost", "tool_calls", "artifacts", "error")
    return {
        "id": item.id,
        "iteration": iteration_number(item),
        "summary": item.text,
        **{name: item.metadata.get(name) for name in fields},
        "created_at": item.created_at.isoformat(),
        "created_iteration": item.created_iteration,
    }


def feedback_counts(item: MemoryItem) -> dict[str, Any]:
    """Return the usefulness of an item and how often it was helpful or harmful."""
    return {
        "usefulness_score": round(item.usefulness, 6),
        "helpful": feedback_count(item, "helpful"),
        "harmful": feedback_count(item, "harmful"),
    }


def skill_record(item: MemoryItem) -> dict[str, Any]:
    """Return a skill and its feedback."""
    book = item.metadata.get(SKILL)
    return {
        "id": item.id,
        "content": item.text,
        "tags": list(item.tags),
        "source": item.source,
        "skill_id": book["id"] if isinstance(book, dict) else None,
        **feedback_counts(item),
        "created_at": item.created_at.isoformat(),
    }
