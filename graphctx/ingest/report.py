"""Progress while an ingest runs, its report, and the plan of a dry run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from graphctx.nlp.llm.asking import Estimate, LlmReport
from graphctx.store.communities import CommunityLevel

StepName = Literal[
    "read",
    "split",
    "extract",
    "resolve",
    "link",
    "embed",
    "relate",
    "cluster",
    "summarise",
    "phrase",
    "write",
    "publish",
]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is. ``total`` is 0 if unknown; ``unit`` names what is counted."""

    step: StepName
    done: int
    total: int
    unit: str


OnProgress = Callable[[Progress], None]


class SkippedFile(BaseModel):
    """A file or row that was not read, and why."""

    model_config = ConfigDict(frozen=True)

    uri: str
    reason: str


class PhrasingReport(BaseModel):
    """What a language model did for the summaries of communities. Tokens and cost are of what was asked now."""

    model_config = ConfigDict(frozen=True)

    model: str
    asked: int = Field(description="Texts that the model was asked for; communities of the same text count once.")
    from_memo: int = Field(description="Texts that an earlier ingest got.")
    answered: int = Field(description="Of those asked, how many gave cited sentences.")
    dropped_sentences: int = Field(description="Sentences of answers that cite nothing, or claim more than they cite.")
    input_tokens: int
    output_tokens: int
    cost: float = Field(description="At the prices of the settings; 0 where none is set.")

    @classmethod
    def of(cls, report: LlmReport) -> PhrasingReport:
        """Take the figures of a report."""
        return cls(**{name: getattr(report, name) for name in cls.model_fields})


class PhrasingEstimate(BaseModel):
    """What phrasing the summaries would ask of the language model. Output tokens and cost are upper bounds."""

    model_config = ConfigDict(frozen=True)

    model: str
    calls: int
    from_memo: int
    input_tokens: int
    output_tokens: int
    cost: float = Field(description="At the prices of the settings; 0 where none is set.")
    sentence: str = Field(description="The estimate for a person.")

    @classmethod
    def of(cls, estimate: Estimate) -> PhrasingEstimate:
        """Take the figures of an estimate."""
        figures = {name: getattr(estimate, name) for name in cls.model_fields if name != "sentence"}
        return cls(**figures, sentence=estimate.sentence())


class IngestEstimate(BaseModel):
    """What an ingest would take, from the speed of an earlier one."""

    model_config = ConfigDict(frozen=True)

    words: int = Field(description="Words of added and replaced documents.")
    seconds: float
    disk_bytes: int = Field(description="Of the new snapshot.")
    measured_words: int = Field(description="Fresh words of the ingest that was measured.")


class IngestPlan(BaseModel):
    """What an ingest would do. ``phrasing`` is set if a language model is configured and an index would be made."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    snapshot_id: str | None = Field(description="The published snapshot, which stays.")
    builds: bool = Field(description="Whether an index would be made: something differs, or other code made the last.")
    documents: int = Field(description="Documents after it.")
    added: list[str] = Field(description="URIs, as in replaced and removed.")
    replaced: list[str]
    removed: list[str]
    renamed: dict[str, str] = Field({}, description="The earlier URI of each document whose file was only renamed.")
    unchanged: int
    skipped: list[SkippedFile]
    no_longer_found: list[str] = Field(description="Kept, as long as the ingest does not prune.")
    notes: list[str] = Field(default_factory=list)
    estimate: IngestEstimate | None = Field(None, description="Set if an index would be made.")
    phrasing: PhrasingEstimate | None = None


class IngestReport(BaseModel):
    """The outcome of an ingest.

    Counts are those of the whole knowledge base after it; ``added``, ``replaced``, ``removed`` and ``unchanged``
    count documents of this ingest. ``no_longer_found`` lists documents whose file is missing from a folder that
    was ingested now; they stay until they are pruned. ``seconds`` is wall-clock time by step.
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
    renamed: int = Field(0, description="Documents whose file has another name and the same text; they keep their ids.")
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
    phrasing: PhrasingReport | None = Field(None, description="What a language model did, where one is set.")
    not_phrased: int = Field(0, description="Summaries left extractive because the language model failed.")
    seconds: dict[str, float]
    total_seconds: float
    skipped: list[SkippedFile]
    no_longer_found: list[str]
    notes: list[str] = Field(default_factory=list, description="Other information for a person.")
