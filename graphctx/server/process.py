"""The server's process: its log on standard error, and its end."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn

from graphctx.errors import InvalidArgument

log = logging.getLogger(__name__)

LEVEL_VARIABLE = "GRAPHCTX_LOG"
LEVELS = ("debug", "info", "warning", "error")
MAX_NAME_CHARS = 64
"""Characters of a name in the log of calls."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that end a line, control a terminal or change the direction of writing."""


class PlainFormatter(logging.Formatter):
    """Formats a record as one line with its control characters escaped; a traceback follows it, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and the lines of its traceback."""
        line = _escaped(f"{record.levelname} {record.getMessage().strip()}")
        if not record.exc_info:
            return line
        trace = (_escaped(part) for part in self.formatException(record.exc_info).splitlines())
        return "\n    ".join([line, *trace])


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def configure_log(keep: Callable[[logging.LogRecord], bool] = lambda record: True) -> None:
    """Send the log to standard error, from the level that ``GRAPHCTX_LOG`` names; ``warning`` by default.

    Libraries log warnings and errors only, unless the level is ``debug``: below that they name sessions and values.

    Raises:
        InvalidArgument: the variable names no level.
    """
    named = os.environ.get(LEVEL_VARIABLE) or "warning"
    if named.lower() not in LEVELS:
        raise InvalidArgument(
            f"{LEVEL_VARIABLE} is {named[:60]!r}; use one of {', '.join(LEVELS)}.",
            field=LEVEL_VARIABLE,
            value=named[:60],
            allowed=list(LEVELS),
        )
    level = logging.getLevelNamesMapping()[named.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainFormatter())
    handler.addFilter(keep)
    libraries = level if level == logging.DEBUG else max(level, logging.WARNING)
    logging.basicConfig(level=libraries, handlers=[handler])
    logging.getLogger("graphctx").setLevel(level)


@dataclass(slots=True)
class CallRecord:
    """How a call ended.

    Attributes:
        outcome: ``ok``, the code of an error, ``UNKNOWN_TOOL``, or ``CANCELLED`` where nobody waits for an answer.
        tokens: tokens of the answer, if it counts them.
    """

    outcome: str = "CANCELLED"
    tokens: int | None = None


@contextmanager
def log_call(tool: str, principal: str, client: str | None) -> Iterator[CallRecord]:
    """Log a call at level ``info`` when the block ends, in one line without its arguments and its answer."""
    record, started = CallRecord(), time.perf_counter()
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
    """Quote a name unless it is plain, so that it cannot pass for further fields of the line."""
    short = name[:MAX_NAME_CHARS]
    return short if re.fullmatch(r"[\w.@-]+", short, re.ASCII) else json.dumps(short) if short else "-"


def leave() -> NoReturn:
    """End the process at once, with code 0.

    The interpreter's own exit would wait for threads that read standard input or run abandoned calls, and it aborts
    where a thread is inside a native library, such as a model that still loads.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
