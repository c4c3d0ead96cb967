"""Memories in fresh folders, with the shipped models loaded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphctx.memory import Memory, MemoryScope, Moment
from graphctx.nlp.embedders import make_embedder
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import load_settings

START = datetime(2026, 1, 1, tzinfo=UTC)
HERE = MemoryScope(project="apollo", session="monday")
EMBEDDER, EXTRACTOR = make_embedder(threads=1), SpacyExtractor()


def on_day(days: float, iteration: int = 0) -> Moment:
    """A moment some days after the first."""
    return Moment(START + timedelta(days=days), iteration)


class Clock:
    """A clock that goes on by a second with each look."""

    def __init__(self, start: datetime = START) -> None:
        self.now = start

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


OpenMemory = Callable[..., Memory]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[OpenMemory]:
    """Open a memory: ``open_memory("name", embedder=…, storage={"max_size_mb": 1})``; groups are settings."""
    opened: list[Memory] = []

    def make(name: str = "memory", embedder: Any = EMBEDDER, **groups: Any) -> Memory:
        settings = load_settings({"memory": groups}).memory
        opened.append(Memory(tmp_path / name, settings, embedder=embedder, extractor=EXTRACTOR))
        return opened[-1]

    yield make
    for memory in opened:
        memory.close()
