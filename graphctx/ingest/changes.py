"""Documents after an ingest: those of the published snapshot merged with those of the paths."""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.ingest.memoised import run_memoised
from graphctx.ingest.metadata import with_metadata
from graphctx.ingest.outline import document_from_row
from graphctx.ingest.read import Discovery, Skipped, discover, read_file, with_content
from graphctx.ingest.read.source import Source, is_web_address, sources_of
from graphctx.ingest.readings import READINGS, file_state, reading_key
from graphctx.ingest.removal import Removal, exists
from graphctx.ingest.sources import Located, file_uri, locate, locate_pages, owners_of, paths_of
from graphctx.ingest.web import addresses_of, fetch_pages, keep_validators
from graphctx.ingest.workers import DocumentStep, Executor, Refused
from graphctx.model.arguments import parse_arguments
from graphctx.model.documents import Document
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo
from graphctx.store.config import WEB_PREFIX, KbConfig, SourceEntry, keep_copy, write_config
from graphctx.store.files import disk_errors
from graphctx.store.history import VALIDATORS, list_snapshots
from graphctx.store.manifest import FORMAT_VERSION
from graphctx.store.snapshot import TEMPORARY_PREFIX, current_id, open_snapshot


@dataclass(frozen=True, slots=True)
class Changes:
    """All documents after this ingest, and how they differ from before.

    Attributes:
        documents: sorted by URI.
        source_of: the name of each document's source, by URI.
        sources: all sources of the knowledge base.
        added, replaced, removed: sorted URIs.
        unchanged: how many documents were read again and are the same.
        held: how many documents were published before.
        pruned: how many of ``removed`` are removed because their file is missing.
        skipped: what could not be read.
        no_longer_found: URIs whose file is missing, which are kept.
        recovery: what was done because the published snapshot is unreadable, for a person.
        notes: what else a person should know of the reading.
        former: the earlier versions of ``replaced``, by URI.
        renamed: the earlier URI of each document whose file has another name and the same text, by URI.
        kept_out: the source of each URI that `graphctx remove` removed and that stays out.
    """

    documents: tuple[Document, ...]
    source_of: dict[str, str]
    sources: tuple[SourceEntry, ...]
    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    held: int = 0
    pruned: int = 0
    skipped: tuple[Skipped, ...] = ()
    no_longer_found: tuple[str, ...] = ()
    recovery: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    former: Mapping[str, Document] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    kept_out: Mapping[str, str] = field(default_factory=dict)

    def without(self, refused: Mapping[str, str]) -> Changes:
        """Return these changes without some fresh documents, whose earlier versions are kept.

        Args:
            refused: why, by URI.

        Raises:
            InvalidArgument: no document is left.
        """
        documents = {document.uri: document for document in self.documents if document.uri not in refused}
        documents |= {uri: document for uri, document in self.former.items() if uri in refused}
        skipped = [*self.skipped, *(_with_fate(Skipped(uri, reason), documents) for uri, reason in refused.items())]
        if not documents:
            raise _nothing_read(skipped)
        lost = {uri for uri in refused if uri not in documents and uri not in self.added}
        return replace(
            self,
            documents=tuple(documents[uri] for uri in sorted(documents)),
            source_of={uri: self.source_of[uri] for uri in documents},
            added=tuple(uri for uri in self.added if uri not in refused),
            replaced=tuple(uri for uri in self.replaced if uri not in refused),
            removed=tuple(sorted({*self.removed, *lost})),
            skipped=tuple(sorted(set(skipped), key=lambda item: (item.uri, item.reason))),
            former={uri: document for uri, document in self.former.items() if uri not in refused},
        )

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.replaced or self.removed or self.renamed)

    @property
    def prunes_most(self) -> bool:
        """Whether more than half of the documents would be removed because their file is missing."""
        return 2 * self.pruned > self.held


