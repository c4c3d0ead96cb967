"""Entries of the context cache in Redis 8, which several processes share: vector sets hold the questions.

Keys, each with an expiry: ``graphctx:context:BUCKET`` is a vector set with a question for an element, and
``graphctx:context:BUCKET:DIGEST`` the entry of a question.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable

if TYPE_CHECKING:
    from redis import Redis

_Result = TypeVar("_Result")

PREFIX = "graphctx:context:"
MIN_VERSION = 8
"""The first version of Redis whose core has vector sets."""

TIMEOUT_SECONDS = 0.25
"""To connect, and for each answer: an entry is worth no more waiting than it saves."""


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
        """Return an entry, and renew it."""

        def work(client: Any) -> bytes | None:
            found: bytes | None = client.getex(_entry(bucket, question), ex=self._seconds)
            return found

        return self._run(work)

    def find(
        self, bucket: str, question: str, vector: Callable[[], npt.NDArray[np.float32]], count: int
    ) -> tuple[bytes | None, list[tuple[str, float]]]:
        """Return an entry, or the nearest questions, of which some may have expired. One round trip."""
        own = _blob(vector())

        def work(client: Any) -> tuple[bytes | None, list[tuple[str, float]]]:
            pipe = client.pipeline(transaction=False)
            pipe.getex(_entry(bucket, question), ex=self._seconds)
            pipe.execute_command("VSIM", PREFIX + bucket, "FP32", own, "WITHSCORES", "COUNT", count, "NOTHREAD")
            pipe.expire(PREFIX + bucket, self._seconds)
            entry, found, _ = pipe.execute()
            pairs = found.items() if isinstance(found, dict) else zip(found[::2], found[1::2], strict=True)
            return entry, [(each.decode(), 2 * float(score) - 1) for each, score in pairs]  # a score is in 0..1

        return self._run(work)

    def save(self, bucket: str, question: str, vector: npt.NDArray[np.float32], entry: bytes) -> None:
        """Keep an entry."""

        def work(client: Any) -> None:
            questions = PREFIX + bucket
            pipe = client.pipeline(transaction=False)
            pipe.set(_entry(bucket, question), entry, ex=self._seconds)
            pipe.execute_command("VADD", questions, "FP32", _blob(vector), question, "NOQUANT")
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
        try:
            import redis
        except ImportError as error:
            raise BackendUnavailable(
                "The context cache is set to Redis, but redis-py is not installed: pip install 'graphctx[redis]'. "
                "Contexts are cached in this process.",
                package="redis",
            ) from error
        try:
            return work(self._connected())
        except (redis.RedisError, OSError, ValueError) as error:
            why = str(error)[:200].rstrip(".") or type(error).__name__
            raise BackendUnavailable(
                f"Redis at {self._place} cannot be used: {why}. Contexts are cached in this process until it answers; "
                "check [context] cache_url and the server.",
                place=self._place,
            ) from error

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                from redis import Redis
                from redis.backoff import NoBackoff
                from redis.retry import Retry

                client = Redis.from_url(
                    self._url,
                    socket_timeout=TIMEOUT_SECONDS,
                    socket_connect_timeout=TIMEOUT_SECONDS,
                    retry=Retry(NoBackoff(), 1),  # a connection may have been closed by a restart
                )
                try:
                    version = str(client.info("server").get("redis_version", "0"))
                except BaseException:
                    client.close()
                    raise
                if int(version.partition(".")[0]) < MIN_VERSION:
                    client.close()
                    raise BackendUnavailable(
                        f"Redis at {self._place} has version {version}, and the context cache needs vector sets, which "
                        f"version {MIN_VERSION} has. Contexts are cached in this process; update the server, or leave "
                        "[context] cache_url empty.",
                        place=self._place,
                        version=version,
                    )
                self._client = client
            return self._client

    @property
    def _place(self) -> str:
        """The address without a password."""
        parts = urlsplit(self._url)
        return parts.netloc.rpartition("@")[2] or parts.path


def _entry(bucket: str, question: str) -> str:
    return f"{PREFIX}{bucket}:{hashlib.sha256(question.encode()).hexdigest()[:32]}"


def _blob(vector: npt.NDArray[np.float32]) -> bytes:
    return vector.astype("<f4").tobytes()
