"""Connections to Redis 8, whose core has vector sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable

if TYPE_CHECKING:
    from redis import Redis

_Result = TypeVar("_Result")

MIN_VERSION = 8
"""The first version of Redis whose core has vector sets."""


def connect(url: str, timeout: float, use: str, remedy: str) -> Redis:
    """Connect to a server.

    Args:
        url: ``redis://[user:password@]host:port/database``, ``rediss://`` or ``unix://``.
        timeout: seconds to connect, and for each answer.
        use: what it is for, the subject of an error.
        remedy: a sentence for errors: what happens without Redis, or what to do.

    Raises:
        BackendUnavailable: redis-py is not installed, nothing answers, or the server is older than `MIN_VERSION`.
    """

    def work() -> Redis:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        client = Redis.from_url(
            url,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
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
                f"Redis at {place_of(url)} has version {version}, and {use} needs vector sets, which version "
                f"{MIN_VERSION} has. {remedy}",
                place=place_of(url),
                version=version,
            )
        return client

    return answered(url, use, remedy, work)


def answered(url: str, use: str, remedy: str, work: Callable[[], _Result]) -> _Result:
    """Return what is done on Redis, and every failure of it as an error of graphctx.

    Raises:
        BackendUnavailable: redis-py is not installed, or the server does not answer or refuses.
    """
    try:
        import redis
    except ImportError as error:
        raise BackendUnavailable(
            f"redis-py is not installed, and {use} needs it: pip install 'graphctx[redis]'. {remedy}", package="redis"
        ) from error
    try:
        return work()
    except (redis.RedisError, OSError, ValueError) as error:
        why = str(error)[:200].rstrip(".") or type(error).__name__
        raise BackendUnavailable(
            f"Redis at {place_of(url)} cannot be used for {use}: {why}. {remedy}", place=place_of(url)
        ) from error


def place_of(url: str) -> str:
    """Return an address without its password, whatever its form is."""
    url = url.rpartition("@")[2]
    parts = urlsplit(url if "://" in url else f"//{url}")
    return parts.netloc or parts.path


def vector_blob(vector: npt.NDArray[np.floating[Any]]) -> bytes:
    """Return a vector as ``VADD`` and ``VSIM`` read it with ``FP32``."""
    return vector.astype("<f4").tobytes()
