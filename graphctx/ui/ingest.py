"""``ingest`` and what belongs to it: uploads, sources, progress, cancellation, and removing documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from graphctx.errors import InvalidArgument
from graphctx.ingest.kept_reports import kept_reports
from graphctx.ingest.read import readers
from graphctx.ingest.read.source import Source, is_web_address
from graphctx.ingest.sources import paths_of
from graphctx.model.arguments import parse_arguments
from graphctx.model.requests import Strict
from graphctx.server.sessions import Caller
from graphctx.store.config import KbConfig, SourceEntry, read_config
from graphctx.ui.jobs import JobState, PublishTask
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall, PageServer, Stream
from graphctx.ui.uploads import PART_BYTES

Name = Annotated[str, Field(min_length=1, max_length=2000)]


class IngestChoice(Strict):
    """What to ingest; at least one of the first four."""

    uploads: bool = Field(False, description="The files that were uploaded.")
    paths: list[Name] = Field([], max_length=100, description="Files and folders of the server, and addresses.")
    sources: list[Name] = Field([], max_length=1000, description="Names of known sources, to read again.")
    restore: list[Name] = Field([], max_length=1000, description="URIs of removed documents, to take in again.")
    prune: bool = Field(False, description="Drop documents whose file is gone.")


class RemoveChoice(Strict):
    """Documents to remove."""

    documents: list[Name] = Field(min_length=1, max_length=10_000, description="Their ids or URIs.")


class UploadedFile(Strict):
    """An uploaded file, by the URI of its document."""

    uri: Name


def _delete_upload(call: PageCall, asked: UploadedFile) -> dict[str, Any]:
    """Delete an uploaded file that could not be read; a published document is removed instead."""
    call.server.uploads.delete(asked.uri)
    return {}


def _options(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return what can be ingested here, what was ingested, and what stays out."""
    server, config = call.server, _config(call)
    uploads = str(server.uploads.folder)
    return {
        "suffixes": list(readers()),
        "max_bytes": server.uploads.max_bytes(),
        "part_bytes": PART_BYTES,
        "folders": server.uploads.folders(),
        "uploaded": server.uploads.count(),
        "replica_of": server.origin,
        "sources": [
            {"name": source.name, "path": source.path, "uploads": source.path == uploads, "web": source.is_web}
            for source in (config.sources if config else ())
        ],
        "removed": [
            {"uri": uri, "restorable": _file_of(uri, config) is not None} for uri in (config.removed if config else ())
        ],
        "reports": [kept.model_dump(mode="json") for kept in kept_reports(server.kb)],
    }


def _ingest(call: PageCall, asked: IngestChoice) -> JobState:
    """Start an ingest."""
    server, config = call.server, _config(call)
    server.require_folder()
    paths: list[Source | str] = []
    for path in asked.paths:
        place = path if is_web_address(path) else os.path.expanduser(path)  # noqa: PTH111 - Path raises for ~nobody
        if not is_web_address(path) and not os.path.exists(place):  # noqa: PTH110 - Path raises for long names
            raise InvalidArgument(f"There is no file or folder {path} on the server's machine.", field="paths")
        paths.append(place)
    known = {source.name: source for source in (config.sources if config else ())}
    for name in asked.sources:
        if name not in known:
            raise InvalidArgument(f"There is no source {name!r}.", field="sources", value=name, allowed=sorted(known))
        paths += _again(call, known[name])
    for uri in asked.restore:
        file = _file_of(uri, config)
        if file is None:
            raise InvalidArgument(f"There is no file of {uri!r} any more.", field="restore", value=uri)
        paths.append(str(file))
    only_uploads = asked.uploads and not paths
    if asked.uploads:
        # A removed document stays out, unless its file is named.
        fresh = server.uploads.take_fresh()
        paths += [str(server.uploads.folder), *map(str, fresh)] if server.uploads.folder.is_dir() else []
    if not paths:
        raise InvalidArgument("Name something to ingest: files, a folder, or the address of a web page.")
    return server.jobs.start(
        PublishTask(
            kb=server.kb.absolute(),
            kind="ingest",
            paths=paths,
            ignore_files=False if only_uploads else None,
            prune=asked.prune,
        )
    )


def _remove(call: PageCall, asked: RemoveChoice) -> JobState:
    """Start a removal. The copies of uploaded documents are deleted with them."""
    server, index = call.server, call.searcher().index
    server.require_folder()
    documents = [index.document(name, "documents").id for name in asked.documents]

    def delete_uploads(report: dict[str, Any]) -> None:
        config = read_config(server.kb)
        for uri in report["kept_out"]:
            file = _file_of(uri, config)
            if file is not None and "#" not in uri and file.is_relative_to(server.uploads.folder):
                with suppress(OSError):
                    file.unlink()

    task = PublishTask(kb=server.kb.absolute(), kind="remove", documents=documents)
    return server.jobs.start(task, delete_uploads)


def _config(call: PageCall) -> KbConfig | None:
    server = call.server
    return None if server.is_new or server.origin else read_config(server.kb)


def _again(call: PageCall, source: SourceEntry) -> Sequence[Source | str]:
    """Return a source as it was ingested the last time: a folder with its patterns and tags, pages by their address."""
    if not source.is_web:
        return [parse_arguments(Source, {**source.reading, "path": source.path})]
    table = call.searcher().index.snapshot.table("documents", columns=["uri", "source"])
    rows = zip(table["uri"].to_pylist(), table["source"].to_pylist(), strict=True)
    return list(dict.fromkeys(uri.partition("#")[0] for uri, name in rows if name == source.name))


def _file_of(uri: str, config: KbConfig | None) -> Path | None:
    """Return the file of a removed document, if it is still there."""
    if config is None:
        return None
    source = next((one for one in config.sources if one.name == config.removed.get(uri)), None)
    files = paths_of(uri, source, config.removed) if source else []
    return next((path for path in files if path.is_file()), None)


async def _upload(request: Request, server: PageServer, caller: Caller) -> Response:
    """Store a part of a file; the query has its ``path``, the ``offset`` of the part and the ``size`` of the file."""
    server.access.require_write(caller)
    server.require_folder()
    query = request.query_params
    try:
        offset, size = int(query.get("offset", "0")), int(query["size"])
    except (KeyError, ValueError):
        raise InvalidArgument("offset and size are whole numbers of bytes.", field="size") from None
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > PART_BYTES:
            raise InvalidArgument(f"A part of a file has more than {PART_BYTES:,} bytes.", field="body")
    complete = await run_in_threadpool(server.uploads.add, query.get("path", ""), offset, size, bytes(data))
    return JSONResponse({"complete": complete})


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("ingest_options", NoInput, _options, "write"),
    Operation("ingest", IngestChoice, _ingest, "write"),
    Operation("delete_upload", UploadedFile, _delete_upload, "write"),
    Operation("remove", RemoveChoice, _remove, "write"),
    Operation("job", NoInput, lambda call, asked: call.server.jobs.state(), "write"),
    Operation("cancel_job", NoInput, lambda call, asked: call.server.jobs.cancel(), "write"),
)
STREAMS: tuple[Stream, ...] = (Stream("upload", _upload),)
