"""How sure a quote is: the likelihood that it stands in a passage that answers the question, in 0..1.

A logistic model of a few features that retrieval has at hand anyway. Its weights were fitted on public question sets
by ``eval/tools/fit_confidence.py``, which says what it is fitted on and how it fares on sets that it was not fitted
on; docs/decisions/0011-confidence.md has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from graphctx.nlp.commonness import rank_of
from graphctx.nlp.language import is_english
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.sentences import SentencePool
from graphctx.retrieve.spelling import MIN_LETTERS, is_misspelt
from graphctx.text.gazetteer import name_words
from graphctx.text.lexical import STOPWORDS, stem, terms

Features = npt.NDArray[np.float64]

WEIGHTS: dict[str, float] = {
    "lexical": 1.099,
    "share": 1.479,
    "rank": -1.001,
    "meaning": 1.047,
    "asked": 0.451,
    "best": 0.491,
    "far": -26.929,
    "agree": 0.372,
    "gap": 0.479,
    "definition": 1.953,
    "unknown": -0.633,
}
"""The weight of each feature, see `features`."""

BIAS = -3.739

FLOOR = 0.15
"""Where no quote reaches it, nothing in scope bears on the question. Chosen so that hardly an answerable question stays
without quotes (docs/decisions/0011-confidence.md)."""

FITTED_FOR = "minilm-int8"
"""The embedder that `FLOOR` is known to hold for; the cosines of another may all be smaller."""

MAX_BETWEEN = 5
"""Words between the question word and what it asks for."""

NEIGHBOURS = 5
"""The nearest unit is compared with the one this many places behind it."""

NEAR = 0.33
"""Where no sentence has so large a cosine with the question, each bit that is missing counts much."""

RARE_RANK = 25_000
"""A word that is less common in English is what a question is about."""

_ASKING = re.compile(r"\b(?:which|what|how (?:many|much))\b", re.IGNORECASE)
_EMPTY = frozenset({"name", "names", "kind", "type", "sort"})


@dataclass(frozen=True, slots=True)
class Confidence:
    """What is needed to tell the confidence of any run of sentences of a pool."""

    features: Features

    @classmethod
    def of(
        cls, index: SearchIndex, question: Question, ranking: Ranking, positions: Rows, pool: SentencePool
    ) -> Confidence:
        """Look at a pool once, whose units stand at ``positions`` in the ranking."""
        return cls(features(index, question, ranking, positions, pool))

    def of_run(self, first: int, last: int) -> float:
        """The confidence of a quote of consecutive sentences of one unit, in 0..1, to three digits."""
        value = float(self.run(first, last) @ _WEIGHTS) + BIAS
        return round(1.0 / (1.0 + math.exp(-value)), 3)

    @property
    def of_best(self) -> float:
        """The confidence of a quote of the surest sentence; 0 where there is none."""
        if not len(self.features):
            return 0.0
        best = int(np.argmax(self.features @ _WEIGHTS))
        return self.of_run(best, best)

    def run(self, first: int, last: int) -> Features:
        """The features of a run: the best that its sentences have."""
        best: Features = self.features[first : last + 1].max(axis=0)
        return best


def features(index: SearchIndex, question: Question, ranking: Ranking, positions: Rows, pool: SentencePool) -> Features:
    """The features of each sentence, float64 [sentences, features], columns as in `WEIGHTS`.

    Of the sentence: ``lexical`` share of the question's terms. Of its unit: ``share`` of the best score, ``rank`` as
    the logarithm of its place, ``meaning`` as the cosine of the unit by the length of the question (the same cosine
    says more of a long question), ``asked`` as the share of the words for what is asked for (``which university``)
    that it says, 1 where there are none. Of the question: ``best`` cosine of any sentence, ``far`` as what that lacks
    of `NEAR`, ``agree`` if words and meaning find the same unit first, ``gap`` between the nearest unit and the sixth,
    ``definition`` as the strongest definition edge, ``unknown`` if it names what no document says.
    """
    found, rows = ranking.candidates, ranking.rows[positions]
    near = found.scorer.cosine(found.nearest[: NEIGHBOURS + 1])
    top = float(ranking.scores[:1].max(initial=0.0))
    share = ranking.scores[positions] / top if top > 0 else np.ones(len(positions))
    length = np.log(len(question.terms) + 1) / 2
    best = float(pool.cosine.max(initial=0.0))
    shared = {
        "best": best,
        "far": max(0.0, NEAR - best),
        "agree": float(found.lexical[:1].tolist() == found.nearest[:1].tolist()),
        "gap": float(near[0] - near[-1]) if len(near) else 0.0,
        "definition": _best_definition_edge(ranking),
        "unknown": float(names_unknown(index, question)),
    }
    columns = {
        "lexical": pool.lexical,
        "share": share[pool.unit],
        "rank": np.log1p(positions)[pool.unit],
        "asked": _says(index, asked_for(question.text), rows)[pool.unit],
        "meaning": (found.scorer.cosine(rows) * length)[pool.unit],
        **shared,
    }
    table = np.empty((len(pool), len(WEIGHTS)))
    for at, name in enumerate(WEIGHTS):
        table[:, at] = columns[name]
    return table


def likely_answered(index: SearchIndex, confidences: Iterable[float]) -> bool:
    """Whether any quote reaches `FLOOR`; always true with an embedder that the floor was not fitted for."""
    return index.embedder.name != FITTED_FOR or any(value >= FLOOR for value in confidences)


def asked_for(question: str) -> tuple[str, ...]:
    """The terms for what a question asks for: up to two content words that follow *which*, *what* or *how many*.

    Only function words and words like *name* or *kind* may stand between: *what is the name of the company*.
    """
    asked = _ASKING.search(question)
    if asked is None:
        return ()
    words = [word for word, _, _ in name_words(question[asked.end() :])]
    empty = list(takewhile(lambda word: word in STOPWORDS or word in _EMPTY, words[:MAX_BETWEEN]))
    content = list(takewhile(lambda word: word not in STOPWORDS, words[len(empty) :]))[:2]
    return tuple(dict.fromkeys(term for word in content for term in terms(word)))


def _best_definition_edge(ranking: Ranking) -> float:
    edges = ranking.expanded.edges.get("definition")
    return float(edges.value.max(initial=0.0)) if edges is not None else 0.0


def _says(index: SearchIndex, wanted: Sequence[str], rows: Rows) -> Features:
    """The share of some terms that each unit holds; 1 where there are none."""
    if not wanted:
        return np.ones(len(rows))
    share: Features = index.bm25.contains(wanted, rows).mean(axis=1)
    return share


def unknown_words(index: SearchIndex, question: Question) -> tuple[str, ...]:
    """Return the key words of a question that no document in scope holds, in order.

    Key words are names and identifiers, and words that English hardly has; none where the question is not English, and
    none that resembles a common word: it may be misspelt.
    """
    text = question.text
    unknown = [
        text[start:end]
        for at, (word, start, end) in enumerate(question.words)
        if word not in STOPWORDS
        and any(map(str.isalpha, word))
        and not index.bm25.has_term(stem(word))
        and not any(map(index.bm25.has_term, terms(text[start:end])))
        and (len(word) >= MIN_LETTERS or "-" not in text[max(0, start - 1) : end + 1])  # the e of e-mail
        and ((at and text[start].isupper()) or any(map(str.isdigit, word)) or _is_rare(word, index))
    ]
    return tuple(dict.fromkeys(unknown)) if unknown and is_english(text) else ()


def _is_rare(word: str, index: SearchIndex) -> bool:
    if len(word) < MIN_LETTERS:
        return False
    rank = rank_of(word)
    return rank > RARE_RANK or (rank == 0 and not is_misspelt(word, index))


def names_unknown(index: SearchIndex, question: Question) -> bool:
    """Whether the question holds a name, a number or an identifier that stands in no document."""
    if any(not index.bm25.has_term(term) and any(map(str.isdigit, term)) for term in question.terms):
        return True
    for at, (bare, start, end) in enumerate(question.words):
        word = question.text[start:end]
        if at and word[:1].isupper() and bare not in STOPWORDS:
            stems = terms(word)
            if stems and not any(index.bm25.has_term(stem) for stem in stems):
                return True
    return False


_WEIGHTS = np.array(list(WEIGHTS.values()))