def gather_documents(
    kb_dir: Path,
    paths: Sequence[str | Path | Source],
    config: KbConfig,
    settings: IngestSettings,
    prune_missing: bool,
    progress: Callable[[int, int, str], None],
    executor: Executor,
    memo: Memo,
) -> Changes:
    """Read the paths and merge their documents with the published ones, by URI.

    What a file gave when it had the same bytes comes from the memo.

    Raises:
        InvalidArgument: a path does not exist, or nothing could be read and nothing is published.
    """
    held, recovery = _published(kb_dir)
    if recovery:  # the snapshot is unreadable, so its sources are read again
        again = [source for source in config.sources if Path(source.path).is_dir()]
        paths = [*paths, *(parse_arguments(Source, {**source.reading, "path": source.path}) for source in again)]
    source_of = {uri: source for uri, (_, source) in held.items()}
    wanted = sources_of(paths, settings.include, settings.exclude)
    folders, lists = ([source for source in wanted if source.is_web == is_web] for is_web in (False, True))
    max_bytes = settings.max_file_mb * 1024 * 1024
    found = Discovery((), ())
    if folders or not lists:
        found = discover(folders, max_bytes=max_bytes, ignore_files=settings.ignore_files)
    # The URI of a removed document still belongs to its source: no file of another folder has it.
    owners = owners_of(config.removed | source_of)
    located, sources = locate(found.files, config.sources, owners)
    readings = {os.path.abspath(source.path): source.reading for source in folders}  # noqa: PTH100 - links must stay
    sources = tuple(one.model_copy(update={"reading": readings.get(one.path, one.reading)}) for one in sources)
    kept_out = _kept_out(config, paths, located)
    before = {uri: document for uri, (document, _) in held.items() if uri not in kept_out}
    addresses = {url for source in lists for url in addresses_of(source)}
    met = {item.uri for item in located}.union(addresses).intersection(kept_out)
    cache = kb_dir / VALIDATORS.parent
    for left in cache.glob(f"{TEMPORARY_PREFIX}*"):  # of an ingest that was killed
        shutil.rmtree(left, ignore_errors=True)
    with disk_errors(VALIDATORS.parent.as_posix()):
        cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=TEMPORARY_PREFIX, dir=cache) as folder:
        pages = fetch_pages(lists, addresses - met, kb_dir, before, Path(folder), max_bytes, progress)
        fetched, sources = locate_pages(pages.files, sources, owners)
        readable = [item for item in located if item.uri not in met]
        fresh, left_out, source_of_fresh, notes = _read([*readable, *fetched], settings, progress, executor, memo)
    if addresses:
        keep_validators(kb_dir, pages, before, fresh)
    met |= fresh.keys() & kept_out.keys()
    fresh = {uri: document for uri, document in fresh.items() if uri not in met}
    skipped = [*found.skipped, *pages.skipped, *left_out]
    if not fresh and not before:
        raise _nothing_read(skipped)
    whole_lists = {f"{WEB_PREFIX}{source.name}" for source in paths if isinstance(source, Source) and source.is_web}
    whole = {one.name: one for one in sources if one.path in whole_lists or _whole(one, wanted)}
    gone = {uri for uri in before if file_uri(uri) in pages.gone}
    for uri in before.keys() - fresh.keys():
        source = whole.get(source_of[uri])
        if source is not None:
            there = file_uri(uri) in addresses if source.is_web else _still_there(uri, source, found, owners)
            gone |= set() if there else {uri}
    # Rows that a file no longer holds are removed, unless a faulty line may hide them.
    faulty = {file_uri(item.uri) for item in left_out}
    gave_rows = {file_uri(uri) for uri in fresh if "#" in uri}
    lost = {uri for uri in before if "#" in uri and uri not in fresh and file_uri(uri) in gave_rows}
    rows_gone = {uri for uri in lost if file_uri(uri) not in faulty}
    renamed = _renamed({uri: before[uri] for uri in gone}, fresh, before)
    missing = (gone | (lost - rows_gone)) - set(renamed.values())
    dropped = rows_gone | (missing if prune_missing else set()) | (held.keys() - before.keys())
    leaving = {*dropped, *renamed.values()}
    fresh |= {uri: _with_history(fresh[uri], before.get(renamed.get(uri, uri))) for uri in fresh}
    merged = {uri: document for uri, document in before.items() if uri not in leaving} | fresh
    known = sorted(uri for uri in fresh if uri in before)
    replaced = tuple(uri for uri in known if not _same(before[uri], fresh[uri]))
    origin = {uri: source_of_fresh.get(uri) or source_of[uri] for uri in merged}
    return Changes(
        documents=tuple(merged[uri] for uri in sorted(merged)),
        source_of=origin,
        sources=sources,
        added=tuple(sorted(uri for uri in fresh if uri not in before and uri not in renamed)),
        replaced=replaced,
        removed=tuple(sorted(dropped)),
        unchanged=len(known) - len(replaced) + len(pages.unchanged),
        held=len(held),
        pruned=len(missing & dropped),
        skipped=tuple(sorted((_with_fate(item, merged) for item in skipped), key=lambda item: (item.uri, item.reason))),
        no_longer_found=tuple(sorted(missing - dropped)),
        recovery=recovery,
        notes=(*found.notes, *notes, *_removed_note(met)),
        former={uri: before[uri] for uri in replaced},
        renamed=renamed,
        kept_out=kept_out,
    )


