"""Feedback on items: whether they helped, which moves their usefulness and is counted in their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphctx.memory.items import MemoryItem
from graphctx.memory.scorer import after_feedback
from graphctx.settings import MemoryScoringSettings

FEEDBACK = "graphctx:feedback"
"""Entry of an item's metadata: how often it was ``helpful`` or ``harmful``, and the last ``reason``."""


def with_feedback(item: MemoryItem, helpful: bool, reason: str, settings: MemoryScoringSettings) -> Mapping[str, Any]:
    """Return the fields of an item that feedback changes, and their values."""
    name = "helpful" if helpful else "harmful"
    counts = {name: feedback_count(item, name) + 1} | ({"reason": reason} if reason else {})
    known = item.metadata.get(FEEDBACK)
    return {
        "usefulness": after_feedback(item.usefulness, [helpful], settings),
        "metadata": {**item.metadata, FEEDBACK: {**known, **counts} if isinstance(known, dict) else counts},
    }


def feedback_count(item: MemoryItem, name: str) -> int:
    """Return how often an item was ``helpful`` or ``harmful``, or another count of its feedback."""
    known = item.metadata.get(FEEDBACK)
    count = known.get(name) if isinstance(known, dict) else 0
    return count if isinstance(count, int) else 0
