"""``graphctx layers compile``: a base layer out of documents, or out of a knowledge base."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.layers.places import FILE_NAMES, DirOption, folder_of
from graphctx.cli.options import JsonOption, PathPrefixOption, TagOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphctx.cli.layers.sources import OnProgress
    from graphctx.cli.progress import ProgressView
    from graphctx.layers import Chunk, LayerContent

_SPLITS = ("sections", "units", "files")
_EMBEDDERS = ("minilm", "hash")
_HASH_DIM = 384  # as the shipped model has, so that layers of both kinds can be read side by side
_MOST_MS = (1 << 64) - 1


def compile_base(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Documents, and folders of them.")] = [],  # noqa: B006
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
            help="Of folders, take files with such a name or path; may be repeated. Markdown by default.",
        ),
    ] = [],  # noqa: B006
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="The kind of every chunk.")] = "canonical",
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="sections|units|files",
            help="What makes a chunk; a unit has at most 256 tokens, which is what the model sees of a text.",
            show_default="sections",
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", metavar="minilm|hash", help="hash counts words and needs no model.")
    ] = "minilm",
    i8: Annotated[bool, typer.Option("--i8", help="Store vectors as bytes, at a quarter of the size.")] = False,
    created_at: Annotated[
        str | None,
        typer.Option(
            "--created-at",
            metavar="DATE",
            help="Of every chunk, ISO 8601 or milliseconds since 1970; $SOURCE_DATE_EPOCH by default, else 0.",
        ),
    ] = None,
    tag: TagOption = [],  # noqa: B006
    path_prefix: PathPrefixOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a base layer that is there.")] = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a base layer: AGENTS.db. The same documents give the same bytes, on any day.

    Ids come from what the chunks say, and sources are file:line below the folder. A base layer that is there is
    replaced with --force only, whole. The JSON object has path, changed, chunks, files, bytes, sha256 and skipped.
    """
    from graphctx.cli.progress import progress_view
    from graphctx.layers import write_layer

    _check(bool(paths), kb is not None, split, embedder)
    of_files = {"--split": split, "--include": include, "--embedder": embedder != "minilm"}
    of_a_kb = {"--tag": tag, "--path-prefix": path_prefix}
    _check_options(of_files if kb is not None else of_a_kb, "documents" if kb is not None else "a knowledge base")
    folder = folder_of(dir_)
    target = _target(out or folder / FILE_NAMES[0])
    moment = _moment(created_at)
    skipped: list[dict[str, str]] = []
    with progress_view() as view:
        told = _teller(view)
        if kb is not None:
            content = _of_kb(kb, kind, moment, i8=i8, tag=tag, path_prefix=path_prefix, on_progress=told)
            if not force:
                _require_equal(target, content.chunks)
        else:
            from graphctx.cli.layers.sources import MARKDOWN, embed_chunks, read_sources
            from graphctx.layers import built_in, hashed
            from graphctx.layers.compiled import chunks_of, compiled

            found = read_sources(
                paths, folder, include=include or MARKDOWN, split=cast(Any, split or _SPLITS[0]), on_progress=told
            )
            skipped = [{"uri": item.uri, "reason": item.reason} for item in found.skipped]
            chunks = chunks_of(found.passages, kind, moment)
            if not force:
                _require_equal(target, chunks)
            model = hashed(_HASH_DIM) if embedder == "hash" else built_in()
            content = compiled(chunks, embed_chunks(chunks, model, told), model.metadata, i8=i8)
    changed = _differs(target, content)
    if changed:
        if not force:
            _require_none(target)
        write_layer(target, content, replace=force)
    _report(target, changed, content, skipped, as_json=as_json)


def _check(has_paths: bool, has_kb: bool, split: str | None, embedder: str) -> None:
    if has_paths == has_kb:
        raise InvalidArgument(
            "Give documents or --kb DIR, and only one of them: graphctx layers compile docs AGENTS.md", field="paths"
        )
    for option, value, allowed in (("split", split, _SPLITS), ("embedder", embedder, _EMBEDDERS)):
        if value is not None and value not in allowed:
            raise InvalidArgument(
                f"--{option} is {value!r}; use {', '.join(allowed)}.", field=option, value=value, allowed=list(allowed)
            )


