"""How far quotes reach: the lengths of runs of sentences, each text counted once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Tokens
from graphctx.retrieve.index import Rows
from graphctx.retrieve.scope import Mask
from graphctx.retrieve.sentences import SentencePool


@dataclass(frozen=True, slots=True)
class Reach:
    """Lengths in a pool of sentences.

    Attributes:
        unit: of each sentence.
        start, end: character offsets in its document.
        own: its tokens.
        before: tokens of all sentences before it, and of what stands between those of one unit.
        max_tokens: the longest quote.
    """

    unit: Rows
    start: Rows
    end: Rows
    own: Rows
    before: Rows
    max_tokens: int

    @classmethod
    def of(cls, pool: SentencePool, tokens: Tokens, max_tokens: int) -> Reach:
        """Measure a pool."""
        beside = pool.unit[1:] == pool.unit[:-1]
        between = [
            pool.documents[at].text[pool.end[at] : pool.start[at + 1]] if beside[at] else ""
            for at in range(len(pool.rows) - 1)
        ]
        written = (at for at, text in enumerate(between) if text.strip())  # list markers, table rules
        own = np.array(tokens.count_many(pool.texts), dtype=np.int64)
        weight = own.copy()
        for at in written:
            weight[at] += tokens.count(between[at])
        return cls(pool.unit, pool.start, pool.end, own, np.concatenate([[0], np.cumsum(weight)[:-1]]), max_tokens)

    def fits(self, first: int, last: int) -> bool:
        """Whether a run is short enough to be quoted whole."""
        tokens = self.before[last] - self.before[first] + self.own[last]
        return bool(tokens <= self.max_tokens and self.end[last] - self.start[first] <= MAX_QUOTE_CHARS)

    def around(self, at: int, score: npt.NDArray[np.floating], covered: Mask) -> tuple[int, int]:
        """Grow from a sentence by whole neighbours of its unit, the better one first, as long as the run fits.

        Args:
            at: the sentence.
            score: of each sentence; ties go to the earlier one.
            covered: sentences that are quoted already.

        Returns:
            The first and the last sentence of the run.
        """
        first = last = at
        while True:
            options = [
                (float(score[added]), -added, low, high)
                for low, high, added in ((first - 1, last, first - 1), (first, last + 1, last + 1))
                if 0 <= added < len(self.unit)
                and self.unit[added] == self.unit[at]
                and not covered[added]
                and self.fits(low, high)
            ]
            if not options:
                return first, last
            _, _, first, last = max(options)

    def room(self, covered: Mask) -> npt.NDArray[np.float64]:
        """How much of the longest quote the sentences that are left around each one could fill, in 0..1."""
        turns = (self.unit[1:] != self.unit[:-1]) | (covered[1:] != covered[:-1])
        run = np.concatenate([[0], np.cumsum(turns)])
        filled = np.bincount(run, weights=self.own)[run]
        share: npt.NDArray[np.float64] = np.minimum(filled / self.max_tokens, 1.0)
        return share

    def share(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """For each sentence the mean of some values over its unit, weighted by tokens."""
        total = np.maximum(np.bincount(self.unit, weights=self.own), 1.0)
        means: npt.NDArray[np.float64] = np.bincount(self.unit, weights=self.own * values) / total
        return means[self.unit]
