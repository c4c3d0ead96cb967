"""Layers that are served without a knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.server.warmup import Engine

if TYPE_CHECKING:
    from graphctx.published import View


class NoDocuments:
    """A source that holds no document; a ``graphctx.server.backend.Source``."""

    def __init__(self, project_id: str) -> None:
        self._project_id = project_id

    def pinned(self) -> View:
        """A snapshot before the first ingest."""
        from graphctx.published import View
        from graphctx.settings import load_settings

        return View(self._project_id, load_settings().server.environment, None)

    def warm(self) -> None:
        """There is nothing to load."""


def layers_alone(folder: Path) -> Engine:
    """What calls run on where there are layers and no knowledge base; the project is called as the folder is."""
    from graphctx.layers import LayerStack
    from graphctx.nlp.tokens import AnswerCounter
    from graphctx.retrieve.layered.source import LayerSource

    counter = AnswerCounter()
    return Engine(
        NoDocuments(folder.resolve().name or "layers"), counter.count, LayerSource(LayerStack(folder), counter)
    )
