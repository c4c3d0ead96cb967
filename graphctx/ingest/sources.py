"""Where documents come from, and the URIs they get.

A document's URI is its path below the folder that was ingested, so that a copy of the folder elsewhere gives the
same index. Only where that would clash with a document of another folder do the second folder's documents get its
name in front. A folder or file below a known source's folder belongs to that source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphctx.ingest.read import SourceFile
from graphctx.store.config import SourceEntry


@dataclass(frozen=True, slots=True)
class Located:
    """A file with its URI and the name of its source."""

    file: SourceFile
    uri: str
    source: str


def locate(
    files: Sequence[SourceFile], known: Sequence[SourceEntry], owners: Mapping[str, str]
) -> tuple[list[Located], tuple[SourceEntry, ...]]:
    """Give every file its URI.

    Args:
        files: what was found.
        known: the sources of earlier ingests.
        owners: the source of each URI that the knowledge base holds (of a JSONL row: its file's URI).

    Returns:
        The files sorted by URI, and all sources, the fresh ones at the end.
    """
    sources = list(known)
    taken = dict(owners)
    located: list[Located] = []
    by_root: dict[Path, list[SourceFile]] = {}
    for file in files:
        by_root.setdefault(file.root, []).append(file)
    for root in sorted(by_root, key=lambda root: (root.name, root)):  # by name, so that a copy elsewhere is the same
        own = by_root[root]
        stayed = [source for source in known if source in sources]
        entry = _known(root, sources) or _moved(root, own, stayed, taken) or _fresh(root, own, sources, taken)
        sources = [entry if source.name == entry.name else source for source in sources]
        if entry not in sources:
            sources.append(entry)
        for file in own:
            uri = _uri(entry, _below(root, entry) + file.rel)
            taken[uri] = entry.name
            located.append(Located(file, uri, entry.name))
    return sorted(located, key=lambda item: item.uri), tuple(sources)


def _uri(source: SourceEntry, rel: str) -> str:
    return f"{source.prefix}/{rel}" if source.prefix else rel


def _below(root: Path, source: SourceEntry) -> str:
    """Where a folder lies below its source's, with a slash at the end, or nothing where it is that folder."""
    inner = root.relative_to(source.path).as_posix()
    return "" if inner == "." else f"{inner}/"


def _known(root: Path, sources: Sequence[SourceEntry]) -> SourceEntry | None:
    """The source of this folder, or of the nearest folder around it."""
    around = [source for source in sources if root.is_relative_to(source.path)]
    return max(around, key=lambda source: len(Path(source.path).parts), default=None)


def _moved(
    root: Path, files: Sequence[SourceFile], known: Sequence[SourceEntry], taken: Mapping[str, str]
) -> SourceEntry | None:
    """The source whose folder was moved here: it is gone, and at least half of what it held is here again."""
    held = Counter(taken.values())
    for source in known:
        same = sum(taken.get(_uri(source, file.rel)) == source.name for file in files)
        if same and 2 * same >= held[source.name] and not Path(source.path).exists():
            return source.model_copy(update={"path": str(root)})
    return None


def _fresh(
    root: Path, files: Sequence[SourceFile], sources: Sequence[SourceEntry], taken: Mapping[str, str]
) -> SourceEntry:
    clash = any(file.rel in taken for file in files)
    folders = {uri.partition("/")[0] for uri in taken} if clash else set()
    name = _unused(root.name or "root", {source.name for source in sources} | folders)
    return SourceEntry(name=name, path=str(root), prefix=name if clash else "")


def _unused(name: str, names: set[str]) -> str:
    candidate, number = name, 2
    while candidate in names:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
