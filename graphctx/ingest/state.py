"""The parts of an index in the making, and the context in which steps make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from graphctx.ingest.changes import Changes
from graphctx.ingest.communities import CommunityEvidence, Summariser
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import Quantised
from graphctx.ingest.link import Linked
from graphctx.ingest.report import StepName
from graphctx.ingest.resolve import Resolution
from graphctx.model.knowledge import Community, CommunitySummary, Extraction
from graphctx.nlp.base import Embedder, Extractor, Vectors
from graphctx.nlp.llm.asking import LlmReport
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo
from graphctx.store.config import KbConfig
from graphctx.store.manifest import Manifest, Versions
from graphctx.store.publish import SnapshotContent


class State(TypedDict, total=False):
    """What the steps have made so far; the comment names the step that adds a part."""

    changes: Changes  # read
    corpus: Corpus  # split
    extractions: Sequence[Extraction]  # extract: one for each document, in row order
    resolution: Resolution  # resolve
    linked: Linked  # link
    vectors: Mapping[str, Vectors]  # embed: units and entities; summarise: communities
    sentence_vectors: Quantised  # embed
    tables: Mapping[str, pa.Table]  # relate: all but communities; write: communities
    communities: Sequence[Community]  # cluster
    community_evidence: CommunityEvidence  # summarise
    summaries: Sequence[CommunitySummary]  # summarise, phrase: one for each community
    phrasing: LlmReport  # phrase
    content: SnapshotContent  # write
    manifest: Manifest  # publish


@dataclass(frozen=True, slots=True)
class Context:
    """What every step may use.

    Attributes:
        kb_dir: the knowledge base; ``kb.toml`` exists.
        config: ``kb.toml`` as it was when the ingest began.
        paths: files and folders to ingest.
        settings: of the ``[ingest]`` group.
        prune_missing: drop documents whose file is missing from the ingested folders.
        embedder, extractor: the models.
        summariser: a language model that phrases summaries, if one is set.
        memo: results of earlier ingests.
        versions: of everything that shapes an index.
        progress: called with the count done, the total (0 if unknown) and the unit that is counted.
    """

    kb_dir: Path
    config: KbConfig
    paths: Sequence[Path]
    settings: IngestSettings
    prune_missing: bool
    embedder: Embedder
    extractor: Extractor
    summariser: Summariser | None
    memo: Memo
    versions: Versions
    progress: Callable[[int, int, str], None] = lambda done, total, unit: None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an ingest.

    Attributes:
        name: of the step, in progress and reports.
        run: takes the state and the context, and returns the parts that it adds or replaces.
        applies: whether an ingest in this context has the step.
    """

    name: StepName
    run: Callable[[State, Context], State]
    applies: Callable[[Context], bool] = lambda context: True


class DocumentsRefused(Exception):
    """Some documents exceed a limit of time or memory. The runner removes them and continues without them.

    Args:
        reasons: why, by URI.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(", ".join(reasons))
        self.reasons = reasons
