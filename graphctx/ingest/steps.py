"""The steps of an ingest, in order: documents in, a published snapshot out.

A step takes parts from the `State`, calls functions that know nothing of the state, and returns the parts that it adds.
Another step is a function here, a part of `State` and a line in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, TypeVar

import numpy as np
import pyarrow as pa

from graphctx.ingest.aliases import link_aliases
from graphctx.ingest.boilerplate import boilerplate
from graphctx.ingest.changes import Changes, gather_documents, write_sources
from graphctx.ingest.communities import (
    CommunityEvidence,
    Summariser,
    cluster_entities,
    entity_languages,
    former_ids,
    phrase_summaries,
    read_former,
    summarise_communities,
)
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition
from graphctx.ingest.embed import Quantised, embed_corpus
from graphctx.ingest.extract import Extractions, extract_corpus
from graphctx.ingest.link import Linked, link_corpus
from graphctx.ingest.link_targets import corpus_definitions
from graphctx.ingest.memoised import run_memoised
from graphctx.ingest.read.source import Source
from graphctx.ingest.relate import relate_entities
from graphctx.ingest.report import StepName
from graphctx.ingest.resolve import Resolution, resolve_names
from graphctx.ingest.split import SPLITS, split_by_word_pieces, split_key
from graphctx.ingest.tables import build_tables, communities_table, snapshot_content, variant_of
from graphctx.ingest.workers import DocumentStep, Executor, Refused
from graphctx.model.documents import Document
from graphctx.model.knowledge import Community, CommunitySummary
from graphctx.nlp.base import Embedder, Extractor
from graphctx.nlp.language import language_of
from graphctx.nlp.llm.asking import LlmReport
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo
from graphctx.store.config import KbConfig
from graphctx.store.manifest import Manifest, Versions
from graphctx.store.publish import SnapshotContent, publish

Result = TypeVar("Result")


class State(TypedDict, total=False):
    """What the steps have made so far; the comment names the step that adds a part."""

    changes: Changes  # read
    corpus: Corpus  # split
    boilerplate: frozenset[tuple[str, int]]  # split
    extractions: Extractions  # extract
    definitions: Sequence[Definition]  # resolve
    resolution: Resolution  # resolve
    linked: Linked  # link
    unit_vectors: Quantised  # embed
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
        paths: files, folders and sources to ingest.
        settings: of the ``[ingest]`` group.
        prune_missing: drop documents whose file is missing from the ingested folders.
        embedder, extractor: the models.
        summariser: a language model that phrases summaries, if one is set.
        memo: results of earlier ingests.
        versions: of everything that shapes an index.
        executor: where documents are read, split and extracted from.
        lancedb: write the LanceDB tables.
        progress: called with the count done, the total (0 if unknown) and the unit that is counted.
    """

    kb_dir: Path
    config: KbConfig
    paths: Sequence[str | Path | Source]
    settings: IngestSettings
    prune_missing: bool
    embedder: Embedder
    extractor: Extractor
    summariser: Summariser | None
    memo: Memo
    versions: Versions
    executor: Executor
    lancedb: bool = False
    progress: Callable[[int, int, str], None] = lambda done, total, unit: None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an ingest.

    Attributes:
        name: of the step, in progress and reports.
        run: called with the state and the context; returns the parts that it adds or replaces.
        applies: whether an ingest in this context has the step.
        last_to_use: parts of the state that no later step uses; they make room.
    """

    name: StepName
    run: Callable[[State, Context], State]
    applies: Callable[[Context], bool] = lambda context: True
    last_to_use: tuple[str, ...] = ()


class DocumentsRefused(Exception):
    """Some documents exceed a limit of time or memory. The runner removes them and continues without them.

    Args:
        reasons: why, by URI.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(", ".join(reasons))
        self.reasons = reasons


def read(state: State, context: Context) -> State:
    """Read the paths and compare their documents with the published ones."""
    return {
        "changes": gather_documents(
            context.kb_dir,
            context.paths,
            context.config,
            context.settings,
            context.prune_missing,
            context.progress,
            context.executor,
            context.memo,
        )
    }


def split(state: State, context: Context) -> State:
    """Split documents into sections, text units and sentences."""
    documents, unit_tokens = state["changes"].documents, context.settings.unit_tokens
    splits = run_memoised(
        DocumentStep("splitting", split_by_word_pieces),
        [(document, unit_tokens) for document in documents],
        [len(document.text) for document in documents],
        [split_key(document, unit_tokens) for document in documents],
        SPLITS,
        context.memo,
        context.settings,
        context.executor,
        lambda done, total: context.progress(done, total, "documents"),
    )
    corpus = Corpus.of(list(zip(documents, _accepted(documents, splits), strict=True)))
    return {"corpus": corpus, "boilerplate": boilerplate(corpus)}


def extract(state: State, context: Context) -> State:
    """Extract mentions and facts from documents."""
    corpus = state["corpus"]
    found = extract_corpus(
        corpus,
        context.extractor,
        context.memo,
        context.settings,
        context.progress,
        context.executor,
    )
    return {"extractions": Extractions(_accepted(corpus.documents, found), state["boilerplate"])}


