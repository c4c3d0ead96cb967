"""Parsing of a question: its vector, terms, the entities it names, and the type of answer it asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from graphctx.model.knowledge import LABELS
from graphctx.nlp.embedders import text_vector
from graphctx.retrieve.arrays import Rows, Scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.spelling import ReadAs, corrected
from graphctx.store.walk import WalkArrays, name_hashes
from graphctx.text.gazetteer import counts_as_name, name_words
from graphctx.text.lexical import terms

MAX_NAME_WORDS = 10

_ASKS = r"(?:^\W*|[,;:]\s+|\b(?:and|or|but|since|until|by|of|to|for|with|from)\s+)"
"""Where a question word asks; elsewhere it opens a clause: "the city *where* she was *when* it burned"."""

_AUXILIARY = r"(?:did|was|were|is|are|will|does|do|has|have|had)"

_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"{_ASKS}when\s+{_AUXILIARY}\b(?!\s+(?:i|you|we|one)\b)", re.I), "date"),
    (re.compile(r"\b(?:what|which) (?:year|date|day|month|time)\b", re.I), "date"),
    (re.compile(r"\bhow (?:many|much|long|old|often|far|large|big|fast|high|deep|tall)\b", re.I), "number"),
    (re.compile(r"\b(?:what|which) version\b", re.I), "number"),
    (
        re.compile(
            r"\bhow (?:do|can|should|could|would|must|to|does one)\b"
            r"|\b(?:what|which) (?:do|should|must|can|has) (?:I|we|you|one)\b|\bwhat (?:goes|belongs) into"
            r"|\b(?:what|which) (?:\w+ )?(?:command|flag|option|setting|variable|parameter|annotation|function|method"
            r"|macro|class|field|key|query|call|line)s?\b",
            re.I,
        ),
        "code",
    ),
    (re.compile(rf"{_ASKS}(?:who|whose|whom)\b", re.I), "person"),
    (re.compile(rf"{_ASKS}where\b", re.I), "place"),
    (re.compile(r"\b(?:what|which) (?:city|country|state|place|county|region|town)\b", re.I), "place"),
)
"""The pattern that matches first in the question decides."""

_DATE = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})\b|\b(?:January|February|March|April|May|June|July|August|September|October|November"
    r"|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b|\b\d{1,2}:\d{2}\b"
)
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_NUMBER = re.compile(
    # Not the time of day, a year or the day of a month: who asks how many or how much asks for none of these.
    rf"(?<![\d:.])(?!\d{{1,2}}:\d{{2}}\b)(?!(?:1[0-9]{{3}}|20[0-9]{{2}})\b)(?!\d{{1,2}}\s+(?:{_MONTHS}))\d(?:[\d.,]*\d)?(?![\d:])"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion)\b",
    re.I,
)
_CODE = re.compile(r"`[^`\n]+`|(?<!\S)--?[A-Za-z][\w-]*|```|~~~")
_LABELS_OF_KIND = {
    "person": frozenset({LABELS.index("person"), LABELS.index("organization")}),
    "place": frozenset({LABELS.index("location")}),
}


class SentenceCosines:
    """The cosines of a vector with the sentences of a snapshot; each sentence is read at most once."""

    def __init__(self, index: SearchIndex, vector: Scores) -> None:
        self._index = index
        self._vector = vector
        self._known = np.full(len(index.walk.sentence_start), np.nan, dtype=np.float32)

    def at(self, rows: Rows) -> Scores:
        """Return the cosines of some sentences, float32."""
        cosines: Scores = self._known[rows]
        unknown = np.flatnonzero(np.isnan(cosines))
        if len(unknown):
            fresh = rows[unknown]
            cosines[unknown] = self._known[fresh] = self._index.sentence_similarity(self._vector, fresh)
        return cosines


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question.

    Attributes:
        text: as it is asked, with misspelt words corrected.
        vector: float32 [d].
        sentences: its cosines with sentences.
        terms: distinct index terms, in order.
        idf: the inverse document frequency of each term.
        entities: rows of the entities that it names, distinct and sorted.
        words: its words as names are compared, each with its span.
        kind: the type of answer that it asks for: ``date``, ``number``, ``person``, ``place``, ``code`` or empty.
        read_as: the words that were corrected, and what they were read as.
    """

    text: str
    vector: Scores
    sentences: SentenceCosines
    terms: tuple[str, ...]
    idf: tuple[float, ...]
    entities: Rows
    words: list[tuple[str, int, int]]
    kind: str
    read_as: ReadAs = ()

    def answer_pattern(self) -> Callable[[str], bool] | None:
        """Return `answer_test` of the question."""
        return answer_test(self.text, self.kind)

    def answer_labels(self) -> frozenset[int]:
        """Return the positions of the entity labels that answer the question, where it asks for a person or a place."""
        return _LABELS_OF_KIND.get(self.kind, frozenset())


def answer_test(question: str, kind: str) -> Callable[[str], bool] | None:
    """Return a test for a date, a number or code that a question does not hold; ``None`` where it asks for neither.

    Args:
        question: its text.
        kind: that of `answer_type`.
    """
    pattern = {"date": _DATE, "number": _NUMBER, "code": _CODE}.get(kind)
    if pattern is None:
        return None
    asked = {match.casefold() for match in pattern.findall(question)}
    if not asked:
        return lambda sentence: pattern.search(sentence) is not None
    return lambda sentence: any(match.casefold() not in asked for match in pattern.findall(sentence))


def parse_question(text: str, index: SearchIndex) -> Question:
    """Correct the spelling of a question, embed it, take its terms, and look up the names in it."""
    text, read_as = corrected(text, index)
    vector, words = text_vector(index.embedder, text), name_words(text)
    distinct = tuple(dict.fromkeys(terms(text)))
    return Question(
        text=text,
        vector=vector,
        sentences=SentenceCosines(index, vector),
        terms=distinct,
        idf=tuple(map(index.bm25.idf, distinct)),
        entities=named_entities(text, index.walk, words),
        words=words,
        kind=answer_type(text),
        read_as=read_as,
    )


def answer_type(text: str) -> str:
    """Return the type of answer that a question asks for; empty where its wording does not show."""
    found = [(match.start(), order) for order, (pattern, _) in enumerate(_KINDS) if (match := pattern.search(text))]
    return _KINDS[min(found)[1]][1] if found else ""


def named_entities(text: str, walk: WalkArrays, found: Sequence[tuple[str, int, int]]) -> Rows:
    """Return the entities that a text with some `name_words` names: longest names first, without overlaps."""
    joined = " ".join(word for word, _, _ in found)
    starts = [0, *accumulate(len(word) + 1 for word, _, _ in found)]
    spans = [
        (at, end)
        for at in range(len(found))
        for end in range(min(len(found), at + MAX_NAME_WORDS), at, -1)
        if end - at > 1 or counts_as_name(text, found[at][1], found[at][2], 1, first_word=at == 0)
    ]
    if not spans or not len(walk.name_hash):
        return np.empty(0, dtype=np.int64)
    hashes = name_hashes([joined[starts[at] : starts[end] - 1] for at, end in spans])
    places = np.minimum(walk.name_hash.searchsorted(hashes), len(walk.name_hash) - 1)
    entities: set[int] = set()
    after = 0
    for hit in (walk.name_hash[places] == hashes).nonzero()[0].tolist():
        at, end = spans[hit]
        if at >= after:
            entities.add(int(walk.name_entity[places[hit]]))
            after = end
    return np.array(sorted(entities), dtype=np.int64)
