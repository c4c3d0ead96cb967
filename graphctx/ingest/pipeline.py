"""Documents in, snapshot out: the steps of an ingest, in order.

``read -> split -> extract -> resolve -> link -> embed -> relate -> cluster -> summarise -> write -> publish``
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphctx.errors import BackendUnavailable
from graphctx.ingest.changes import Changes, gather_documents
from graphctx.ingest.cluster import cluster
from graphctx.ingest.communities import Material, Summariser, former_ids, phrase_summaries, read_former, summarise
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import Quantised, embed_texts, naming_title, quantise, sentence_texts, unit_text
from graphctx.ingest.link import Linked, link
from graphctx.ingest.memoised import extract_memoised
from graphctx.ingest.relate import near_synonyms, related_edges
from graphctx.ingest.report import IngestReport, OnProgress, Progress, SkippedFile, Step
from graphctx.ingest.resolve import Resolution, resolve
from graphctx.ingest.split import split_document
from graphctx.ingest.tables import build_tables, communities_table, headings_of
from graphctx.ingest.versions import versions
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Community
from graphctx.nlp.base import Embedder, Extractor, Vectors
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.settings import IngestSettings
from graphctx.store.bm25 import write_bm25
from graphctx.store.cache import Memo
from graphctx.store.config import KbConfig, read_config, write_config
from graphctx.store.history import prune
from graphctx.store.levels import levels_in
from graphctx.store.lock import IngestLock
from graphctx.store.manifest import Manifest, Versions, read_manifest
from graphctx.store.publish import SnapshotContent, publish
from graphctx.store.sentence_terms import write_sentence_terms
from graphctx.store.snapshot import current_or_none
from graphctx.store.texts import TEXTS_DIR, write_texts
from graphctx.text.lexical import terms

_COUNTED = ("documents", "sections", "units", "sentences", "entities", "mentions", "facts", "communities")
_EDGE_TABLES = ("related", "links", "mentions", "facts")


@dataclass(slots=True)
class Ingest:
    """One ingest into one knowledge base.

    Attributes:
        kb_dir: the knowledge base; ``kb.toml`` exists.
        embedder, extractor: the models.
        settings: of the ``[ingest]`` group.
        on_progress: told how far each step is.
        prune_missing: whether to drop documents whose file has gone from the ingested folders.
        summariser: a language model that phrases the summaries of communities; they are extractive without.
        seconds: wall-clock time by step; it grows while this runs.
        not_phrased: how many summaries stayed extractive because the summariser failed.
    """

    kb_dir: Path
    embedder: Embedder
    extractor: Extractor
    settings: IngestSettings
    on_progress: OnProgress | None = None
    prune_missing: bool = False
    summariser: Summariser | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    not_phrased: int = 0

    def run(self, paths: Sequence[Path]) -> IngestReport:
        """Ingest files and folders and publish a snapshot, or keep the published one where nothing changed.

        Raises:
            InvalidArgument: a path does not exist, or there is nothing to read.
            BackendUnavailable: another ingest is running, or the disk refuses a write.
        """
        started = time.perf_counter()
        with IngestLock(self.kb_dir), Memo(self.kb_dir / "cache" / "memo.sqlite") as memo:
            config = read_config(self.kb_dir)
            with self._step("read"):
                changes = gather_documents(self.kb_dir, paths, config, self.settings, self.prune_missing, self._tell)
            now = versions(config.engine, self.embedder, self.extractor, self.settings, self.summariser)
            before = current_or_none(self.kb_dir)
            manifest = None if changes.notes else self._published(before)
            if manifest is None or changes.any or (manifest.engine, manifest.versions) != (config.engine, now):
                manifest = self._build(changes, memo, config, now)
                prune(self.kb_dir, keep=self.settings.keep_snapshots)
                memo.forget_unasked()
            else:
                self._write_sources(changes, config)
        return self._report(changes, manifest, config, before, time.perf_counter() - started)

    def _build(self, changes: Changes, memo: Memo, config: KbConfig, now: Versions) -> Manifest:
        corpus = self._split(changes)
        with self._step("extract"):
            extractions = extract_memoised(corpus, self.extractor, memo, self.settings.processes, self._tell)
        with self._step("resolve"):
            resolution = resolve(extractions, n_units=len(corpus.units))
        with self._step("link"):
            linked = link(corpus, extractions, resolution.entities, resolution.mention_entity)
        headings = headings_of(corpus)
        vectors = self._embed(corpus, headings, linked, memo)
        with self._step("relate"):
            related = _relate(linked, resolution, vectors["entities"])
            tables = build_tables(corpus, headings, linked, resolution.facts, related, changes.source_of)
        with self._step("cluster"):
            communities = cluster(
                related,
                [entity.id for entity in linked.entities],
                max_size=self.settings.max_community_size,
                max_depth=self.settings.max_community_depth,
            )
        with self._step("summarise"):
            sentences = quantise(vectors.pop("sentences"))
            tables["communities"] = self._summarise(communities, Material.of(tables, linked.arrays, sentences))
            vectors["communities"] = embed_texts(tables["communities"]["summary"].to_pylist(), self.embedder, memo)
        with self._step("write"):
            content = _content(corpus, headings, tables, vectors, sentences, linked)
        with self._step("publish"):
            # First, so that no published document is ever of an unknown source.
            self._write_sources(changes, config)
            return publish(
                self.kb_dir,
                content,
                engine=config.engine,
                project_id=config.project_id,
                versions=now,
                created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                variant=(*now.model_dump().values(), *_told_apart(tables["communities"])),
                on_step=lambda text: self._tell(Progress("publish", 0, 0, text)),
            )

    def _summarise(self, communities: Sequence[Community], material: Material) -> pa.Table:
        phrased = phrase_summaries(summarise(material, communities), material, self.summariser)
        self.not_phrased = phrased.failed
        return communities_table(communities, phrased.summaries, former_ids(communities, read_former(self.kb_dir)))

    def _write_sources(self, changes: Changes, config: KbConfig) -> None:
        write_config(self.kb_dir, config.model_copy(update={"sources": changes.sources}))

    def _published(self, snapshot: str | None) -> Manifest | None:
        """The manifest of the published snapshot; none where it cannot be used, which then is replaced."""
        if snapshot is None:
            return None
        try:
            return read_manifest(self.kb_dir / "snapshots" / snapshot)
        except BackendUnavailable:
            return None

    def _split(self, changes: Changes) -> Corpus:
        counter = WordPieceCounter()
        parts = []
        with self._step("split"):
            for number, document in enumerate(changes.documents, 1):
                parts.append((document, split_document(document, counter, unit_tokens=self.settings.unit_tokens)))
                self._tell(Progress("split", number, len(changes.documents), "documents"))
            return Corpus.of(parts)

    def _embed(self, corpus: Corpus, headings: Sequence[str], linked: Linked, memo: Memo) -> dict[str, Vectors]:
        owner = [document for n, document in enumerate(corpus.documents) for _ in corpus.units_of(n)]
        placed = list(zip(owner, headings, corpus.units, strict=True))
        texts = {
            "units": [unit_text(document, heading, unit) for document, heading, unit in placed],
            "sentences": [
                text for document, heading, unit in placed for text in sentence_texts(document, heading, unit)
            ],
            "entities": [entity.name for entity in linked.entities],
        }
        total, done = sum(1 for group in texts.values() for text in group if text), 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            self._tell(Progress("embed", done, total, "texts"))

        with self._step("embed"):
            return {name: embed_texts(group, self.embedder, memo, advance) for name, group in texts.items()}

    def _report(
        self, changes: Changes, manifest: Manifest, config: KbConfig, before: str | None, total: float
    ) -> IngestReport:
        rows = manifest.counts
        return IngestReport(
            project_id=config.project_id,
            snapshot_id=manifest.snapshot_id,
            content_hash=manifest.content_hash,
            changed=manifest.snapshot_id != before,
            added=changes.added,
            replaced=changes.replaced,
            removed=changes.removed,
            unchanged=changes.unchanged,
            **{name: rows[name] for name in _COUNTED},
            words=sum(len(document.text.split()) for document in changes.documents),
            community_levels=levels_in(self.kb_dir / "snapshots" / manifest.snapshot_id),
            not_phrased=self.not_phrased,
            edges=sum(rows[name] for name in _EDGE_TABLES),
            seconds={name: round(value, 3) for name, value in self.seconds.items()},
            total_seconds=round(total, 3),
            skipped=[SkippedFile(uri=item.uri, reason=item.reason) for item in changes.skipped],
            no_longer_found=list(changes.no_longer_found),
            notes=list(changes.notes),
        )

    def _tell(self, progress: Progress) -> None:
        if self.on_progress:
            self.on_progress(progress)

    @contextmanager
    def _step(self, name: Step) -> Iterator[None]:
        self._tell(Progress(name, 0, 0, ""))
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def _relate(linked: Linked, resolution: Resolution, vectors: Vectors) -> pa.Table:
    row = linked.entity_row
    mentioned = np.array([entity.n_mentions for entity in linked.entities], dtype=np.int64)
    facts = [fact for fact in resolution.facts if fact.subject_id in row and fact.object_id in row]
    return related_edges(
        linked.mentions.sentence,
        linked.mentions.entity,
        np.array([row[fact.subject_id] for fact in facts], dtype=np.int64),
        np.array([row[fact.object_id] for fact in facts], dtype=np.int64),
        near_synonyms(vectors, [entity.name for entity in linked.entities], mentioned),
    )


def _told_apart(communities: pa.Table) -> list[str]:
    """What is no part of the content but makes a snapshot of its own: a language model's words, and former ids."""
    said = [text or "" for text in communities["phrased"].to_pylist()]
    formerly = [",".join(ids) for ids in communities["formerly"].to_pylist()]
    return [
        f"{name}={fingerprint(values)}" for name, values in (("phrased", said), ("formerly", formerly)) if any(values)
    ]


