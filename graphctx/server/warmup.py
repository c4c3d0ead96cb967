"""Warm-up: opening the knowledge base in the background, so that the server answers ``tools/list`` at once.

A call that comes before the warm-up is done waits for it. After a failure the next call tries again, since the cause
(no index yet, a lock) may be gone by then.
"""

from __future__ import annotations

import contextvars
import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import GraphctxError
from graphctx.model.budgets import CountTokens
from graphctx.model.interrupt import checkpoint

if TYPE_CHECKING:
    from graphctx.context import ContextCache
    from graphctx.ingest.report import IngestReport
    from graphctx.layer_source.source import LayerSource
    from graphctx.memory import Memory, NameResolver
    from graphctx.retrieve.searcher import Searcher
    from graphctx.server.config import ServerConfig

log = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
"""Seconds between the checkpoints of a call that waits for another one to open the knowledge base."""


@dataclass(frozen=True, slots=True)
class OpenKnowledgeBase:
    """An open knowledge base, or layers or a memory alone, as tool calls use it.

    Attributes:
        searcher: pins the published snapshot.
        warm: loads models and opens tables.
        count: estimates the tokens of a text.
        layers: the layers of AGENTS.db, if there are any.
        memory: opens the memory, if one is served; it may raise typed errors without harm to the other tools.
        cursor_key: signs cursors, unless the settings name another key.
        ingest: reads documents into the knowledge base, as `KnowledgeBase.ingest`.
        context_cache: keeps what the documents hold for the questions of composed contexts.
        outdated: whether it has to be opened again: a knowledge base was published where there was none.
    """

    searcher: Callable[[], Searcher]
    warm: Callable[[], None]
    count: CountTokens
    layers: LayerSource | None = None
    memory: Callable[[], Memory] | None = None
    cursor_key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    ingest: Callable[..., IngestReport] | None = None
    context_cache: ContextCache | None = None
    outdated: Callable[[], bool] = lambda: False


class Warmup:
    """A knowledge base that is opened by the first thread that needs it, and again once it is outdated.

    Args:
        open_kb: opens the knowledge base; may take seconds, and may raise typed errors.
    """

    def __init__(self, open_kb: Callable[[], OpenKnowledgeBase]) -> None:
        self._open = open_kb
        self._lock = threading.Lock()
        self._kb: OpenKnowledgeBase | None = None

    def start(self) -> None:
        """Open and warm the knowledge base in a background thread."""
        threading.Thread(target=self._warm, name="graphctx-warmup", daemon=True).start()

    def get_nowait(self) -> OpenKnowledgeBase | None:
        """Return the knowledge base if it is open; else start to open it, unless another thread does. Never blocks."""
        kb = self._current()
        if kb is None and not self._lock.locked():
            self.start()
        return kb

    def get(self) -> OpenKnowledgeBase:
        """Return the knowledge base; blocks until it is open.

        The thread that opens it goes on to the end even if its own call is abandoned, as others wait for it.

        Raises:
            GraphctxError: opening failed.
        """
        while (kb := self._current()) is None:
            if self._lock.acquire(timeout=_POLL_SECONDS):
                try:
                    if self._current() is None:
                        self._kb = contextvars.Context().run(self._opened)
                finally:
                    self._lock.release()
            checkpoint()
        return kb

    def _current(self) -> OpenKnowledgeBase | None:
        kb = self._kb
        return None if kb is None or kb.outdated() else kb

    def _opened(self) -> OpenKnowledgeBase:
        kb = self._open()
        kb.warm()
        kb.count("warm")
        return kb

    def _warm(self) -> None:
        try:
            self.get()
        except Exception as error:  # the next call tries again and reports it
            log.warning("the knowledge base cannot be opened yet: %s", error)


def open_kb(kb_path: str, layers: Path | None = None, config: ServerConfig | None = None) -> OpenKnowledgeBase:
    """Open the knowledge base at a path, or layers and a memory alone where there is none.

    Args:
        kb_path: the knowledge base's folder, or its address on an object store.
        layers: the folder of the layers beside it.
        config: names the folder of the memory, if one is served.

    Raises:
        BackendUnavailable: there is no knowledge base, no layer and no memory, or it cannot be read.
    """
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.server.entities import name_resolver
    from graphctx.store.config import is_absent
    from graphctx.store.cursor_key import cursor_key
    from graphctx.store.replica import local_folder

    memory = config.memory if config else None
    folder = local_folder(kb_path)
    if is_absent(folder) and (layers or memory):
        return _open_without_documents(folder, layers, memory, config)
    kb = KnowledgeBase.open(folder, layers=layers)
    return OpenKnowledgeBase(
        kb.searcher,
        kb.warm,
        kb.tokens.count,
        kb.layers,
        _memory_of(memory, config, name_resolver(kb.searcher)),
        cursor_key(kb.path),
        kb.ingest,
        kb.context_cache if config is not None and "context" in config.toolsets else None,
    )


def _open_without_documents(
    kb_dir: Path, layers: Path | None, memory: Path | None, config: ServerConfig | None
) -> OpenKnowledgeBase:
    """Open layers and a memory until documents are published; the project has the name of their folder."""
    from graphctx.layer_source.source import LayerSource
    from graphctx.layers import LayerStack
    from graphctx.model.scope import Boundary
    from graphctx.nlp.tokens import AnswerCounter, encodable
    from graphctx.retrieve.searcher import Searcher
    from graphctx.settings import load_settings, memory_project
    from graphctx.store.config import is_absent
    from graphctx.store.snapshot import current_or_none

    settings, counter = load_settings(), AnswerCounter()
    source = LayerSource(LayerStack(layers), counter) if layers else None
    project = encodable(layers.resolve().name) or "layers" if layers else ""
    if config and memory and not layers:
        project = memory_project(config.memory_settings or settings.memory, memory)
    searcher = Searcher(None, Boundary(project, settings.server.environment), counter, settings.retrieve, layers=source)
    opened = _memory_of(memory, config)

    def warm() -> None:
        if opened is not None:
            with suppress(GraphctxError):  # calls report it
                opened().load()

    return OpenKnowledgeBase(
        lambda: searcher,
        warm,
        counter.count,
        source,
        opened,
        outdated=lambda: not is_absent(kb_dir) and current_or_none(kb_dir) is not None,
    )


def _memory_of(
    folder: Path | None, config: ServerConfig | None, resolver: NameResolver | None = None
) -> Callable[[], Memory] | None:
    """Return a function that opens the memory once, and tries again after a failure."""
    if folder is None or config is None:
        return None
    lock = threading.Lock()

    @cache
    def opened() -> Memory:
        from graphctx.memory import Memory

        llm_seconds = config.call_timeout / 2  # so that an extractive summary still arrives where the model is slow
        return Memory(folder, config.memory_settings, resolver=resolver, llm=config.llm, llm_seconds=llm_seconds)

    def memory() -> Memory:
        with lock:
            return opened()

    return memory
