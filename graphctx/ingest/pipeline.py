"""Documents in, snapshot out: the steps of an ingest, in order.

``read -> split -> extract -> resolve -> link -> embed -> relate -> cluster -> summarise -> phrase -> write -> publish``

``phrase`` is there only where a language model is set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.ingest.changes import Changes, gather_documents
from graphctx.ingest.cluster import cluster
from graphctx.ingest.communities import (
    Material,
    Summariser,
    former_ids,
    phrase_summaries,
    read_former,
    summarise,
    texts_of,
)
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import embed_texts, naming_title, quantise, sentence_texts, unit_text
from graphctx.ingest.link import Linked, link
from graphctx.ingest.memoised import extract_memoised
from graphctx.ingest.relate import near_synonyms, related_edges
from graphctx.ingest.report import (
    IngestPlan,
    IngestReport,
    OnProgress,
    Phrasing,
    PhrasingEstimate,
    Progress,
    SkippedFile,
    Step,
)
from graphctx.ingest.resolve import Resolution, resolve
from graphctx.ingest.split import Split, split_by_word_pieces
from graphctx.ingest.tables import build_tables, communities_table, headings_of
from graphctx.ingest.versions import versions
from graphctx.ingest.workers import DocumentStep, Refused
from graphctx.model.documents import Document
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Community, CommunitySummary, Extraction
from graphctx.nlp.base import Embedder, Extractor, Vectors
from graphctx.nlp.llm.tally import LlmReport
from graphctx.settings import IngestSettings
from graphctx.store.bm25 import write_bm25
from graphctx.store.cache import Memo
from graphctx.store.communities import levels_in
from graphctx.store.config import KbConfig, keep_copy, read_config, write_config
from graphctx.store.history import prune
from graphctx.store.lock import IngestLock
from graphctx.store.manifest import Manifest, Versions, read_manifest
from graphctx.store.publish import SnapshotContent, publish
from graphctx.store.sentence_terms import write_sentence_terms
from graphctx.store.snapshot import current_or_none, open_snapshot, recovery_note, set_current
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
        prune_most: whether they may be more than half of all documents.
        summariser: a language model that phrases the summaries of communities; they are extractive without.
        seconds: wall-clock time by step; it grows while this runs.
        phrased: what came of asking the summariser, once it was asked.
    """

    kb_dir: Path
    embedder: Embedder
    extractor: Extractor
    settings: IngestSettings
    on_progress: OnProgress | None = None
    prune_missing: bool = False
    prune_most: bool = False
    summariser: Summariser | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    phrased: LlmReport | None = None

    def run(self, paths: Sequence[Path]) -> IngestReport:
        """Ingest files and folders and publish a snapshot, or keep the published one where nothing changed.

        Raises:
            InvalidArgument: a path does not exist, there is nothing to read, or more than half of the documents would
                be pruned and may not.
            BackendUnavailable: another ingest is running, or the disk refuses a write.
        """
        started = time.perf_counter()
        with self._session(paths, recover=True) as session:
            if session.changes.prunes_most and not self.prune_most:
                raise _too_many(session.changes)
            manifest = session.published
            if session.builds or manifest is None:
                session, made = self._describe(session)
                manifest = self._publish(session, made)
                prune(self.kb_dir, keep=self.settings.keep_snapshots)
                session.notes.extend(_tidied(session.memo, manifest.snapshot_id))
            else:
                self._write_sources(session)
        return self._report(session, manifest, time.perf_counter() - started)

    def plan(self, paths: Sequence[Path]) -> IngestPlan:
        """Say what `run` would do. Nothing is published, and ``kb.toml`` stays as it is.

        Where a summariser is set and an index would be made, all steps before it are done, to know what it would be
        asked. Their results are kept in the cache, so that `run` then does not do them again.

        Raises:
            InvalidArgument, BackendUnavailable: as in `run`.
        """
        with self._session(paths) as session:
            estimate = None
            if session.builds and self.summariser is not None:
                session, made = self._describe(session)
                texts = texts_of(made.summaries, made.material)
                estimate = PhrasingEstimate.of(self.summariser.estimate(texts, session.memo))
        changes = session.changes
        return IngestPlan(
            project_id=session.config.project_id,
            snapshot_id=session.before,
            builds=session.builds,
            documents=len(changes.documents),
            added=list(changes.added),
            replaced=list(changes.replaced),
            removed=list(changes.removed),
            unchanged=changes.unchanged,
            phrasing=estimate,
            **_told_of_files(session, [_too_many(changes).message] if changes.prunes_most else []),
        )

    @contextmanager
    def _session(self, paths: Sequence[Path], *, recover: bool = False) -> Iterator[_Session]:
        with IngestLock(self.kb_dir), Memo(self.kb_dir / "cache" / "memo.sqlite") as memo:
            config = read_config(self.kb_dir)
            notes = self._recovered(recover)
            with self._step("read"):
                changes = gather_documents(self.kb_dir, paths, config, self.settings, self.prune_missing, self._tell)
            now = versions(config.engine, self.embedder, self.extractor, self.settings, self.summariser)
            before = current_or_none(self.kb_dir)
            published = None if changes.notes else self._published(before)
            as_it_was = published is not None and (published.engine, published.versions) == (config.engine, now)
            builds = not as_it_was or changes.any or self._unphrased(before)
            yield _Session(memo, config, changes, notes, now, before, published, builds)

    def _recovered(self, recover: bool) -> list[str]:
        """Say so where ``CURRENT`` was lost, and if asked write it again, also where nothing has changed."""
        before = current_or_none(self.kb_dir)
        if before is None or (note := recovery_note(self.kb_dir)) is None:
            return []
        if recover:
            set_current(self.kb_dir, before)
        return [note]

    def _unphrased(self, snapshot: str | None) -> bool:
        """Whether the published snapshot has summaries that a language model is to be asked for once more."""
        if self.summariser is None or snapshot is None:
            return False
        with open_snapshot(self.kb_dir, snapshot) as opened:
            rows = opened.table("communities").select(["phrased", "summary_rows"]).to_pylist()
        return any(row["phrased"] is None and row["summary_rows"] for row in rows)

    def _describe(self, session: _Session) -> tuple[_Session, _Described]:
        """All steps from split to summarise, and the session without the documents that took too much."""
        memo = session.memo
        changes, corpus, extractions = self._extract(session.changes, memo)
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
                on_done=lambda done: self._tell(Progress("cluster", done, len(linked.entities), "entities")),
            )
        with self._step("summarise"):
            material = Material.of(tables, linked.arrays, quantise(vectors.pop("sentences")))
            summaries = summarise(
                material,
                communities,
                lambda done: self._tell(Progress("summarise", done, len(communities), "communities")),
            )
            vectors["communities"] = embed_texts([one.summary for one in summaries], self.embedder, memo)
        described = _Described(corpus, headings, linked, tables, vectors, material, communities, summaries)
        return replace(session, changes=changes), described

    def _extract(self, changes: Changes, memo: Memo) -> tuple[Changes, Corpus, list[Extraction]]:
        """Split and extract, and begin anew without the documents that one of the two is refused for."""
        while True:
            with self._step("split"):
                splits = self._split(changes)
            refused = _refused(changes.documents, splits)
            if not refused:
                corpus = Corpus.of(
                    [(d, s) for d, s in zip(changes.documents, splits, strict=True) if isinstance(s, Split)]
                )
                with self._step("extract"):
                    extractions = extract_memoised(corpus, self.extractor, memo, self.settings, self._tell)
                refused = _refused(corpus.documents, extractions)
                if not refused:
                    return changes, corpus, [one for one in extractions if isinstance(one, Extraction)]
            changes = changes.without(refused)

    def _publish(self, session: _Session, made: _Described) -> Manifest:
        summaries = self._phrase(made, session.memo)
        with self._step("write"):
            former = former_ids(made.communities, read_former(self.kb_dir))
            tables = made.tables | {"communities": communities_table(made.communities, summaries, former)}
            content = _content(made, tables)
        with self._step("publish"):
            # First, so that no published document is ever of an unknown source.
            self._write_sources(session)
            return publish(
                self.kb_dir,
                content,
                engine=session.config.engine,
                project_id=session.config.project_id,
                versions=session.versions,
                created_at=datetime.now(UTC).isoformat(timespec="seconds"),
                variant=(*session.versions.model_dump().values(), *_told_apart(tables["communities"])),
                on_step=lambda text: self._tell(Progress("publish", 0, 0, text)),
            )

    def _phrase(self, made: _Described, memo: Memo) -> list[CommunitySummary]:
        if self.summariser is None:
            return made.summaries
        with self._step("phrase"):
            phrased = phrase_summaries(
                made.summaries,
                made.material,
                self.summariser,
                memo,
                lambda done, total: self._tell(Progress("phrase", done, total, "summaries")),
            )
        self.phrased = phrased.report
        return phrased.summaries

    def _write_sources(self, session: _Session) -> None:
        config = session.config.model_copy(update={"sources": session.changes.sources})
        write_config(self.kb_dir, config)
        keep_copy(self.kb_dir, config)

    def _published(self, snapshot: str | None) -> Manifest | None:
        """The manifest of the published snapshot; none where it cannot be used, which then is replaced."""
        if snapshot is None:
            return None
        try:
            return read_manifest(self.kb_dir / "snapshots" / snapshot)
        except BackendUnavailable:
            return None

    def _split(self, changes: Changes) -> list[Split | Refused]:
        documents, count = changes.documents, 0

        def advance(number: int, result: object) -> None:
            nonlocal count
            count += 1
            self._tell(Progress("split", count, len(documents), "documents"))

        return DocumentStep("splitting", split_by_word_pieces).of_all(
            [(document, self.settings.unit_tokens) for document in documents],
            [len(document.text) for document in documents],
            self.settings,
            advance,
        )

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

    def _report(self, session: _Session, manifest: Manifest, total: float) -> IngestReport:
        rows, changes = manifest.counts, session.changes
        files = _told_of_files(session)
        if self.phrased is not None:
            files["notes"] += self.phrased.notes()
        return IngestReport(
            project_id=session.config.project_id,
            snapshot_id=manifest.snapshot_id,
            content_hash=manifest.content_hash,
            changed=manifest.snapshot_id != session.before,
            added=len(changes.added),
            replaced=len(changes.replaced),
            removed=len(changes.removed),
            unchanged=changes.unchanged,
            **{name: rows[name] for name in _COUNTED},
            words=sum(len(document.text.split()) for document in changes.documents),
            community_levels=levels_in(self.kb_dir / "snapshots" / manifest.snapshot_id),
            phrasing=Phrasing.of(self.phrased) if self.phrased is not None else None,
            not_phrased=self.phrased.failed if self.phrased is not None else 0,
            edges=sum(rows[name] for name in _EDGE_TABLES),
            seconds={name: round(value, 3) for name, value in self.seconds.items()},
            total_seconds=round(total, 3),
            **files,
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


@dataclass(frozen=True, slots=True)
class _Session:
    """What one ingest finds: ``before`` and ``published`` are of the snapshot so far, if it can be used."""

    memo: Memo
    config: KbConfig
    changes: Changes
    notes: list[str]
    versions: Versions
    before: str | None
    published: Manifest | None
    builds: bool


@dataclass(frozen=True, slots=True)
class _Described:
    """An index in memory, all but the table of communities."""

    corpus: Corpus
    headings: Sequence[str]
    linked: Linked
    tables: dict[str, pa.Table]
    vectors: dict[str, Vectors]
    material: Material
    communities: Sequence[Community]
    summaries: list[CommunitySummary]


def _tidied(memo: Memo, snapshot_id: str) -> list[str]:
    """Tidy the memo after a publish; what fails there is told and fails no ingest, for the snapshot is published."""
    try:
        memo.remember_used(snapshot_id)
        memo.forget_unasked()
    except BackendUnavailable as error:
        return [f"The snapshot is published, but the cache could not be tidied: {error.message}"]
    return []


def _too_many(changes: Changes) -> InvalidArgument:
    return InvalidArgument(
        f"--prune would drop {changes.pruned:,} of {changes.held:,} documents, more than half: their files are not "
        "where they were. If a folder or a disk is missing, bring it back; if they are to go, add --yes "
        "(prune_most = true in a job file, prune_most=True in Python). --dry-run lists them.",
        pruned=changes.pruned,
        documents=changes.held,
    )


def _told_of_files(session: _Session, more: Sequence[str] = ()) -> dict[str, Any]:
    """What plans and reports say alike."""
    changes = session.changes
    return {
        "skipped": [SkippedFile(uri=item.uri, reason=item.reason) for item in changes.skipped],
        "no_longer_found": list(changes.no_longer_found),
        "notes": [*session.notes, *changes.notes, *more],
    }


def _refused(documents: Sequence[Document], results: Sequence[object]) -> dict[str, str]:
    """Why a step was not done, by URI."""
    pairs = zip(documents, results, strict=True)
    return {document.uri: result.reason for document, result in pairs if isinstance(result, Refused)}


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


def _content(made: _Described, tables: dict[str, pa.Table]) -> SnapshotContent:
    corpus, vectors, sentences = made.corpus, made.vectors, made.material.vectors
    owner = [document for n, document in enumerate(corpus.documents) for _ in corpus.units_of(n)]
    lexical = [
        terms(f"{naming_title(document)}\n{heading}\n{document.text[unit.start_char : unit.end_char]}")
        for document, heading, unit in zip(owner, made.headings, corpus.units, strict=True)
    ]
    held = (
        terms(document.text[sentence.start_char : sentence.end_char])
        for document, unit in zip(owner, corpus.units, strict=True)
        for sentence in unit.sentences
    )
    return SnapshotContent(
        tables=tables,
        vectors={name: vectors[name] for name in ("units", "entities", "communities")},
        arrays=made.linked.arrays.as_dict(),
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
