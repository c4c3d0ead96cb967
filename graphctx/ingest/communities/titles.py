"""Titles of communities: a heading or a title of the documents, or the most characteristic names."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from graphctx.ingest.communities.evidence import CommunityEvidence, Int, Level, Real
from graphctx.model.interrupt import checkpoint
from graphctx.nlp.commonness import rank_of
from graphctx.store.walk import gather
from graphctx.text.lexical import terms
from graphctx.text.names import (
    TITLE_NAMES,
    reads_as_clause,
    says_nothing_beside,
    shown_heading,
    shown_name,
    title_words,
    too_long,
)

THIRD_SHARE = 0.35
"""Weight that a third name needs, as a share of the second's, to enter the title."""

SAME_PART_SHARE = 0.5
"""Weight factor of a name whose child community already has a name in the title, so that the title covers the whole."""

MAX_NAMES = 200
"""Candidate names for one title."""

CODE_SHARE = 0.6
CLAUSE_SHARE = 0.2
PATH_SHARE = 0.1
PLAIN_SHARE = 0.4
"""Weight factor of a bare noun: names written as names make better titles."""

COMMON_SHARES = ((1_000, 0.4), (3_000, 0.6), (6_000, 0.8))
"""Weight factors of a single word by its rank among the words of English: "range", "rest"."""

TOPIC_RATING = 0.015
"""The rating that a heading needs to be the title of a community."""

BARE_FIT = 0.1
"""What the fit of a heading counts whose words no key name has, beside 1 for one whose words they all have."""

KEY_NAMES = 30
"""The most characteristic names of a community, with whose words headings are compared."""

FITTING_TOPICS = 20
"""The headings of the best fit that are compared."""

MAX_SECTIONS = 3
"""A heading of more sections, in different places, is one that stands above anything: "Synopsis", "Upgrades"."""

TOPIC_WORDS = 7

_NO_NAME = re.compile(r"[/\\@$\[\]\"]|^-|\.\w+$")
"""In a name that titles nothing where there is another: paths, handles, variables and flags."""

_NO_TOPIC = re.compile(r"[,:;!?=`|/\\<>{}_*$@#\[\]]|--|\w\(|\.\w|\d[-.]\d|^\W|^[a-z]")
"""Not in a heading that is a title: code, sentences, dates, and the names of files."""

_EXAMPLE = frozenset(("example", "examples"))
"""What a heading with such a word stands above shows a theme, and is none."""

_ANYTHING = frozenset(
    "advanced basic basics common configuration example examples features full further general guide list more new "
    "notes other overview options reference setup simple summary table tips troubleshooting tutorial".split()
)
"""Words of headings that stand above anything; a heading of such words alone is no title."""


def topic_titles(evidence: CommunityEvidence, levels: Sequence[Level]) -> dict[tuple[int, int], str]:
    """Return for communities the heading, or title of a document, that names them best.

    A heading is rated by its fit and by its words. The fit is the harmonic mean of two shares: how much of what the
    units below it name is in the community, and how much of what the community is named in lies below it. Its words
    count by the weight of the key names that have them, and by how many of them a key name has. A heading names one
    community, the broadest that it is rated highest for.

    Args:
        evidence: what the documents say.
        levels: from the top.

    Returns:
        Level and position to title, where a heading is rated at least `TOPIC_RATING`.
    """
    topics, ptr, of_unit = _topics(evidence)
    if not topics:
        return {}
    named = np.unique(np.stack([evidence.mention_unit, evidence.mention_entity], axis=1), axis=0)
    at, owner = gather(ptr, named[:, 0])
    topic, entity = of_unit[at], named[owner, 1]
    total = np.bincount(topic, minlength=len(topics))
    words = [frozenset(terms(one)) for one in topics]
    chosen: dict[tuple[int, int], str] = {}
    left = set(range(len(topics)))
    for number, level in enumerate(levels):
        checkpoint()
        inside = np.bincount(level.owner[named[:, 1]] + 1, minlength=level.count + 1)[1:]
        place = level.owner[entity]
        keys, shared = np.unique(place[place >= 0] * len(topics) + topic[place >= 0], return_counts=True)
        place, which = keys // len(topics), keys % len(topics)
        fit = np.round(2 * shared / (inside[place] + total[which]), 6)
        order = np.lexsort((which, -fit, place))
        order = order[np.arange(len(order)) - np.searchsorted(place[order], place[order]) < FITTING_TOPICS]
        key_words = _key_words(evidence, level)
        rated = []
        for one in order.tolist():
            weights, some = key_words[place[one]], words[which[one]]
            common = some & weights.keys()
            share = math.sqrt(min(1.0, sum(weights[word] for word in sorted(common)))) * len(common) / max(len(some), 1)
            title = topics[which[one]]
            rated.append((round(-float(fit[one]) * (BARE_FIT + share) * _common_share(title), 6), title, one))
        for rating, title, one in sorted(rated):
            if -rating >= TOPIC_RATING and which[one] in left and (number, int(place[one])) not in chosen:
                left.remove(int(which[one]))
                chosen[number, int(place[one])] = title
    return chosen