def _content(
    corpus: Corpus,
    headings: Sequence[str],
    tables: dict[str, pa.Table],
    vectors: dict[str, Vectors],
    sentences: Quantised,
    linked: Linked,
) -> SnapshotContent:
    owner = [document for n, document in enumerate(corpus.documents) for _ in corpus.units_of(n)]
    lexical = [
        terms(f"{naming_title(document)}\n{heading}\n{document.text[unit.start_char : unit.end_char]}")
        for document, heading, unit in zip(owner, headings, corpus.units, strict=True)
    ]
    held = (
        terms(document.text[sentence.start_char : sentence.end_char])
        for document, unit in zip(owner, corpus.units, strict=True)
        for sentence in unit.sentences
    )
    return SnapshotContent(
        tables=tables,
        vectors={name: vectors[name] for name in ("units", "entities", "communities")},
        arrays=linked.arrays.as_dict(),
        matrices={
            "units": vectors["units"],
            "communities": vectors["communities"],
            "sentences": sentences.values,
            "sentence_scale": sentences.scale,
        },
        extras={
            "bm25": lambda directory: write_sentence_terms(directory, held, write_bm25(directory, lexical)),
            TEXTS_DIR: lambda directory: write_texts(directory, tables["documents"]["text"]),
        },
    )