def _check_options(given: dict[str, Any], what: str) -> None:
    for option, value in given.items():
        if value:
            raise InvalidArgument(f"{option} has a meaning for {what} only. Leave it out.", field=option)


def _target(path: Path) -> Path:
    """The file to write.

    Raises:
        InvalidArgument: it is another layer's, a folder, or in no folder.
    """
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


def _moment(given: str | None) -> int:
    """The time of every chunk, in milliseconds since 1970.

    Raises:
        InvalidArgument: it is no date, or before 1970.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given is None and not epoch:
        return 0
    field, text = ("--created-at", given) if given is not None else ("$SOURCE_DATE_EPOCH", epoch)
    try:
        if text.isascii() and text.isdigit():
            found = int(text) * (1 if given is not None else 1000)
        else:
            moment = datetime.fromisoformat(text)
            found = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= _MOST_MS:
        raise InvalidArgument(
            f"{field} is {text!r}; give an ISO 8601 date from 1970 on, such as 2026-01-31, or a whole number.",
            field="created_at",
            value=text,
        )
    return found


def _teller(view: ProgressView) -> OnProgress:
    from graphctx.ingest.report import Progress

    def told(step: str, done: int, total: int, unit: str) -> None:
        view(Progress(cast(Any, step), done, total, unit))  # shown like a step of an ingest

    return told


def _of_kb(
    kb: Path, kind: str, moment: int, *, i8: bool, tag: list[str], path_prefix: str | None, on_progress: OnProgress
) -> LayerContent:
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        return base.layer(
            kind=kind,
            created_at_unix_ms=moment,
            i8=i8,
            doc_tag=tag,
            path_prefix=path_prefix,
            on_progress=on_progress,
        )


def _require_equal(target: Path, chunks: Sequence[Chunk]) -> None:
    """Refuse to replace a layer that says something else, before vectors are made.

    Raises:
        InvalidArgument: there is one.
    """
    from graphctx.layers import LayerFile

    if target.exists():
        with LayerFile.open(target) as old:
            same = list(old.chunks()) == list(chunks)
        if not same:
            _require_none(target)


def _require_none(target: Path) -> None:
    if target.exists():
        raise InvalidArgument(
            f"{target.name} is there already and says something else; a base layer is never changed. Replace it whole "
            "with --force, or write another file with --out.",
            path=str(target),
        )


def _differs(target: Path, content: LayerContent) -> bool:
    from graphctx.layers import to_bytes

    return not target.exists() or target.read_bytes() != to_bytes(content)


def _report(
    target: Path, changed: bool, content: LayerContent, skipped: list[dict[str, str]], *, as_json: bool
) -> None:
    from graphctx.cli.console import errors_console, output_console, print_json
    from graphctx.cli.layers.compact import warn_of_signature
    from graphctx.cli.layers.shown import counted
    from graphctx.cli.places import shown_path
    from graphctx.store.files import sha256_of

    files = len({str(chunk.sources[0]).rpartition(":")[0] for chunk in content.chunks})
    size = target.stat().st_size
    if as_json:
        told = {"path": str(target), "changed": changed, "chunks": len(content.chunks), "files": files}
        print_json(told | {"bytes": size, "sha256": sha256_of(target), "skipped": skipped})
    else:
        stands = "" if changed else "; unchanged, it said so before"
        counts = f"{counted(len(content.chunks), 'chunk')} of {counted(files, 'file')}, {size:,} B"
        output_console().print(f"{shown_path(target)}: {counts}{stands}", style="bold", soft_wrap=True)
        for item in skipped:
            errors_console().print(f"skipped {item['uri']}: {item['reason']}", style="yellow", soft_wrap=True)
    if changed:
        warn_of_signature(target)
        _warn_of_others(target)


def _warn_of_others(target: Path) -> None:
    """Say that the layers beside a fresh base layer have other vectors, if so: all of them are searched together."""
    from graphctx.cli.console import errors_console
    from graphctx.cli.layers.check import why_apart

    paths = [path for name in FILE_NAMES if (path := target.parent / name).is_file()]
    if target.name == FILE_NAMES[0] and (reason := why_apart(paths)):
        errors_console().print(f"Layers cannot be searched together now: {reason}", style="yellow", soft_wrap=True)