def _topics(evidence: CommunityEvidence) -> tuple[list[str], Int, Int]:
    """Return the headings that can name a theme, and for each unit those above it: pointers [U + 1] and positions."""
    sections: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    above: list[list[str]] = []
    for path, doc in zip(evidence.unit_heading, evidence.unit_doc.tolist(), strict=True):
        parts = path.split(" › ") if path else []
        headings = [_topic(one) for one in parts]
        for depth, heading in enumerate(headings):
            sections[heading].add((evidence.titles[doc], *parts[:depth]))
        above.append([_topic(evidence.titles[doc]), *headings])
    topics: dict[str, int] = {}
    of_unit = [
        sorted({topics.setdefault(one, len(topics)) for one in some if one and len(sections[one]) <= MAX_SECTIONS})
        for some in above
    ]
    ptr = np.concatenate([[0], np.cumsum([len(some) for some in of_unit])]).astype(np.int64)
    return list(topics), ptr, np.array([one for some in of_unit for one in some], dtype=np.int64)


def _key_words(evidence: CommunityEvidence, level: Level) -> list[dict[str, float]]:
    """Return for each community the words of its key names: their shares of the weight, less for what many have."""
    order = np.lexsort((np.arange(len(level.owner)), -np.round(level.weight, 6), level.owner))
    owner = level.owner[order]
    order = order[(owner >= 0) & (np.arange(len(owner)) - np.searchsorted(owner, owner) < KEY_NAMES)]
    found: list[dict[str, float]] = [defaultdict(float) for _ in range(level.count)]
    total = np.zeros(level.count)
    weight = np.sqrt(np.round(level.weight, 6))
    np.add.at(total, level.owner[order], weight[order])
    for row in order.tolist():
        at = int(level.owner[row])
        for word in sorted(set(terms(evidence.names[row]))):
            found[at][word] += float(weight[row] / max(total[at], 1e-9))
    having = Counter(word for words in found for word in words)
    most = math.log1p(level.count)
    return [
        {word: share * math.log1p(level.count / having[word]) / most for word, share in words.items()}
        for words in found
    ]


def _topic(heading: str) -> str:
    """Return a heading that can name a theme; empty where it is code, says something, or stands above anything."""
    shown = shown_heading(heading)
    words = shown.casefold().split()
    usual = len(words) > TOPIC_WORDS or len(shown) < 4 or _ANYTHING.issuperset(words) or not _EXAMPLE.isdisjoint(words)
    return "" if usual or _NO_TOPIC.search(shown) or reads_as_clause(shown) else shown


def title_share(evidence: CommunityEvidence, entity: int) -> float:
    """Return how suitable the name of an entity is for a title, at most 2."""
    name = evidence.names[entity]
    share = (PLAIN_SHARE + (1 - PLAIN_SHARE) * float(evidence.proper[entity])) * (1 + float(evidence.named[entity]))
    if evidence.label[entity] == "code":
        share *= CODE_SHARE
    if _NO_NAME.search(name):
        share *= PATH_SHARE
    if reads_as_clause(name) or "," in name:
        share *= CLAUSE_SHARE
    return share * _common_share(name)


def _common_share(name: str) -> float:
    """Return the weight factor of a name that is one word, by how common it is."""
    rank = rank_of(name.casefold()) if name.isalpha() else 0
    return next((factor for most, factor in COMMON_SHARES if rank and rank <= most), 1.0)


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
    every = ((float(weight[row]) * math.sqrt(title_share(evidence, row)), row) for row in rows)
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
