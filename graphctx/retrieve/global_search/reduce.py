"""The reduce step: select points among candidates by maximal marginal relevance, within a budget of tokens.

A point is taken for its worth, which falls with its similarity to the points before it (Carbonell and Goldstein 1998)
and with how many of these share its document or its theme. A point that opens with a pronoun for what is named before
it begins with the sentences before it, or is not taken; nor is one that only leads on to what follows or to a page.
Where the answer has as many points as it may have and tokens are left, points grow by the sentences around them.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import Cut, TokenCounter
from graphctx.retrieve.fragments import best_fragments
from graphctx.retrieve.global_search.points import CandidatePoints, rate_sentences
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.store.walk import gather, pointers
from graphctx.text.lexical import words
from graphctx.text.prose import leads_on, refers_back

ANTECEDENTS = 2
"""Sentences before one that opens with a pronoun among which one opens with a name."""

REDUNDANCY = 0.125
"""What a sentence loses that is identical to a point before it, as a share of the most worth."""

UNRELATED = 0.3
"""The cosine of sentences of one subject; only what is above it counts as similarity."""

SAME_WORDS = 0.9
"""Sentences of this Jaccard index of their words are copies. Vectors cannot tell copies from statements of one form."""

Real = npt.NDArray[np.float64]

_Span = tuple[int, int, str]
"""The start and the end of consecutive sentences, and the text of their document."""


@dataclass(frozen=True, slots=True)
class SelectedPoint:
    """A point: its position among the candidates, and its span after its limits were applied."""

    at: int
    cut: Cut


class PointSelector:
    """Selects points among candidates.

    Args:
        index: of the scope.
        question: the parsed question; a sentence that is too long is cut to the part that bears on it.
        tokens: counts tokens.
        max_point_tokens: the longest point.
    """

    def __init__(self, index: SearchIndex, question: Question, tokens: TokenCounter, max_point_tokens: int) -> None:
        self._index = index
        self._question = question
        self._tokens = tokens
        self._max_point_tokens = max_point_tokens

    def select(
        self,
        candidates: CandidatePoints,
        *,
        tokens: int,
        most: int,
        groups: Sequence[Rows],
        repetition: float,
        grow: bool,
    ) -> list[SelectedPoint]:
        """Select points, best first.

        Args:
            candidates: with their worth.
            tokens: of all points together.
            most: the largest number of points.
            groups: such as documents and themes; each with a number for each candidate, -1 for none.
            repetition: what a point loses by ``ln(1 + others)`` of each of its groups, as a share of the most worth.
            grow: whether points grow by their neighbours where tokens are left.
        """
        if not len(candidates):
            return []
        index = self._index
        longest = min(self._max_point_tokens, tokens)
        first, spans, incomplete = self._begun(candidates)
        texts = [text[start : min(end, start + MAX_QUOTE_CHARS)] for start, end, text in spans]
        sizes = np.minimum(np.array(self._tokens.count_many(texts), dtype=np.int64), longest)
        sizes[[end - start > MAX_QUOTE_CHARS for start, end, _ in spans]] = longest
        incomplete |= (first < candidates.rows) & (sizes >= longest)  # what is cut may lose what the pronoun stands for
        similarity = _Similarity(index, candidates.rows, texts)
        worth = np.maximum(candidates.worth.astype(np.float64), 0.0)
        most_worth = float(worth.max(initial=0.0))
        left = ~incomplete if not incomplete.all() else incomplete
        redundant, others = np.zeros(len(candidates)), np.zeros((len(groups), len(candidates)))
        selected: list[SelectedPoint] = []
        ranges: list[tuple[int, int]] = []
        while len(selected) < most and (left := left & (sizes <= tokens)).any():
            checkpoint()
            loss = REDUNDANCY * redundant + repetition * np.log1p(others).sum(axis=0)
            value = np.round(worth - most_worth * loss, 6)
            at = int(np.argmax(np.where(left, value, -np.inf)))
            left[at] = False
            rows = int(first[at]), int(candidates.rows[at])
            met = [number for number, (low, high) in enumerate(ranges) if low <= rows[1] and rows[0] <= high]
            if met:  # a point has what the pronoun stands for: it goes on
                longer = self._continued(selected[met[0]].cut, spans[at], longest) if len(met) == 1 else None
                if longer is None or longer[1] > tokens:
                    continue
                low, high = ranges[met[0]]
                rows = min(low, rows[0]), max(high, rows[1])
                selected[met[0]], ranges[met[0]] = SelectedPoint(selected[met[0]].at, longer[0]), rows
                tokens -= longer[1]
            else:
                start, end, text = spans[at]
                cut = best_fragments(self._question, text, (start, end), longest, self._tokens)
                selected.append(SelectedPoint(at, cut))
                ranges.append(rows)
                tokens -= self._tokens.count(text[cut.start_char : cut.end_char])
            left &= (similarity.jaccard(at) < SAME_WORDS) & ((candidates.rows < rows[0]) | (candidates.rows > rows[1]))
            redundant = np.maximum(redundant, np.clip((similarity.cosine(at) - UNRELATED) / (1 - UNRELATED), 0.0, 1.0))
            others += [(group == group[at]) & (group >= 0) for group in groups]
        return self._grown(candidates.units, ranges, selected, tokens) if grow and len(selected) == most else selected

    def _begun(self, candidates: CandidatePoints) -> tuple[Rows, list[_Span], npt.NDArray[np.bool_]]:
        """Return the first sentence of each point, its span, and whether it lacks what it refers or leads to."""
        first = np.array([self._antecedent(*one) for one in zip(candidates.rows, candidates.units, strict=True)])
        incomplete = first < 0
        first = np.where(incomplete, candidates.rows, first)
        spans = [self._span(*one) for one in zip(first, candidates.rows, candidates.units, strict=True)]
        return first, spans, incomplete | [leads_on(text[start:end]) for start, end, text in spans]

    def _continued(self, point: Cut, span: _Span, longest: int) -> tuple[Cut, int] | None:
        """Return a point together with a span, and the tokens that this adds; ``None`` if that is too long."""
        start, end, text = span
        cut = Cut(min(start, point.start_char), max(end, point.end_char), False)
        size = self._tokens.count(text[cut.start_char : cut.end_char])
        if point.truncated or size > longest or cut.end_char - cut.start_char > MAX_QUOTE_CHARS:
            return None
        return cut, size - self._tokens.count(text[point.start_char : point.end_char])

    def _antecedent(self, row: int, unit: int) -> int:
        """Return the first sentence of a point that ends with one, -1 if none before it in its unit explains it."""
        for first in range(row, max(row - ANTECEDENTS, int(self._index.walk.unit_sentence[unit])) - 1, -1):
            start, end, text = self._span(first, first, unit)
            if not refers_back(text[start:end]):
                return first
        return -1

    def _span(self, first: int, row: int, unit: int) -> _Span:
        walk = self._index.walk
        return (
            int(walk.sentence_start[first]),
            int(walk.sentence_end[row]),
            self._index.text_of(int(walk.unit_doc[unit])).text,
        )

    def _grown(
        self, unit_of: Rows, ranges: Sequence[tuple[int, int]], selected: list[SelectedPoint], tokens: int
    ) -> list[SelectedPoint]:
        """Add whole neighbours of the same unit to the points that are whole, the best neighbours first.

        No sentence is in two points.
        """
        walk = self._index.walk
        units = unit_of[[one.at for one in selected]].tolist()
        cuts = [one.cut for one in selected]
        taken = {row for low, high in ranges for row in range(low, high + 1)}
        heap: list[tuple[float, int, int, int]] = []

        def offer(positions: Sequence[int], steps: Sequence[tuple[int, int]]) -> None:
            """Push neighbours, each given by its row and the direction in which it leads on."""
            inside = [
                (at, row, step)
                for at, (row, step) in zip(positions, steps, strict=True)
                if walk.unit_sentence[units[at]] <= row < walk.unit_sentence[units[at] + 1]
            ]
            if inside:
                fits = rate_sentences(self._index, self._question, np.array([row for _, row, _ in inside]))
                for fit, (at, row, step) in zip(fits.tolist(), inside, strict=True):
                    heapq.heappush(heap, (-fit, at, row, step))

        whole = [at for at, cut in enumerate(cuts) if not cut.truncated]
        offer([*whole, *whole], [*((ranges[at][0] - 1, -1) for at in whole), *((ranges[at][1] + 1, 1) for at in whole)])
        while heap and tokens > 0:
            checkpoint()
            _, at, row, step = heapq.heappop(heap)
            sentence_start, sentence_end, text = self._span(row, row, units[at])
            cut = cuts[at]
            start, end = min(cut.start_char, sentence_start), max(cut.end_char, sentence_end)
            unfinished = (refers_back if step < 0 else leads_on)(text[sentence_start:sentence_end])
            if row in taken or unfinished or end - start > MAX_QUOTE_CHARS:
                continue
            size = self._tokens.count(text[start:end])
            added = size - self._tokens.count(text[cut.start_char : cut.end_char])
            if size <= self._max_point_tokens and added <= tokens:
                tokens -= added
                taken.add(row)
                cuts[at] = Cut(start, end, False)
                offer([at], [(row + step, step)])
        return [SelectedPoint(one.at, cut) for one, cut in zip(selected, cuts, strict=True)]


class _Similarity:
    """How similar candidates are, by their vectors and by their words."""

    def __init__(self, index: SearchIndex, rows: Rows, texts: Sequence[str]) -> None:
        values, scale = index.sentence_vectors
        self._values = values[rows].astype(np.float32)
        self._scale = scale[rows].astype(np.float64)
        numbers: dict[str, int] = {}
        sets = [sorted({numbers.setdefault(word, len(numbers)) for word in words(text)}) for text in texts]
        self._sets = [np.array(one, dtype=np.int64) for one in sets]
        self._sizes = np.array([len(one) for one in sets], dtype=np.int64)
        word, owner = np.concatenate(self._sets), np.repeat(np.arange(len(sets)), self._sizes)
        order = np.argsort(word, kind="stable")
        self._holder, self._ptr = owner[order], pointers(word[order], len(numbers))

    def cosine(self, at: int) -> Real:
        """Return the cosine of each candidate with one of them; sums of products of int8 are exact in any order."""
        products = np.einsum("ij,j->i", self._values, self._values[at]).astype(np.float64)
        found: Real = products * self._scale * self._scale[at]
        return found

    def jaccard(self, at: int) -> Real:
        """Return the Jaccard index of the words of each candidate with those of one of them."""
        places, _ = gather(self._ptr, self._sets[at])
        both = np.bincount(self._holder[places], minlength=len(self._sets))
        found: Real = both / np.maximum(self._sizes + self._sizes[at] - both, 1)
        return found
