"""Work with graph engines in a process that may crash.

Kuzu aborts the process when a disk is full, and crashes on what it wrote badly. ``python -m graphctx.store.child``
therefore builds graphs and opens new snapshots for the first time: a JSON request on standard input, a JSON answer on
the last line of standard output.
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
            counts. ``verify`` (``directory``, ``expected``) opens all parts of a snapshot and returns a sentence for
            each that does not fit ``engine``, ``counts``, ``graph_counts``, ``table_versions`` and ``matrices`` of
            ``expected``. ``version`` (``engine``) imports an engine and returns its version.
        **arguments: JSON values.

    Returns:
        The task's result, as JSON values.

    Raises:
        GraphctxError: the task's own error.
        BackendUnavailable: the process crashed.
    """
    pipe = subprocess.PIPE
    with start_module("graphctx.store.child", stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
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


def _verify(directory: str, expected: dict[str, Any]) -> list[str]:
    import pyarrow.parquet as pq

    from graphctx.store.arrays import load_arrays, open_matrix
    from graphctx.store.graph import graph_engine
    from graphctx.store.snapshot import ARRAYS_NAME, MATRICES_DIR, PARQUET_DIR, TABLES_DIR
    from graphctx.store.tables import TEXT_COLUMNS, TableReader

    root = Path(directory)
    found: list[str] = []
    for name, count in expected["counts"].items():
        rows = pq.ParquetFile(root / PARQUET_DIR / f"{name}.parquet").metadata.num_rows
        if rows != count:
            found.append(f"{name}.parquet has {rows} rows, not {count}.")
    engine = expected["engine"]
    graph = graph_engine(engine)(root / f"graph.{engine}")
    for label, count in graph.counts().items():
        if count != expected["graph_counts"][label]:
            found.append(f"The graph has {count} {label}, not {expected['graph_counts'][label]}.")
    graph.close()
    tables = TableReader(root / TABLES_DIR, expected["table_versions"])
    for name in expected["table_versions"]:
        rows = tables.count(name)
        if rows != expected["counts"][name]:
            found.append(f"The table {name} has {rows} rows, not {expected['counts'][name]}.")
        if name in TEXT_COLUMNS:
            tables.search_text(name, "the first words", 1)
    load_arrays(root / ARRAYS_NAME)
    for name in expected["matrices"]:
        open_matrix(root / MATRICES_DIR / f"{name}.npy")
    return found


def _version(engine: str) -> str:
    from graphctx.store.graph import graph_engine

    return graph_engine(engine).version()


def main() -> None:
    """Answer one request and exit without cleaning up: closing a graph that failed is what aborts."""
    end_with_parent()
    request = json.load(sys.stdin)
    try:
        tasks: dict[str, Callable[..., Any]] = {"build": _build, "verify": _verify, "version": _version}
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
