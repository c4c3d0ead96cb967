"""What every kind of synthetic set is made with: dice that fall alike everywhere, pages, questions, files."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Seeded choices. Only ``random()`` of the standard generator is used, which Python keeps the same for ever."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def between(self, low: int, high: int) -> int:
        """Return a number from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in items]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """Distinct items in random order."""
        return self.shuffled(items)[:count]


@dataclass(slots=True)
class Page:
    """A document while it is written: sentences, and where the facts in it stand.

    Attributes:
        id: in the corpus: a row's id, or a path.
        title: empty for a page without.
        updated_at: ISO date, or empty.
    """

    id: str
    title: str = ""
    updated_at: str = ""
    text: str = ""

    def say(self, sentence: str, joint: str = " ") -> tuple[int, int]:
        """Append a sentence; returns its span. ``joint`` stands before it, unless it is the first."""
        if self.text:
            self.text += joint
        start = len(self.text)
        self.text += sentence
        return start, len(self.text)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a page: where it stands."""

    page: Page
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question; without facts it has no answer anywhere in the corpus. One about the whole has ``points`` instead,
    each with the fact that states it."""

    text: str
    type: str
    answers: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    points: tuple[tuple[str, Fact], ...] = ()


@dataclass(slots=True)
class Collection:
    """A set: pages and questions.

    Attributes:
        name: of its folder.
        judge: ``units`` where the documents are long and a found document says little, else ``documents``.
        files: whether the pages are files of their own, by their ids, instead of rows of one.
    """

    name: str
    judge: str = "documents"
    files: bool = False
    pages: list[Page] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def page(self, page_id: str, title: str = "", updated_at: str = "") -> Page:
        self.pages.append(Page(page_id, title, updated_at))
        return self.pages[-1]

    def ask(self, text: str, kind: str, answers: Sequence[str] = (), facts: Sequence[Fact] = ()) -> None:
        """Add a question, unless it was asked before."""
        if all(known.text != text for known in self.questions):
            self.questions.append(Question(text, kind, tuple(answers), tuple(facts)))

    def ask_whole(self, text: str, kind: str, points: Sequence[tuple[str, Fact]]) -> None:
        """Add a question about the whole, with what a good answer says."""
        self.questions.append(Question(text, kind, points=tuple(points)))

    def write(self, folder: Path) -> None:
        """Write ``corpus.jsonl`` or the pages' files, ``questions.jsonl`` and ``suite.toml``."""
        folder.mkdir(parents=True, exist_ok=True)
        corpus = "docs" if self.files else "corpus.jsonl"
        if self.files:
            for page in self.pages:
                path = folder / corpus / page.id
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(page.text.encode("utf-8"))
        else:
            _write_rows(folder / corpus, [_row(page) for page in self.pages])
        _write_rows(folder / "questions.jsonl", [self._question(n, q) for n, q in enumerate(self.questions, 1)])
        said = f'name = "synthetic-{self.name}"\ncorpus = "{corpus}"\njudge = "{self.judge}"\n'
        (folder / "suite.toml").write_bytes(said.encode("utf-8"))

    def _question(self, number: int, question: Question) -> dict[str, object]:
        head = {"id": f"{self.name}-{number:03}", "question": question.text, "type": question.type}
        if question.points:
            return head | {"points": [{"point": text, "spans": [self._span(fact)]} for text, fact in question.points]}
        return head | {
            "answers": list(question.answers),
            "answerable": bool(question.facts),
            "gold_docs" if self.files else "gold_ids": sorted({fact.page.id for fact in question.facts}),
            "gold_spans": [self._span(fact) for fact in question.facts],
        }

    def _span(self, fact: Fact) -> dict[str, object]:
        where = {"doc" if self.files else "id": fact.page.id}
        return where | {"start": fact.start, "end": fact.end, "text": fact.page.text[fact.start : fact.end]}


def _row(page: Page) -> dict[str, str]:
    row = {"id": page.id, "title": page.title, "text": page.text}
    return row | {"updated_at": page.updated_at} if page.updated_at else row


def _write_rows(path: Path, rows: Sequence[dict[str, object]] | Sequence[dict[str, str]]) -> None:
    path.write_bytes("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8"))


def said(page: Page, sentence: str, joint: str = " ") -> Fact:
    """Append a sentence that holds a fact."""
    return Fact(page, *page.say(sentence, joint))


def spoken(number: int) -> str:
    """Return a whole number with thousands parted by commas."""
    return f"{number:,}"
