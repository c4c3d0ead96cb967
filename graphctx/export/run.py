"""An export, from the check of its target to its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.export.options import ExportedFile, ExportOptions, ExportReport, OnProgress, no_progress
from graphctx.export.target import check_target, written_file, written_folder
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.files import files_below, sha256_of

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

_FOR_THE_OWNER = (
    "The tables hold every document of the knowledge base, also those outside the boundary of its settings: they are "
    "for its owner."
)


def export(
    searcher: Searcher, project_id: str, options: ExportOptions, on_progress: OnProgress = no_progress
) -> ExportReport:
    """Write the published snapshot.

    Raises:
        InvalidArgument: the target cannot be used, filters were set for tables, or they leave no document.
        BackendUnavailable: the disk refuses the write.
    """
    if options.format == "redis":
        return _mirror(searcher, project_id, options, on_progress)
    path = options.path.expanduser()
    check_target(path, folder=options.format == "parquet", replace=options.replace)
    if options.format == "parquet":
        return _tables(searcher, options, path, on_progress)
    view = _view(searcher, options)
    left_out: list[str] = []
    with written_file(path) as file:
        if options.format == "graphml":
            from graphctx.export.graphml import write_graphml

            counts = write_graphml(view, file, documents=options.documents, on_progress=on_progress)
        else:
            from graphctx.export.page import write_page

            counts, left_out = write_page(view, project_id, options, file, on_progress)
    return ExportReport(
        format=options.format,
        path=str(path),
        snapshot_id=view.index.snapshot.id,
        files=[_file(path, path.name)],
        counts=counts,
        left_out=left_out,
    )


def _tables(searcher: Searcher, options: ExportOptions, path: Path, on_progress: OnProgress) -> ExportReport:
    from graphctx.export.parquet import write_parquet

    if options.doc_tag or options.path_prefix:
        raise InvalidArgument(
            "Tables are exported whole: --tag and --path-prefix apply to graphml and html only. Leave them out.",
            field="doc_tag" if options.doc_tag else "path_prefix",
        )
    snapshot = searcher.index.snapshot
    with written_folder(path) as folder:
        counts = write_parquet(snapshot, folder, on_progress=on_progress)
    return ExportReport(
        format="parquet",
        path=str(path),
        snapshot_id=snapshot.id,
        files=[_file(file, file.relative_to(path).as_posix()) for file in files_below(path)],
        counts=counts,
        left_out=[],
        notes=[_FOR_THE_OWNER],
    )


def _mirror(searcher: Searcher, project_id: str, options: ExportOptions, on_progress: OnProgress) -> ExportReport:
    from graphctx.export.redis_mirror import write_mirror

    if not options.to.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidArgument(
            "A mirror needs the address of a Redis 8, such as redis://localhost:6379/0.",
            field="to",
            allowed="an address that begins with redis://, rediss:// or unix://",
        )
    view = _view(searcher, options)
    place, counts = write_mirror(view, project_id, options.to, replace=options.replace, on_progress=on_progress)
    return ExportReport(
        format="redis", path=place, snapshot_id=view.index.snapshot.id, files=[], counts=counts, left_out=[]
    )


def _view(searcher: Searcher, options: ExportOptions) -> GraphView:
    filters = Filters(doc_tag=list(options.doc_tag), path_prefix=options.path_prefix)
    nothing = searcher.index.empty_reason(Scope(), filters)
    if nothing is not None and nothing.filtered_by:
        raise InvalidArgument(
            f"No document passes {' and '.join(nothing.filtered_by)}, so there is nothing to export. Widen the filter.",
            filtered_by=list(nothing.filtered_by),
        )
    return GraphView(searcher.index.within(Scope(), filters), searcher.graph.tables)


def _file(path: Path, name: str) -> ExportedFile:
    return ExportedFile(name=name, bytes=path.stat().st_size, sha256=sha256_of(path))
