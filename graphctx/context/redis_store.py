"""Entries of the context cache in Redis 8, which several processes share: vector sets hold the questions.

Keys, each with an expiry: ``graphctx:context:BUCKET`` is a vector set with a question for an element, and
``graphctx:context:BUCKET:DIGEST`` the entry of a question.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from graphctx.store.redis_client import answered, connect, vector_blob

if TYPE_CHECKING:
    from redis import Redis

_Result = TypeVar("_Result")

PREFIX = "graphctx:context:"

TIMEOUT_SECONDS = 0.25
"""To connect, and for each answer: an entry is worth no more waiting than it saves."""


_USE = "the context cache"
_REMEDY = "Contexts are cached in this process meanwhile; check [context] cache_url and the server, or leave it empty."


class RedisEntryStore:
    """Entries in Redis; an `graphctx.context.cache.EntryStore`. It connects on first use.

    Args:
        url: ``redis://[user:password@]host:port/database``, ``rediss://`` or ``unix://``.
        most: questions of a bucket; beyond, any one goes.
        seconds: from the last use of an entry until it expires.

    Every method raises `BackendUnavailable` where the server cannot be used.
    """

    def __init__(self, url: str, most: int, seconds: float) -> None:
        self._url = url
        self._most = most
        self._seconds = max(1, round(seconds))
        self._lock = threading.Lock()
        self._client: Redis | None = None

    def load(self, bucket: str, question: str) -> bytes | None:
        """Return an entry, and renew it and the questions of its bucket."""

        def work(client: Any) -> bytes | None:
            pipe = client.pipeline(transaction=False)
            pipe.getex(_entry(bucket, question), ex=self._seconds)
            pipe.expire(PREFIX + bucket, self._seconds)
            found: bytes | None = pipe.execute()[0]
            return found

        return self._run(work)

    def nearest(self, bucket: str, vector: npt.NDArray[np.float32], count: int) -> list[tuple[str, float]]:
        """Return the nearest questions and their cosines; some may have expired."""
        near = PREFIX + bucket, "FP32", vector_blob(vector), "WITHSCORES", "COUNT", count, "NOTHREAD"

        def work(client: Any) -> list[tuple[str, float]]:
            found = client.execute_command("VSIM", *near)
            pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
            return [(each.decode(), 2 * float(score) - 1) for each, score in pairs]  # a score is in 0..1

        return self._run(work)

    def save(self, bucket: str, question: str, vector: npt.NDArray[np.float32], entry: bytes) -> None:
        """Keep an entry."""

        def work(client: Any) -> None:
            questions = PREFIX + bucket
            pipe = client.pipeline(transaction=False)
            pipe.set(_entry(bucket, question), entry, ex=self._seconds)
            pipe.execute_command("VADD", questions, "FP32", vector_blob(vector), question, "NOQUANT")
            pipe.expire(questions, self._seconds)
            pipe.execute_command("VCARD", questions)
            if int(pipe.execute()[-1]) > self._most:
                drawn = client.execute_command("VRANDMEMBER", questions, 2)
                gone = next((one.decode() for one in drawn if one.decode() != question), question)
                client.execute_command("VREM", questions, gone)
                client.delete(_entry(bucket, gone))

        self._run(work)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _run(self, work: Callable[[Any], _Result]) -> _Result:
        return answered(self._url, _USE, _REMEDY, lambda: work(self._connected()))

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = connect(self._url, TIMEOUT_SECONDS, _USE, _REMEDY)
            return self._client


def _entry(bucket: str, question: str) -> str:
    return f"{PREFIX}{bucket}:{hashlib.sha256(question.encode()).hexdigest()[:32]}"
