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

from graphctx.layers.effective import LayerView, Subject
from graphctx.layers.names import LayerName, rank
from graphctx.layers.subject import subject_of

_PER_LAYER = 3  # chunks of one subject that are told of each layer
_LIKENESS_CHARS = 2000  # of a content, compared word by word
_ALIKE = 0.8  # a sentence of five words, one of which differs, is as like as this

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
    shared = Counter(subject for view in views for subject in view.subjects)
    found += [_of_subject(subject, views) for subject in sorted(s for s, n in shared.items() if n > 1)]
    return [conflict for conflict in found if conflict is not None]


def conflicts_of(
    view: LayerView, record: int, searched: Mapping[LayerName, tuple[LayerView, Iterable[int]]]
) -> tuple[Conflict, ...]:
    """The conflicts of one chunk that was found.

    Args:
        view: its layer.
        record: it.
        searched: the layers searched, each with the records that came nearest to the query.
    """
    if view.bookkeeping[record] or len(searched) < 2:
        return ()
    views = [other for other, _ in searched.values()]
    subject = (view.file.kind(record), subject_of(view.file, record))
    found = [_of_id(int(view.file.ids[record]), views), _of_subject(subject, views, [(view, record)])]
    told = {(m.layer, m.id) for conflict in found if conflict for m in conflict.members}
    found += [
        _conflict("similar", subject[1], [(view, record), place])
        for place in _alike(view, record, searched)
        if (place[0].name, int(place[0].file.ids[place[1]])) not in told
    ]
    return tuple(conflict for conflict in found if conflict is not None)


def _of_id(chunk_id: int, views: Sequence[LayerView]) -> Conflict | None:
    places = [(view, view.records[chunk_id]) for view in views if chunk_id in view.records]
    return _conflict("id", str(chunk_id), [place for place in places if not place[0].bookkeeping[place[1]]])


def _of_subject(
    subject: Subject, views: Sequence[LayerView], found: Sequence[tuple[LayerView, int]] = ()
) -> Conflict | None:
    places = [(view, record) for view in views for record in view.subjects.get(subject, ())[:_PER_LAYER]]
    return _conflict("subject", subject[1], list(dict.fromkeys([*found, *places])))


def _conflict(
    reason: Literal["id", "subject", "similar"], about: str, places: Sequence[tuple[LayerView, int]]
) -> Conflict | None:
    members = [Member(view.name, int(view.file.ids[record]), view.file.content(record)) for view, record in places]
    members.sort(key=lambda member: (rank(member.layer), member.id))
    if len({member.layer for member in members}) < 2 or len({member.content for member in members}) < 2:
        return None
    return Conflict(reason, about, tuple(members))


def _alike(
    view: LayerView, record: int, searched: Mapping[LayerName, tuple[LayerView, Iterable[int]]]
) -> list[tuple[LayerView, int]]:
    kind, content = view.file.kind(record), view.file.content(record)
    counts, found = _counts(content), []
    for other, records in searched.values():
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
