"""Where chunks disagree (RFC section 12): told, never settled.

Two chunks disagree when they are of different layers, their contents differ and

- ``id``: they have one id, or
- ``subject``: they have one kind and one subject, the first line of text without its markup;

or when they are of one kind, in one layer or in two, and a sentence of one contradicts a sentence of the other by a
``negation``, a ``modality``, a ``number`` or a ``value``.

The base layer is the canonical one and the layer that goes first is the one to read first; a conflict names both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from graphctx.layers.claims import Claim, claims_of
from graphctx.layers.contradictions import Contradiction, Why, compared
from graphctx.layers.effective import LayerView, Subject
from graphctx.layers.names import LayerName, rank
from graphctx.layers.subject import subject_of

Reason = Literal["id", "subject"] | Why
Place = tuple[LayerView, int]
"""A layer and the number of a record in it."""

_PER_LAYER = 3  # chunks of one subject that are told of each layer
_TOLD = 20  # contradictions that are told of one chunk


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a conflict.

    Attributes:
        layer: where the chunk is.
        id: of the chunk.
        content: of the chunk.
        claim: the sentence that contradicts another; empty where only the id or the subject is shared.
    """

    layer: LayerName
    id: int
    content: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Chunks that disagree.

    Attributes:
        reason: what they share, or in what they contradict each other.
        about: the id, the subject, or what each says in that place: ``50 MB against 80 MB``.
        members: two or more chunks, by precedence and then by id.
    """

    reason: Reason
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


class Nearby:
    """Chunks that others are compared with, by the words of their claims.

    Args:
        places: chunks that are in effect, the nearest first.
    """

    def __init__(self, places: Iterable[Place]) -> None:
        self._claims: list[tuple[Place, Claim]] = []
        self._holding: dict[tuple[str, str], list[int]] = {}
        for view, record in places:
            kind = view.file.kind(record)
            for claim in claims_of(view.file.content(record)):
                for word in claim.stems:
                    self._holding.setdefault((kind, word), []).append(len(self._claims))
                self._claims.append(((view, record), claim))

    def contradictions(self, view: LayerView, record: int) -> list[Conflict]:
        """The chunks that contradict one, each with the first sentence that does."""
        kind, content = view.file.kind(record), view.file.content(record)
        found: dict[tuple[LayerName, int], tuple[int, Conflict]] = {}
        for claim in claims_of(content):
            for number in sorted({n for word in claim.stems for n in self._holding.get((kind, word), ())}):
                (other, place), against = self._claims[number]
                key = other.name, place
                if key in found or key == (view.name, record):
                    continue
                if (told := compared(claim, against)) is not None:
                    found[key] = number, _contradicting(told, (view, record), (other, place))
        return [conflict for _, conflict in sorted(found.values(), key=lambda pair: pair[0])[:_TOLD]]


def conflicts_of(view: LayerView, record: int, views: Sequence[LayerView], nearby: Nearby) -> tuple[Conflict, ...]:
    """The conflicts of one chunk.

    Args:
        view: its layer.
        record: its record.
        views: all layers, by precedence.
        nearby: the chunks that are near it.
    """
    if view.bookkeeping[record]:
        return ()
    subject = (view.file.kind(record), subject_of(view.file, record))
    found = [_of_id(int(view.file.ids[record]), views), _of_subject(subject, views, [(view, record)])]
    return (*nearby.contradictions(view, record), *(conflict for conflict in found if conflict is not None))


def _of_id(chunk_id: int, views: Sequence[LayerView]) -> Conflict | None:
    places = [(view, view.records[chunk_id]) for view in views if chunk_id in view.records]
    return _conflict("id", str(chunk_id), [place for place in places if not place[0].bookkeeping[place[1]]])


def _of_subject(
    subject: Subject, views: Sequence[LayerView], found: Sequence[tuple[LayerView, int]] = ()
) -> Conflict | None:
    places = [(view, record) for view in views for record in view.subjects.get(subject, ())[:_PER_LAYER]]
    return _conflict("subject", subject[1], list(dict.fromkeys([*found, *places])))


def _conflict(reason: Reason, about: str, places: Sequence[Place]) -> Conflict | None:
    members = sorted((_member(place) for place in places), key=_order)
    if len({member.layer for member in members}) < 2 or len({member.content for member in members}) < 2:
        return None
    return Conflict(reason, about, tuple(members))


def _contradicting(told: Contradiction, one: Place, other: Place) -> Conflict:
    sides = [(_member(one, told.one), told.differs[0]), (_member(other, told.other), told.differs[1])]
    sides.sort(key=lambda side: _order(side[0]))
    return Conflict(told.why, " against ".join(said for _, said in sides), tuple(member for member, _ in sides))


def _member(place: Place, claim: str = "") -> Member:
    view, record = place
    return Member(view.name, int(view.file.ids[record]), view.file.content(record), claim)


def _order(member: Member) -> tuple[int, int]:
    return rank(member.layer), member.id
