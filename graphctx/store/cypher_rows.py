"""The rows of every node and relation table of the graph, from the tables of a snapshot, in Arrow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import InternalError
from graphctx.store.ddl import NODE_TABLES


def node_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each node label.

    Raises:
        InternalError: an id occurs twice; ladybug would not survive the retry that kuzu's refusal invites.
    """
    rows = {}
    for node in NODE_TABLES:
        table = tables[node.source].select([name for name, _ in node.columns])
        if pc.count_distinct(table["id"]).as_py() != table.num_rows:
            raise InternalError(f"An id occurs twice in the table {node.source!r}.", table=node.source)
        rows[node.label] = table
    return rows


def relation_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each relation label: source id, target id, then its numbers, in the order of the DDL."""
    documents, sections, units = tables["documents"], tables["sections"], tables["units"]
    entities, communities = tables["entities"], tables["communities"]
    mentions = tables["mentions"].group_by(["unit_row", "entity_row"], use_threads=False)
    pairs = mentions.aggregate([([], "count_all")])
    related, links = tables["related"], tables["links"]
    return {
        "HAS_SECTION": _edges(sections["doc_id"], sections["id"]),
        "PARENT_OF": _tree(sections["parent_id"], sections["id"]),
        "HAS_UNIT": _edges(units["section_id"], units["id"]),
        "NEXT": _next(units),
        "MENTIONS": _edges(
            _ids(units, pairs["unit_row"]),
            _ids(entities, pairs["entity_row"]),
            n_mentions=pairs["count_all"].cast(pa.int32()),
        ),
        "RELATED": _edges(
            _ids(entities, related["source_row"]),
            _ids(entities, related["target_row"]),
            weight=related["weight"],
            n_facts=related["n_facts"],
            n_units=related["n_units"],
            similarity=related["similarity"],
        ),
        "LINKS_TO": _edges(
            _ids(documents, links["source_row"]),
            _ids(documents, links["target_row"]),
            n_links=links["n_links"],
            n_title_mentions=links["n_title_mentions"],
        ),
        "IN_COMMUNITY": _in_community(communities),
        "CHILD_OF": _tree(communities["id"], communities["parent_id"]),
    }


def _edges(source: pa.ChunkedArray, target: pa.ChunkedArray, **numbers: pa.ChunkedArray) -> pa.Table:
    return pa.table({"source": source, "target": target, **numbers})


def _ids(table: pa.Table, rows: pa.ChunkedArray) -> pa.ChunkedArray:
    return table["id"].take(rows)


def _tree(source: pa.ChunkedArray, target: pa.ChunkedArray) -> pa.Table:
    """Edges between a thing and its parent, where it has one."""
    return _edges(source, target).drop_null()


def _next(units: pa.Table) -> pa.Table:
    """From each unit to the one after it in the same document; units are sorted by document and ordinal."""
    document = np.asarray(units["doc_row"].to_numpy())
    here = np.flatnonzero(document[1:] == document[:-1])
    return _edges(units["id"].take(pa.array(here)), units["id"].take(pa.array(here + 1)))


def _in_community(communities: pa.Table) -> pa.Table:
    """From each entity to the finest community that lists it; coarser ones follow by ``CHILD_OF``."""
    lists = communities["entity_ids"].combine_chunks()
    listed = pa.table(
        {
            "entity": lists.flatten(),
            "row": pc.list_parent_indices(lists).cast(pa.int64()),
        }
    )
    # Communities are sorted by level, the coarsest first, and an entity is in one of a level.
    finest = listed.group_by("entity", use_threads=False).aggregate([("row", "max")])
    return _edges(finest["entity"], communities["id"].take(finest["row_max"]))
