"""How the value of a measure is read: as a share or as a size, and whether more of it is better."""

from __future__ import annotations

import re

_WORD = re.compile(r"[a-z]+")
_SIZES = frozenset({"bytes", "tokens", "calls", "quotes", "rated", "descended", "dropped", "ms", "milliseconds"})
_LESS_IS_BETTER = frozenset({"truncated"})
_NEITHER = frozenset({"confidence", "empty"})


def is_share(measure: str) -> bool:
    """Whether values lie in 0..1 (and are shown in percent), rather than being counts or times."""
    return not _SIZES & _words(measure)


def direction(measure: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither is."""
    words = _words(measure)
    if words & _NEITHER:
        return 0
    return -1 if words & (_SIZES | _LESS_IS_BETTER) else 1


def shown(measure: str, value: float, *, signed: bool = False) -> str:
    """A value for people: shares in percent and small sizes with one decimal, others with none."""
    number, digits = (value * 100, 1) if is_share(measure) else (value, 1 if abs(value) < 100 else 0)
    sign = "+" if signed else ""
    text = f"{number:{sign},.{digits}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else f"{0:.{digits}f}"


def _words(measure: str) -> frozenset[str]:
    return frozenset(_WORD.findall(measure.lower()))
