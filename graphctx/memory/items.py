"""What is remembered: items, where they are visible, the moment of a request, and filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from graphctx.errors import InvalidArgument
from graphctx.settings import MemoryPersistence

MemoryKind = Literal[
    "task",
    "iteration",
    "skill",
    "file",
    "output",
    "error",
    "fact",
    "preference",
    "event",
    "summary",
    "core",
    "turn",
]
"""What an item is: the context of iterations, the memory of an assistant, a turn of a conversation."""

MemoryState = Literal["active", "aging", "summarized", "archived"]
"""Where an item is in its life; archived items are found only if a filter asks for them."""

KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
STATES: tuple[MemoryState, ...] = get_args(MemoryState)
PERSISTENCES: tuple[MemoryPersistence, ...] = get_args(MemoryPersistence)
CORE_TIER = 3
"""Items of this tier are never pruned, do not decay, and are part of every block."""

TIER_OF_KIND: Mapping[MemoryKind, int] = {
    "core": CORE_TIER,
    "fact": 2,
    "preference": 2,
    "skill": 2,
    "event": 1,
    "summary": 1,
}
"""Tier of a new item by its kind: 0 working, 1 session, 2 epoch, 3 core. Other kinds are working memory."""

ITERATIONS_TAG = "graphctx:iterations"
"""Tag of a summary of the context of iterations; other summaries are of conversations."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Who asks, and from where. An item is visible to its principal only.

    An item of persistence ``global`` is visible in all of the principal's projects, of ``project`` in its project, of
    ``session`` in its session of that project.
    """

    principal: str = ""
    project: str = ""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time and the iteration of a request: the only clock of the memory.

    Attributes:
        at: an aware time.
        iteration: number of the orchestrator's iteration; 0 without one.
    """

    at: datetime
    iteration: int = 0

    def __post_init__(self) -> None:
        to_micros(self.at)


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement ``subject predicate object`` that holds from ``temporal_start`` until before ``temporal_end``.

    ``None`` is the moment of its source, or no end. ``start_char:end_char`` is its sentence in the source item.
    """

    subject: str
    predicate: str
    object: str
    temporal_start: datetime | None = None
    temporal_end: datetime | None = None
    confidence: float = 1.0
    ends: bool = False
    """Whether it states that the relation no longer holds."""
    single_valued: bool | None = None
    """Whether the predicate holds one value at a time; ``None`` is as `graphctx.memory.predicates` says."""
    start_char: int = 0
    end_char: int = 0


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """An item to be stored; the fields are those of `MemoryItem`.

    ``triples`` are facts stated by the caller, in place of those that would be extracted. ``tier`` is that of the kind
    and ``persistence`` that of the settings if ``None``.
    """

    kind: MemoryKind
    text: str
    tier: int | None = None
    verbatim: bool = True
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    persistence: MemoryPersistence | None = None
    author: str = ""
    source: str = ""
    confidence: float = 1.0
    usefulness: float = 0.5
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    triples: tuple[Triple, ...] | None = None


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One thing that is remembered.

    Attributes:
        id: ``m_…``, from scope, kind, author, text and the moment of creation: storing it again changes nothing.
        kind, tier, state: what it is, its place in the pyramid (0 working to 3 core), and in its life.
        text: exactly as it was stored.
        verbatim: whether ``text`` is what somebody said or wrote; ``False`` for a summary that was made.
        source_ids: the items that it was made from, or that it corrects.
        principal, project, session, persistence: where it is visible; see `MemoryScope`.
        author: who said it: a speaker or an agent.
        source: where it comes from: ``user``, ``agent``, ``tool``, ``document``, ``orchestrator``, …
        created_at, created_iteration, used_at, used_iteration: when it was stored, and last returned.
        confidence: the author's, 0..1; it decays, see `graphctx.memory.scorer.decayed`.
        usefulness: 0..1 by feedback, 0.5 at first.
        access_count: how often it was returned.
        valid_from, valid_to: the time in which it holds; half open, ``None`` is unbounded.
    """

    id: str
    kind: MemoryKind
    tier: int
    text: str
    verbatim: bool
    source_ids: tuple[str, ...]
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    principal: str
    project: str
    session: str
    persistence: MemoryPersistence
    author: str
    source: str
    created_at: datetime
    created_iteration: int
    used_at: datetime | None
    used_iteration: int | None
    confidence: float
    usefulness: float
    access_count: int
    valid_from: datetime | None
    valid_to: datetime | None
    state: MemoryState


@dataclass(frozen=True, slots=True)
class TemporalFact:
    """A remembered triple and the time in which it holds.

    Attributes:
        id: ``r_…``.
        subject, predicate, object: as stated; names are compared by `graphctx.memory.facts.fact_key`.
        temporal_start: since when it holds; ``temporal_end`` is when it stopped, ``None`` if it still holds.
        recorded_at: when it was stored.
        ended_by: id of the fact or the item that ended it, or empty.
        source_item: id of the item that states it, at ``start_char:end_char``; empty if given without one.
    """

    id: str
    subject: str
    predicate: str
    object: str
    temporal_start: datetime
    temporal_end: datetime | None
    recorded_at: datetime
    confidence: float
    source_item: str
    start_char: int
    end_char: int
    ended_by: str

    def holds(self, at: datetime) -> bool:
        """Return whether the fact holds at a time."""
        return self.temporal_start <= at and (self.temporal_end is None or at < self.temporal_end)


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """A narrower choice of the items in scope; empty fields choose all.

    Attributes:
        kinds, tiers, states: any of these. Without ``states`` archived items are left out.
        tags: at least one of these.
        summary_tag: summaries without this tag are left out.
        session: items of this session only.
        after, before: created from, and before.
        min_confidence: least confidence after decay.
        history: include items that are no longer valid, such as corrected ones.
    """

    kinds: tuple[MemoryKind, ...] = ()
    tiers: tuple[int, ...] = ()
    states: tuple[MemoryState, ...] = ()
    tags: tuple[str, ...] = ()
    summary_tag: str = ""
    session: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    min_confidence: float = 0.0
    history: bool = False

    def __post_init__(self) -> None:
        for name, allowed in (("kinds", KINDS), ("states", STATES), ("tiers", range(CORE_TIER + 1))):
            for value in getattr(self, name):
                if value not in allowed:
                    raise InvalidArgument(
                        f"{name} has {value!r}; choose among {', '.join(map(str, allowed))}.", field=name, value=value
                    )
        if self.after is not None and self.before is not None and to_micros(self.after) >= to_micros(self.before):
            raise InvalidArgument(
                f"after ({self.after.isoformat()}) is not earlier than before ({self.before.isoformat()}), so that "
                "nothing can match. Exchange them.",
                field="after",
            )


def to_micros(moment: datetime) -> int:
    """Return an aware time as microseconds since 1970.

    Raises:
        InvalidArgument: the time has no time zone, or is in no year from 1 to 9999 in UTC.
    """
    if moment.tzinfo is None:
        raise InvalidArgument(f"The time {moment.isoformat()} has no time zone; add one, such as +00:00.")
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise InvalidArgument(f"The time {moment.isoformat()} is in no year from 1 to 9999 in UTC.") from None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """Return the time of microseconds since 1970, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)
