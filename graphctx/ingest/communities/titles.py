"""Titles of communities: a heading or a title of the documents, or the most characteristic names."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence

import numpy as np

from graphctx.ingest.communities.evidence import CommunityEvidence, Int, Real
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

TOPIC_FIT = 0.1
"""The fit that a heading needs to be the title of a community."""

TOPIC_WORDS = 7

_NO_TOPIC = re.compile(r"[,:;!?=`|/\\<>{}_*$@#\[\]]|--|\w\(|\.\w|\d[-.]\d|^\W|^[a-z]")
"""Not in a heading that is a title: code, sentences, dates, and the names of files."""

_ANYTHING = frozenset(
    "advanced basic basics common configuration example examples features full further general guide list more new "
    "notes other overview options reference setup simple summary table tips troubleshooting tutorial".split()
)
"""Words of headings that stand above anything; a heading of such words alone is no title."""


def topic_titles(evidence: CommunityEvidence, owners: Sequence[Int]) -> dict[tuple[int, int], str]:
    """Return for communities the heading, or title of a document, whose units are most about them.

    The fit is the harmonic mean of two shares: how much of what a heading's units name is in the community, and how
    much of what the community is named in lies under the heading. A heading names one community, the broadest that it
    fits best.

    Args:
        evidence: what the documents say.
        owners: for each level, from the top, the position of each entity's community, or -1.

    Returns:
        Level and position to title, where there is one that fits.
    """
    topics: dict[str, int] = {}
    of_unit = []
    titles = [_topic(title) for title in evidence.titles]
    for path, doc in zip(evidence.unit_heading, evidence.unit_doc.tolist(), strict=True):
        found = (_topic(path.rpartition(" › ")[2]), titles[doc])
        of_unit.append([topics.setdefault(one, len(topics)) if one else -1 for one in found])
    if not topics:
        return {}
    named = np.unique(np.stack([evidence.mention_unit, evidence.mention_entity], axis=1), axis=0)
    both = np.array(of_unit, dtype=np.int64)[named[:, 0]]
    both[both[:, 0] == both[:, 1], 1] = -1
    entity = np.concatenate([named[:, 1], named[:, 1]])
    topic = both.T.ravel()
    names, left = list(topics), np.ones(len(topics), dtype=bool)
    total = np.bincount(topic[topic >= 0], minlength=len(topics))
    chosen: dict[tuple[int, int], str] = {}
    for level, owner in enumerate(owners):
        inside = np.bincount(owner[named[:, 1]][owner[named[:, 1]] >= 0], minlength=int(owner.max(initial=-1)) + 1)
        kept = (owner[entity] >= 0) & (topic >= 0)
        keys, shared = np.unique(owner[entity[kept]] * len(topics) + topic[kept], return_counts=True)
        place, which = keys // len(topics), keys % len(topics)
        fit = np.round(2 * shared / (inside[place] + total[which]), 6)
        for at in sorted(np.flatnonzero(fit >= TOPIC_FIT).tolist(), key=lambda at: (-fit[at], names[which[at]])):
            if left[which[at]] and (level, int(place[at])) not in chosen:
                left[which[at]] = False
                chosen[level, int(place[at])] = names[which[at]]
    return chosen


def _topic(heading: str) -> str:
    """Return a heading that can name a theme; empty where it is code, says something, or stands above anything."""
    shown = shown_name(heading).strip(" .*_")
    words = shown.casefold().split()
    usual = len(words) > TOPIC_WORDS or len(shown) < 4 or _ANYTHING.issuperset(words)
    return "" if usual or _NO_TOPIC.search(shown) or reads_as_clause(shown) else shown


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
