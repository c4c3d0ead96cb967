"""Titles of communities: a heading or a title of the documents, or the most characteristic names."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

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

RECALL = 2.0
"""How many times more it counts that a community is named below a heading than that nothing else is: the beta of the
F-measure (van Rijsbergen 1979). A heading of half the theme misleads more than one of the theme and something else."""

SECTION_SHARE = 0.7
"""Weight factor of a heading that is the title of no document: it may need those above it to be understood."""

BARE_FIT = 0.2
"""What the fit of a heading counts whose words no key name has, beside 1 for one whose words they all have."""

KEY_NAMES = 30
"""The most characteristic names of a community, with whose words headings are compared."""

FITTING_TOPICS = 20
"""The headings of the best fit that are compared."""

MAX_SECTIONS = 3
ANYWHERE_FIT = 0.5
"""A heading of more sections, in different places, is one that stands above anything ("Synopsis", "Upgrades"), unless
it fits one community so well."""

TITLE_KEYS = 8
NAMED_SHARE = 0.35
NAME_SHARE = 0.35
"""A key name, of so many, is a title if units that mention it hold so much of what the community is named in; its
rating counts so much beside that of a heading, since a community is made of what is mentioned with its names."""

TOPIC_WORDS = 7

_NO_NAME = re.compile(r"[/\\@$\[\]\"]|^-|\.\w+$")
"""In a name that titles nothing where there is another: paths, handles, variables and flags."""

_NO_TOPIC = re.compile(r"[,:;!?=`|/\\<>{}_*$@#\[\]]|--|\w\(|\.[^\W\d]|\d-\d|\d\.\d+\.|^\W|^[a-z]")
"""Not in a heading that is a title: code, sentences, dates, numbers of releases, and the names of files."""

_EXAMPLE = frozenset(("example", "examples"))
"""What a heading with such a word stands above shows a theme, and is none."""

_ANYTHING = frozenset(
    "advanced basic basics commands common configuration considerations definitions description design environment "
    "example examples features full further general guide list miscellaneous more new notes other overview options "
    "parameters reference setup simple summary synopsis table tips troubleshooting tutorial usage workflow".split()
)
"""Words of headings that stand above anything; a heading of such words alone is no title."""


def topic_titles(evidence: CommunityEvidence, levels: Sequence[Level]) -> dict[tuple[int, int], str]:
    """Return for communities the heading, the title of a document, or else the one name, that names them best.

    A heading is rated by its fit and by its words. The fit is the F-measure of two shares: how much of what the units
    below it name is in the community, and how much of what the community is named in lies below it. Its words count by
    the weight of the key names that have them, and by how many of them a key name has. Titles of documents count more
    than headings of sections, and key names less than both: below a name are the units that mention it. Each names one
    community, the broadest that it is rated highest for.

    Returns:
        Level and position to title, where one is rated at least `TOPIC_RATING`.
    """
    topics = _Topics.of(evidence)
    named = np.unique(np.stack([evidence.mention_entity, evidence.mention_unit], axis=1), axis=0)
    unit_names = np.bincount(named[:, 1], minlength=len(evidence.unit_doc))
    at, owner = gather(topics.ptr, named[:, 1])
    topic, entity = topics.of_unit[at], named[owner, 0]
    total = np.bincount(topic, minlength=len(topics.texts))
    words = [frozenset(terms(one)) for one in topics.texts]
    chosen: dict[tuple[int, int], str] = {}
    used: set[str] = set()
    for number, level in enumerate(levels):
        checkpoint()
        rated: list[tuple[float, str, int]] = []
        place_of = level.owner[named[:, 0]]
        inside = np.bincount(place_of + 1, minlength=level.count + 1)[1:]
        key_words = _key_words(evidence, level)
        place = level.owner[entity]
        keys, shared = np.unique(place[place >= 0] * len(topics.texts) + topic[place >= 0], return_counts=True)
        place, which = keys // max(len(topics.texts), 1), keys % max(len(topics.texts), 1)
        fit = _fit(shared, inside[place], total[which])
        order = np.lexsort((which, -fit, place))
        order = order[np.arange(len(order)) - np.searchsorted(place[order], place[order]) < FITTING_TOPICS]
        for one in order.tolist():
            if fit[one] >= topics.least_fit[which[one]]:
                in_community, heading = int(place[one]), int(which[one])
                rating = _rating(float(fit[one]), words[heading], key_words[in_community]) * topics.worth[heading]
                rated.append((round(-rating, 6), topics.texts[heading], in_community))

        kept = place_of >= 0
        treated, names = np.unique(place_of[kept] * len(unit_names) + named[kept, 1], return_counts=True)
        for row in _key_rows(level, TITLE_KEYS).tolist():
            title, at_home = shown_name(evidence.names[row]), int(level.owner[row])
            units = named[slice(*np.searchsorted(named[:, 0], [row, row + 1])), 1]
            here = int(names[np.searchsorted(treated, at_home * len(unit_names) + units)].sum())
            if evidence.label[row] != "code" and here >= NAMED_SHARE * inside[at_home] and not _NO_NAME.search(title):
                fitting = float(_fit(here, inside[at_home], unit_names[units].sum()))
                rating = _rating(fitting, frozenset(terms(title)), key_words[at_home])
                rating *= title_share(evidence, row) * NAME_SHARE
                rated.append((round(-rating, 6), title, at_home))
        for rating, title, at_home in sorted(rated):
            if -rating >= TOPIC_RATING and title.casefold() not in used and (number, at_home) not in chosen:
                used.add(title.casefold())
                chosen[number, at_home] = title
    return chosen


def _fit(shared: Int | int, inside: Int | int, below: Int | int) -> Real:
    """Return the F-measure of two shares: of what the community is named in, and of what the units name."""
    return np.round(np.asarray((1 + RECALL**2) * shared / (RECALL**2 * inside + below)), 6)


def _rating(fit: float, words: frozenset[str], key_words: dict[str, float]) -> float:
    """Return the rating of a title by its fit, and by its words beside those of the key names and their weights."""
    common = sorted(words & key_words.keys())
    share = math.sqrt(min(1.0, sum(key_words[word] for word in common))) * len(common) / max(len(words), 1)
    return fit * (BARE_FIT + share)


@dataclass(frozen=True, slots=True)
class _Topics:
    """The headings that can name a theme, and for each unit those above it: pointers [U + 1] and positions.

    ``worth`` is the weight factor of each, ``least_fit`` what it must fit to be a title.
    """

    texts: list[str]
    worth: list[float]
    least_fit: list[float]
    ptr: Int
    of_unit: Int

    @classmethod
    def of(cls, evidence: CommunityEvidence) -> _Topics:
        sections: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        above: list[list[str]] = []
        titles = [_topic(title) for title in evidence.titles]
        for path, doc in zip(evidence.unit_heading, evidence.unit_doc.tolist(), strict=True):
            parts = path.split(" › ") if path else []
            headings = [_topic(one) for one in parts]
            for depth, heading in enumerate(headings):
                sections[heading].add((evidence.titles[doc], *parts[:depth]))
            above.append([titles[doc], *headings])
        topics: dict[str, int] = {}
        of_unit = [sorted({topics.setdefault(one, len(topics)) for one in some if one}) for some in above]
        ptr = np.concatenate([[0], np.cumsum([len(some) for some in of_unit])]).astype(np.int64)
        known = set(titles)
        return cls(
            texts=list(topics),
            worth=[_common_share(one) * (1.0 if one in known else SECTION_SHARE) for one in topics],
            least_fit=[ANYWHERE_FIT if len(sections[one]) > MAX_SECTIONS else 0.0 for one in topics],
            ptr=ptr,
            of_unit=np.array([one for some in of_unit for one in some], dtype=np.int64),
        )


def _key_rows(level: Level, most: int) -> Int:
    """Return the ``most`` most characteristic entities of each community."""
    order = np.lexsort((np.arange(len(level.owner)), -np.round(level.weight, 6), level.owner))
    owner = level.owner[order]
    rows: Int = order[(owner >= 0) & (np.arange(len(owner)) - np.searchsorted(owner, owner) < most)]
    return rows


def _key_words(evidence: CommunityEvidence, level: Level) -> list[dict[str, float]]:
    """Return for each community the words of its key names: their shares of the weight, less for what many have."""
    order = _key_rows(level, KEY_NAMES)
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