def resolve(state: State, context: Context) -> State:
    """Resolve mentions and definitions to entities."""
    corpus = state["corpus"]
    definitions = corpus_definitions(corpus)
    resolution = resolve_names(state["extractions"], definitions, n_units=len(corpus.units))
    return {"definitions": definitions, "resolution": resolution}


def link(state: State, context: Context) -> State:
    """Link units with entities, and documents with documents."""
    made = link_corpus(
        state["corpus"], state["extractions"], state["resolution"], state["definitions"], state["boilerplate"]
    )
    return {"linked": made}


def embed(state: State, context: Context) -> State:
    """Embed units and sentences."""
    units, sentences = embed_corpus(
        state["corpus"], context.embedder, context.memo, context.progress, context.executor.texts_at_once
    )
    return {"unit_vectors": units, "sentence_vectors": sentences}


def relate(state: State, context: Context) -> State:
    """Relate entities by facts and co-mentions, and link those that are one thing."""
    corpus, linked, resolution = state["corpus"], state["linked"], state["resolution"]
    related = relate_entities(linked, resolution.facts)
    aliases = link_aliases(corpus, linked, resolution, state["definitions"])
    return {"tables": build_tables(corpus, linked, resolution.facts, related, aliases, state["changes"].source_of)}


def cluster(state: State, context: Context) -> State:
    """Cluster entities into a hierarchy of communities."""
    ids = [entity.id for entity in state["linked"].entities]
    tables = state["tables"]
    unit, entity = (tables["mentions"][name].to_numpy().astype(np.int64) for name in ("unit_row", "entity_row"))
    sections: dict[tuple[int, str], int] = {}
    doc_of = tables["units"]["doc_row"].to_numpy().astype(np.int64)
    section_of = [
        sections.setdefault((row, path.as_py().partition(" › ")[0]), len(sections))
        for row, path in zip(doc_of.tolist(), tables["units"]["heading"], strict=True)
    ]
    document, section = doc_of[unit], np.array(section_of, dtype=np.int64)[unit]
    languages = [language_of(one.text) for one in state["corpus"].documents]
    language = entity_languages(languages, document, entity, len(ids))
    return {
        "communities": cluster_entities(
            tables["related"],
            ids,
            language=language,
            places=[(section, entity), (document, entity)],
            max_size=context.settings.max_community_size,
            max_depth=context.settings.max_community_depth,
            on_done=lambda done: context.progress(done, len(ids), "entities"),
        )
    }


def summarise(state: State, context: Context) -> State:
    """Summarise communities by sentences of the documents."""
    communities = state["communities"]
    texts = [document.text for document in state["corpus"].documents]
    evidence = CommunityEvidence.of(state["tables"], texts, state["linked"].arrays, state["sentence_vectors"])
    summaries = summarise_communities(
        evidence, communities, context.memo, lambda done: context.progress(done, len(communities), "communities")
    )
    return {"community_evidence": evidence, "summaries": summaries}


def phrase(state: State, context: Context) -> State:
    """Have a language model phrase the summaries."""
    assert context.summariser is not None
    summaries, report = phrase_summaries(
        state["summaries"],
        state["community_evidence"],
        context.summariser,
        context.memo,
        lambda done, total: context.progress(done, total, "summaries"),
    )
    return {"summaries": summaries, "phrasing": report}


def write(state: State, context: Context) -> State:
    """Lay out the snapshot in memory."""
    former = former_ids(state["communities"], read_former(context.kb_dir))
    communities = communities_table(state["communities"], state["summaries"], former)
    tables = {**state["tables"], "communities": communities}
    return {
        "tables": tables,
        "content": snapshot_content(
            state["corpus"],
            tables,
            state["unit_vectors"],
            state["sentence_vectors"],
            state["linked"].arrays,
            lancedb=context.lancedb,
        ),
    }


def publish_snapshot(state: State, context: Context) -> State:
    """Write the snapshot to disk, verify it and publish it."""
    # The sources come first, so that no published document is ever of an unknown source.
    write_sources(context.kb_dir, context.config, state["changes"])
    manifest = publish(
        context.kb_dir,
        state["content"],
        engine=context.config.engine,
        project_id=context.config.project_id,
        versions=context.versions,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        variant=(*context.versions.model_dump().values(), *variant_of(state["tables"])),
        lancedb=context.lancedb,
        on_step=lambda text: context.progress(0, 0, text),
    )
    return {"manifest": manifest}


STEPS = (
    Step("read", read),
    Step("split", split),
    Step("extract", extract),
    Step("resolve", resolve),
    Step("link", link, last_to_use=("extractions", "boilerplate")),
    Step("embed", embed),
    Step("relate", relate, last_to_use=("definitions", "resolution")),
    Step("cluster", cluster),
    Step("summarise", summarise),
    Step("phrase", phrase, applies=lambda context: context.summariser is not None),
    Step("write", write, last_to_use=("linked", "communities", "community_evidence", "summaries")),
    Step("publish", publish_snapshot),
)


def _accepted(documents: Sequence[Document], results: Sequence[Result | Refused]) -> list[Result]:
    """Return the results of all documents.

    Raises:
        DocumentsRefused: some documents have none.
    """
    pairs = zip(documents, results, strict=True)
    if refused := {document.uri: result.reason for document, result in pairs if isinstance(result, Refused)}:
        raise DocumentsRefused(refused)
    return [result for result in results if not isinstance(result, Refused)]
