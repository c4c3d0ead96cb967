"""The process of a server: what it logs, and how it ends."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from collections.abc import Callable
from typing import NoReturn

from graphctx.errors import InvalidArgument

LEVEL_VARIABLE = "GRAPHCTX_LOG"
LEVELS = ("debug", "info", "warning", "error")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PlainFormatter(logging.Formatter):
    """Formats a record as one line, in which control characters are escaped; a traceback follows it, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and the lines of its traceback."""
        line = escaped(f"{record.levelname} {record.getMessage().strip()}")
        if not record.exc_info:
            return line
        trace = (escaped(part) for part in self.formatException(record.exc_info).splitlines())
        return "\n    ".join([line, *trace])


def escaped(text: str) -> str:
    """Return a text without characters that end a line, steer a terminal or turn the direction of writing."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def configure_log(keep: Callable[[logging.LogRecord], bool] = lambda record: True) -> None:
    """Send the log to standard error, from the level that ``GRAPHCTX_LOG`` names; ``warning`` by default.

    Libraries log warnings and errors only, unless the level is ``debug``: below that they name sessions and values.

    Args:
        keep: whether a record is logged at all.

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


def leave() -> NoReturn:
    """End the process at once, with code 0.

    The interpreter's own end would wait for threads that read standard input or work on calls which were given up,
    and it aborts where a thread is inside a native library: models may still be loading.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)
