"""``graphctx layers compile``: a base layer made of documents or of a knowledge base."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.console import counted, errors_console, output_console, print_json, print_list, warn
from graphctx.cli.layers.shared import FILE_NAMES, DirOption, folder_of, incompatibility, warn_of_signature
from graphctx.cli.options import JsonOption, NoIgnoreOption, PathPrefixOption, TagOption, require_choice
from graphctx.cli.places import shown_path
from graphctx.cli.progress import progress_view
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.ingest.read import Skipped, SourceFile
    from graphctx.layers import Chunk, LayerContent
    from graphctx.layers.compiled import DocumentPassage
    from graphctx.model.documents import Document

OnProgress = Callable[[str, int, int, str], None]

_MARKDOWN = ("*.md", "*.markdown", "*.mdx")
_SPLITS = ("sections", "units", "files")
_EMBEDDERS = ("minilm", "hash")
_HASH_DIM = 384  # as the shipped model has, so that layers of both kinds can be read side by side
_BATCH = 64  # texts that are embedded between two calls of progress
_MAX_MS = (1 << 64) - 1


def compile_base(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Documents, and folders of them.")] = [],
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="Write the units of this knowledge base, with their vectors."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file to write; DIR/AGENTS.db by default."),
    ] = None,
    include: Annotated[
        list[str],
        typer.Option(
            "--include",
            metavar="GLOB",
            help="Of folders, read files whose name or path matches; may be repeated. Markdown by default.",
        ),
    ] = [],
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="The kind of every chunk.")] = "canonical",
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="sections|units|files",
            help="What makes a chunk; a unit has at most 256 tokens, which is what the model sees of a text.",
            show_default=_SPLITS[0],
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="minilm|hash", help="hash counts words and needs no model.")
    ] = _EMBEDDERS[0],
    i8: Annotated[bool, typer.Option("--i8", help="Store vectors as bytes, at a quarter of the size.")] = False,
    created_at: Annotated[
        str | None,
        typer.Option(
            "--created-at",
            metavar="DATE",
            help="Of every chunk, ISO 8601 or milliseconds since 1970; $SOURCE_DATE_EPOCH by default, else 0.",
        ),
    ] = None,
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    no_ignore: NoIgnoreOption = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing base layer.")] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a base layer: AGENTS.db. The same documents give the same bytes, on any day.

    Ids derive from the content of chunks, and sources are file:line below the folder. An existing base layer is
    replaced with --force only, whole. Files that are not read are listed with the reason. The JSON object has path,
    changed, chunks, files, bytes, sha256, skipped and notes.
    """
    from graphctx.layers import to_bytes, write_layer

    if bool(paths) == (kb is not None):
        raise InvalidArgument(
            "Give documents or --kb DIR, and only one of them: graphctx layers compile docs AGENTS.md", field="paths"
        )
    require_choice("--split", split or _SPLITS[0], _SPLITS)
    require_choice("--embedder", embedder, _EMBEDDERS)
    if kb is not None:
        others: dict[str, object] = {
            "--split": split,
            "--include": include,
            "--embedder": embedder != _EMBEDDERS[0],
            "--no-ignore": no_ignore,
        }
    else:
        others = {"--tag": tag, "--path-prefix": path_prefix}
    if without_effect := [option for option, value in others.items() if value]:
        which = "documents" if kb is not None else "a knowledge base"
        raise InvalidArgument(
            f"{without_effect[0]} has an effect on {which} only. Leave it out.", field=without_effect[0]
        )
    folder = folder_of(dir_)
    target = _target(out or folder / FILE_NAMES[0])
    created_ms = _milliseconds(created_at)
    skipped: list[Skipped] = []
    notes: list[str] = []
    with progress_view() as view:
        if kb is not None:
            from graphctx.knowledge_base import KnowledgeBase

            with KnowledgeBase.open(kb) as base:
                content = base.layer(
                    kind=kind,
                    created_at_unix_ms=created_ms,
                    i8=i8,
                    doc_tag=tag,
                    path_prefix=path_prefix,
                    on_progress=view.step,
                )
            if not force:
                _require_equal(target, content.chunks)
        else:
            from graphctx.layers.compiled import chunks_of

            files, skipped, notes = _files(paths, folder, include or _MARKDOWN, ignore_files=not no_ignore)
            passages = _read(files, skipped, notes, split or _SPLITS[0], view.step)
            skipped.sort(key=lambda item: item.uri)
            chunks = chunks_of(passages, kind, created_ms)
            if not force:
                _require_equal(target, chunks)  # before the vectors, which take longest
            content = _embedded(chunks, embedder, i8, view.step)
    changed = not target.exists() or target.read_bytes() != to_bytes(content)
    if changed:
        if not force and target.exists():
            raise _another_layer(target)
        write_layer(target, content, replace=force)
    _show(target, changed, content, skipped, notes, as_json=as_json)


