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

from graphctx.memory.items import CORE_TIER, KINDS
from graphctx.nlp.language import is_english
from graphctx.settings import MemoryCompressionSettings, MemoryRankingSettings
from graphctx.settings import MemoryScoringSettings as ScoringSettings
from graphctx.text.lexical import STOPWORDS, stem, terms, words

Floats = npt.NDArray[np.float64]

MATCH, NO_MATCH = 1.0, 0.5
"""Type match score of an item of a kind that was asked for, and of another."""

MICROS_PER_DAY = 86_400 * 1_000_000
_HALF_USED = 50
"""Uses after which an item's frequency is a half."""

SECONDHAND_SHARE = 0.55
"""Of the relevance of an assistant's turn and of a summary: a question is mostly about what a person said, which the
assistant repeats at length; a summary repeats items that are found themselves. Chosen with the other constants here by
``make eval-memory``."""

NEIGHBOUR_SHARES = np.array([0.05, 0.15, 0.15, 0.05])
"""Of the relevance of the turns two before, one before, one after and two after a turn, which the turn receives."""

SAID_THEN = 0.15
"""Added to the similarity of an item of a time that the question names, less the share of items of that time."""

FIRST_WINDOW_SHARE = 0.3
"""Of the first window in the cosine of an item; the nearest window has the rest. A long item has more windows, of which
one is near to almost any question."""

REORDERED = 10
"""Items that the weights of ``[memory.ranking]`` order; the others follow by similarity, else recency outweighs it."""

FLOOR_STEP = 0.05
"""What the floor rises by with ten times the items, since the best of more items fits any question better; up to
`FLOOR_ITEMS`. Chosen with ``min_similarity`` by the table of ``make eval-memory``."""

FLOOR_ITEMS = 1000

ITEM_SHARE = 0.5
"""Of the floor, the similarity below which an item is left out although others answer the question."""

_GENERAL_STEMS = frozenset(
    terms(
        "remember recall remind know learn tell told say said talk speak spoke discuss mention conversation chat "
        "session message note happen happened do give show everything anything something thing all list name memory "
        "summarize summarise overview recap user far upcoming previous earlier first second third fourth fifth sixth "
        "seventh eighth ninth tenth last past latest recent recently new next one two three four five six seven eight "
        "nine ten couple several time date hour day night week fortnight weekend month quarter year ago today "
        "yesterday tomorrow tonight morning afternoon evening monday tuesday wednesday thursday friday saturday "
        "sunday january february march april may june july august september october november december pm jan feb mar "
        "apr jun jul aug sep sept oct nov dec please"
    )
).union(*map(terms, KINDS))
"""Stems of questions about what is remembered as a whole, to which no item need be similar."""

_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")

_ABOUT_BOTH = re.compile(r"\b(?:summar\w+|overview|recap|(?:did|have|had) you)\b", re.I)
"""Questions for which what the assistant said is as relevant as what the person said."""


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


def similarity_floor(query: str, n_items: int, settings: ScoringSettings) -> float:
    """Return the similarity that the best of some items must have if any of them bears on a question.

    0 if the question is about the memory as a whole, such as "What happened on Monday?", or is not in English.
    """
    if not settings.min_similarity or _is_general(query) or not is_english(query):
        return 0.0
    share = min(1.0, max(n_items, 1) / FLOOR_ITEMS)
    return max(0.0, settings.min_similarity + FLOOR_STEP * math.log10(share))


def _is_general(query: str) -> bool:
    asked = (word for word in words(query) if word not in STOPWORDS)
    return all(stem(word) in _GENERAL_STEMS or _NUMBER.fullmatch(word) for word in asked)


def mixed_similarity(cosines: Floats, lexical: Floats, settings: ScoringSettings) -> Floats:
    """Return the similarities [k] of items to a query, of their cosines and BM25 scores [k]."""
    share = settings.lexical_share
    mixed: Floats = (1 - share) * np.clip(cosines, 0, 1) + share * lexical
    return mixed


def relevance_of(
    similarity: Floats, is_assistant: npt.NDArray[np.bool_], is_summary: npt.NDArray[np.bool_], query: str
) -> Floats:
    """Return similarities [k] with those of summaries and of an assistant's turns lowered.

    Those of an assistant's turns stay if the query is about what both said, or what the assistant said.
    """
    lowered = is_summary if _ABOUT_BOTH.search(query) else is_summary | is_assistant
    return similarity * np.where(lowered, SECONDHAND_SHARE, 1.0)


def with_neighbours(relevance: Floats, beside: Floats) -> Floats:
    """Return the relevances of turns [k] with `NEIGHBOUR_SHARES` of those of their neighbours [k, 4]; at most 1."""
    raised: Floats = np.minimum(relevance + beside @ NEIGHBOUR_SHARES, 1.0)
    return raised


def relative(similarity: Floats) -> Floats:
    """Return similarities [k] on a scale on which the best is 1 and the last of the best `REORDERED` is 0."""
    if not len(similarity):
        return similarity
    best, last = similarity.max(), np.sort(similarity)[-REORDERED:][0]
    scaled: Floats = (similarity - last) / (best - last) if best > last else similarity - last + (similarity == last)
    return scaled


def below_reordered(scores: Floats, relative_similarity: Floats) -> Floats:
    """Return the scores [k] of a block, those of negative `relative` similarity below all others, by similarity."""
    first = relative_similarity >= 0
    least = scores[first].min(initial=1.0)
    lowered: Floats = np.where(first, scores, least * np.exp(np.minimum(relative_similarity, 0)))
    return lowered


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
