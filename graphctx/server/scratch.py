"""The scratch store: passages that a session has seen, held in memory under unguessable ids.

Answers carry previews and quotes; the whole passages wait here until somebody reads an excerpt. Entries leave
when they have not been used for a while, or when memory runs short: then whoever holds the most loses what was not
used for longest, so that nobody can push out all that others hold.
"""

from __future__ import annotations

import base64
import itertools
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.model.results import UnitText

log = logging.getLogger(__name__)

URI_SCHEME = "graphctx"
PRESSURE_EVICTIONS = 100
"""A warning is logged each time memory has pushed out this many further passages."""

_ID_BYTES = 10  # 80 random bits: 16 base32 characters, the shape of the other ids
_OVERHEAD_BYTES = 512  # the entry's objects beside its text, measured on CPython 3.11 and rounded up


def new_id(prefix: Literal["p", "x"]) -> str:
    """A random id: ``p_…`` for a passage, ``x_…`` for a session."""
    return f"{prefix}_{base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode('ascii').lower()}"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text unit as one session holds it."""

    passage_id: str
    session_id: str
    snapshot_id: str
    unit: UnitText
    created_at: str

    @property
    def uri(self) -> str:
        """The resource that holds the whole passage."""
        return f"{URI_SCHEME}://scratch/{self.session_id}/{self.passage_id}"

    @property
    def size_bytes(self) -> int:
        """UTF-8 bytes of the passage's text."""
        return len(self.unit.text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class ScratchStats:
    """Counters since the start, and what is held now."""

    passages: int
    bytes: int
    max_bytes: int
    evicted_by_memory: int
    expired: int


@dataclass(slots=True)
class _Entry:
    passage: Passage
    weight: int
    used_at: float
    owner: str
    number: int


@dataclass(slots=True)
class _Share:
    """What one owner holds: the ids of its passages, least recently used first, and their weight."""

    ids: OrderedDict[str, None]
    bytes: int = 0


class ScratchStore:
    """Passages by id, each readable only by the session that it was made for.

    Safe for use from several threads and tasks: one lock, held only for dictionary operations.

    Args:
        max_bytes: memory for all passages of all sessions, their overhead included.
        ttl: seconds that an entry lives after its last use.
        clock: monotonic seconds.
        now: wall-clock time, shown in resource listings only.
        owner: which sessions share memory as one; each is alone by default.
    """

    def __init__(
        self,
        max_bytes: int,
        ttl: float,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        owner: Callable[[str], str] = str,
    ) -> None:
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._clock = clock
        self._now = now
        self._owner = owner
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()  # least recently used first
        self._shares: dict[str, _Share] = {}
        self._ids: dict[tuple[str, str, str], str] = {}  # (session, snapshot, unit) -> passage id
        self._numbers = itertools.count()
        self._bytes = 0
        self._evicted = 0
        self._expired = 0

    def put(self, session_id: str, snapshot_id: str, unit: UnitText) -> Passage:
        """Hold a unit for a session. The same unit keeps its id for as long as it is held.

        Raises:
            BudgetExceeded: the unit alone is larger than the whole store.
        """
        key = (session_id, snapshot_id, unit.section_id)
        passage = Passage(
            passage_id=new_id("p"),
            session_id=session_id,
            snapshot_id=snapshot_id,
            unit=unit,
            created_at=self._now().isoformat(timespec="seconds"),
        )
        weight = 4 * len(unit.text) + _OVERHEAD_BYTES  # CPython holds a code point in up to four bytes
        if weight > self._max_bytes:
            raise BudgetExceeded(
                f"The passage {unit.section_id} needs {weight} bytes and the scratch store holds "
                f"{self._max_bytes}. Raise the server's scratch memory.",
                section_id=unit.section_id,
                max_bytes=self._max_bytes,
            )
        owner = self._owner(session_id)
        with self._lock:
            self._drop_expired()
            if (known := self._ids.get(key)) is not None:
                return self._touch(known)
            self._entries[passage.passage_id] = _Entry(passage, weight, self._clock(), owner, next(self._numbers))
            self._ids[key] = passage.passage_id
            share = self._shares.setdefault(owner, _Share(OrderedDict()))
            share.ids[passage.passage_id] = None
            share.bytes += weight
            self._bytes += weight
            warn = self._make_room(passage.passage_id)
        if warn:
            log.warning(
                "scratch memory (%d bytes) is short: %d passages pushed out so far; raise [server] scratch_mb",
                self._max_bytes,
                warn,
            )
        return passage

    def get(self, session_id: str, passage_id: str, argument: str = "passage_id") -> Passage:
        """The passage that a session knows by this id.

        Args:
            session_id: of the session.
            passage_id: as it was given.
            argument: that gave it.

        Raises:
            InvalidArgument: the id never was, is another session's, has expired or was pushed out. These are
                told apart to nobody: an id of another session must look like none at all.
        """
        with self._lock:
            self._drop_expired()
            entry = self._entries.get(passage_id)
            if entry is not None and entry.passage.session_id == session_id:
                return self._touch(passage_id)
        raise InvalidArgument(
            f"{argument}: {passage_id[:60]!r} is unknown in this session, or no longer held (passages are kept for "
            f"{self._ttl / 60:g} minutes after their last use, as memory allows). Pass the section_id that stands "
            "beside it, which works in every session. Or repeat the kb.search or kb.retrieve_evidence call that "
            "returned it and use the new passage_id.",
            field=argument,
            value=passage_id[:200],
            allowed="a section_id, or a passage_id from an answer of this session",
            repeat=["kb.search", "kb.retrieve_evidence"],
        )

    def passages(self, session_id: str) -> list[Passage]:
        """Everything that a session holds, the newest first; to be listed is not to be used."""
        with self._lock:
            self._drop_expired()
            own = [entry for entry in self._entries.values() if entry.passage.session_id == session_id]
        return [entry.passage for entry in sorted(own, key=lambda entry: entry.number, reverse=True)]

    def stats(self) -> ScratchStats:
        """Counters for operators."""
        with self._lock:
            self._drop_expired()
            return ScratchStats(len(self._entries), self._bytes, self._max_bytes, self._evicted, self._expired)

    def _touch(self, passage_id: str) -> Passage:
        entry = self._entries[passage_id]
        entry.used_at = self._clock()
        self._entries.move_to_end(passage_id)
        self._shares[entry.owner].ids.move_to_end(passage_id)
        return entry.passage

    def _drop_expired(self) -> None:
        deadline = self._clock() - self._ttl
        while self._entries:
            passage_id, entry = next(iter(self._entries.items()))
            if entry.used_at > deadline:
                return
            self._remove(passage_id)
            self._expired += 1

    def _make_room(self, newest: str) -> int:
        """Push out what whoever holds the most has not used for longest; the total to warn about, else 0.

        The passage that has just come in stays, whoever brought it: its answer is about to name it.
        """
        before = self._evicted
        while self._bytes > self._max_bytes:
            others = (share for share in self._shares.values() if len(share.ids) > 1 or newest not in share.ids)
            self._remove(next(iter(max(others, key=lambda share: share.bytes).ids)))
            self._evicted += 1
        crossed = before // PRESSURE_EVICTIONS != self._evicted // PRESSURE_EVICTIONS
        return self._evicted if crossed else 0

    def _remove(self, passage_id: str) -> None:
        entry = self._entries.pop(passage_id)
        share = self._shares[entry.owner]
        del share.ids[passage_id]
        share.bytes -= entry.weight
        if not share.ids:
            del self._shares[entry.owner]
        self._bytes -= entry.weight
        passage = entry.passage
        del self._ids[(passage.session_id, passage.snapshot_id, passage.unit.section_id)]
