"""Put patterns to the test in a process that the kernel ends when one of them takes too long.

Arguments, as JSON: ``first``, ``step`` (of the patterns), ``attacks``, ``worst``, ``size``, ``seconds``, ``short``.
Output: the number of patterns and the calls that are not known; then a line of JSON before every pattern and attack.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

from patterns.attack import Attacks, slowest, text_of, use
from patterns.collect import Pattern, collect

SMALL = 1000
_OF_REGEX = {r"\p{Mn}": "\u0301", r"\p{Cf}": "\u00ad", r"\p{Co}": "\ue000", r"\X": "."}


def main(first: int, step: int, attacks: int, worst: int, size: int, seconds: float, short: dict[str, int]) -> None:
    """Put every ``step``-th pattern from ``first`` on to the test."""
    patterns, unknown = collect()
    tell({"patterns": len(patterns), "unknown": unknown})
    for number in range(first, len(patterns), step):
        pattern = patterns[number]
        tell({"number": number, "pattern": str(pattern)})
        longest = short.get(f"{pattern.file}:{pattern.name}") or short.get(pattern.file) or size
        made = Attacks(*_structure(pattern), seed=number).all()[:attacks]
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        for attack in slowest(pattern.compiled, pattern.methods, made, min(SMALL, longest), worst):
            tell({"number": number, "pattern": str(pattern), "attack": attack})
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            use(pattern.compiled, pattern.methods, text_of(attack, longest))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def tell(what: dict[str, Any]) -> None:
    """Write one line; the last one says what a process died of."""
    print(json.dumps(what), flush=True)


def _structure(pattern: Pattern) -> tuple[str, int]:
    """The source of a pattern for `re`'s parser; of what only `regex` knows, its sets alone."""
    source, flags = pattern.compiled.pattern, pattern.compiled.flags
    if isinstance(source, bytes):
        return source.decode("latin-1"), flags
    if type(pattern.compiled).__module__ == "re":
        return source, flags
    for theirs, ours in _OF_REGEX.items():
        source = source.replace(theirs, ours)
    return source, 0


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
