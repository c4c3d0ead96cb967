"""Where layers disagree (RFC section 12): told, never settled.

Two chunks of different layers disagree when their contents differ and

- ``id``: they have one id, or
- ``subject``: they have one kind and one subject, the first line of text without its markup, or
- ``similar``: they have one kind and nearly the same words, as where a number changed.

The base layer is the canonical one and the layer that goes first is the one to read first; a conflict names both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graphctx.layers.effective import LayerView
from graphctx.layers.names import LayerName, rank

_SUBJECT_BYTES = 1024  # of a content, in which its first line is looked for
_SUBJECT_CHARS = 200
_LIKENESS_CHARS = 2000  # of a content, compared word by word
_ALIKE = 0.8  # a sentence of five words, one of which differs, is as like as this

_MARKUP = re.compile(r"^[\s#>*_`\-=+|]+|[\s#*_`.:;|]+$")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a conflict."""

    layer: LayerName
    id: int
    content: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Chunks that disagree.

    Attributes:
        reason: what they share.
        about: the id, or the subject.
        members: two or more chunks of different layers, by precedence.
    """

    reason: Literal["id", "subject", "similar"]
    about: str
    members: tuple[Member, ...]

    @property
    def first(self) -> LayerName:
        """The layer that goes first among the members."""
        return self.members[0].layer

    @property
    def canonical(self) -> LayerName:
        """The lowest layer among the members; the base layer is authoritative."""
        return self.members[-1].layer


def all_conflicts(views: Sequence[LayerView]) -> list[Conflict]:
    """Every conflict of ids and of subjects between layers: those of ids first, ascending."""
    ids = Counter(chunk_id for view in views for chunk_id in view.records)
    found = [_of_id(chunk_id, views) for chunk_id in sorted(c for c, n in ids.items() if n > 1)]
    index = subjects(views)
    found += [_of_subject(subject, index) for subject in sorted(index)]
    return [conflict for conflict in found if conflict is not None]


Subject = tuple[str, str]
"""Kind and first line."""


def subjects(views: Sequence[LayerView]) -> dict[Subject, list[tuple[LayerView, int]]]:
    """Where each subject that several layers speak of is spoken of: views and records, newest ones only."""
    made: dict[Subject, list[tuple[LayerView, int]]] = {}
    for view in views:
        for record in view.records.values():
            if not view.bookkeeping[record] and (subject := subject_of(view, record)):
                made.setdefault((view.file.kind(record), subject), []).append((view, record))
    return {key: places for key, places in made.items() if len({view.name for view, _ in places}) > 1}


def subject_of(view: LayerView, record: int) -> str:
    """The first line of a content in which there is text, without markup and case; may be empty."""
    number = int(view.file.layout.records["content_str_id"][record])
    start = view.file.string_bytes(number)[:_SUBJECT_BYTES].decode("utf-8", "ignore")
    for line in start.splitlines():
        if text := " ".join(_MARKUP.sub("", line).casefold().split()):
            return text[:_SUBJECT_CHARS]
    return ""


def conflicts_of(
    view: LayerView,
    record: int,
    others: Mapping[LayerName, tuple[LayerView, Iterable[int]]],
    index: Mapping[Subject, list[tuple[LayerView, int]]],
) -> tuple[Conflict, ...]:
    """The conflicts of one chunk that was found.

    Args:
        view: its layer.
        record: it.
        others: the layers searched, each with the records that came nearest to the query.
        index: as `subjects` gives it.
    """
    if view.bookkeeping[record] or len(others) < 2:
        return ()
    views = [other for other, _ in others.values()]
    found = [_of_id(int(view.file.ids[record]), views)]
    subject = (view.file.kind(record), subject_of(view, record))
    found.append(_of_subject(subject, index))
    told = {(m.layer, m.id) for conflict in found if conflict for m in conflict.members}
    found += [
        _conflict("similar", subject[1], [(view, record), place])
        for place in _alike(view, record, others)
        if (place[0].name, int(place[0].file.ids[place[1]])) not in told
    ]
    return tuple(conflict for conflict in found if conflict is not None)


def _of_id(chunk_id: int, views: Sequence[LayerView]) -> Conflict | None:
    places = [(view, view.records[chunk_id]) for view in views if chunk_id in view.records]
    return _conflict("id", str(chunk_id), [place for place in places if not place[0].bookkeeping[place[1]]])


def _of_subject(subject: Subject, index: Mapping[Subject, list[tuple[LayerView, int]]]) -> Conflict | None:
    return _conflict("subject", subject[1], index.get(subject, []))


def _conflict(
    reason: Literal["id", "subject", "similar"], about: str, places: Sequence[tuple[LayerView, int]]
) -> Conflict | None:
    members = [Member(view.name, int(view.file.ids[record]), view.file.content(record)) for view, record in places]
    members.sort(key=lambda member: (rank(member.layer), member.id))
    if len({member.layer for member in members}) < 2 or len({member.content for member in members}) < 2:
        return None
    return Conflict(reason, about, tuple(members))


def _alike(
    view: LayerView, record: int, others: Mapping[LayerName, tuple[LayerView, Iterable[int]]]
) -> list[tuple[LayerView, int]]:
    kind, content = view.file.kind(record), view.file.content(record)
    counts, found = _counts(content), []
    for other, records in others.values():
        if other.name == view.name:
            continue
        for place in records:
            if other.file.kind(place) != kind or (told := other.file.content(place)) == content:
                continue
            if _cosine(counts, _counts(told)) >= _ALIKE:
                found.append((other, place))
    return found


def _counts(content: str) -> Counter[str]:
    return Counter(_WORD.findall(content[:_LIKENESS_CHARS].casefold()))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(number * other[word] for word, number in one.items())
    square = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return product / math.sqrt(square) if square else 0.0
