"""Files of documents as passages of a base layer, and their vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphctx.cli.layers.telling import OnProgress
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from graphctx.ingest.read import Skipped, SourceFile
    from graphctx.layers import Chunk, ProfiledEmbedder
    from graphctx.layers.compiled import DocumentPassage
    from graphctx.model.documents import Document

Split = Literal["units", "sections", "files"]

MARKDOWN = ("*.md", "*.markdown", "*.mdx")
"""What is taken of a folder unless patterns say otherwise."""

_BATCH = 64  # texts that are embedded between two calls of progress


@dataclass(frozen=True, slots=True)
class Sources:
    """Passages of files, the number of these files, and what was left out."""

    passages: tuple[DocumentPassage, ...]
    files: int
    skipped: tuple[Skipped, ...]


def read_sources(
    paths: Sequence[Path], root: Path, *, include: Sequence[str], split: Split, on_progress: OnProgress
) -> Sources:
    """Cut files into passages.

    Args:
        paths: files, and folders, of which those files are taken that fit a pattern.
        root: sources are relative to this folder, so that a checkout elsewhere gives the same layer.
        include: patterns of a file's name, or of its path below the given folder or below ``root``.
        split: what becomes a passage.
        on_progress: called as it advances.

    Raises:
        InvalidArgument: a path is not there or lies outside ``root``, or there is no text in any file.
    """
    from graphctx.ingest.read import read_file

    files, skipped = _found(paths, root, include)
    passages: list[DocumentPassage] = []
    for done, (file, uri) in enumerate(files):
        on_progress("read", done, len(files), "files")
        documents, refused = read_file(file, uri)
        skipped += refused
        for document in documents:
            passages += _passages(document, split)
    on_progress("read", len(files), len(files), "files")
    if not passages:
        reasons = "; ".join(f"{item.uri}: {item.reason}" for item in skipped[:5])
        raise InvalidArgument(
            f"There is no text in any of the {len(files)} files, so there is nothing to make a layer of. {reasons}",
            files=len(files),
        )
    return Sources(tuple(passages), len(files), tuple(sorted(skipped, key=lambda item: item.uri)))


def embed_chunks(
    chunks: Sequence[Chunk], embedder: ProfiledEmbedder, on_progress: OnProgress
) -> npt.NDArray[np.float32]:
    """Vectors of chunks, ``[len(chunks), dim]``."""
    import numpy as np

    vectors = np.empty((len(chunks), embedder.profile.dim), np.float32)
    for start in range(0, len(chunks), _BATCH):
        on_progress("embed", start, len(chunks), "chunks")
        batch = [chunk.content for chunk in chunks[start : start + _BATCH]]
        vectors[start : start + len(batch)] = embedder.embed(batch)
    on_progress("embed", len(chunks), len(chunks), "chunks")
    return vectors


def _found(
    paths: Sequence[Path], root: Path, include: Sequence[str]
) -> tuple[list[tuple[SourceFile, str]], list[Skipped]]:
    """Return the files, each with its path below the root, sorted by it, and what was passed over, with the reason."""
    from graphctx.ingest.read import Skipped, discover

    found = discover([path.expanduser() for path in paths])
    given = {os.path.abspath(path.expanduser()) for path in paths}  # noqa: PTH100 - links must stay
    top = Path(os.path.abspath(root))  # noqa: PTH100
    unfit = f"its name fits none of {', '.join(include)}; --include takes other files"
    files: list[tuple[SourceFile, str]] = []
    skipped = list(found.skipped)
    for file in found.files:
        if not file.path.is_relative_to(top):
            raise InvalidArgument(
                f"{file.path} lies outside of {top}, so its place could not be told to others. Name the folder that "
                "holds both with --dir.",
                path=str(file.path),
            )
        uri = file.path.relative_to(top).as_posix()
        named = str(file.path) in given or any(_fits(text, include) for text in (file.path.name, file.rel, uri))
        if file.path.suffix == ".db":
            skipped.append(Skipped(uri, "a database or a layer; layers are made of documents"))
        elif not named:
            skipped.append(Skipped(uri, unfit))
        else:
            files.append((file, uri))
    if not files:
        raise InvalidArgument(
            f"None of the {len(found.files)} files that can be read fits {', '.join(include)}. Give other patterns "
            "with --include.",
            include=list(include),
        )
    return sorted(files, key=lambda pair: pair[1]), skipped


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _passages(document: Document, split: Split) -> list[DocumentPassage]:
    from graphctx.layers.compiled import DocumentPassage
    from graphctx.model.documents import line_of, line_starts

    lines = line_starts(document.text)
    made = []
    for start, end in _spans(document, split):
        text = document.text[start:end]
        begin = start + len(text) - len(text.lstrip())
        if content := text.strip():
            made.append(DocumentPassage(content, document.uri, f"{document.uri}:{line_of(lines, begin)}"))
    return made


def _spans(document: Document, split: Split) -> list[tuple[int, int]]:
    """Where the chunks of a document are. A unit that is the first of its section begins with its heading."""
    from graphctx.ingest.split import split_document
    from graphctx.nlp.tokens import WordPieceCounter

    if split == "files":
        return [(0, len(document.text))]
    parts = split_document(document, WordPieceCounter())
    heads = {section.id: section.start_char for section in parts.sections if section.level}  # front matter has none
    begins: dict[str, int] = {}  # of sections that hold text; a heading above other headings alone says nothing
    spans = []
    for unit in parts.units:
        first = unit.section_id not in begins
        start = min(heads.get(unit.section_id, unit.start_char), unit.start_char) if first else unit.start_char
        begins.setdefault(unit.section_id, start)
        spans.append((start, unit.end_char))
    if split == "units":
        return spans
    return [(begins[section.id], section.end_char) for section in parts.sections if section.id in begins]
