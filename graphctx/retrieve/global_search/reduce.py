"""The reduce step: which candidates are told, in what order, within a budget of tokens.

Greedy, by rating less what the points before say already: their likeness (maximal marginal relevance, Carbonell and
Goldstein 1998), and how many of them come from the same document and community, each further one costing less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import Cut, Tokens
from graphctx.retrieve.fragments import best_fragments
from graphctx.retrieve.global_search.grow import Grower
from graphctx.retrieve.global_search.points import Candidates
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.store.walk import gather, pointers
from graphctx.text.lexical import words

REPEAT = 0.05
"""What a sentence loses that says the same as a point before it, in parts of the rating."""

USUAL = 0.3
"""Sentences of one subject have this cosine; only what is above counts as likeness."""

SAME_WORDS = 0.9
"""Sentences of this Jaccard index of their words say the same. Vectors cannot tell: they know the heading above a
sentence, and two statements of one form are as near as two copies."""

AGAIN = 0.01
"""What a point loses by others of its document, and of its community: times ``log(1 + others)``."""

AGAIN_IN_ALL = 0.1
"""The same where everything is asked for: there the communities matter more than how much one sentence says."""

Real = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A point: its place among the candidates, and its span after its limits were applied."""

    at: int
    cut: Cut


class Reducer:
    """Chooses among candidates.

    Args:
        index: of what may be seen.
        question: made ready; of a long sentence the part that bears on it is told.
        tokens: counts them.
        max_point_tokens: longest point.
    """

    def __init__(self, index: SearchIndex, question: Question, tokens: Tokens, max_point_tokens: int) -> None:
        self._index = index
        self._question = question
        self._tokens = tokens
        self._max_point_tokens = max_point_tokens

    def choose(self, candidates: Candidates, *, tokens: int, most: int, again: float = AGAIN) -> list[Chosen]:
        """Choose points, the best first.

        Args:
            candidates: with their ratings.
            tokens: that all points together may have at most, and no point alone more.
            most: so many points at most.
            again: what a point loses by others of its document and community.
        """
        if not len(candidates):
            return []
        index = self._index
        longest = min(self._max_point_tokens, tokens)
        texts = [self._text(candidates, at) for at in range(len(candidates))]
        sizes = np.minimum(np.array(self._tokens.count_many(texts), dtype=np.int64), longest)
        sizes[[len(text) == MAX_QUOTE_CHARS for text in texts]] = longest  # there may be more
        likeness = _Likeness(index, candidates.rows, texts)
        document = index.walk.unit_doc[candidates.units].astype(np.int64)
        rating = candidates.rating.astype(np.float64)
        left = np.ones(len(candidates), dtype=bool)
        repeated, same_document, same_community = np.zeros((3, len(candidates)))
        chosen: list[Chosen] = []
        while len(chosen) < most:
            checkpoint()
            left &= sizes <= tokens
            if not left.any():
                break
            lost = REPEAT * repeated + again * (np.log1p(same_document) + np.log1p(same_community))
            at = int(np.argmax(np.where(left, np.round(rating - lost, 6), -np.inf)))
            cut = self._cut(candidates, at, longest)
            chosen.append(Chosen(at, cut))
            tokens -= self._tokens.count(index.text_of(int(document[at])).text[cut.start_char : cut.end_char])
            alike = likeness.towards(at)
            left &= likeness.words_shared(at) < SAME_WORDS
            left[at] = False
            repeated = np.maximum(repeated, np.clip((alike - USUAL) / (1.0 - USUAL), 0.0, 1.0))
            same_document += document == document[at]
            if candidates.community[at] >= 0:
                same_community += candidates.community == candidates.community[at]
        return self._grown(candidates, chosen, tokens) if len(chosen) == most else chosen

    def _grown(self, candidates: Candidates, chosen: list[Chosen], tokens: int) -> list[Chosen]:
        """The points, with their neighbours in what is left of the tokens."""
        grower = Grower(self._index, self._question, self._tokens, self._max_point_tokens)
        rows = [int(candidates.rows[one.at]) for one in chosen]
        cuts = grower.grow(rows, [one.cut for one in chosen], tokens)
        return [Chosen(one.at, cut) for one, cut in zip(chosen, cuts, strict=True)]

    def _text(self, candidates: Candidates, at: int) -> str:
        start, end, text = self._span(candidates, at)
        return text[start : min(end, start + MAX_QUOTE_CHARS)]

    def _span(self, candidates: Candidates, at: int) -> tuple[int, int, str]:
        walk, row = self._index.walk, candidates.rows[at]
        text = self._index.text_of(int(walk.unit_doc[candidates.units[at]])).text
        return int(walk.sentence_start[row]), int(walk.sentence_end[row]), text

    def _cut(self, candidates: Candidates, at: int, max_tokens: int) -> Cut:
        start, end, text = self._span(candidates, at)
        return best_fragments(self._index, self._question, text, (start, end), max_tokens, self._tokens)


class _Likeness:
    """How alike candidates are, by meaning and by words."""

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

    def towards(self, at: int) -> Real:
        """The cosine of each with one of them; sums of products of int8 are exact in any order."""
        products = np.einsum("ij,j->i", self._values, self._values[at]).astype(np.float64)
        found: Real = products * self._scale * self._scale[at]
        return found

    def words_shared(self, at: int) -> Real:
        """The Jaccard index of the words of each with those of one of them."""
        places, _ = gather(self._ptr, self._sets[at])
        both = np.bincount(self._holder[places], minlength=len(self._sets))
        found: Real = both / np.maximum(self._sizes + self._sizes[at] - both, 1)
        return found
