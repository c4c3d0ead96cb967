"""Scores of items: pure functions on arrays, with time and iteration as arguments.

The weights and rates are those of ``[memory.scoring]`` and ``[memory.ranking]``; their defaults come from the two
memory designs (iterations: relevance scoring; tiers: context assembler, section 3.2.4).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.memory.items import CORE_TIER
from graphctx.settings import MemoryCompressionSettings, MemoryRankingSettings
from graphctx.settings import MemoryScoringSettings as ScoringSettings

Floats = npt.NDArray[np.float64]

MATCH, NO_MATCH = 1.0, 0.5
"""Type match score of an item of a kind that was asked for, and of another."""

MICROS_PER_DAY = 86_400 * 1_000_000
_HALF_USED = 50
"""Uses after which an item's frequency is a half."""


SECONDHAND_SHARE = 0.5
"""Of the relevance of an assistant's turn and of a summary: a question is mostly about what a person said, which the
assistant repeats at length; a summary repeats items that are found themselves. Chosen with `NEIGHBOUR_SHARE` by
``make eval-memory``."""

NEIGHBOUR_SHARE = 0.15
"""Of the relevance of a turn that the turns before and after it receive."""

_ABOUT_BOTH = re.compile(r"\b(?:summar\w+|overview|recap)\b", re.I)
"""Questions for which what the assistant answered is as relevant as what was asked."""


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The factors of the scores of some items, each float64 [k] in 0..1.

    Attributes:
        similarity: to the query: a mix of cosine and BM25.
        recency: by iterations for an iteration's score, by days for a block's.
        third: usefulness, or the priority of the tier.
        fourth: type match, or frequency of use.
    """

    similarity: Floats
    recency: Floats
    third: Floats
    fourth: Floats


def relevance_of(
    similarity: Floats, is_assistant: npt.NDArray[np.bool_], is_summary: npt.NDArray[np.bool_], query: str
) -> Floats:
    """Return similarities [k] with those of summaries and of an assistant's turns lowered.

    Those of an assistant's turns stay if the query is about what was said by both.
    """
    lowered = is_summary if _ABOUT_BOTH.search(query) else is_summary | is_assistant
    return similarity * np.where(lowered, SECONDHAND_SHARE, 1.0)


def with_neighbours(relevance: Floats, before: Floats, after: Floats) -> Floats:
    """Return the relevance [k] of turns, raised by that of the turns before and after each; at most 1."""
    return np.minimum(relevance + NEIGHBOUR_SHARE * (before + after), 1.0)


def relative(similarity: Floats) -> Floats:
    """Return similarities on the scale from the lowest to the highest of them, [k] in 0..1; 1 if they are equal."""
    if not len(similarity) or similarity.min() == similarity.max():
        return np.ones(len(similarity))
    scaled: Floats = (similarity - similarity.min()) / (similarity.max() - similarity.min())
    return scaled


def iteration_parts(
    similarity: Floats,
    age: npt.NDArray[Any],
    is_skill: npt.NDArray[np.bool_],
    usefulness: npt.NDArray[Any],
    matches: npt.NDArray[np.bool_],
    settings: ScoringSettings,
) -> ScoreParts:
    """Return the factors of the score for an iteration.

    Args:
        similarity: [k], to the query.
        age: [k], iterations since the item was stored.
        is_skill: [k], whether the slower decay applies.
        usefulness: [k], by feedback.
        matches: [k], whether the kind is one that was asked for.
        settings: rates.
    """
    rate = np.where(is_skill, settings.skill_recency_decay, settings.recency_decay)
    recency = np.exp(-rate * np.maximum(age, 0))
    return ScoreParts(similarity, recency, usefulness.astype(np.float64), np.where(matches, MATCH, NO_MATCH))


def iteration_scores(parts: ScoreParts, settings: ScoringSettings) -> Floats:
    """Return the weighted sum of `iteration_parts`."""
    return (
        settings.semantic_weight * parts.similarity
        + settings.recency_weight * parts.recency
        + settings.usefulness_weight * parts.third
        + settings.type_match_weight * parts.fourth
    )


def block_parts(
    similarity: Floats,
    age_micros: npt.NDArray[Any],
    tier: npt.NDArray[Any],
    access_count: npt.NDArray[Any],
    settings: MemoryRankingSettings,
) -> ScoreParts:
    """Return the factors of the score for a block under a token budget.

    Args:
        similarity: [k], to the query.
        age_micros: [k], microseconds since the item was stored.
        tier: [k], 0 to 3.
        access_count: [k], how often the item was returned.
        settings: rates.
    """
    recency = np.exp(-settings.recency_decay_per_day * np.maximum(age_micros, 0) / MICROS_PER_DAY)
    frequency = access_count / (access_count + _HALF_USED)
    return ScoreParts(similarity, recency, (tier + 1) / (CORE_TIER + 1), frequency)


def block_scores(parts: ScoreParts, settings: MemoryRankingSettings) -> Floats:
    """Return the weighted sum of `block_parts`."""
    return (
        settings.semantic_weight * parts.similarity
        + settings.recency_weight * parts.recency
        + settings.priority_weight * parts.third
        + settings.frequency_weight * parts.fourth
    )


def after_feedback(usefulness: float, helpful: Iterable[bool], settings: ScoringSettings) -> float:
    """Return the usefulness after feedback, within 0..1."""
    for each in helpful:
        usefulness += settings.helpful_step if each else -settings.unhelpful_step
        usefulness = min(1.0, max(0.0, usefulness))
    return usefulness


def decayed(confidence: float, since: datetime, at: datetime, tier: int, settings: MemoryCompressionSettings) -> float:
    """Return a confidence after its decay since an item was stored; that of core items stays."""
    hours = max(0.0, (at - since).total_seconds() / 3600)
    if tier >= CORE_TIER:
        return confidence
    return confidence * math.pow(1 - settings.confidence_decay_rate, hours / settings.confidence_decay_interval_hours)
