"""Rows of golden files, and the `Golden` questions that they become once the knowledge base is known."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphctx.errors import InvalidArgument
from graphctx.eval.records import Golden, GoldPoint, GoldSpan
from graphctx.ingest.sources import encoded
from graphctx.model.arguments import parse_arguments

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase

_LISTED = 5
"""Faults that are listed one by one."""


class SpanRow(BaseModel):
    """A gold span: its document (``doc``, or ``id`` in a folder suite), and offsets or the exact text or both."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    doc: str = ""
    id: str = ""
    start: int = Field(-1, ge=-1)
    end: int = Field(-1, ge=-1)
    text: str = ""

    @model_validator(mode="after")
    def _is_whole(self) -> SpanRow:
        if not (self.doc or self.id):
            raise ValueError("a span needs its document, as doc or id")
        if not self.text and not 0 <= self.start < self.end:
            raise ValueError("a span needs start < end, or its text")
        return self


class PointRow(BaseModel):
    """A gold point: a fact in a few words, and every place that states it."""

    model_config = ConfigDict(extra="forbid")

    point: str = Field(min_length=1, pattern=r"\S")
    spans: list[SpanRow] = Field(min_length=1)


class GoldenRow(BaseModel):
    """One line of a golden file; other fields are ignored, with a warning by `unknown_fields`."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str = ""
    question: str = Field(min_length=1, max_length=4000, pattern=r"\S")
    type: str = ""
    answers: list[str] = []
    answerable: bool | None = None
    gold_docs: list[str] = []
    gold_ids: list[str] = []
    gold_spans: list[SpanRow] = []
    points: list[PointRow] = Field([], min_length=1)
    max_tokens: int = Field(0, ge=0)
    max_calls: int = Field(0, ge=0)

    @property
    def has_gold(self) -> bool:
        """Whether it says where the answer is."""
        return bool(self.gold_docs or self.gold_ids or self.gold_spans or self.points)

    @property
    def has_empty_gold(self) -> bool:
        """Whether it says that there is no gold, by an empty list."""
        return not self.has_gold and not self.model_fields_set.isdisjoint(("gold_docs", "gold_ids", "gold_spans"))

    @property
    def is_graded(self) -> bool:
        """Whether its answer can be measured. Answers alone are enough, unless an empty list says that no place of
        the documents states them."""
        return self.has_gold or self.answerable is not None or bool(self.has_answers and not self.has_empty_gold)

    @property
    def has_answers(self) -> bool:
        """Whether there are answers that a quote may hold."""
        return any(answer.strip() for answer in self.answers)


@dataclass(frozen=True, slots=True)
class Numbered:
    """A row and its line, from 1."""

    line: int
    row: GoldenRow
    unknown: tuple[str, ...] = ()
    """Names of fields that no golden row has."""


def unknown_fields(rows: Sequence[Numbered]) -> list[str]:
    """Return a sentence on each unknown field: how often it occurs, where first, and what may be meant."""
    lines: dict[str, list[int]] = {}
    for item in rows:
        for name in item.unknown:
            lines.setdefault(name, []).append(item.line)
    return [
        f"the field {name!r}{_meant(name)} is unknown and ignored: {len(at):,} "
        f"{'row' if len(at) == 1 else 'rows'}, first on line {at[0]}"
        for name, at in lines.items()
    ]


def _meant(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), [*GoldenRow.model_fields], n=1, cutoff=0.7)
    return f" (did you mean {near[0]!r}?)" if near else ""


def objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSONL file with their line numbers; blank lines are skipped.

    Raises:
        InvalidArgument: the file cannot be read, or a line is not a JSON object.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidArgument(f"{path.name} cannot be read: {reason}.", path=path.name) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            fault = f"this is not JSON: {error.msg} at column {error.colno}."
            if _is_json("\n".join(lines)):
                fault = "the file is one JSON value over several lines. Write one JSON object a line (JSONL)."
            raise _at(path, number, fault) from None
        except (ValueError, RecursionError) as error:  # a number of too many digits, or too many levels
            raise _at(path, number, f"this JSON cannot be read: {error}.") from None
        if not isinstance(value, dict):
            raise _at(
                path, number, f"this is not a JSON object but {line.strip()[:40]!r}. Write one JSON object a line."
            )
        yield number, value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def read_rows(path: Path) -> list[Numbered]:
    """Return the rows of a golden file. One without an id gets ``line<number>``.

    Raises:
        InvalidArgument: naming the line: it is not JSON, a field is wrong, or its id has occurred before.
    """
    rows: list[Numbered] = []
    seen: dict[str, int] = {}
    for number, value in objects(path):
        unknown = tuple(name for name in value if name not in GoldenRow.model_fields)
        try:
            row = parse_arguments(GoldenRow, value)
        except InvalidArgument as error:
            has = ", ".join(f"{name!r}{_meant(name)}" for name in unknown)
            others = f" The line has unknown fields: {has}." if has and "question" not in value else ""
            raise _at(path, number, error.message + others) from None
        row = row if row.id else row.model_copy(update={"id": f"line{number}"})
        if row.id in seen:
            raise _at(path, number, f"the id {row.id!r} is already on line {seen[row.id]}; ids must be unique.")
        seen[row.id] = number
        rows.append(Numbered(number, row, unknown))
    return rows


def bind(rows: Sequence[Numbered], kb: KnowledgeBase, *, source: str, prefix: str) -> list[Golden]:
    """Make questions of rows: find their gold in a knowledge base.

    Args:
        rows: of a golden file.
        kb: the knowledge base to ask.
        source: the file's name, for errors.
        prefix: the part of a document's URI before an ``id`` (``corpus.jsonl#``).

    Raises:
        InvalidArgument: a gold document is not in the knowledge base, or a span does not fit its document's text.
            Gold that cannot be found would count as missed, so nothing is measured until this is corrected.
    """
    uris = kb.searcher().index.documents["uri"].to_pylist()
    finder = _Finder(kb, frozenset(uris))
    made = [_bound(item, finder, prefix) for item in rows]
    if finder.faults:
        shown = "; ".join(finder.faults[:_LISTED])
        more = f"; and {len(finder.faults) - _LISTED} more" if len(finder.faults) > _LISTED else ""
        raise InvalidArgument(
            f"{source} does not fit the knowledge base ({len(uris):,} documents): {shown}{more}. Ask the knowledge "
            "base that the file was written for (--kb or --corpus), or correct the file.",
            path=source,
            faults=len(finder.faults),
        )
    return made


def _bound(item: Numbered, finder: _Finder, prefix: str) -> Golden:
    row = item.row
    spans = finder.spans(item.line, row.gold_spans, prefix)
    points = [GoldPoint(one.point, tuple(finder.spans(item.line, one.spans, prefix))) for one in row.points]
    said = [*row.gold_docs, *(prefix + name for name in row.gold_ids)]
    named = [finder.document(item.line, name) for name in said]
    docs = dict.fromkeys(named or [span.doc_uri for span in (*spans, *(at for one in points for at in one.spans))])
    return Golden(
        id=row.id,
        question=row.question,
        type=row.type,
        answers=tuple(answer for answer in row.answers if answer.strip()),
        answerable=row.answerable is not False,
        gold_docs=tuple(docs),
        gold_spans=tuple(spans),
        max_tokens=row.max_tokens,
        max_calls=row.max_calls,
        points=tuple(points),
    )


class _Finder:
    """Documents and spans in the knowledge base, and what could not be found."""

    def __init__(self, kb: KnowledgeBase, uris: frozenset[str]) -> None:
        self._kb = kb
        self._uris = uris
        self.faults: list[str] = []

    def document(self, line: int, uri: str) -> str:
        """Return the URI of a document that is named by it, or by the path of its file; else empty."""
        if uri in self._uris:
            return uri
        below = self._below_sources(uri)
        if len(below) == 1:
            return below[0]
        near = below or [rel for _, rel in _splits(uri) if rel in self._uris]
        if not near and len(self.faults) < _LISTED:
            near = difflib.get_close_matches(uri, sorted(self._uris), n=1)
        hint = f" (there is {near[0]!r})" if near else ""
        self.faults.append(f"line {line}: there is no document {uri!r}{hint}")
        return ""

    def _below_sources(self, name: str) -> list[str]:
        """URIs of the file that a path leads to: it goes through the folder of a source, and on as the URI does."""
        found: dict[str, None] = {}
        for front, rel in _splits(name):
            for source in self._kb.config.sources:
                folder = Path(source.path)
                through = Path(front).resolve() == folder or folder.as_posix().endswith(f"/{front}")
                for uri in (rel, encoded(rel), f"{source.prefix}/{rel}", f"{source.name}/{rel}") if through else ():
                    if uri in self._uris:
                        found[uri] = None
        return list(found)

    def spans(self, line: int, rows: Sequence[SpanRow], prefix: str) -> list[GoldSpan]:
        """Return the spans that are there; of the others the faults are noted."""
        found = (self._span(line, row, row.doc or prefix + row.id) for row in rows)
        return [span for span in found if span]

    def _span(self, line: int, row: SpanRow, name: str) -> GoldSpan | None:
        uri = self.document(line, name)
        if not uri:
            return None
        text = self._kb.document(uri).text
        start, end = row.start, row.end
        if not 0 <= start < end:
            words = r"\s+".join(map(re.escape, row.text.split()))
            found = [match.span() for match in re.finditer(words, text)]
            if len(found) != 1:
                self._stale(line, f"the text {row.text[:60]!r} occurs {len(found)} times in {uri!r}, not once")
                return None
            start, end = found[0]
        elif end > len(text):
            self._stale(line, f"the span {start}-{end} ends after {uri!r}, which has {len(text)} characters")
            return None
        elif row.text and text[start:end].split() != row.text.split():
            self._stale(line, f"{uri!r} has {text[start:end][:60]!r} at {start}-{end}, not {row.text[:60]!r}")
            return None
        return GoldSpan(uri, start, end)

    def _stale(self, line: int, fault: str) -> None:
        self.faults.append(f"line {line}: {fault}")


def _splits(name: str) -> list[tuple[str, str]]:
    """Return a path cut at each slash, the shortest front first."""
    cuts = [match.start() for match in re.finditer("/", name)]
    return [(name[:at] or "/", name[at + 1 :]) for at in cuts if name[at + 1 :]]


def _at(path: Path, line: int, fault: str) -> InvalidArgument:
    return InvalidArgument(f"{path.name}, line {line}: {fault}", path=path.name, line=line)
