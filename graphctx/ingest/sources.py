"""Where documents come from, and the URIs they get.

A document's URI is its path below the folder that was ingested, so that a copy of the folder elsewhere gives the
same index. Only where that would clash with a document of another folder do the second folder's documents get its
name in front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    for root in sorted(by_root):
        own = by_root[root]
        entry = _entry(root, own, sources, taken)
        if all(source.name != entry.name for source in sources):
            sources.append(entry)
        else:
            sources = [entry if source.name == entry.name else source for source in sources]
        for file in own:
            uri = f"{entry.prefix}/{file.rel}" if entry.prefix else file.rel
            taken[uri] = entry.name
            located.append(Located(file, uri, entry.name))
    return sorted(located, key=lambda item: item.uri), tuple(sources)


def _entry(
    root: Path, files: Iterable[SourceFile], sources: Sequence[SourceEntry], taken: Mapping[str, str]
) -> SourceEntry:
    for source in sources:
        if Path(source.path) == root:
            return source
    names = {source.name for source in sources}
    name = _unused(root.name or "root", names)
    rivals = {taken[file.rel] for file in files if file.rel in taken}
    gone = {source.name for source in sources if not Path(source.path).exists()}
    if rivals and rivals <= gone and len(rivals) == 1:  # the folder was moved: it is the same source
        moved = next(source for source in sources if source.name in rivals)
        return moved.model_copy(update={"path": str(root)})
    return SourceEntry(name=name, path=str(root), prefix=name if rivals else "")


def _unused(name: str, names: set[str]) -> str:
    candidate, number = name, 2
    while candidate in names:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
