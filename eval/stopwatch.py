"""Times of the stages inside a call, without a line for it in the code that is measured.

Each stage is one or more functions. While a `Stopwatch` is installed, every name in graphctx that is bound to one of
them is bound to a wrapper that takes the time; a stage inside another is taken off the outer one, so that the stages of
a call add up to the call.
"""

from __future__ import annotations

import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


class Stopwatch:
    """Own times of stages, in seconds, added up until they are taken.

    Args:
        stages: for each stage the functions whose time it is: ``module:function`` or ``module:Class.method``. One that
            does not exist is an error: the table would be wrong without a word.
        clock: gives seconds.
    """

    def __init__(self, stages: Mapping[str, Sequence[str]], clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._stages = stages
        self._own = dict.fromkeys(stages, 0.0)
        self._inner: list[float] = []

    def take(self) -> dict[str, float]:
        """The seconds of each stage since the last call of this, and start again from 0."""
        taken, self._own = self._own, dict.fromkeys(self._stages, 0.0)
        return taken

    @contextmanager
    def installed(self) -> Iterator[Stopwatch]:
        """Take times in this block."""
        undo: list[Callable[[], None]] = []
        try:
            for stage, places in self._stages.items():
                for place in places:
                    undo += self._wrap(stage, place)
            yield self
        finally:
            for restore in reversed(undo):
                restore()

    def _wrap(self, stage: str, place: str) -> list[Callable[[], None]]:
        name, _, path = place.partition(":")
        *owners, attribute = path.split(".")
        owner: Any = functools.reduce(getattr, owners, importlib.import_module(name))
        original = getattr(owner, attribute)
        timed = self._timed(stage, original)
        if owners:
            holders = [owner]
        else:
            modules = [module for key, module in sorted(sys.modules.items()) if key.startswith("graphctx.")]
            holders = [module for module in modules if getattr(module, attribute, None) is original]
        for holder in holders:
            setattr(holder, attribute, timed)
        return [functools.partial(setattr, holder, attribute, original) for holder in holders]

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            started = self._clock()
            try:
                return work(*args, **kwargs)
            finally:
                whole = self._clock() - started
                self._own[stage] += whole - self._inner.pop()
                if self._inner:
                    self._inner[-1] += whole

        return timed
