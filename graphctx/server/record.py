"""The log of calls: one line each, with who called what, how long it took and how it ended.

Neither arguments nor answers are in it: questions may be as private as documents.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

log = logging.getLogger(__name__)

MAX_NAME_CHARS = 64


@dataclass(slots=True)
class Record:
    """How a call ended.

    Attributes:
        outcome: ``ok``, the code of an error, ``UNKNOWN_TOOL``, or ``CANCELLED`` where nobody waits for an answer.
        tokens: what the answer weighs; ``None`` where it does not say.
    """

    outcome: str = "CANCELLED"
    tokens: int | None = None


@contextmanager
def recorded(tool: str, principal: str, client: str | None) -> Iterator[Record]:
    """Log a call, at level ``info``, when the block ends.

    Args:
        tool: the tool's name, as far as `MAX_NAME_CHARS`; what the caller said where there is no such tool.
        principal: the owner of the bearer token, or empty.
        client: what the client calls itself.
    """
    record, started = Record(), time.perf_counter()
    try:
        yield record
    finally:
        log.info(
            "call tool=%s who=%s client=%s ms=%.0f tokens=%s outcome=%s",
            _word(tool),
            _word(principal),
            _word(client or ""),
            (time.perf_counter() - started) * 1000,
            "-" if record.tokens is None else record.tokens,
            record.outcome,
        )


def _word(name: str) -> str:
    """A name as one word: in quotes unless it is plain, so that it cannot pass for further fields."""
    short = name[:MAX_NAME_CHARS]
    plain = short.isascii() and short.replace(".", "").replace("_", "").replace("-", "").replace("@", "").isalnum()
    return short if plain else json.dumps(short) if short else "-"