def _target(path: Path) -> Path:
    """Return the file to write; raises InvalidArgument if it is another layer's, a folder, or in no folder."""
    if path.name in FILE_NAMES[1:]:
        raise InvalidArgument(
            f"{path.name} is not compiled: the user layer grows by promotion, and tools append to the others. Write "
            "AGENTS.db.",
            path=str(path),
        )
    if path.is_dir():
        raise InvalidArgument(f"{path} is a folder. Name a file: {path / FILE_NAMES[0]}", path=str(path))
    if not path.absolute().parent.is_dir():
        raise InvalidArgument(f"There is no folder {path.parent}. Make it first, or write elsewhere.", path=str(path))
    return path


def _milliseconds(created_at: str | None) -> int:
    """Return the time of every chunk in milliseconds since 1970; raises InvalidArgument if it is not a date."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if created_at is None and not epoch:
        return 0
    field, text = ("--created-at", created_at) if created_at is not None else ("$SOURCE_DATE_EPOCH", epoch)
    try:
        if text.isascii() and text.isdigit():
            found = int(text) * (1 if created_at is not None else 1000)
        else:
            moment = datetime.fromisoformat(text)
            found = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= _MAX_MS:
        raise InvalidArgument(
            f"{field} is {text!r}; give an ISO 8601 date from 1970 on, such as 2026-01-31, or a whole number.",
            field="created_at",
            value=text,
        )
    return found


def _require_equal(target: Path, chunks: Sequence[Chunk]) -> None:
    """Raise InvalidArgument if the file exists and holds other chunks."""
    from graphctx.layers import LayerFile

    if target.exists():
        with LayerFile.open(target) as old:
            same = list(old.chunks()) == list(chunks)
        if not same:
            raise _another_layer(target)


def _another_layer(target: Path) -> InvalidArgument:
    return InvalidArgument(
        f"{target.name} exists already and has another content; a base layer is never changed. Replace it whole with "
        "--force, or write another file with --out.",
        path=str(target),
    )


def _files(
    paths: Sequence[Path], root: Path, include: Sequence[str], *, ignore_files: bool
) -> tuple[list[tuple[SourceFile, str]], list[Skipped], list[str]]:
    """Find the files to read.

    Args:
        paths: files, and folders, of which the files are read that match a pattern.
        root: the folder that sources are relative to, so that a checkout elsewhere gives the same layer.
        include: patterns of a file's name, or of its path below its folder or below ``root``.
        ignore_files: whether to leave out what files named .gitignore and .ignore exclude.

    Returns:
        The files with their paths below ``root``, sorted by these, what is skipped, with the reason, and notes.

    Raises:
        InvalidArgument: a path does not exist or is outside of ``root``, or no file matches.
    """
    from graphctx.ingest.read import Skipped, discover

    found = discover([path.expanduser() for path in paths], ignore_files=ignore_files)
    named = {os.path.abspath(path.expanduser()) for path in paths}  # noqa: PTH100 - links must stay
    top = Path(os.path.abspath(root))  # noqa: PTH100
    files: list[tuple[SourceFile, str]] = []
    skipped = list(found.skipped)
    for file in found.files:
        if not file.path.is_relative_to(top):
            raise InvalidArgument(
                f"{file.path} lies outside of {top}, so no source could point to it. Name the folder that holds both "
                "with --dir.",
                path=str(file.path),
            )
        uri = file.path.relative_to(top).as_posix()
        texts = (file.path.name, file.rel, uri)
        if file.path.suffix == ".db":
            skipped.append(Skipped(uri, "a database or a layer; layers are made of documents"))
        elif str(file.path) in named or any(fnmatch(text, pattern) for text in texts for pattern in include):
            files.append((file, uri))
        else:
            skipped.append(Skipped(uri, f"its name matches none of {', '.join(include)}; --include adds other files"))
    if not files:
        raise InvalidArgument(
            f"None of the {len(found.files)} files that can be read matches {', '.join(include)}. Give other patterns "
            "with --include.",
            include=list(include),
        )
    return sorted(files, key=lambda pair: pair[1]), skipped, list(found.notes)


def _read(
    files: Sequence[tuple[SourceFile, str]],
    skipped: list[Skipped],
    notes: list[str],
    split: str,
    on_progress: OnProgress,
) -> list[DocumentPassage]:
    """Read files and divide them into passages; append what cannot be read to ``skipped``, and notes to ``notes``."""
    from graphctx.ingest.read import read_file
    from graphctx.layers.compiled import DocumentPassage
    from graphctx.model.documents import line_of, line_starts

    passages: list[DocumentPassage] = []
    for done, (file, uri) in enumerate(files):
        on_progress("read", done, len(files), "files")
        reading = read_file(file, uri)
        skipped += reading.skipped
        notes += reading.notes
        for document in reading.documents:
            lines = line_starts(document.text)
            for start, end in _spans(document, split):
                text = document.text[start:end]
                if content := text.strip():
                    line = line_of(lines, start + len(text) - len(text.lstrip()))
                    passages.append(DocumentPassage(content, document.uri, f"{document.uri}:{line}"))
    on_progress("read", len(files), len(files), "files")
    if not passages:
        reasons = "; ".join(f"{item.uri}: {item.reason}" for item in skipped[:5])
        raise InvalidArgument(
            f"There is no text in any of the {len(files)} files, so there is nothing to make a layer of. {reasons}",
            files=len(files),
        )
    return passages


def _spans(document: Document, split: str) -> list[tuple[int, int]]:
    """Return the spans of a document's chunks. The first unit of a section begins with its heading."""
    from graphctx.ingest.split import split_document
    from graphctx.nlp.tokens import WordPieceCounter

    if split == "files":
        return [(0, len(document.text))]
    parts = split_document(document, WordPieceCounter())
    heads = {section.id: section.start_char for section in parts.sections if section.level}  # front matter has none
    begins: dict[str, int] = {}  # of sections with text of their own
    spans = []
    for unit in parts.units:
        first = unit.section_id not in begins
        start = min(heads.get(unit.section_id, unit.start_char), unit.start_char) if first else unit.start_char
        begins.setdefault(unit.section_id, start)
        spans.append((start, unit.end_char))
    if split == "units":
        return spans
    return [(begins[section.id], section.end_char) for section in parts.sections if section.id in begins]


