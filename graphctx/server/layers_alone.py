"""Layers that are served without a knowledge base."""

from __future__ import annotations

from pathlib import Path

from graphctx.server.warmup import Engine


def layers_alone(folder: Path) -> Engine:
    """Return what calls run on where there are layers and no documents; the project is named after the folder."""
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
