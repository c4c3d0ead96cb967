"""A knowledge base that takes its time, and tells when work in it began and was stopped."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from graphctx.errors import TimedOut
from graphctx.model.catalog import Names, WholeDocument
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Scope, SearchInput
from graphctx.server.backend import Found

from .library import Library


@dataclass
class SlowLibrary(Library):
    """Searches for "slow" until it is released or stopped; for "deaf" until it is released, whoever calls."""

    began: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)
    patience: threading.Event | None = None
    stopped_at: float = 0.0

    def whole_document(self, name: str, scope: Scope) -> WholeDocument:
        self._wait()
        return super().whole_document(name, scope)

    def entity_names(self, text: str, scope: Scope, limit: int) -> Names:
        self._wait()
        return super().entity_names(text, scope, limit)

    def _wait(self) -> None:
        if self.patience is not None:
            self.patience.wait(30)

    def find(self, request: SearchInput) -> Found:
        if request.query == "deaf":
            self.began.set()
            self.released.wait(30)
        elif request.query == "slow":
            self.began.set()
            try:
                while not self.released.wait(0.005):
                    checkpoint()
            except TimedOut:
                self.stopped_at = time.perf_counter()
                self.stopped.set()
                raise
        return super().find(request)
