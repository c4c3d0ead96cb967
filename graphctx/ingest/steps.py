"""The steps of an ingest, in order: documents in, a published snapshot out.

A step takes parts from the state, calls functions that know nothing of the state, and returns the parts that it adds.
Another step is a function here, a part in `graphctx.ingest.state.State` and a line in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count
from typing import TypeVar

from graphctx.ingest.changes import gather_documents, write_sources
from graphctx.ingest.communities import (
    CommunityEvidence,
    cluster_entities,
    former_ids,
    phrase_summaries,
    read_former,
    summarise_communities,
)
from graphctx.ingest.content import snapshot_content, variant_of
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import embed_corpus, embed_texts, quantise
from graphctx.ingest.extract import extract_corpus
from graphctx.ingest.link import link_corpus
from graphctx.ingest.relate import relate_entities
from graphctx.ingest.resolve import resolve_names
from graphctx.ingest.split import split_by_word_pieces
from graphctx.ingest.state import Context, DocumentsRefused, State, Step
from graphctx.ingest.tables import build_tables, communities_table
from graphctx.ingest.workers import DocumentStep, Refused
from graphctx.model.documents import Document
from graphctx.store.publish import publish

Result = TypeVar("Result")


def read(state: State, context: Context) -> State:
    """Read the paths and compare their documents with the published ones."""
    return {
        "changes": gather_documents(
            context.kb_dir, context.paths, context.config, context.settings, context.prune_missing, context.progress
        )
    }


def split(state: State, context: Context) -> State:
    """Split documents into sections, text units and sentences."""
    documents, done = state["changes"].documents, count(1)
    splits = DocumentStep("splitting", split_by_word_pieces).of_all(
        [(document, context.settings.unit_tokens) for document in documents],
        [len(document.text) for document in documents],
        context.settings,
        lambda number, result: context.progress(next(done), len(documents), "documents"),
    )
    return {"corpus": Corpus.of(list(zip(documents, _accepted(documents, splits), strict=True)))}


def extract(state: State, context: Context) -> State:
    """Extract mentions and facts from documents."""
    corpus = state["corpus"]
    found = extract_corpus(corpus, context.extractor, context.memo, context.settings, context.progress)
    return {"extractions": _accepted(corpus.documents, found)}


def resolve(state: State, context: Context) -> State:
    """Resolve mentions to entities."""
    return {"resolution": resolve_names(state["extractions"], n_units=len(state["corpus"].units))}


def link(state: State, context: Context) -> State:
    """Link units with entities, and documents with documents."""
    resolution = state["resolution"]
    return {
        "linked": link_corpus(state["corpus"], state["extractions"], resolution.entities, resolution.mention_entity)
    }


def embed(state: State, context: Context) -> State:
    """Embed units, sentences and the names of entities."""
    names = [entity.name for entity in state["linked"].entities]
    vectors = embed_corpus(state["corpus"], names, context.embedder, context.memo, context.progress)
    return {"sentence_vectors": quantise(vectors.pop("sentences")), "vectors": vectors}


def relate(state: State, context: Context) -> State:
    """Relate entities by facts, co-mentions and the similarity of their names."""
    linked, facts = state["linked"], state["resolution"].facts
    related = relate_entities(linked, facts, state["vectors"]["entities"])
    return {"tables": build_tables(state["corpus"], linked, facts, related, state["changes"].source_of)}


def cluster(state: State, context: Context) -> State:
    """Cluster entities into a hierarchy of communities."""
    ids = [entity.id for entity in state["linked"].entities]
    return {
        "communities": cluster_entities(
            state["tables"]["related"],
            ids,
            max_size=context.settings.max_community_size,
            max_depth=context.settings.max_community_depth,
            on_done=lambda done: context.progress(done, len(ids), "entities"),
        )
    }


def summarise(state: State, context: Context) -> State:
    """Summarise communities by sentences of the documents."""
    communities = state["communities"]
    evidence = CommunityEvidence.of(state["tables"], state["linked"].arrays, state["sentence_vectors"])
    summaries = summarise_communities(
        evidence, communities, lambda done: context.progress(done, len(communities), "communities")
    )
    vectors = embed_texts([one.summary for one in summaries], context.embedder, context.memo)
    return {
        "community_evidence": evidence,
        "summaries": summaries,
        "vectors": {**state["vectors"], "communities": vectors},
    }


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
            state["corpus"], tables, state["vectors"], state["sentence_vectors"], state["linked"].arrays
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
        variant=(*context.versions.model_dump().values(), *variant_of(state["tables"]["communities"])),
        on_step=lambda text: context.progress(0, 0, text),
    )
    return {"manifest": manifest}


STEPS = (
    Step("read", read),
    Step("split", split),
    Step("extract", extract),
    Step("resolve", resolve),
    Step("link", link),
    Step("embed", embed),
    Step("relate", relate),
    Step("cluster", cluster),
    Step("summarise", summarise),
    Step("phrase", phrase, applies=lambda context: context.summariser is not None),
    Step("write", write),
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
