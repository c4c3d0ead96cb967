"""Ask the answer sets, and judge what is quoted by the parts of a good answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from eval.answers.faults import Page, Span, faults
from graphctx.errors import InvalidArgument
from graphctx.eval.global_ask import GlobalAsker, Rivals, enough
from graphctx.eval.measures import POINT_BUDGETS, QuotedText, filled
from graphctx.eval.records import GLOBAL, Golden, Outcome
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import Answered

WHOLE = "_whole"
"""Ends the name of a set of questions about the whole."""

HYBRID = "hybrid"

Found = Literal["given", "elsewhere", "wrong sentences", "wrong document"]
"""Where the pattern of a part is: in a quote that touches one of its places; only in quotes that touch none; in none,
though a document with one of its places is quoted; in none, and no such document is quoted."""

FOUND: tuple[Found, ...] = ("given", "elsewhere", "wrong sentences", "wrong document")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer, or a point of one about the whole.

    Attributes:
        need: what it is.
        pattern: found in a text that gives it, whose white space is folded.
        places: document, first and last line, counted from 1.
    """

    need: str
    pattern: re.Pattern[str]
    places: tuple[tuple[str, int, int], ...]

    def matches(self, text: str) -> bool:
        """Return whether a text has the pattern."""
        return bool(self.pattern.search(" ".join(text.split())))

    def lies_in(self, page: Page, start: int, end: int) -> bool:
        """Return whether a span of a document touches one of the places."""
        for uri, first, last in self.places:
            if uri == page.uri:
                place_start, place_end = page.lines(first, last)
                if start < place_end and end > place_start:
                    return True
        return False


@dataclass(frozen=True, slots=True)
class Question:
    """A question of an answer set; it cannot be answered where it has no parts."""

    id: str
    question: str
    type: str
    parts: tuple[Part, ...]


def read_questions(path: Path) -> list[Question]:
    """Read an answer set, whose form ``check.py`` checks."""
    rows: Iterable[dict[str, Any]] = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Question(row["id"], row["question"], row["type"], tuple(map(_part, row.get("parts", row.get("points", ())))))
        for row in rows
    ]


def _part(row: dict[str, Any]) -> Part:
    places = tuple((place["doc"], *place["lines"]) for place in row["places"])
    return Part(row.get("need", row.get("point", "")), re.compile(row["pattern"], re.IGNORECASE), places)


class Pages:
    """The documents of a knowledge base, each read once.

    Args:
        kb: with a published snapshot.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._pages: dict[str, Page] = {}

    def __getitem__(self, uri: str) -> Page:
        if uri not in self._pages:
            self._pages[uri] = Page(uri, self._kb.document(uri).text)
        return self._pages[uri]

    def check(self, questions: Sequence[Question]) -> None:
        """Raise InvalidArgument where a place is not in the knowledge base, which would count as missed."""
        for question in questions:
            for part in question.parts:
                for uri, first, last in part.places:
                    start, end = self[uri].lines(first, last)
                    if not part.matches(self[uri].text[start:end]):
                        raise InvalidArgument(f"{question.id}: {uri}:{first}-{last} does not hold {part.need!r}.")


@dataclass(frozen=True, slots=True)
class Asked:
    """The answer to one question, judged.

    Attributes:
        question: as it was asked.
        quotes: in the order of the answer.
        parts: where each part of a good answer is.
        faults: name of a fault to the positions of the quotes that have it.
        answered: what the answer says of itself.
    """

    question: Question
    quotes: tuple[Span, ...]
    parts: tuple[Found, ...]
    faults: dict[str, list[int]] = field(default_factory=dict)
    answered: Answered | None = "yes"

    @property
    def first_gives(self) -> bool:
        """Whether the first quote gives a part."""
        return any(judge(part, self.quotes[:1]) == "given" for part in self.question.parts)

    @property
    def answerable(self) -> bool:
        return bool(self.question.parts)

    @property
    def confidence(self) -> float:
        """Of the surest quote; 0 without one."""
        return max((one.confidence for one in self.quotes), default=0.0)

    @property
    def declined(self) -> bool:
        """Whether the answer is empty, or says that nothing fits well."""
        return self.answered != "yes"

    def has(self, *which: Found) -> float:
        """Return the share of the parts that are found there."""
        return sum(one in which for one in self.parts) / len(self.parts)


def judge(part: Part, quotes: Sequence[Span]) -> Found:
    """Return where a part is found among the quotes of an answer."""
    having = [one for one in quotes if part.matches(one.text)]
    if any(part.lies_in(one.page, one.start, one.end) for one in having):
        return "given"
    if having:
        return "elsewhere"
    documents = {uri for uri, _, _ in part.places}
    return "wrong sentences" if any(one.page.uri in documents for one in quotes) else "wrong document"


def ask(kb: KnowledgeBase, questions: Sequence[Question], on_asked: Callable[[int], None]) -> list[Asked]:
    """Ask each question for evidence at the defaults; what counts is the first answer, without further pages.

    Raises:
        InvalidArgument: a place is not in the knowledge base.
    """
    pages = Pages(kb)
    pages.check(questions)
    asked = []
    for number, question in enumerate(questions, 1):
        answer = kb.retrieve_evidence(question.question)
        quotes = tuple(
            Span(pages[one.doc_uri], one.start_char, one.end_char, one.heading, one.confidence) for one in answer.quotes
        )
        parts = tuple(judge(part, quotes) for part in question.parts)
        asked.append(Asked(question, quotes, parts, faults(quotes), answer.answered))
        on_asked(number)
    return asked


def ask_about_the_whole(
    kb: KnowledgeBase, questions: Sequence[Question], on_asked: Callable[[int], None]
) -> dict[str, list[Outcome]]:
    """Ask each question by global search, and by a plain hybrid search whose sentences fill the same budgets.

    Returns:
        Variant to outcomes, with ``points@…``, the share of the points whose pattern is in a text that touches one of
        their places, and ``tokens@…``.

    Raises:
        InvalidArgument: a place is not in the knowledge base.
    """
    from graphctx.nlp.tokens import WordPieceCounter

    pages = Pages(kb)
    pages.check(questions)
    count = WordPieceCounter().count
    asker, rivals = GlobalAsker(kb, count), Rivals(kb, count)
    outcomes: dict[str, list[Outcome]] = {GLOBAL: [], HYBRID: []}
    for number, question in enumerate(questions, 1):
        measures: dict[str, dict[str, float]] = {GLOBAL: {}, HYBRID: {}}
        sentences = list(enough(rivals.hybrid(question.question)))
        for budget in POINT_BUDGETS:
            found = {
                GLOBAL: asker.pieces(asker.found(question.question, budget)),
                HYBRID: filled(sentences, budget),
            }
            for variant, pieces in found.items():
                given = sum(_gives(part, pieces, pages) for part in question.parts)
                measures[variant][f"points@{budget}"] = given / len(question.parts)
                measures[variant][f"tokens@{budget}"] = float(sum(piece.tokens for piece in pieces))
        golden = Golden(question.id, question.question, question.type)
        for variant, values in measures.items():
            outcomes[variant].append(Outcome(golden, (), frozenset(), (), values))
        on_asked(number)
    return outcomes


def _gives(part: Part, pieces: Sequence[QuotedText], pages: Pages) -> bool:
    return any(
        part.matches(one.text) and part.lies_in(pages[one.doc_uri], one.start_char, one.end_char) for one in pieces
    )