def _embedded(chunks: Sequence[Chunk], embedder: str, i8: bool, on_progress: OnProgress) -> LayerContent:
    import numpy as np

    from graphctx.layers import built_in, hashed
    from graphctx.layers.compiled import compiled

    model = hashed(_HASH_DIM) if embedder == "hash" else built_in()
    vectors = np.empty((len(chunks), model.profile.dim), np.float32)
    for start in range(0, len(chunks), _BATCH):
        on_progress("embed", start, len(chunks), "chunks")
        batch = [chunk.content for chunk in chunks[start : start + _BATCH]]
        vectors[start : start + len(batch)] = model.embed(batch)
    on_progress("embed", len(chunks), len(chunks), "chunks")
    return compiled(chunks, vectors, model.metadata, i8=i8)


def _show(
    target: Path, changed: bool, content: LayerContent, skipped: list[Skipped], notes: list[str], *, as_json: bool
) -> None:
    """Print what was made and what was skipped, and warn of a stale signature and of layers that no longer match."""
    from graphctx.store.files import sha256_of

    files = len({str(chunk.sources[0]).rpartition(":")[0] for chunk in content.chunks})
    size = target.stat().st_size
    if as_json:
        print_json(
            {
                "path": str(target),
                "changed": changed,
                "chunks": len(content.chunks),
                "files": files,
                "bytes": size,
                "sha256": sha256_of(target),
                "skipped": [asdict(item) for item in skipped],
                "notes": notes,
            }
        )
    else:
        counts = f"{counted(len(content.chunks), 'chunks')} of {counted(files, 'files')}, {size:,} B"
        output_console().print(f"{shown_path(target)}: {counts}{'' if changed else '; unchanged'}", style="bold")
        print_list(errors_console(), "Skipped", [f"{item.uri}: {item.reason}" for item in skipped])
        print_list(errors_console(), "Notes", notes)
    if changed:
        warn_of_signature(target)
        paths = [path for name in FILE_NAMES if (path := target.parent / name).is_file()]
        if target.name == FILE_NAMES[0] and (reason := incompatibility(paths)):
            warn(f"Layers cannot be searched together now: {reason}")
