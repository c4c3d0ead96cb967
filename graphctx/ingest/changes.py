"""The read step as a whole: what is in the knowledge base, what the paths give, and what that changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphctx.errors import InvalidArgument
from graphctx.ingest.outline import document_from_row, outline_of
from graphctx.ingest.read import Skipped, discover, read_file
from graphctx.ingest.report import Progress
from graphctx.ingest.sources import Located, locate
from graphctx.model.documents import Document
from graphctx.settings import IngestSettings
from graphctx.store.config import KbConfig, SourceEntry
from graphctx.store.snapshot import current_id, open_snapshot


@dataclass(frozen=True, slots=True)
class Changes:
    """All documents after this ingest, and how they differ from before.

    ``source_of`` maps each document's URI to the name of its source.
    """

    documents: tuple[Document, ...]
    source_of: dict[str, str]
    sources: tuple[SourceEntry, ...]
    added: int
    replaced: int
    removed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    no_longer_found: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.replaced or self.removed)


def gather_documents(
    kb_dir: Path,
    paths: Sequence[Path],
    config: KbConfig,
    settings: IngestSettings,
    prune_missing: bool,
    tell: Callable[[Progress], None],
) -> Changes:
    """Read the paths and merge what they give with the published documents, by URI.

    Raises:
        InvalidArgument: a path does not exist, or nothing could be read and nothing is published.
    """
    held = _published(kb_dir)
    before = {uri: document for uri, (document, _) in held.items()}
    source_of = {uri: source for uri, (_, source) in held.items()}
    found = discover(paths, max_bytes=settings.max_file_mb * 1024 * 1024)
    owners = {_file_uri(uri): source for uri, source in source_of.items()}
    located, sources = locate(found.files, config.sources, owners)
    fresh, skipped, source_of_fresh = _read(located, tell)
    skipped = [*found.skipped, *skipped]
    if not fresh and not before:
        reasons = "; ".join(f"{item.uri}: {item.reason}" for item in skipped[:3])
        raise InvalidArgument(
            f"None of the {len(located)} files could be read ({reasons}). Nothing was published.",
            skipped=[{"uri": item.uri, "reason": item.reason} for item in skipped],
        )
    failed = {_file_uri(item.uri) for item in skipped}
    ingested = {item.source for item in located} & {s.name for s in sources if _whole(s, paths)}
    missing = sorted(
        uri
        for uri, source in source_of.items()
        if source in ingested and uri not in fresh and _file_uri(uri) not in failed
    )
    rows_gone = {uri for uri in before if uri not in fresh and "#" in uri and _file_uri(uri) in _files(located, failed)}
    dropped = rows_gone | (set(missing) if prune_missing else set())
    merged = {uri: document for uri, document in before.items() if uri not in dropped} | fresh
    same = sum(uri in before and _same(before[uri], document) for uri, document in fresh.items())
    new = sum(uri not in before for uri in fresh)
    origin = {uri: source_of_fresh.get(uri) or source_of[uri] for uri in merged}
    return Changes(
        documents=tuple(merged[uri] for uri in sorted(merged)),
        source_of=origin,
        sources=sources,
        added=new,
        replaced=len(fresh) - new - same,
        removed=len(dropped),
        unchanged=same,
        skipped=tuple(sorted(skipped, key=lambda item: (item.uri, item.reason))),
        no_longer_found=() if prune_missing else tuple(uri for uri in missing if uri not in dropped),
    )


def _published(kb_dir: Path) -> dict[str, tuple[Document, str]]:
    if current_id(kb_dir) is None:
        return {}
    with open_snapshot(kb_dir) as snapshot:
        rows = snapshot.table("documents").to_pylist()
    return {row["uri"]: (document_from_row(row), row["source"]) for row in rows}


def _read(
    located: Sequence[Located], tell: Callable[[Progress], None]
) -> tuple[dict[str, Document], list[Skipped], dict[str, str]]:
    documents: dict[str, Document] = {}
    skipped: list[Skipped] = []
    source_of: dict[str, str] = {}
    for number, item in enumerate(located, 1):
        read, left_out = read_file(item.file, item.uri)
        skipped += left_out
        for document in read:
            if document.uri in documents:
                skipped.append(Skipped(document.uri, "another document has the same URI; the first one is kept"))
                continue
            documents[document.uri] = document
            source_of[document.uri] = item.source
        tell(Progress("read", number, len(located), "files"))
    return documents, skipped, source_of


def _file_uri(uri: str) -> str:
    return uri.partition("#")[0]


def _files(located: Sequence[Located], failed: set[str]) -> set[str]:
    return {item.uri for item in located} - failed


def _whole(source: SourceEntry, paths: Sequence[Path]) -> bool:
    """Whether the paths name this source's folder itself, not only files in it."""
    return any(path.is_dir() and path.resolve() == Path(source.path).resolve() for path in paths)


def _same(a: Document, b: Document) -> bool:
    return (
        a.sha256 == b.sha256
        and (a.title, a.titled, a.tags, a.updated_at, a.media_type)
        == (b.title, b.titled, b.tags, b.updated_at, b.media_type)
        and a.page_starts == b.page_starts
        and outline_of(a) == outline_of(b)
    )
