"""From the root communities down, best first, as far as they bear on the question.

The order is that of LazyGraphRAG (Microsoft Research, 2024): a best-first search over the hierarchy that goes deeper
from round to round under a budget of relevance tests, and gives up after several in a row that bear on nothing. There
a language model says yes or no; here a rating is compared with the best so far.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.global_search.evidence import Real

BEARS = 0.5
"""A community bears on the question if its rating is at least so much of the best so far."""

PATIENCE = 8
"""Communities in a row that bear on nothing; the candidates come in the order of the evidence, so the rest is worse."""

Rate = Callable[[int], float]


@dataclass
class Descent:
    """What a descent found.

    Attributes:
        ratings: of the communities that were rated, by row.
        descended: those whose children were rated too.
        chosen: those that bear on the question and are not told better by a child, the best first.
    """

    ratings: dict[int, float] = field(default_factory=dict)
    descended: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)


def descend(communities: Communities, evidence: Real, rate: Rate, tests: int, *, deeper: bool = True) -> Descent:
    """Rate communities from the roots down.

    Half of the tests are for roots, then the best are descended into, then what is left of the tests goes to further
    roots. A community is dropped where one of its children is rated as high or higher.

    Args:
        communities: that may be seen.
        evidence: float64 [C], by which those to rate are chosen.
        rate: compares one with the question, in 0..1.
        tests: at most so many are rated.
        deeper: whether to look below the roots.
    """
    return _Search(communities, evidence, rate, tests, deeper=deeper).run()


class _Search:
    def __init__(self, communities: Communities, evidence: Real, rate: Rate, tests: int, *, deeper: bool) -> None:
        self._communities = communities
        self._evidence = evidence
        self._rate = rate
        self._left = tests
        self._deeper = deeper
        self._best = 0.0
        self._waiting: list[tuple[float, int]] = []
        self._beaten: set[int] = set()
        self._made = Descent()

    def run(self) -> Descent:
        roots = self._by_evidence(self._communities.roots())
        half = (self._left + 1) // 2 if self._deeper else self._left
        n_rated = self._rate_all(roots[:half])
        self._go_deeper()
        if n_rated == half:
            self._rate_all(roots[half : half + self._left])
            self._go_deeper()
        made = self._made
        kept = [row for row in made.ratings if row not in self._beaten and self._bears(made.ratings[row])]
        made.chosen = sorted(kept, key=lambda row: (-made.ratings[row], row))
        return made

    def _by_evidence(self, rows: Rows) -> Rows:
        """The most promising first; those of equal evidence stay in order."""
        ordered: Rows = rows[np.argsort(-self._evidence[rows], kind="stable")]
        return ordered

    def _bears(self, rating: float) -> bool:
        return rating > 0 and rating >= BEARS * self._best

    def _rate_all(self, rows: Rows) -> int:
        """Rate communities in order until the patience ends, and say how many."""
        in_a_row = 0
        for done, row in enumerate(rows.tolist()):
            if in_a_row == PATIENCE:
                return done
            checkpoint()
            rating = self._made.ratings[row] = self._rate(row)
            self._left -= 1
            self._best = max(self._best, rating)
            in_a_row = 0 if self._bears(rating) else in_a_row + 1
            if len(self._communities.hierarchy.child[row]):
                heapq.heappush(self._waiting, (-rating, row))
        return len(rows)

    def _go_deeper(self) -> None:
        """Descend into the best that was not descended into yet, as long as it bears and there are tests left."""
        ratings = self._made.ratings
        while self._deeper and self._waiting and self._left > 0:
            row = heapq.heappop(self._waiting)[1]
            if not self._bears(ratings[row]):
                break
            children = self._by_evidence(self._communities.children(row))[: self._left]
            done = children[: self._rate_all(children)].tolist()
            if done:
                self._made.descended.append(row)
            if any(ratings[child] >= ratings[row] for child in done):
                self._beaten.add(row)
        if self._left <= 0 or not self._deeper:
            self._waiting.clear()
