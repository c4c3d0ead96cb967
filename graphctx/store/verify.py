"""``python -m graphctx.store.verify DIRECTORY``: open all parts of a new snapshot and compare the counts.

What to expect comes as JSON on standard input. Exit code 0 if all fits, else 1 with a sentence on standard
output; an engine that crashes gives its signal instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphctx.store.arrays import load_arrays, open_matrix
from graphctx.store.graph import make_graph_engine
from graphctx.store.snapshot import ARRAYS_NAME, MATRICES_DIR, PARQUET_DIR, TABLES_DIR
from graphctx.store.tables import TEXT_COLUMNS, TableReader


def faults(directory: Path, expected: dict[str, Any]) -> list[str]:
    """What does not fit: one sentence each, none for a sound snapshot.

    Args:
        directory: the snapshot.
        expected: ``engine``, ``counts``, ``graph_counts``, ``table_versions``, ``matrices``.
    """
    import pyarrow.parquet as pq

    found: list[str] = []
    for name, count in expected["counts"].items():
        rows = pq.ParquetFile(directory / PARQUET_DIR / f"{name}.parquet").metadata.num_rows
        if rows != count:
            found.append(f"{name}.parquet has {rows} rows, not {count}.")
    engine = expected["engine"]
    graph = make_graph_engine(engine).open(directory / f"graph.{engine}")
    for label, count in graph.counts().items():
        if count != expected["graph_counts"][label]:
            found.append(f"The graph has {count} {label}, not {expected['graph_counts'][label]}.")
    graph.close()
    tables = TableReader(directory / TABLES_DIR, expected["table_versions"])
    for name in expected["table_versions"]:
        rows = tables.count(name)
        if rows != expected["counts"][name]:
            found.append(f"The table {name} has {rows} rows, not {expected['counts'][name]}.")
        if name in TEXT_COLUMNS:
            tables.search_text(name, "the first words", 1)
    load_arrays(directory / ARRAYS_NAME)
    for name in expected["matrices"]:
        open_matrix(directory / MATRICES_DIR / f"{name}.npy")
    return found
