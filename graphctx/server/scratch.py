"""The scratch store: passages that a session has seen, held in memory under unguessable ids.

Answers carry previews and quotes; the whole passages stay here for later calls that read excerpts. A passage expires
some time after its last use, or is evicted when memory runs short.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.model.results import UnitText
from graphctx.server.lru import FairLru

log = logging.getLogger(__name__)

URI_SCHEME = "graphctx"
PRESSURE_EVICTIONS = 100
"""A warning is logged each time this many further passages have been evicted."""

_ID_BYTES = 10  # 80 bits: 16 base32 characters, the shape of the other ids
_OVERHEAD_BYTES = 512  # of an entry beside its text, measured on CPython 3.11 and rounded up


def new_id(prefix: Literal["p", "x"]) -> str:
    """Return a random id: ``p_…`` for a passage, ``x_…`` for a session."""
    return _formatted(prefix, secrets.token_bytes(_ID_BYTES))


def keyed_id(prefix: Literal["p", "x"], key: bytes, *parts: str) -> str:
    """Return an id that looks random to whoever does not know the key, and is the same for the same parts."""
    return _formatted(prefix, hashlib.blake2b("\0".join(parts).encode(), key=key, digest_size=_ID_BYTES).digest())


def _formatted(prefix: str, digest: bytes) -> str:
    return f"{prefix}_{base64.b32encode(digest).decode('ascii').lower()}"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text unit that one session holds."""

    passage_id: str
    session_id: str
    snapshot_id: str
    unit: UnitText
    created_at: str

    @property
    def uri(self) -> str:
        """The URI of the resource that holds the whole passage."""
        return f"{URI_SCHEME}://scratch/{self.session_id}/{self.passage_id}"

    @property
    def size_bytes(self) -> int:
        """The size of the passage's text in bytes of UTF-8."""
        return len(self.unit.text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class ScratchStats:
    """What the store holds now, in passages and bytes, and its counters since the start."""

    passages: int
    bytes: int
    max_bytes: int
    evicted_by_memory: int
    expired: int


class ScratchStore:
    """Passages by id, each readable only by its own session. Thread-safe.

    Args:
        max_bytes: memory for all passages of all sessions, overhead included.
        ttl: seconds that a passage lives after its last use.
        clock: returns monotonic seconds.
        now: returns the wall-clock time, which only resource listings show.
    """

    def __init__(
        self,
        max_bytes: int,
        ttl: float,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._now = now
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._passages: FairLru[tuple[str, str], Passage] = FairLru(max_bytes, ttl, clock)

    def put(self, session_id: str, snapshot_id: str, unit: UnitText, principal: str = "") -> Passage:
        """Hold a unit for a session. The same unit has the same id.

        Args:
            session_id: the session.
            snapshot_id: the snapshot of the unit.
            unit: the unit.
            principal: the owner whose sessions share one memory quota; if empty, each session has its own.

        Raises:
            BudgetExceeded: the unit alone is larger than the whole store.
        """
        weight = 4 * len(unit.text) + _OVERHEAD_BYTES  # CPython stores a character in up to four bytes
        if weight > self._max_bytes:
            raise BudgetExceeded(
                f"The passage {unit.section_id} needs {weight} bytes and the scratch store holds "
                f"{self._max_bytes}. Raise the server's scratch memory.",
                section_id=unit.section_id,
                max_bytes=self._max_bytes,
            )
        passage_id = keyed_id("p", self._key, session_id, snapshot_id, unit.section_id)
        with self._lock:
            held = self._passages.get((session_id, passage_id))
            if held is not None:
                return held
            created_at = self._now().isoformat(timespec="seconds")
            passage = Passage(passage_id, session_id, snapshot_id, unit, created_at)
            before = self._passages.evicted // PRESSURE_EVICTIONS
            owner = f"principal {principal}" if principal else session_id
            self._passages.put((session_id, passage_id), passage, owner, weight)
            evicted = self._passages.evicted
        if evicted // PRESSURE_EVICTIONS != before:
            log.warning(
                "scratch memory (%d bytes) is short: %d passages evicted so far; raise [server] scratch_mb",
                self._max_bytes,
                evicted,
            )
        return passage

    def get(self, session_id: str, passage_id: str, argument: str = "passage_id") -> Passage:
        """Return the passage of a session with this id.

        Raises:
            InvalidArgument: the id is unknown, another session's, expired or evicted; the message is the same for all,
                so that an id of another session looks like an unknown one.
        """
        with self._lock:
            passage = self._passages.get((session_id, passage_id))
        if passage is not None:
            return passage
        raise InvalidArgument(
            f"{argument}: {passage_id[:60]!r} is unknown in this session, or no longer held (passages are kept for "
            f"{self._ttl / 60:g} minutes after their last use, as memory allows). Pass the section_id beside it in the "
            "answer, which works in every session. Or repeat the kb.search or kb.retrieve_evidence call that "
            "returned it and use the new passage_id.",
            field=argument,
            value=passage_id[:200],
            allowed="a section_id, or a passage_id from an answer of this session",
            repeat=["kb.search", "kb.retrieve_evidence"],
        )

    def passages(self, session_id: str) -> list[Passage]:
        """Return the passages of a session, the newest first; this does not count as a use."""
        with self._lock:
            return [passage for passage in reversed(self._passages.values()) if passage.session_id == session_id]

    def stats(self) -> ScratchStats:
        """Return what the store holds, and its counters."""
        with self._lock:
            count, held = len(self._passages.values()), self._passages
            return ScratchStats(count, held.weight, self._max_bytes, held.evicted, held.expired)
