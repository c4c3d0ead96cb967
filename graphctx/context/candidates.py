"""Candidates of a context: the sentences that may go into it, what each is worth, and how relevant its unit is."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.model.context import relevance_of
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.arrays import Rows, Scores, top_rows
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import Confidence, likely_answered
from graphctx.retrieve.evidence import MAX_NEAREST
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import SAME_UNIT, Ranking, top_units
from graphctx.retrieve.runs import SentenceRuns
from graphctx.retrieve.scope import Empty
from graphctx.retrieve.searcher import Searcher
from graphctx.retrieve.selection import sentence_scores
from graphctx.retrieve.sentences import SentencePool, sentence_pool
from graphctx.retrieve.variants import DEFAULT

UNIT, NEIGHBOUR, DOCUMENT, SPREAD = 4.0, 0.1, 0.1, 0.2
"""What a sentence is worth: its own score, of which a fifth comes from the sentences beside it, and four times its
unit's: the share of the best unit's score, a tenth of the better unit beside it, and a tenth of the mean of the three
best of its document. Found on seven question sets, where any of these between half and double fares about as well
(docs/context.md)."""

SMALL_UNIT, SMALL_TOKENS = 3.0, 2_000
"""Within a smaller budget few units have room, and the sentences of the best have to be told apart: `UNIT` is less."""

BEST_OF_DOCUMENT = 3

TOKENS_PER_UNIT = 40
"""A unit is looked at for this many tokens of the budget: most units give a sentence or two."""

WHOLE_DOCUMENTS, MAX_SIBLINGS = 25, 300
"""Documents of the best units whose other units are candidates too, and the largest number of these."""

MAX_ATOM_TOKENS = 512
"""A block of code, a table row or an item is taken whole up to this many tokens, as at ingest."""


RECENT = 0.5
"""Where a question asks for the newest, a unit of the oldest dated document loses this share of its score; one of the
newest, and one without a date, loses nothing."""

_COMPARED = 100
"""The first units of a ranking, of which the newest of those that say the same is taken."""

_NEWEST = re.compile(
    r"\b(?:latest|newest|recent(?:ly)?|currently|up[- ]to[- ]date|nowadays|these days)\b"
    r"|(?:^|\b(?:the|our|your|their|its|his|her|my)|'s)\s*\bcurrent\s+(?!(?:of|in|through|from|to|at|for|is|are|was|does|"
    r"can|may|must|and|or|that|which|flow\w*|dr[ae]w\w*)\b)\w",
    re.I,
)
"""Words that ask for what is newest; *the current of the supply* does not."""


@dataclass(frozen=True, eq=False)
class ContextCandidates:
    """Units that may go into a context, in reading order, with their sentences.

    Attributes:
        index: of the scope.
        communities: of the scope.
        question: the parsed question.
        ranking: of the units that a search found.
        rows: unit rows, ascending; some that the search did not find, of documents that it found.
        score: float32, of each unit, the best about 1.
        pool: their sentences.
        runs: the sentences that are taken together.
        value: float32, what each sentence is worth.
        section: the section row of each unit.
    """

    index: SearchIndex
    communities: CommunityIndex
    question: Question
    ranking: Ranking
    rows: Rows
    score: Scores
    pool: SentencePool
    runs: SentenceRuns
    value: Scores
    section: Rows
    _confidence: Confidence

    @cached_property
    def relevance(self) -> list[float]:
        """The relevance of each unit, in 0..1."""
        first = np.searchsorted(self.pool.unit, np.arange(len(self.rows)), side="left")
        last = np.searchsorted(self.pool.unit, np.arange(len(self.rows)), side="right") - 1
        return [
            relevance_of(self._confidence.of_run(begin, end)) if begin <= end else 0.0
            for begin, end in zip(first.tolist(), last.tolist(), strict=True)
        ]

    @cached_property
    def confidence(self) -> float:
        """That of the best sentence, in 0..1, as `graphctx.retrieve.evidence` judges a quote."""
        return self._confidence.of_best

    @property
    def answered(self) -> bool:
        """Whether anything bears on the question."""
        return likely_answered(self.index, [self.confidence])

    @property
    def nearest(self) -> list[str]:
        """URIs of the documents of the best units, the best first."""
        documents = dict.fromkeys(self.index.walk.unit_doc[self.ranking.rows].tolist())
        return [self.index.text_of(row).uri for row in list(documents)[:MAX_NEAREST]]

    @cached_property
    def sentences(self) -> tuple[Rows, Rows]:
        """The first sentence of each unit and the one after its last, positions in the pool."""
        units = np.arange(len(self.rows))
        return np.searchsorted(self.pool.unit, units), np.searchsorted(self.pool.unit, units, side="right")


def find_candidates(
    searcher: Searcher,
    text: str,
    scope: Scope,
    filters: Filters,
    tokens: TokenCounter,
    budget: int,
    *,
    distinct: bool = True,
) -> ContextCandidates | Empty:
    """Rank the units of a scope for a question, and weigh their sentences.

    Args:
        searcher: a pinned snapshot.
        text: the question.
        scope, filters: which documents.
        tokens: counts tokens.
        budget: tokens that will be chosen from them; it bounds the number of units.
        distinct: whether units are passed over that say the same as a better one.

    Returns:
        The candidates, or why there are none.
    """
    ranked = searcher.rank(text, DEFAULT, scope, filters)
    if isinstance(ranked, Empty):
        return ranked
    question, ranking = ranked
    index = searcher.index.within(searcher.boundary.narrow(scope), filters)
    ranking = _by_recency(index, text, ranking)
    most = max(20, budget // TOKENS_PER_UNIT)
    chosen = top_units(index, ranking, most, index.walk.n_units, distinct=distinct)
    if not len(chosen):
        return Empty("no_match")
    if distinct:
        chosen = _newest_of_same(index, ranking, chosen)
    siblings = _siblings(index, question, ranking, min(MAX_SIBLINGS, most - len(chosen)))
    every = replace(
        ranking,
        rows=np.concatenate([ranking.rows, siblings]),
        scores=np.concatenate([ranking.scores, np.zeros(len(siblings), dtype=np.float32)]),
    )
    positions = np.concatenate([chosen, len(ranking.rows) + np.arange(len(siblings))])
    positions = positions[np.argsort(every.rows[positions], kind="stable")]
    rows = every.rows[positions]
    score = _unit_scores(index, rows, every.scores[positions])
    pool = sentence_pool(index, question, rows)
    own = _spread(sentence_scores(pool, DEFAULT.selection), pool.unit)
    weight = SMALL_UNIT if budget < SMALL_TOKENS else UNIT
    value = np.round(own + weight * score[pool.unit], 5).astype(np.float32)
    tables = searcher.graph.tables
    return ContextCandidates(
        index=index,
        communities=CommunityIndex(GraphView(index, tables)),
        question=question,
        ranking=ranking,
        rows=rows,
        score=score,
        pool=pool,
        runs=SentenceRuns.of(pool, tokens, MAX_ATOM_TOKENS),
        value=value,
        section=tables.units.section[rows],
        _confidence=Confidence.of(index, question, every, positions, pool),
    )


def _siblings(index: SearchIndex, question: Question, ranking: Ranking, most: int) -> Rows:
    """Return units that no search found, of the documents of the best that it found: the nearest to the question."""
    if most <= 0:
        return np.empty(0, dtype=np.int64)
    walk = index.walk
    documents = np.unique(walk.unit_doc[ranking.rows[: 2 * WHOLE_DOCUMENTS]])[:WHOLE_DOCUMENTS]
    start, end = (np.searchsorted(walk.unit_doc, documents, side=side) for side in ("left", "right"))
    units = np.concatenate([np.arange(*bounds) for bounds in zip(start, end, strict=True)])
    units = np.setdiff1d(units, ranking.rows)
    return units[top_rows(index.unit_similarity(question.vector, units), most)]


def _stated_dates(index: SearchIndex, rows: Rows) -> npt.NDArray[np.str_]:
    """Return the date that the document of each unit states, in ISO 8601; empty without one. No file's time counts."""
    documents, place = np.unique(index.walk.unit_doc[rows], return_inverse=True)
    stated = index.documents["updated_at"].take(documents).to_pylist()
    return np.array([date or "" for date in stated])[place]