def removal_of(kb_dir: Path, config: KbConfig, removal: Removal) -> Changes:
    """Return the changes that remove documents.

    Raises:
        InvalidArgument: a reference matches no document, or all documents are chosen.
    """
    held, recovery = _published(kb_dir)
    by_name = {source.name: source for source in config.sources}
    removed = removal.choose((document, by_name[source]) for document, source in held.values())
    documents = tuple(held[uri][0] for uri in sorted(held) if uri not in removed)
    if removed and not documents:
        raise InvalidArgument(
            "This would remove every document, and a snapshot has at least one. Delete the knowledge base's folder "
            "instead.",
            documents=len(removed),
        )
    return Changes(
        documents=documents,
        source_of={uri: source for uri, (_, source) in held.items()},
        sources=config.sources,
        removed=tuple(sorted(removed)),
        held=len(held),
        recovery=recovery,
        kept_out=config.removed | {uri: held[uri][1] for uri in removed if removal.remembered},
    )


def write_sources(kb_dir: Path, config: KbConfig, changes: Changes) -> None:
    """Write the sources of the documents, and what stays out, into ``kb.toml`` and its copy."""
    config = config.model_copy(update={"sources": changes.sources, "removed": dict(changes.kept_out)})
    write_config(kb_dir, config)
    keep_copy(kb_dir, config)


def _nothing_read(skipped: Sequence[Skipped]) -> InvalidArgument:
    reasons = "; ".join(f"{item.uri}: {item.reason.removesuffix('.')}" for item in skipped[:3])
    count = len({item.uri for item in skipped})
    which = "The file could not be read" if count == 1 else f"None of the {count:,} files could be read"
    return InvalidArgument(
        f"{which} ({reasons}). Nothing was published.",
        skipped=[{"uri": item.uri, "reason": item.reason} for item in skipped],
    )


def _published(kb_dir: Path) -> tuple[dict[str, tuple[Document, str]], tuple[str, ...]]:
    """Return the published documents with their sources by URI, and notes if the snapshot is unreadable.

    A damaged snapshot is replaced by the newest intact one before it.

    Raises:
        BackendUnavailable: a later version of graphctx wrote it; replacing it would lose data.
    """
    try:
        if current_id(kb_dir) is None:
            return {}, ()
        return _documents(kb_dir, None), ()
    except BackendUnavailable as error:
        if error.details.get("format_version", 0) > FORMAT_VERSION:
            raise
        lost = f"The published snapshot cannot be used: {error.message} All known sources were read again"
    for info in list_snapshots(kb_dir):
        if not info.current and info.problem is None:
            with suppress(BackendUnavailable):
                held = _documents(kb_dir, info.id)
                return held, (f"{lost}, and documents whose files are missing came from snapshot {info.id}.",)
    return {}, (f"{lost}; documents whose files are missing are lost.",)


def _documents(kb_dir: Path, snapshot_id: str | None) -> dict[str, tuple[Document, str]]:
    with open_snapshot(kb_dir, snapshot_id) as snapshot:
        rows = snapshot.table("documents").to_pylist()
    return {row["uri"]: (document_from_row(row), row["source"]) for row in rows}


def _still_there(uri: str, source: SourceEntry, found: Discovery, owners: Mapping[str, str]) -> bool:
    """Whether a document's file exists and is not ignored."""
    return any(exists(path) and not found.ignores(path) for path in paths_of(uri, source, owners))


