"""One ingest into a knowledge base: `Ingest.run` publishes a snapshot, `Ingest.plan` says what `run` would do."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pyarrow as pa

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.ingest.changes import Changes, removal_of, write_sources
from graphctx.ingest.communities import CLUSTER_VERSION, SUMMARY_VERSION, Summariser, texts_of
from graphctx.ingest.kept_reports import keep_report
from graphctx.ingest.read import READ_VERSION
from graphctx.ingest.read.source import Source
from graphctx.ingest.removal import Removal, RemovalReport, exists
from graphctx.ingest.report import (
    IngestPlan,
    IngestReport,
    OnProgress,
    PhrasingEstimate,
    PhrasingReport,
    Progress,
    SkippedFile,
    StepName,
)
from graphctx.ingest.resolve import RESOLVER_VERSION
from graphctx.ingest.sources import owners_of, paths_of
from graphctx.ingest.speed import Speed
from graphctx.ingest.split import SPLIT_VERSION
from graphctx.ingest.steps import STEPS, Context, DocumentsRefused, State, Step
from graphctx.ingest.workers import Executor, LocalExecutor
from graphctx.model.documents import Document
from graphctx.model.ids import fingerprint
from graphctx.nlp.base import Embedder, Extractor
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo
from graphctx.store.communities import levels_in
from graphctx.store.config import read_config
from graphctx.store.graph import graph_engine
from graphctx.store.history import prune
from graphctx.store.lock import IngestLock
from graphctx.store.manifest import Manifest, Versions, read_manifest
from graphctx.store.snapshot import current_or_none, open_snapshot, recovery_note, set_current
from graphctx.text.lexical import LEXICAL_VERSION
from graphctx.version import __version__

_COUNTED = ("documents", "sections", "units", "sentences", "entities", "mentions", "facts", "communities")
_EDGE_TABLES = ("related", "aliases", "links", "mentions", "facts")

FIRST_OF_DOCUMENTS: StepName = "split"
"""Where the steps begin again when some documents are refused. Extractions of the others come from the memo."""

LINK_VERSION = 14
"""Of the steps embed, link, relate and write."""

SAMPLE_WORDS = 2_000
"""Words that a first dry run measures the speed on: a few seconds."""

DISK_BYTES_PER_CHAR = 8
"""Of a snapshot, measured on documentation of 40,000 to 645,000 words; used where nothing was published yet."""

_BUILD_SETTINGS = ("unit_tokens", "max_community_size", "max_community_depth")


@dataclass(frozen=True, slots=True)
class Ingest:
    """One ingest into one knowledge base.

    Attributes:
        kb_dir: the knowledge base; ``kb.toml`` exists.
        embedder, extractor: the models.
        settings: of the ``[ingest]`` group.
        on_progress: called with the progress of each step.
        prune_missing: drop documents whose file is missing from the ingested folders.
        prune_most: allow that these are more than half of all documents.
        summariser: a language model that phrases the summaries of communities; they are extractive without.
        lancedb: write the LanceDB tables, which only the first stage ``lancedb`` asks.
        executor: where documents are read, split, extracted from and embedded.

    Example:
        >>> Ingest(kb_dir, embedder, SpacyExtractor(), IngestSettings()).run([Path("docs")])  # doctest: +SKIP
    """

    kb_dir: Path
    embedder: Embedder
    extractor: Extractor
    settings: IngestSettings
    on_progress: OnProgress | None = None
    prune_missing: bool = False
    prune_most: bool = False
    summariser: Summariser | None = None
    lancedb: bool = False
    executor: Executor = field(default_factory=LocalExecutor)

    def run(self, paths: Sequence[str | Path | Source]) -> IngestReport:
        """Ingest files and folders and publish a snapshot. The published one stays if nothing has changed.

        Raises:
            InvalidArgument: a path does not exist, there is nothing to read, or more than half of the documents would
                be pruned without ``prune_most``.
            BackendUnavailable: another ingest is running, or the disk refuses a write.
        """
        started = time.perf_counter()
        with self._runner(paths) as runner:
            notes = self._recover(write=True)
            changes = runner.run(through="read")["changes"]
            if changes.prunes_most and not self.prune_most:
                raise _prunes_most(changes)
            before = current_or_none(self.kb_dir)
            manifest = self._up_to_date(runner.context, changes)
            if manifest is None:
                manifest = self._publish(runner, notes)
            else:
                write_sources(self.kb_dir, runner.context.config, changes)
            report = self._report(runner, manifest, before, notes, time.perf_counter() - started)
            keep_report(self.kb_dir, paths, report)
            if report.changed:
                Speed.of(report, manifest, _fresh_words(runner.state["changes"])).keep(self.kb_dir)
        return report

    def remove(self, removal: Removal, *, dry_run: bool = False) -> RemovalReport:
        """Publish a snapshot without some documents, or say what that would remove.

        Raises:
            InvalidArgument: a reference matches no document, or all documents would go.
            BackendUnavailable: another ingest is running, or the disk refuses a write.
        """
        with self._runner(()) as runner:
            notes = self._recover(write=not dry_run)
            changes = removal_of(self.kb_dir, runner.context.config, removal)
            notes += changes.recovery
            published = current_or_none(self.kb_dir) or ""
            if changes.removed and not dry_run:
                removing = replace(runner, steps=STEPS[1:], state={"changes": changes})
                published = self._publish(removing, notes).snapshot_id
        sources = {source.name: source for source in changes.sources}
        owners = owners_of(changes.source_of)
        files = {uri: paths_of(uri, sources[changes.source_of[uri]], owners) for uri in changes.removed}
        return RemovalReport(
            project_id=runner.context.config.project_id,
            dry_run=dry_run,
            snapshot_id=published,
            removed=list(changes.removed),
            kept_out=[uri for uri in changes.removed if removal.remembered and any(map(exists, files[uri]))],
            documents=len(changes.documents),
            notes=notes,
        )

    def _publish(self, runner: Runner, notes: list[str]) -> Manifest:
        manifest = runner.run(through="publish")["manifest"]
        prune(self.kb_dir, keep=self.settings.keep_snapshots)
        notes += _tidy(runner.context.memo, manifest.snapshot_id)
        return manifest

    def plan(self, paths: Sequence[str | Path | Source]) -> IngestPlan:
        """Return what `run` would do. Publishes nothing and leaves ``kb.toml`` as it is.

        With a summariser, and if an index would be made, the steps up to ``summarise`` run, to know what the summariser
        would be asked. Their results stay in the memo, so that `run` does not repeat them.

        Raises:
            InvalidArgument, BackendUnavailable: as in `run`.
        """
        with self._runner(paths) as runner:
            notes = self._recover(write=False)
            changes = runner.run(through="read")["changes"]
            builds = self._up_to_date(runner.context, changes) is None
            estimate = None
            expected = None
            if builds:
                speed = Speed.read(self.kb_dir) or self._sampled_speed(runner, changes)
                expected = speed.estimate(_fresh_words(changes), _words(changes.documents))
            if builds and self.summariser is not None:
                state = runner.run(through="summarise")
                changes = state["changes"]
                texts = texts_of(state["summaries"], state["community_evidence"])
                estimate = PhrasingEstimate.of(self.summariser.estimate(texts, runner.context.memo))
        warnings = [_prunes_most(changes).message] if changes.prunes_most else []
        return IngestPlan(
            project_id=runner.context.config.project_id,
            snapshot_id=current_or_none(self.kb_dir),
            builds=builds,
            documents=len(changes.documents),
            added=list(changes.added),
            replaced=list(changes.replaced),
            removed=list(changes.removed),
            renamed=dict(changes.renamed),
            unchanged=changes.unchanged,
            skipped=_skipped(changes),
            no_longer_found=list(changes.no_longer_found),
            notes=[*notes, *changes.recovery, *changes.notes, *warnings],
            estimate=expected,
            phrasing=estimate,
        )

    def _sampled_speed(self, runner: Runner, changes: Changes) -> Speed:
        """Measure the steps up to ``summarise`` on the shortest documents. What they find stays in the memo."""
        sample: list[Document] = []
        for document in sorted(changes.documents, key=lambda document: len(document.text)):
            sample.append(document)
            if _words(sample) >= SAMPLE_WORDS:
                break
        seconds = []
        for documents in (sample[:1], sample):  # the first pass loads the models
            part = replace(changes, documents=tuple(documents), former={})
            measured = replace(runner, steps=STEPS[1:], state={"changes": part}, seconds={}, _next=0)
            measured.run(through="summarise")
            seconds.append(measured.seconds)
        of_documents = sum(seconds[1][name] for name in ("split", "extract", "embed"))
        return Speed(
            fresh_words=_words(sample),
            all_words=_words(sample),
            document_seconds=of_documents,
            whole_seconds=sum(seconds[1].values()) - of_documents,
            fixed_seconds=sum(seconds[0].values()),
            disk_bytes=DISK_BYTES_PER_CHAR * sum(len(document.text) for document in sample),
        )

    @contextmanager
    def _runner(self, paths: Sequence[str | Path | Source]) -> Iterator[Runner]:
        with IngestLock(self.kb_dir), Memo(self.kb_dir / "cache" / "memo.sqlite") as memo, self.executor:
            config = read_config(self.kb_dir)
            context = Context(
                kb_dir=self.kb_dir,
                config=config,
                paths=paths,
                settings=self.settings,
                prune_missing=self.prune_missing,
                embedder=self.executor.embedder(self.embedder),
                extractor=self.extractor,
                summariser=self.summariser,
                memo=memo,
                versions=versions(
                    config.engine, self.embedder, self.extractor, self.settings, self.summariser, lancedb=self.lancedb
                ),
                executor=self.executor,
                lancedb=self.lancedb,
            )
            yield Runner(context, self.on_progress or (lambda progress: None))

    def _recover(self, *, write: bool) -> list[str]:
        """Note that ``CURRENT`` was lost, if it was; with ``write``, write it again even if nothing has changed."""
        before = current_or_none(self.kb_dir)
        if before is None or (note := recovery_note(self.kb_dir)) is None:
            return []
        if write:
            set_current(self.kb_dir, before)
        return [note]

    def _up_to_date(self, context: Context, changes: Changes) -> Manifest | None:
        """Return the manifest of the published snapshot, or ``None`` if an index must be made."""
        snapshot = current_or_none(self.kb_dir)
        if snapshot is None or changes.any or changes.recovery:
            return None
        try:
            manifest = read_manifest(self.kb_dir / "snapshots" / snapshot)
        except BackendUnavailable:
            return None
        same = (manifest.engine, manifest.versions) == (context.config.engine, context.versions)
        return manifest if same and not self._lacks_phrasing(snapshot) else None

    def _lacks_phrasing(self, snapshot: str) -> bool:
        """Whether the summariser has yet to phrase some of the published summaries."""
        if self.summariser is None:
            return False
        with open_snapshot(self.kb_dir, snapshot) as opened:
            rows = opened.table("communities").select(["phrased", "summary_rows"]).to_pylist()
        return any(row["phrased"] is None and row["summary_rows"] for row in rows)

    def _report(
        self, runner: Runner, manifest: Manifest, before: str | None, notes: Sequence[str], total: float
    ) -> IngestReport:
        rows, changes, phrasing = manifest.counts, runner.state["changes"], runner.state.get("phrasing")
        return IngestReport(
            project_id=runner.context.config.project_id,
            snapshot_id=manifest.snapshot_id,
            content_hash=manifest.content_hash,
            changed=manifest.snapshot_id != before,
            added=len(changes.added),
            replaced=len(changes.replaced),
            removed=len(changes.removed),
            renamed=len(changes.renamed),
            unchanged=changes.unchanged,
            **{name: rows[name] for name in _COUNTED},
            words=_words(changes.documents),
            community_levels=levels_in(self.kb_dir / "snapshots" / manifest.snapshot_id),
            phrasing=PhrasingReport.of(phrasing) if phrasing else None,
            not_phrased=phrasing.failed if phrasing else 0,
            edges=sum(rows[name] for name in _EDGE_TABLES),
            seconds={name: round(value, 3) for name, value in runner.seconds.items()},
            total_seconds=round(total, 3),
            skipped=_skipped(changes),
            no_longer_found=list(changes.no_longer_found),
            notes=[
                *notes,
                *([] if rows["units"] else ["The documents hold no text to quote: no question can be answered yet."]),
                *changes.recovery,
                *changes.notes,
                *(phrasing.notes() if phrasing else []),
            ],
        )


def _words(documents: Iterable[Document]) -> int:
    return sum(len(document.text.split()) for document in documents)


def _fresh_words(changes: Changes) -> int:
    fresh = {*changes.added, *changes.replaced}
    return _words(document for document in changes.documents if document.uri in fresh)


def _skipped(changes: Changes) -> list[SkippedFile]:
    return [SkippedFile(uri=item.uri, reason=item.reason) for item in changes.skipped]


def _tidy(memo: Memo, snapshot_id: str) -> list[str]:
    """Tidy the memo. A failure is a note and no error, since the snapshot is published."""
    try:
        memo.record_usage(snapshot_id)
        memo.evict_unused()
    except BackendUnavailable as error:
        return [f"The snapshot is published, but the cache could not be tidied: {error.message}"]
    return []


def _prunes_most(changes: Changes) -> InvalidArgument:
    return InvalidArgument(
        f"--prune would drop {changes.pruned:,} of {changes.held:,} documents, more than half: their files are not "
        "where they were. If a folder or a disk is missing, bring it back; if they are to go, add --yes "
        "(prune_most = true in a job file, prune_most=True in Python). --dry-run lists them.",
        pruned=changes.pruned,
        documents=changes.held,
    )


@dataclass(slots=True)
class Runner:
    """One pass through the steps.

    Attributes:
        context: what the steps use.
        on_progress: called with the progress of each step.
        steps: in order.
        state: what the steps have made so far.
        seconds: wall-clock time by step.
    """

    context: Context
    on_progress: OnProgress
    steps: Sequence[Step] = STEPS
    state: State = field(default_factory=State)
    seconds: dict[StepName, float] = field(default_factory=dict)
    _next: int = 0

    def run(self, through: StepName) -> State:
        """Run the steps that have not run yet, up to and including one of them.

        Raises:
            GraphctxError: a step failed.
        """
        while self._next <= self._place(through):
            step = self.steps[self._next]
            self._next += 1
            if step.applies(self.context):
                try:
                    self._run(step)
                except DocumentsRefused as refused:
                    self.state["changes"] = self.state["changes"].without(refused.reasons)
                    self._next = self._place(FIRST_OF_DOCUMENTS)
        return self.state

    def _run(self, step: Step) -> None:
        def progress(done: int, total: int, unit: str) -> None:
            self.on_progress(Progress(step.name, done, total, unit))

        progress(0, 0, "")
        started = time.perf_counter()
        try:
            with _collector_paused():
                self.state.update(step.run(self.state, replace(self.context, progress=progress)))
            for name in step.last_to_use:
                cast("dict[str, object]", self.state).pop(name, None)
            _return_freed_memory()
        finally:
            self.seconds[step.name] = self.seconds.get(step.name, 0.0) + time.perf_counter() - started

    def _place(self, name: StepName) -> int:
        return [step.name for step in self.steps].index(name)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep Python from searching all objects for cycles.

    What the steps make holds none, and the searches take about a sixth of the processor time of a small change.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _return_freed_memory() -> None:
    """Return freed memory to the system: otherwise the allocators keep about a sixth of what an ingest holds."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def versions(
    engine: str,
    embedder: Embedder,
    extractor: Extractor,
    settings: IngestSettings,
    summariser: Summariser | None = None,
    *,
    lancedb: bool = False,
) -> Versions:
    """The versions of everything that shapes an index."""
    steps = (READ_VERSION, SPLIT_VERSION, RESOLVER_VERSION, LINK_VERSION, CLUSTER_VERSION, SUMMARY_VERSION)
    chosen = [f"{name}={getattr(settings, name)}" for name in _BUILD_SETTINGS]
    if summariser is not None:
        chosen.append(f"summariser={summariser.fingerprint}")
    if lancedb:
        chosen.append("lancedb")
    return Versions(
        graphctx=__version__,
        engine=graph_engine(engine).version(),
        embedder=embedder.fingerprint,
        extractor=extractor.fingerprint,
        settings=fingerprint([*map(str, (*steps, LEXICAL_VERSION)), *chosen]),
    )
