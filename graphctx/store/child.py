"""Work with graph engines in a process that may crash.

Kuzu aborts the process when a disk is full, and crashes when it opens a corrupt database. ``python -m
graphctx.store.child`` therefore builds graphs and opens new ones for the first time: a JSON request on standard input,
a JSON answer on the last line of standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphctx.errors as errors
from graphctx.errors import BackendUnavailable, GraphctxError, InternalError
from graphctx.store.processes import end_with_parent, start_module

_ERRORS: dict[str, type[GraphctxError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GraphctxError) and kind is not GraphctxError
}


def run_child(task: str, **arguments: Any) -> Any:
    """Run a task in a process of its own.

    Args:
        task: ``build`` (``engine``, ``parquet``, ``path``) writes a graph file from Parquet files and returns its
            counts. ``counts`` (``engine``, ``path``) opens a graph file and counts its nodes and relations. ``version``
            (``engine``) imports an engine and returns its version.
        **arguments: JSON values.

    Returns:
        The task's result, as JSON values.

    Raises:
        GraphctxError: the task's own error.
        BackendUnavailable: the process crashed.
    """
    pipe = subprocess.PIPE
    options = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "encoding": "utf-8", "errors": "replace"}
    with start_module("graphctx.store.child", **options) as process:
        try:
            output, stderr = process.communicate(json.dumps({"task": task, "arguments": arguments}))
        except BaseException:
            process.kill()
            raise
    try:
        answer = json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        said = (stderr.strip().splitlines() or ["nothing"])[-1]
        raise BackendUnavailable(
            f"The graph engine crashed (exit code {process.returncode}, it said: {said}). Look for free disk space "
            "and memory, then ingest again.",
            task=task,
            exit_code=process.returncode,
        ) from None
    if "error" in answer:
        error = answer["error"]
        raise _ERRORS[error["code"]](error["message"], **error["details"])
    return answer["result"]


def _build(engine: str, parquet: str, path: str) -> dict[str, int]:
    import pyarrow.parquet as pq

    from graphctx.store.graph import graph_engine
    from graphctx.store.schema import TABLES

    tables = {name: pq.read_table(Path(parquet) / f"{name}.parquet") for name in TABLES}
    return graph_engine(engine)(Path(path)).build(tables)


def _counts(engine: str, path: str) -> dict[str, int]:
    from graphctx.store.graph import graph_engine

    graph = graph_engine(engine)(Path(path))
    counts = graph.counts()
    graph.close()
    return counts


def _version(engine: str) -> str:
    from graphctx.store.graph import graph_engine

    return graph_engine(engine).version()


def main() -> None:
    """Answer one request and exit without cleaning up: closing a failed database aborts the process."""
    end_with_parent()
    request = json.load(sys.stdin)
    try:
        tasks: dict[str, Callable[..., Any]] = {"build": _build, "counts": _counts, "version": _version}
        _answer({"result": tasks[request["task"]](**request["arguments"])})
    except GraphctxError as error:
        _answer(error.envelope())
    except Exception as error:
        _answer(InternalError(f"{type(error).__name__}: {error}").envelope())


def _answer(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
