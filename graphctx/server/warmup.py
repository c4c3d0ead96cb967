"""Opening the knowledge base in the background, so that the server answers from its first second.

Listing tools needs no model and no table. A call that comes before the warm-up is done waits for it; one that
failed is tried again by the next call, since the cause (no index yet, a lock) may be gone by then.
"""

from __future__ import annotations

import contextvars
import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.model.budgets import CountTokens
from graphctx.model.interrupt import checkpoint

if TYPE_CHECKING:
    from graphctx.layer_source.source import LayerSource
    from graphctx.retrieve.searcher import Searcher

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
"""How often a call that waits for another one to open the engine looks whether anybody waits for it still."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What calls run on.

    Attributes:
        searcher: pins the published snapshot.
        warm: loads models and opens tables.
        count: estimates tokens.
        layers: the layers of AGENTS.db, if there are any.
        cursor_key: signs cursors, unless the settings name another key.
    """

    searcher: Callable[[], Searcher]
    warm: Callable[[], None]
    count: CountTokens
    layers: LayerSource | None = None
    cursor_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)


class Warmup:
    """An engine that is opened once, by whoever comes first.

    Args:
        open_engine: opens it; may take seconds, may raise the typed errors.
    """

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open = open_engine
        self._lock = threading.Lock()
        self._engine: Engine | None = None

    def start(self) -> None:
        """Begin to open and warm the engine in a background thread."""
        threading.Thread(target=self._warm, name="graphctx-warmup", daemon=True).start()

    def opened(self) -> Engine | None:
        """The engine if it is open; else begin to open it, unless somebody does, and do not wait."""
        if self._engine is None and not self._lock.locked():
            self.start()
        return self._engine

    def get(self) -> Engine:
        """The engine; blocks until it is open.

        Whoever opens it does so to the end, even if its own call is given up meanwhile: others wait for it.

        Raises:
            GraphctxError: what opening raised.
        """
        while self._engine is None:
            if self._lock.acquire(timeout=_POLL_SECONDS):
                try:
                    if self._engine is None:
                        self._engine = contextvars.Context().run(self._opened)
                finally:
                    self._lock.release()
            checkpoint()
        return self._engine

    def _opened(self) -> Engine:
        engine = self._open()
        engine.warm()
        engine.count("warm")
        return engine

    def _warm(self) -> None:
        try:
            self.get()
        except Exception as error:  # whatever it is, the next call meets it again and reports it
            log.warning("the knowledge base is not ready yet: %s", error)


def open_engine(kb_path: str, layers: Path | None = None) -> Engine:
    """Open the knowledge base at a path, with the WordPiece tokenizer's counts as the estimate of tokens.

    Args:
        kb_path: its folder; where it holds no knowledge base, layers are served alone.
        layers: the folder of the layers beside it.
    """
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.store.config import is_absent
    from graphctx.store.cursor_key import cursor_key

    if layers is not None and is_absent(Path(kb_path)):
        return _open_layers(layers)
    kb = KnowledgeBase.open(kb_path, layers=layers)
    return Engine(kb.searcher, kb.warm, kb.tokens.count, kb.layers, cursor_key(kb.path))


def _open_layers(folder: Path) -> Engine:
    """Serve layers without documents; the project is named after their folder."""
    from graphctx.layer_source.source import LayerSource
    from graphctx.layers import LayerStack
    from graphctx.model.scope import Boundary
    from graphctx.nlp.tokens import AnswerCounter
    from graphctx.retrieve.searcher import Searcher
    from graphctx.settings import load_settings

    settings, counter = load_settings(), AnswerCounter()
    source = LayerSource(LayerStack(folder), counter)
    boundary = Boundary(folder.resolve().name or "layers", settings.server.environment)
    searcher = Searcher(None, boundary, counter, settings.retrieve, layers=source)
    return Engine(lambda: searcher, lambda: None, counter.count, source)
