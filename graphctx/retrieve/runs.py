"""Runs of sentences that a quote can be: they begin and end where sentences, list items, rows and blocks of code do."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.arrays import Mask, Rows, turns
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.sentences import CODE, LIST, PROSE, TABLE, SentencePool

APART = 80
"""Two runs of a section with fewer characters between them would read as one quote. In a short document they may
touch: it is quoted as far as the quotes reach."""

MIN_CHARS = 12
"""Shorter sentences are passed over where there are longer ones, and count as no repetition."""

_LEADS_IN = re.compile(r"[:：][\s*_`\"')\]]*$")
"""The end of a sentence that announces what follows."""

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[^`~\n]*$")


Run = tuple[int, int]
"""The positions of the first and the last sentence."""


@dataclass(frozen=True, slots=True)
class SentenceLists:
    """Columns of a pool as lists: reading one item of a list is several times as fast as one of an array.

    Attributes:
        before: tokens of all sentences before each one, and of the text between those of one unit.
        first, last: of the atom of each sentence.
    """

    unit: list[int]
    section: list[int]
    start: list[int]
    end: list[int]
    tokens: list[int]
    before: list[int]
    first: list[int]
    last: list[int]
    kind: list[int]
    short: list[bool]
    cut: list[bool]

    @classmethod
    def of(cls, pool: SentencePool, before: Rows) -> SentenceLists:
        """Read the columns; each sentence is an atom at first."""
        return cls(
            unit=pool.unit.tolist(),
            section=pool.section.tolist(),
            start=pool.start.tolist(),
            end=pool.end.tolist(),
            tokens=pool.tokens.tolist(),
            before=before.tolist(),
            first=list(range(len(pool))),
            last=list(range(len(pool))),
            kind=pool.kind.tolist(),
            short=pool.short.tolist(),
            cut=pool.cut.tolist(),
        )


def _leads_in(text: str) -> bool:
    if text[-1] == "." or text[-1].isalnum():  # most texts; the search would read them whole
        return False
    return _LEADS_IN.search(text) is not None


@dataclass(frozen=True, slots=True)
class SentenceRuns:
    """Runs of consecutive sentences of a pool.

    An *atom* is what is quoted whole or not at all: a sentence of prose, an item of a list, a row of a table, a block
    of code, with the sentence that leads in to it; one that no quote can hold counts as its sentences or lines.

    Attributes:
        pool: the sentences.
        max_tokens: the longest quote.
        at: columns of the sentences as lists, with their atoms.
        new_unit: whether it is the first of its unit.
        unit_tokens: tokens of each unit, at least 1.
        dangling: whether its atom leads in to something that does not fit beside it.
        same: the first sentence of the same text; of a short one itself.
    """

    pool: SentencePool
    max_tokens: int
    dangling: Mask
    same: Rows
    at: SentenceLists
    new_unit: Mask
    unit_tokens: npt.NDArray[np.float64]

    @classmethod
    def of(cls, pool: SentencePool, tokens: TokenCounter, max_tokens: int) -> SentenceRuns:
        """Measure the sentences of a pool and group them to atoms; each text is counted once."""
        n, new_unit, start, end = len(pool), turns(pool.unit), pool.start.tolist(), pool.end.tolist()
        between = {
            at: pool.documents[at].text[end[at] : start[at + 1]]
            for at in ((~new_unit[1:]) & (pool.start[1:] > pool.end[:-1])).nonzero()[0].tolist()
        }
        written = [at for at, text in between.items() if text.strip()]  # table rules
        weight = pool.tokens.copy()
        if written:
            weight[written] += np.array(tokens.count_many([between[at] for at in written]), dtype=np.int64)
        seen: dict[str, int] = {}
        same = [seen.setdefault(text, at) if len(text) >= MIN_CHARS else at for at, text in enumerate(pool.texts)]
        at = SentenceLists.of(pool, np.cumsum(weight) - weight)
        total = np.maximum(np.bincount(pool.unit, weights=pool.tokens), 1.0)
        runs = cls(pool, max_tokens, np.zeros(n, dtype=bool), np.array(same), at, new_unit, total)
        runs._group()
        return runs

    def _group(self) -> None:
        """Find the atoms, from the last one on: what a sentence leads in to is known before it."""
        pool = self.pool
        goes_on = np.array([text[0].islower() for text in pool.texts])  # with a sentence divided at the end of a line
        begins = self.new_unit | pool.opens | ((pool.kind == PROSE) & ~goes_on) | (pool.kind == TABLE)
        begins |= turns(pool.kind)
        starts = begins.nonzero()[0].tolist()
        atoms: list[Run] = []
        for first, after in zip(starts, [*starts[1:], len(pool)], strict=True):
            last = after - 1
            if self.fits(first, last):
                atoms.append((first, last))
            else:
                atoms += [(at, at) for at in range(first, after)]
                pool.cut[first:after] = True
                self.at.cut[first:after] = [True] * (after - first)
        after_first, after_last, closing, unit, kind = len(pool), len(pool), False, self.at.unit, self.at.kind
        for first, last in reversed(atoms):
            end, fence = last, kind[last] == CODE and _FENCE.match(pool.texts[last]) is not None
            leads_in = closing or (pool.opens[last] if fence else _leads_in(pool.texts[last]))
            beside = after_first < len(pool) and unit[after_first] == unit[first]
            if leads_in and beside and self.fits(first, after_last):
                end = after_last
            dangling = end == last and (fence or (leads_in and not closing))
            if end > first or dangling:
                n = end + 1 - first
                self.at.first[first : end + 1], self.at.last[first : end + 1] = [first] * n, [end] * n
                self.dangling[first : end + 1] = dangling
            after_first, after_last, closing = first, end, fence and not pool.opens[last]

    def fits(self, first: int, last: int) -> bool:
        """Whether a run is short enough to be quoted whole."""
        at = self.at
        tokens = at.before[last] - at.before[first] + at.tokens[last]
        return tokens <= self.max_tokens and at.end[last] - at.start[first] <= MAX_QUOTE_CHARS

    def atom(self, at: int) -> Run:
        """Return the first and the last sentence of the atom of a sentence."""
        return self.at.first[at], self.at.last[at]

    def touched(self, covered: Mask) -> Mask:
        """Return the sentences whose atom holds any of some sentences."""
        count = covered.cumsum()
        touched: Mask = count[self.at.last] > (count - covered)[self.at.first]
        return touched

    def near(self, run: Run) -> Mask:
        """Return the sentences of a run, and those of its section that would read as one quote with it."""
        pool, (first, last), apart = self.pool, run, self._apart(run)
        before, after = pool.end > pool.start[first] - apart, pool.start < pool.end[last] + apart
        near: Mask = before & after & (pool.section == pool.section[first])
        return near

    def is_near(self, run: Run, other: Run) -> bool:
        """Whether another run of the same section would read as one quote with a run."""
        start, end, apart = self.at.start, self.at.end, self._apart(run)
        return start[run[0]] - end[other[1]] < apart and start[other[0]] - end[run[1]] < apart

    def _apart(self, run: Run) -> int:
        return 0 if self.at.short[run[0]] else APART

    def said(self, run: Run) -> Mask:
        """Return the sentences of a run, and those that have the same text as one of them."""
        said = np.zeros(len(self.pool), dtype=bool)
        said[self.same[run[0] : run[1] + 1]] = True
        return said[self.same]

    def joined(self, one: Run, other: Run) -> bool:
        """Whether two runs of a unit fit into one quote with all between them."""
        unit, first, last = self.at.unit, min(one[0], other[0]), max(one[1], other[1])
        return unit[first] == unit[last] and self.fits(first, last)

    def grown(self, run: Run, score: npt.NDArray[np.floating], barred_beside: Mask) -> Run:
        """Grow a run by whole neighbours of its unit as long as it fits.

        An item of a list and a row of a table begin with their lead-in or header where all between fits; then the
        better neighbour comes first.

        Args:
            run: its first and last sentence.
            score: of each sentence; ties go to the earlier one.
            barred_beside: sentences that may not be quoted beside those of the run.

        Returns:
            The first and the last sentence.
        """
        (first, last), unit, cut = run, self.at.unit, self.at.cut
        barred, value, atom_first, atom_last = barred_beside.tolist(), score.tolist(), self.at.first, self.at.last
        may_cut = any(cut[first : last + 1])
        at, head = first, self._head(first)
        if self.fits(head, last) and not any(barred[head:first]):
            first = head
        while True:
            options = []
            for near in (first - 1, last + 1):
                if not 0 <= near < len(unit) or unit[near] != unit[at]:
                    continue
                begin, end = atom_first[near], atom_last[near] + 1
                low, high = min(first, begin), max(last, end - 1)
                if not any(barred[begin:end]) and (may_cut or not any(cut[begin:end])) and self.fits(low, high):
                    options.append((max(value[begin:end]), -near, low, high))
            if not options:
                return first, last
            _, _, first, last = max(options)

    def _head(self, at: int) -> int:
        """Return where the list or table of a sentence begins, with its lead-in."""
        kind, unit = self.at.kind, self.at.unit
        if kind[at] in (LIST, TABLE):
            while at and unit[at - 1] == unit[at] and kind[at - 1] == kind[at]:
                at -= 1
        return self.at.first[at]

    def room(self, covered: Mask) -> npt.NDArray[np.float64]:
        """Return how much of the longest quote the uncovered sentences around each one can fill, in 0..1."""
        run = (self.new_unit | turns(covered)).cumsum()
        filled = np.bincount(run, weights=self.pool.tokens)[run]
        share: npt.NDArray[np.float64] = np.minimum(filled / self.max_tokens, 1.0)
        return share

    def unit_mean(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """Return for each sentence the mean of some values over its unit, weighted by tokens."""
        unit = self.pool.unit
        means: npt.NDArray[np.float64] = np.bincount(unit, weights=self.pool.tokens * values) / self.unit_tokens
        return means[unit]
