"""Points grown by their neighbours, where there are as many as may be and tokens are left."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Cut, Tokens
from graphctx.retrieve.global_search.rate import fit_of, unit_of
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question


class Grower:
    """Adds whole sentences before and after, of the same unit, those first that fit the question best.

    Args:
        index: of what may be seen.
        question: made ready.
        tokens: counts them.
        max_point_tokens: longest point.
    """

    def __init__(self, index: SearchIndex, question: Question, tokens: Tokens, max_point_tokens: int) -> None:
        self._index = index
        self._question = question
        self._tokens = tokens
        self._max_point_tokens = max_point_tokens
        self._fits: dict[int, float] = {}

    def grow(self, rows: Sequence[int], cuts: Sequence[Cut], left: int) -> list[Cut]:
        """Grow the points that are whole sentences.

        Args:
            rows: the sentence of each point.
            cuts: its span.
            left: tokens that may be added in all.

        Returns:
            The spans, none of which shares a sentence with another.
        """
        walk, grown = self._index.walk, list(cuts)
        taken = set(rows)
        waiting: list[tuple[float, int, int, int]] = []

        def offer(at: int, row: int, step: int) -> None:
            unit = int(unit_of(self._index, np.array([rows[at]]))[0])
            if walk.unit_sentence[unit] <= row < walk.unit_sentence[unit + 1]:
                heapq.heappush(waiting, (-self._fit(row), at, row, step))

        self._rate(rows)
        for at, row in enumerate(rows):
            if not cuts[at].truncated:
                offer(at, row - 1, -1)
                offer(at, row + 1, 1)
        while waiting and left > 0:
            checkpoint()
            _, at, row, step = heapq.heappop(waiting)
            start = min(grown[at].start_char, int(walk.sentence_start[row]))
            end = max(grown[at].end_char, int(walk.sentence_end[row]))
            if row in taken or end - start > MAX_QUOTE_CHARS:
                continue
            before = self._count(rows[at], grown[at].start_char, grown[at].end_char)
            after = self._count(rows[at], start, end)
            if after <= self._max_point_tokens and after - before <= left:
                left -= after - before
                taken.add(row)
                grown[at] = Cut(start, end, False)
                offer(at, row + step, step)
        return grown

    def _rate(self, rows: Sequence[int]) -> None:
        """Rate all first neighbours at once."""
        ptr = self._index.walk.unit_sentence
        units = unit_of(self._index, np.array(rows, dtype=np.int64)).tolist()
        beside = sorted(
            {
                one
                for row, unit in zip(rows, units, strict=True)
                for one in (row - 1, row + 1)
                if ptr[unit] <= one < ptr[unit + 1]
            }
        )
        if beside:
            fits = fit_of(self._index, self._question, np.array(beside, dtype=np.int64))
            self._fits = dict(zip(beside, map(float, fits), strict=True))

    def _fit(self, row: int) -> float:
        if row not in self._fits:
            self._fits[row] = float(fit_of(self._index, self._question, np.array([row]))[0])
        return self._fits[row]

    def _count(self, row: int, start: int, end: int) -> int:
        unit = int(unit_of(self._index, np.array([row]))[0])
        return self._tokens.count(self._index.text_of(int(self._index.walk.unit_doc[unit])).text[start:end])