def _newest_of_same(index: SearchIndex, ranking: Ranking, chosen: Rows) -> Rows:
    """Return positions in the ranking, of the first units that say the same that of the newest document."""
    dates = _stated_dates(index, ranking.rows[:_COMPARED])
    if len(np.unique(dates)) < 2:
        return chosen
    best = chosen.copy()
    for at, position in enumerate(chosen[chosen < _COMPARED].tolist()):
        newer = np.flatnonzero(dates > dates[position]) if dates[position] else chosen[:0]
        own = index.vectors_of(ranking.rows[position : position + 1])[0]
        same = index.unit_similarity(own, ranking.rows[newer]) >= SAME_UNIT
        if same.any():
            best[at] = newer[same][np.argmax(dates[newer[same]])]
    _, first = np.unique(best, return_index=True)
    return best[np.sort(first)]


def _by_recency(index: SearchIndex, question: str, ranking: Ranking) -> Ranking:
    """Return a ranking with the age of the documents that state a date, where the question asks for what is newest."""
    if not _NEWEST.search(question):
        return ranking
    dates = _stated_dates(index, ranking.rows)
    dated = dates != ""
    known, rank = np.unique(dates[dated], return_inverse=True)
    if len(known) < 2:
        return ranking
    scores = ranking.scores.copy()
    scores[dated] *= (1 - RECENT * (1 - rank / (len(known) - 1))).astype(np.float32)
    order = np.lexsort((np.arange(len(scores)), -np.round(scores, 6)))
    return replace(ranking, rows=ranking.rows[order], scores=scores[order])


def _unit_scores(index: SearchIndex, rows: Rows, scores: Scores) -> Scores:
    """Return the scores of units in reading order with what those beside them and their documents add."""
    share = scores / max(float(scores.max(initial=0.0)), 1e-9)
    document = index.walk.unit_doc[rows]
    beside = (np.diff(rows) == 1) & (np.diff(document) == 0)
    near = np.zeros(len(rows), dtype=np.float32)
    near[1:] = np.where(beside, share[:-1], 0.0)
    near[:-1] = np.maximum(near[:-1], np.where(beside, share[1:], 0.0))
    order = np.lexsort((-share, document))
    place = np.arange(len(rows)) - np.searchsorted(document[order], document[order])
    best = order[place < BEST_OF_DOCUMENT]
    _, group = np.unique(document, return_inverse=True)
    mean = np.bincount(group[best], weights=share[best], minlength=int(group.max(initial=-1)) + 1) / BEST_OF_DOCUMENT
    total: Scores = (share + NEIGHBOUR * near + DOCUMENT * mean[group]).astype(np.float32)
    return total


def _spread(values: Scores, unit: Rows) -> Scores:
    """Return values of sentences, each mixed with those of its neighbours in the unit."""
    same = unit[1:] == unit[:-1]
    before, after = values.copy(), values.copy()
    before[1:][same] = values[:-1][same]
    after[:-1][same] = values[1:][same]
    mixed: Scores = ((1 - SPREAD) * values + SPREAD / 2 * (before + after)).astype(np.float32)
    return mixed
