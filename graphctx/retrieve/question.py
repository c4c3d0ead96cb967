"""The question, understood as far as no model but the embedder is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from graphctx.model.knowledge import LABELS
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.store.walk import WalkArrays, name_hash
from graphctx.text.gazetteer import counts_as_name, name_words
from graphctx.text.lexical import terms

MAX_NAME_WORDS = 10

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(?:when|what (?:year|date|day|month|time)|which (?:year|day|month)|since when)\b", re.I), "date"),
    (re.compile(r"\bhow (?:many|much|long|old|often|far|large|big|fast|high|deep|tall)\b", re.I), "number"),
    (re.compile(r"\b(?:who|whose|whom)\b", re.I), "person"),
    (re.compile(r"\b(?:where|(?:what|which) (?:city|country|state|place|county|region|town))\b", re.I), "place"),
)
_DATE = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})\b|\b(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\b\d{1,2}:\d{2}\b"
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion)\b",
    re.I,
)
_LABELS_OF_KIND = {
    "person": frozenset({LABELS.index("person"), LABELS.index("organization")}),
    "place": frozenset({LABELS.index("location")}),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question made ready.

    Attributes:
        text: as it was asked.
        vector: float32 [d].
        terms: distinct index terms, in order.
        entities: rows of the entities that it names, distinct and sorted.
        kind: what sort of answer it asks for: ``date``, ``number``, ``person``, ``place`` or empty.
    """

    text: str
    vector: Scores
    terms: tuple[str, ...]
    entities: Rows
    kind: str

    def wants(self, sentence: str, labels: frozenset[int]) -> bool:
        """Whether a sentence holds something of the sort that the question asks for.

        Args:
            sentence: its text.
            labels: label positions of the entities that it names and the question does not.
        """
        if self.kind == "date":
            return _DATE.search(sentence) is not None
        if self.kind == "number":
            return _NUMBER.search(sentence) is not None
        return bool(labels & _LABELS_OF_KIND.get(self.kind, frozenset()))


def understand(text: str, index: SearchIndex) -> Question:
    """Embed the question, take its terms, and look up the names in it."""
    return Question(
        text=text,
        vector=index.embedder.embed([text])[0],
        terms=tuple(dict.fromkeys(terms(text))),
        entities=named_entities(text, index.walk),
        kind=next((kind for pattern, kind in _KINDS if pattern.search(text)), ""),
    )


def named_entities(text: str, walk: WalkArrays) -> Rows:
    """Entities whose names stand in the text, longest names first, without overlaps."""
    found = name_words(text)
    spans = [
        (at, end)
        for at in range(len(found))
        for end in range(min(len(found), at + MAX_NAME_WORDS), at, -1)
        if counts_as_name(text, found[at][1], found[end - 1][2], end - at, first_word=at == 0)
    ]
    if not spans or not len(walk.name_hash):
        return np.empty(0, dtype=np.int64)
    hashes = np.array([name_hash([word for word, _, _ in found[at:end]]) for at, end in spans], dtype=np.uint64)
    places = np.minimum(np.searchsorted(walk.name_hash, hashes), len(walk.name_hash) - 1)
    known = walk.name_hash[places] == hashes
    entities: set[int] = set()
    after = 0
    for (at, end), place, hit in zip(spans, places, known, strict=True):
        if hit and at >= after:
            entities.add(int(walk.name_entity[place]))
            after = end
    return np.array(sorted(entities), dtype=np.int64)
