"""Sources of documents, and the URIs of their files.

A document's URI is its path below the folder that was ingested, so that a copy of the folder elsewhere has the same
index. If that would clash with a document of another folder, the second folder's name is put in front. A file below a
known source's folder belongs to that source, whichever folder is ingested. ``%`` and ``#`` in a file's name are
percent-encoded, since ``#`` begins the id of a JSONL row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from graphctx.ingest.read import SourceFile
from graphctx.store.config import WEB_PREFIX, SourceEntry


@dataclass(frozen=True, slots=True)
class Located:
    """A file with its URI and the name of its source."""

    file: SourceFile
    uri: str
    source: str


def locate(
    files: Sequence[SourceFile], known: Sequence[SourceEntry], owners: Mapping[str, str]
) -> tuple[list[Located], tuple[SourceEntry, ...]]:
    """Return the URI of every file.

    Args:
        files: what was found.
        known: the sources of earlier ingests.
        owners: the source of each URI that the knowledge base holds (of a JSONL row: its file's URI).

    Returns:
        The files sorted by URI, and all sources, the fresh ones at the end.
    """
    sources = list(known)
    known = [source for source in known if not source.is_web]
    taken = dict(owners)
    located: list[Located] = []
    loose: dict[Path, list[SourceFile]] = {}
    for file in files:
        source = _around(file.path, known)
        if source is None:
            loose.setdefault(file.root, []).append(file)
        else:
            located.append(_place(file, source, taken))
    for root in sorted(loose, key=lambda root: (root.name, root)):  # by name, so that a copy elsewhere is the same
        own = loose[root]
        stayed = [source for source in known if source in sources]
        source = _moved(root, own, stayed, taken) or _fresh(root, own, sources, taken)
        sources = [source if known_one.name == source.name else known_one for known_one in sources]
        if source not in sources:
            sources.append(source)
        located += [_place(file, source, taken) for file in own]
    return sorted(located, key=lambda item: item.uri), tuple(sources)


def locate_pages(
    pages: Sequence[tuple[SourceFile, str]], known: Sequence[SourceEntry], owners: Mapping[str, str]
) -> tuple[list[Located], tuple[SourceEntry, ...]]:
    """Return the fetched pages, whose URI is their address, and all sources, the fresh ones at the end.

    A page that is named by itself stays in the list that holds it.
    """
    sources = list(known)
    located = []
    for file, url in pages:
        assert file.source is not None
        place = f"{WEB_PREFIX}{file.source.name}"
        held = None if file.source.name else owners.get(url)
        source = next((one for one in sources if (one.name == held if held else one.path == place)), None)
        if source is None:
            source = SourceEntry(name=_unused(file.source.name or "pages", {one.name for one in sources}), path=place)
            sources.append(source)
        located.append(Located(file, url, source.name))
    return located, tuple(sources)


def file_uri(uri: str) -> str:
    """Return the URI of the file that a document is read from: without the id of a row."""
    return uri.partition("#")[0]


def owners_of(documents: Mapping[str, str]) -> dict[str, str]:
    """Return the source of each file's URI, from the source of each document's URI."""
    return {file_uri(uri): source for uri, source in documents.items() if source}


def paths_of(uri: str, source: SourceEntry, owners: Mapping[str, str]) -> list[Path]:
    """Return the files that a document of a source may have come from, the likeliest first.

    Args:
        uri: the document's URI.
        source: the document's source.
        owners: the source of each file's URI, as for `locate`; a file with a URI of its own is not returned.
    """
    if source.is_web:
        return []
    rel = file_uri(uri)
    short = rel.removeprefix(f"{source.prefix or source.name}/")
    below = [short] if source.prefix else [rel]
    if short not in below and owners.get(short) != source.name:
        below.append(short)
    return [Path(source.path) / unquote(one) for one in below]


def _place(file: SourceFile, source: SourceEntry, taken: dict[str, str]) -> Located:
    """Return a file with its URI: with its source's name in front if another source has the short one, or had it."""
    below = file.path.relative_to(source.path)
    rel = encoded(below.as_posix())
    uri, full = _uri(source, rel), f"{source.name}/{rel}"
    owner = taken.get(uri)
    # A folder of the source's own name has files to which the long URI belongs.
    had_full = owner is None and taken.get(full) == source.name and not Path(source.path, source.name, below).exists()
    if had_full or owner not in (None, source.name):
        uri = full
    taken[uri] = source.name
    return Located(file, uri, source.name)


def _uri(source: SourceEntry, rel: str) -> str:
    return f"{source.prefix}/{rel}" if source.prefix else rel


def _around(path: Path, sources: Sequence[SourceEntry]) -> SourceEntry | None:
    """The source with the nearest folder around a file."""
    around = [source for source in sources if path.is_relative_to(source.path)]
    return max(around, key=lambda source: len(Path(source.path).parts), default=None)


def _moved(
    root: Path, files: Sequence[SourceFile], known: Sequence[SourceEntry], taken: Mapping[str, str]
) -> SourceEntry | None:
    """Return the source whose folder was moved here: it no longer exists, and at least half of its files are here."""
    held = Counter(taken.values())
    for source in known:
        same = sum(taken.get(_uri(source, encoded(file.rel))) == source.name for file in files)
        if same and 2 * same >= held[source.name] and not Path(source.path).exists():
            return source.model_copy(update={"path": str(root)})
    return None


def _fresh(
    root: Path, files: Sequence[SourceFile], sources: Sequence[SourceEntry], taken: Mapping[str, str]
) -> SourceEntry:
    clash = any(encoded(file.rel) in taken for file in files)
    folders = {uri.partition("/")[0] for uri in taken} if clash else set()
    name = _unused(root.name or "root", {source.name for source in sources} | folders)
    return SourceEntry(name=name, path=str(root), prefix=name if clash else "")


def encoded(rel: str) -> str:
    """Return a relative path percent-encoded for a URI."""
    return rel.replace("%", "%25").replace("#", "%23")


def _unused(name: str, names: set[str]) -> str:
    candidate, number = name, 2
    while candidate in names:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
