"""The graph's node and relation tables (DDL), and their rows from the tables of a snapshot, in Arrow.

Nodes carry what identifies and names a thing; relations carry numbers, and an alias its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import InternalError
from graphctx.store.schema import TABLES


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A node table: its label, the snapshot table it comes from, and its properties; ``id`` is the key."""

    label: str
    source: str
    columns: tuple[tuple[str, str], ...]

    @property
    def ddl(self) -> str:
        """The statement that creates it."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"CREATE NODE TABLE {self.label} ({columns}, PRIMARY KEY (id));"


@dataclass(frozen=True, slots=True)
class RelTable:
    """A relation: its label, the labels at its ends, and its properties."""

    label: str
    source: str
    target: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def ddl(self) -> str:
        """The statement that creates it."""
        columns = "".join(f", {name} {kind}" for name, kind in self.columns)
        return f"CREATE REL TABLE {self.label} (FROM {self.source} TO {self.target}{columns});"


_NODES = {
    "Document": ("documents", "id uri title media_type tags updated_at n_units"),
    "Section": ("sections", "id doc_id ordinal level title path anchor start_char end_char"),
    "TextUnit": (
        "units",
        "id doc_id doc_uri section_id ordinal kind title heading start_char end_char n_tokens",
    ),
    "Entity": ("entities", "id name label aliases n_mentions n_units"),
    "Community": (
        "communities",
        "id level title n_entities n_units modularity key_entity_ids summary phrased formerly",
    ),
}
"""The table and the columns of each kind of node."""

_TYPES = {pa.string(): "STRING", pa.int32(): "INT32", pa.float64(): "DOUBLE", pa.list_(pa.string()): "STRING[]"}

NODE_TABLES = tuple(
    NodeTable(label, source, tuple((name, _TYPES[TABLES[source].field(name).type]) for name in columns.split()))
    for label, (source, columns) in _NODES.items()
)

REL_TABLES: tuple[RelTable, ...] = (
    RelTable("HAS_SECTION", "Document", "Section"),
    RelTable("PARENT_OF", "Section", "Section"),
    RelTable("HAS_UNIT", "Section", "TextUnit"),
    RelTable("NEXT", "TextUnit", "TextUnit"),
    RelTable("MENTIONS", "TextUnit", "Entity", (("n_mentions", "INT32"),)),
    RelTable(
        "RELATED",
        "Entity",
        "Entity",
        (("weight", "FLOAT"), ("n_facts", "INT32"), ("n_units", "INT32")),
    ),
    RelTable("ALIAS_OF", "Entity", "Entity", (("reason", "STRING"),)),
    RelTable("LINKS_TO", "Document", "Document", (("n_links", "INT32"), ("n_title_mentions", "INT32"))),
    RelTable("IN_COMMUNITY", "Entity", "Community"),
    RelTable("CHILD_OF", "Community", "Community"),
)


def ddl() -> str:
    """Return the statements that create the graph, one a line, nodes first."""
    statements = [node.ddl for node in NODE_TABLES] + [rel.ddl for rel in REL_TABLES]
    return "\n".join(statements) + "\n"


def node_rows(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return the rows of each node label.

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
    """Return the rows of each relation label: source id, target id, then its properties, in the order of the DDL."""
    documents, sections, units = tables["documents"], tables["sections"], tables["units"]
    entities, communities = tables["entities"], tables["communities"]
    mentions = tables["mentions"].group_by(["unit_row", "entity_row"], use_threads=False)
    pairs = mentions.aggregate([([], "count_all")])
    return {
        "HAS_SECTION": _edges(sections["doc_id"], sections["id"]),
        "PARENT_OF": _tree(sections["parent_id"], sections["id"]),
        "HAS_UNIT": _edges(units["section_id"], units["id"]),
        "NEXT": _next(units),
        "MENTIONS": _edges(
            units["id"].take(pairs["unit_row"]),
            entities["id"].take(pairs["entity_row"]),
            n_mentions=pairs["count_all"].cast(pa.int32()),
        ),
        "RELATED": _pairs(entities, tables["related"]),
        "ALIAS_OF": _pairs(entities, _first_of_each_pair(tables["aliases"])),
        "LINKS_TO": _pairs(documents, tables["links"]),
        "IN_COMMUNITY": _in_community(communities),
        "CHILD_OF": _tree(communities["id"], communities["parent_id"]),
    }


def _edges(source: pa.ChunkedArray, target: pa.ChunkedArray, **numbers: pa.ChunkedArray) -> pa.Table:
    return pa.table({"source": source, "target": target, **numbers})


def _pairs(nodes: pa.Table, pairs: pa.Table) -> pa.Table:
    """Return edges between rows of one table, with all further columns of the pairs."""
    ids = {name: nodes["id"].take(pairs[f"{name}_row"]) for name in ("source", "target")}
    return pa.table({**ids, **{name: pairs[name] for name in pairs.column_names[2:]}})


def _first_of_each_pair(aliases: pa.Table) -> pa.Table:
    """Return one row of each pair, with its reason; the table is sorted by pair."""
    source, target = (aliases[name].to_numpy() for name in ("source_row", "target_row"))
    first = np.ones(len(source), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return aliases.filter(pa.array(first)).drop(["sentence_row"])


def _tree(source: pa.ChunkedArray, target: pa.ChunkedArray) -> pa.Table:
    """Return edges between nodes and their parents; roots have none."""
    return _edges(source, target).drop_null()


def _next(units: pa.Table) -> pa.Table:
    """Return edges from each unit to the next one of its document; units are sorted by document and ordinal."""
    document = np.asarray(units["doc_row"].to_numpy())
    here = np.flatnonzero(document[1:] == document[:-1])
    return _edges(units["id"].take(pa.array(here)), units["id"].take(pa.array(here + 1)))


def _in_community(communities: pa.Table) -> pa.Table:
    """Return edges from each entity to the finest community that lists it; coarser ones follow by ``CHILD_OF``."""
    lists = communities["entity_ids"].combine_chunks()
    listed = pa.table({"entity": lists.flatten(), "row": pc.list_parent_indices(lists).cast(pa.int64())})
    # Communities are sorted by level, the coarsest first, and an entity is in one of a level.
    finest = listed.group_by("entity", use_threads=False).aggregate([("row", "max")])
    return _edges(finest["entity"], communities["id"].take(finest["row_max"]))