def _read(
    located: Sequence[Located],
    settings: IngestSettings,
    progress: Callable[[int, int, str], None],
    executor: Executor,
    memo: Memo,
) -> tuple[dict[str, Document], list[Skipped], dict[str, str], list[str]]:
    states = [file_state(item.file) for item in located]
    keys = [state and reading_key(item.file, item.uri, state) for item, state in zip(located, states, strict=True)]
    digests = {key: state.sha256 for key, state in zip(keys, states, strict=True) if key and state}
    readings = run_memoised(
        DocumentStep("reading", read_file, pack=with_content),
        [(item.file, item.uri) for item in located],
        [item.file.size for item in located],
        keys,
        READINGS,
        memo,
        settings,
        executor,
        lambda done, total: progress(done, total, "files"),
        is_of=lambda key, read: read.sha256 == digests[key],  # it may have changed meanwhile
    )
    documents: dict[str, Document] = {}
    skipped: list[Skipped] = []
    notes: list[str] = []
    source_of: dict[str, str] = {}
    for item, state, reading in zip(located, states, readings, strict=True):
        if isinstance(reading, Refused):
            skipped.append(Skipped(item.uri, reading.reason))
            continue
        skipped += reading.skipped
        notes += reading.notes
        for document in _with_metadata(reading.documents, item):
            if state and state.sha256 == reading.sha256:  # what was read earlier has the time of then
                document = replace(document, mtime=state.mtime)
            if document.uri in documents:
                skipped.append(Skipped(document.uri, "another document has the same URI; the first one is kept"))
                continue
            documents[document.uri] = document
            source_of[document.uri] = item.source
    return documents, skipped, source_of, notes


def _with_metadata(documents: Sequence[Document], item: Located) -> list[Document]:
    """Return the documents of a file with the metadata that the rules of its source give them."""
    source = item.file.source
    if source is None:
        return list(documents)
    below = os.path.relpath(item.file.path, source.path) if source.path else urlsplit(item.uri).path.strip("/")
    rel = item.file.path.name if below == "." else below
    return [with_metadata(document, source, rel) for document in documents]


def _with_fate(item: Skipped, merged: Mapping[str, Document]) -> Skipped:
    """Add to the reason of a skipped file that its earlier version is kept, if there is one."""
    if item.uri not in merged or "same URI" in item.reason:
        return item
    return replace(item, reason=f"{item.reason.removesuffix('.')}; the version that was read before is kept")


def _kept_out(config: KbConfig, paths: Sequence[str | Path | Source], located: Sequence[Located]) -> dict[str, str]:
    """Return the removed documents that stay out: all but those whose file or address is named itself."""
    given = {str(path) for path in paths if not isinstance(path, Source)}
    files = {os.path.abspath(path) for path in given}  # noqa: PTH100 - links must stay
    named = {file_uri(path) for path in given if is_web_address(path)}
    named |= {item.uri for item in located if str(item.file.path) in files}
    return {uri: source for uri, source in config.removed.items() if file_uri(uri) not in named}


def _removed_note(met: Collection[str]) -> list[str]:
    if not met:
        return []
    shown = ", ".join(sorted(met)[:3]) + (f" and {len(met) - 3:,} more" if len(met) > 3 else "")
    return [f"Left out because graphctx remove removed them: {shown}; an ingest that names their file takes them in"]


def _renamed(
    gone: Mapping[str, Document], fresh: Mapping[str, Document], before: Mapping[str, Document]
) -> dict[str, str]:
    """Return the earlier URI of each added document that has the text, and the row id, of one whose file is gone."""
    waiting: dict[tuple[str, str], deque[str]] = {}
    for uri in sorted(gone):
        waiting.setdefault((gone[uri].sha256, uri.partition("#")[2]), deque()).append(uri)
    renamed = {}
    for uri in sorted(fresh.keys() - before.keys()):
        if earlier := waiting.get((fresh[uri].sha256, uri.partition("#")[2])):
            renamed[uri] = earlier.popleft()
    return renamed


def _with_history(document: Document, earlier: Document | None) -> Document:
    """Return a document with the URIs that it had before, the latest first."""
    if earlier is None:
        return document
    uris = dict.fromkeys((earlier.uri, *earlier.formerly))
    return replace(document, formerly=tuple(uri for uri in uris if uri != document.uri))


def _whole(source: SourceEntry, wanted: Sequence[Source]) -> bool:
    """Whether the wanted sources are this one's folder, or one around it, and not only files or folders in it."""
    if source.is_web:
        return False
    folder = Path(source.path).resolve()
    paths = [Path(one.path) for one in wanted if one.path]
    return any(path.is_dir() and folder.is_relative_to(path.resolve()) for path in paths)


def _same(a: Document, b: Document) -> bool:
    return (
        a.sha256 == b.sha256
        and (a.title, a.titled, a.tags, a.updated_at, a.media_type)
        == (b.title, b.titled, b.tags, b.updated_at, b.media_type)
        and a.page_starts == b.page_starts
        and (a.headings, a.blocks, a.links) == (b.headings, b.blocks, b.links)
    )
