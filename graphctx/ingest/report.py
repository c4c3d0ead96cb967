"""What an ingest tells: progress while it runs, a report when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from graphctx.store.levels import CommunityLevel

Step = Literal[
    "read", "split", "extract", "resolve", "embed", "link", "relate", "cluster", "summarise", "write", "publish"
]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is. ``total`` is 0 where it is not known; ``unit`` says what is counted."""

    step: Step
    done: int
    total: int
    unit: str


OnProgress = Callable[[Progress], None]


class SkippedFile(BaseModel):
    """Something that was not read, and why."""

    model_config = ConfigDict(frozen=True)

    uri: str
    reason: str


class IngestReport(BaseModel):
    """The outcome of an ingest.

    Counts are those of the whole knowledge base after it; ``added``, ``replaced``, ``removed`` and ``unchanged``
    count documents of this ingest. ``no_longer_found`` lists documents whose file has gone from a folder that was
    ingested now; they stay until they are pruned. ``seconds`` is wall-clock time by step.
    """

    model_config = ConfigDict(frozen=True)

    project_id: str
    snapshot_id: str
    content_hash: str
    changed: bool = Field(description="Whether another snapshot was published.")
    documents: int
    added: int
    replaced: int
    removed: int
    unchanged: int
    sections: int
    units: int
    sentences: int
    words: int
    entities: int
    mentions: int
    facts: int
    edges: int
    communities: int
    community_levels: list[CommunityLevel] = Field(default_factory=list, description="The hierarchy of communities.")
    not_phrased: int = Field(0, description="Summaries left extractive because the language model failed.")
    seconds: dict[str, float]
    total_seconds: float
    skipped: list[SkippedFile]
    no_longer_found: list[str]
    notes: list[str] = Field(default_factory=list, description="What else a person should know.")
