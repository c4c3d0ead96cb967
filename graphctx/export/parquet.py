"""The tables of a snapshot as a folder of Parquet files, with a description of their columns and checksums.

They hold every document, also those outside of the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.export.options import OnProgress
from graphctx.export.target import SUMS_NAME
from graphctx.store.files import sha256_of
from graphctx.store.manifest import FORMAT_VERSION
from graphctx.store.publish import write_table
from graphctx.store.schema import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

    from graphctx.store.snapshot import Snapshot

_README = "README.md"

_ROWS = {
    "documents": "one row for each document, with its text; sorted by uri",
    "sections": "headings with the text below them; sorted by document, then ordinal",
    "units": "the passages that answers come from; sorted by document, then ordinal",
    "sentences": "the smallest spans that are quoted; sorted by unit, then ordinal",
    "entities": "things that documents name; sorted by id",
    "mentions": "places where an entity is named; sorted by unit, then position",
    "facts": "subject, predicate, object, and the sentence that states it",
    "related": "pairs of related entities, the smaller row first",
    "aliases": "names of code (source) and of prose (target) that mean one thing, with each sentence that shows it",
    "links": "from document to document: hyperlinks, and mentions of a title",
    "communities": "groups of entities; level 0 is the root level, deeper ones are finer",
}
"""The rows of each table."""

_INTRO = """# Tables of snapshot {snapshot}

Made by graphctx; format {version}. It has every document of the knowledge base, also those outside of its boundary.

- A column `…_row` is the place of a row in another table, counted from 0: `facts.unit_row` in `units`.
- Spans (`start_char`, `end_char`) count Unicode characters in `documents.text`, the end not included.
- `{sums}` holds the SHA-256 of each file: `sha256sum --check {sums}`.
"""


def write_parquet(snapshot: Snapshot, folder: Path, *, on_progress: OnProgress) -> dict[str, int]:
    """Write the tables into an empty folder, describe them, and return the number of rows of each.

    Raises:
        BackendUnavailable: a table cannot be read.
    """
    counts, schemas = {}, {}
    for done, name in enumerate(TABLES, 1):
        file = f"{name}.parquet"
        table = snapshot.table(name)
        write_table(folder / file, table)
        counts[name], schemas[name] = table.num_rows, table.schema
        on_progress("tables", done, len(TABLES), "tables")
    (folder / _README).write_text(_readme(snapshot.id, counts, schemas), "utf-8", newline="\n")
    files = [*(f"{name}.parquet" for name in TABLES), _README]
    sums = "".join(f"{sha256_of(folder / file)}  {file}\n" for file in sorted(files))
    (folder / SUMS_NAME).write_text(sums, "ascii", newline="\n")
    return counts


def _readme(snapshot_id: str, counts: Mapping[str, int], schemas: Mapping[str, pa.Schema]) -> str:
    parts = [_INTRO.format(snapshot=snapshot_id, version=FORMAT_VERSION, sums=SUMS_NAME)]
    for name, schema in schemas.items():
        lines = [f"## {name}.parquet", "", f"{counts[name]:,} rows: {_ROWS[name]}.", "", "| column | type | null |"]
        lines += ["|---|---|---|"]
        lines += [f"| `{field.name}` | {field.type} | {'yes' if field.nullable else 'no'} |" for field in schema]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
