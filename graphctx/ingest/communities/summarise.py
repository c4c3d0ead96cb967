"""Extractive summaries of communities, from the finest level up; a parent's is made of its children's sentences.

The choice of sentences is memoised, so that a change costs what it touches.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import islice, pairwise

import numpy as np

from graphctx.ingest.communities.evidence import CommunityEvidence, Int, Level, Real
from graphctx.ingest.communities.points import (
    COVERED_ENTITIES,
    MAX_CANDIDATES,
    MAX_CHILD_CANDIDATES,
    MAX_POINTS,
    CandidateSentences,
    choose,
)
from graphctx.ingest.communities.titles import title_of, topic_titles
from graphctx.model.interrupt import checkpoint
from graphctx.model.knowledge import Community, CommunitySummary
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.store.cache import Memo
from graphctx.store.walk import Mask, gather
from graphctx.text.prose import leads_on, refers_back, stands_alone

SUMMARY_VERSION = 14
_KIND = "community"
KEY_ENTITIES = 10
KEY_FACTS = 10
COPULAS = frozenset(("be", "not be"))
"""Predicates of mere identity, for which the order of the ends is irrelevant."""
SUMMARY_SENTENCES = 8
SUMMARY_TOKENS = 200
ENOUGH_SENTENCES = 3
STRONG = 0.6
"""Sentences with a lower self-containedness score are added only until there are `ENOUGH_SENTENCES`."""

UNSTATED_SHARE = 0.8
"""Weight factor of a sentence without a fact, which may be a fragment."""


def summarise_communities(
    evidence: CommunityEvidence,
    communities: Sequence[Community],
    memo: Memo,
    on_done: Callable[[int], None] = lambda done: None,
) -> list[CommunitySummary]:
    """Describe communities.

    Returns:
        One summary each, in their order. Work is linear in mentions and facts for each level.
    """
    return _Summaries(evidence, communities, memo, on_done).make()


class _Summaries:
    def __init__(
        self,
        evidence: CommunityEvidence,
        communities: Sequence[Community],
        memo: Memo,
        on_done: Callable[[int], None],
    ) -> None:
        self._evidence, self._communities, self._memo, self._on_done = evidence, communities, memo, on_done
        self._fresh: dict[str, bytes] = {}
        self._row_of = {entity: row for row, entity in enumerate(evidence.entity_ids)}
        self._children: dict[str, list[int]] = defaultdict(list)
        for number, community in enumerate(communities):
            if community.parent_id is not None:
                self._children[community.parent_id].append(number)
        pairs = np.stack([evidence.mention_sentence, evidence.mention_entity], axis=1)
        self._named = np.unique(pairs, axis=0) if len(pairs) else np.empty((0, 2), np.int64)
        self._named_ptr = np.searchsorted(self._named[:, 0], np.arange(len(evidence.sentence_unit) + 1))
        self._stated = frozenset(evidence.fact_sentence.tolist())
        self._form: dict[int, float] = {}
        self._counter = WordPieceCounter()
        self._points: dict[int, list[int]] = {}

    def make(self) -> list[CommunitySummary]:
        made: dict[int, CommunitySummary] = {}
        by_level: dict[int, list[int]] = defaultdict(list)
        for number, community in enumerate(self._communities):
            by_level[community.level].append(number)
        levels = [
            Level.of(self._evidence, self._owner(by_level[level]), len(by_level[level]))
            for level in range(len(by_level))
        ]
        topics = topic_titles(self._evidence, levels)
        for number in reversed(range(len(levels))):
            titles = [topics.get((number, place), "") for place in range(levels[number].count)]
            made |= self._level(by_level[number], levels[number], titles)
        return [made[number] for number in range(len(self._communities))]

    def _members(self, number: int) -> Int:
        return np.array([self._row_of[entity] for entity in self._communities[number].entity_ids], dtype=np.int64)

    def _owner(self, numbers: Sequence[int]) -> Int:
        """Return for each entity the position of its community, or -1."""
        owner = np.full(len(self._evidence.entity_ids), -1, dtype=np.int64)
        for place, number in enumerate(numbers):
            owner[self._members(number)] = place
        return owner

    def _level(self, numbers: Sequence[int], level: Level, titles: Sequence[str]) -> dict[int, CommunitySummary]:
        members = [self._members(number) for number in numbers]
        sentences = self._sentences(level)
        facts, fact_ptr = self._facts(level)
        made = {}
        for place, number in enumerate(numbers):
            checkpoint()
            children = self._children[self._communities[number].id]
            rows = self._from_children(children) if children else sentences[place]
            key = members[place][np.lexsort((members[place], -np.round(level.weight[members[place]], 6)))]
            own_facts = facts[fact_ptr[place] : fact_ptr[place + 1]]
            limit = MAX_CHILD_CANDIDATES if children else MAX_CANDIDATES
            part = self._parts(members[place], children)
            points, chosen = self._choose(rows, key, level, own_facts, limit)
            self._points[number] = points
            title = titles[place] or title_of(self._evidence, members[place].tolist(), level.weight, part)
            made[number] = self._summary(title, key, own_facts, points, chosen, level, place)
            self._on_done(len(self._points))
        self._memo.put_many(_KIND, self._fresh)
        self._fresh.clear()
        return made

    def _parts(self, members: Int, children: Sequence[int]) -> list[int]:
        """Return the position of the child that holds each member; an empty list for a leaf."""
        child_of = {
            self._row_of[entity]: place
            for place, child in enumerate(children)
            for entity in self._communities[child].entity_ids
        }
        return [child_of[row] for row in members.tolist()] if child_of else []

    def _summary(
        self,
        title: str,
        key: Int,
        facts: Int,
        points: Sequence[int],
        chosen: Sequence[int],
        level: Level,
        place: int,
    ) -> CommunitySummary:
        sentences = [self._evidence.sentence(row) for row in chosen]
        return CommunitySummary(
            title=title,
            key_entity_ids=tuple(self._evidence.entity_ids[row] for row in key[:KEY_ENTITIES]),
            key_fact_ids=tuple(self._evidence.fact_ids[row] for row in self._distinct(facts)),
            n_units=int(level.units[place]),
            point_rows=tuple(points),
            summary_rows=tuple(chosen),
            summary="\n".join([title, *sentences]),
        )

    def _within_budget(self, points: Sequence[int]) -> list[int]:
        """Return the first points that fit the summary's budget, those that stand alone first."""
        first = points[: 2 * SUMMARY_SENTENCES]
        sizes = self._counter.count_many([self._evidence.sentence(row) for row in first])
        strong = [self._stands_alone(row) >= STRONG for row in first]
        chosen: list[int] = []
        used = 0
        for at in sorted(range(len(first)), key=lambda at: (not strong[at], at)):
            enough = len(chosen) >= (SUMMARY_SENTENCES if strong[at] else ENOUGH_SENTENCES)
            text = self._evidence.sentence(first[at])
            enough |= bool(chosen) and (refers_back(text) or leads_on(text))
            if not enough and (used + sizes[at] <= SUMMARY_TOKENS or not chosen):
                chosen.append(first[at])
                used += sizes[at]
        return chosen

    def _sentences(self, level: Level) -> list[Int]:
        """Return for each community at most ``2 * MAX_CANDIDATES`` sentences that name its entities, the best first."""
        place = level.owner[self._named[:, 1]] if len(self._named) else np.empty(0, np.int64)
        kept = place >= 0
        width = len(self._evidence.sentence_unit)
        keys, at = np.unique(place[kept] * width + self._named[kept, 0], return_inverse=True)
        worth = np.round(np.bincount(at, weights=level.weight[self._named[kept, 1]], minlength=len(keys)), 6)
        of, row = keys // max(width, 1), keys % max(width, 1)
        order = np.lexsort((row, -worth, of))
        ptr = np.searchsorted(of[order], np.arange(level.count + 1))
        return [row[order[a:b][: 2 * MAX_CANDIDATES]] for a, b in pairwise(ptr)]

    def _facts(self, level: Level) -> tuple[Int, Int]:
        """Return facts with both ends inside, by community and weight, and where each community's begin."""
        source, target = level.owner[self._evidence.fact_source], level.owner[self._evidence.fact_target]
        inside = np.flatnonzero((source >= 0) & (source == target))
        worth = level.weight[self._evidence.fact_source[inside]] + level.weight[self._evidence.fact_target[inside]]
        worth = np.round(worth * (1 + self._evidence.fact_weight[inside]), 6)
        order = inside[np.lexsort((inside, -worth, source[inside]))]
        return order, np.searchsorted(source[order], np.arange(level.count + 1))

    def _distinct(self, facts: Int) -> list[int]:
        """Return the first distinct facts; those of bare predicates only if there are no others."""
        evidence = self._evidence
        telling = [row for row in facts.tolist() if evidence.fact_predicate[row] not in COPULAS] or facts.tolist()
        chosen: dict[tuple[int, int, str], int] = {}
        for row in telling:
            source, target = int(evidence.fact_source[row]), int(evidence.fact_target[row])
            predicate = evidence.fact_predicate[row]
            mirrored = chosen.get((target, source, predicate), -1)
            same = mirrored >= 0 and evidence.fact_sentence[mirrored] == evidence.fact_sentence[row]
            if not same and not (mirrored >= 0 and predicate in COPULAS):
                chosen.setdefault((source, target, predicate), row)
            if len(chosen) == KEY_FACTS:
                break
        return list(chosen.values())

    def _from_children(self, children: Sequence[int]) -> Int:
        """Return the best points of the children, equally many of each, those of larger children first."""
        each = max(1, MAX_CHILD_CANDIDATES // len(children))
        order = sorted(children, key=lambda number: (-len(self._communities[number].entity_ids), number))
        rows = [row for number in order for row in self._points[number][: min(each, MAX_POINTS)]]
        return np.array(list(dict.fromkeys(rows))[:MAX_CHILD_CANDIDATES], dtype=np.int64)

    def _choose(self, rows: Int, key: Int, level: Level, facts: Int, limit: int) -> tuple[list[int], list[int]]:
        """Return the points among some sentences, the best first, and those of them that are the summary."""
        names, weight, stated = self._relevance(rows, key[:COVERED_ENTITIES], level, facts)
        memo_key = self._memo_key(rows, names, weight, stated, limit)
        if (known := self._memo.get_many(_KIND, [memo_key]).get(memo_key)) is None:
            good = list(islice((at for at, row in enumerate(rows.tolist()) if self._stands_alone(row) > 0), limit))
            at = np.array(sorted(good, key=rows.__getitem__), dtype=np.int64)
            candidates = CandidateSentences(
                rows=rows[at],
                form=np.array([self._stands_alone(row) for row in rows[at].tolist()]),
                names=names[at].astype(np.float64),
                weight=weight,
                facts=stated[at].astype(np.float64),
            )
            texts = [self._evidence.sentence(row) for row in rows[at].tolist()]
            points = choose(candidates, self._evidence.vectors, texts)
            place = {row: number for number, row in enumerate(rows.tolist())}
            both = [[place[row] for row in some] for some in (points, self._within_budget(points))]
            known = self._fresh[memo_key] = json.dumps(both).encode()
        found, summary = ([int(rows[at]) for at in some] for some in json.loads(known))
        return found, summary

    def _relevance(self, rows: Int, key: Int, level: Level, facts: Int) -> tuple[Mask, Real, Mask]:
        """Return which of the key entities some sentences name, [k, n], their weights, and who states a fact, [k]."""
        at, owner = gather(self._named_ptr, rows)
        column = np.full(len(level.owner), -1, dtype=np.int64)
        column[key] = np.arange(len(key))
        entity = column[self._named[at, 1]]
        names = np.zeros((len(rows), len(key)), dtype=bool)
        names[owner[entity >= 0], entity[entity >= 0]] = True
        weight: Real = level.weight[key]
        return names, weight / max(float(weight.sum()), 1e-9), np.isin(rows, self._evidence.fact_sentence[facts])

    def _memo_key(self, rows: Int, names: Mask, weight: Real, stated: Mask, limit: int) -> str:
        """Return a key of everything that the choice of sentences depends on."""
        evidence, listed = self._evidence, rows.tolist()
        units = evidence.sentence_unit[rows].tolist()
        order = np.argsort(np.argsort(rows))  # ties go to the lower row
        texts = [
            f"{evidence.sentence(row)}\x1f{evidence.unit_kind[unit]}\x1f{row in self._stated}"
            for row, unit in zip(listed, units, strict=True)
        ]
        digest = hashlib.blake2b(f"{SUMMARY_VERSION} {limit} {names.shape}\x1e".encode(), digest_size=16)
        digest.update("\x1e".join(texts).encode("utf-8", "surrogatepass"))
        vectors = evidence.vectors
        for array in (order, names, weight, stated, vectors.values[rows], vectors.scale[rows]):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def _stands_alone(self, row: int) -> float:
        if row not in self._form:
            kind = self._evidence.unit_kind[self._evidence.sentence_unit[row]]
            share = 1.0 if row in self._stated else UNSTATED_SHARE
            self._form[row] = share * stands_alone(self._evidence.sentence(row), kind)
        return self._form[row]
