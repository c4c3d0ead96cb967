"""``graphctx layers compile``: a base layer out of documents, or out of a knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.layers.base_file import differs, refuse_another, report, require_equal
from graphctx.cli.layers.compile_arguments import SPLITS, check, check_options, moment_of, target_of
from graphctx.cli.layers.places import FILE_NAMES, DirOption, folder_of
from graphctx.cli.layers.telling import OnProgress, told_progress
from graphctx.cli.options import JsonOption, PathPrefixOption, TagOption

if TYPE_CHECKING:
    from graphctx.layers import LayerContent

_HASH_DIM = 384  # as the shipped model has, so that layers of both kinds can be read side by side


def compile_base(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Documents, and folders of them.")] = [],  # noqa: B006
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
    from graphctx.layers import write_layer

    check(bool(paths), kb is not None, split, embedder)
    of_files = {"--split": split, "--include": include, "--embedder": embedder != "minilm"}
    of_a_kb = {"--tag": tag, "--path-prefix": path_prefix}
    check_options(of_files if kb is not None else of_a_kb, "documents" if kb is not None else "a knowledge base")
    folder = folder_of(dir_)
    target = target_of(out or folder / FILE_NAMES[0])
    moment = moment_of(created_at)
    skipped: list[dict[str, str]] = []
    with told_progress() as told:
        if kb is not None:
            content = _of_kb(kb, kind, moment, i8=i8, tag=tag, path_prefix=path_prefix, on_progress=told)
            if not force:
                require_equal(target, content.chunks)
        else:
            from graphctx.cli.layers.sources import MARKDOWN, embed_chunks, read_sources
            from graphctx.layers import built_in, hashed
            from graphctx.layers.compiled import chunks_of, compiled

            found = read_sources(
                paths, folder, include=include or MARKDOWN, split=cast(Any, split or SPLITS[0]), on_progress=told
            )
            skipped = [{"uri": item.uri, "reason": item.reason} for item in found.skipped]
            chunks = chunks_of(found.passages, kind, moment)
            if not force:
                require_equal(target, chunks)
            model = hashed(_HASH_DIM) if embedder == "hash" else built_in()
            content = compiled(chunks, embed_chunks(chunks, model, told), model.metadata, i8=i8)
    changed = differs(target, content)
    if changed:
        if not force:
            refuse_another(target)
        write_layer(target, content, replace=force)
    report(target, changed, content, skipped, as_json=as_json)


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
