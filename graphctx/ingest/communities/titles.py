"""Titles of communities, made of their most characteristic names."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from graphctx.ingest.communities.evidence import CommunityEvidence, Real
from graphctx.nlp.commonness import rank_of
from graphctx.text.names import TITLE_NAMES, reads_as_clause, says_nothing_beside, shown_name, title_words, too_long

THIRD_SHARE = 0.35
"""Weight that a third name needs, as a share of the second's, to enter the title."""

SAME_PART_SHARE = 0.5
"""Weight factor of a name whose child community already has a name in the title, so that the title covers the whole."""

MAX_NAMES = 200
"""Candidate names for one title."""

CODE_SHARE = 0.6
CLAUSE_SHARE = 0.2
PLAIN_SHARE = 0.4
"""Weight factor of a bare noun: names written as names make better titles."""

COMMON_SHARES = ((1_000, 0.4), (3_000, 0.6), (6_000, 0.8))
"""Weight factors of a single word by its rank among the words of English: "range", "rest"."""


def title_share(evidence: CommunityEvidence, entity: int) -> float:
    """Return how suitable the name of an entity is for a title, at most 2."""
    name = evidence.names[entity]
    share = (PLAIN_SHARE + (1 - PLAIN_SHARE) * float(evidence.proper[entity])) * (1 + float(evidence.named[entity]))
    if evidence.label[entity] == "code":
        share *= CODE_SHARE
    if reads_as_clause(name) or "," in name:
        share *= CLAUSE_SHARE
    rank = rank_of(name.casefold()) if name.isalpha() else 0
    return share * next((factor for most, factor in COMMON_SHARES if rank and rank <= most), 1.0)


def title_of(evidence: CommunityEvidence, rows: Sequence[int], weight: Real, part: Sequence[int] = ()) -> str:
    """Return the title of a community.

    Args:
        evidence: names and how they are written.
        rows: its entities.
        weight: float64 [E], how characteristic each is.
        part: for each of ``rows`` the number of the child that it is in; empty for a leaf.

    Returns:
        Two or three names, or one if there are no others. No name is part of another.
    """
    every = ((float(weight[row]) * title_share(evidence, row), row) for row in rows)
    left = {row: worth for worth, row in heapq.nsmallest(MAX_NAMES, every, key=lambda one: (-round(one[0], 6), one[1]))}
    part_of = dict(zip(rows, part, strict=True)) if part else {}
    chosen: list[str] = []
    keys: list[frozenset[str]] = []
    second = 0.0
    while left and len(chosen) < TITLE_NAMES:
        row = min(left, key=lambda one: (-round(left[one], 6), evidence.entity_ids[one]))
        worth = left.pop(row)
        name = shown_name(evidence.names[row])
        key = title_words(name)
        if says_nothing_beside(key, keys):
            continue
        if len(chosen) == TITLE_NAMES - 1 and (worth < THIRD_SHARE * second or too_long([*chosen, name])):
            break
        chosen.append(name)
        keys.append(key)
        second = worth
        if part_of:
            for other in left:
                if part_of[other] == part_of[row]:
                    left[other] *= SAME_PART_SHARE
    return ", ".join(chosen) or shown_name(evidence.names[rows[0]])
