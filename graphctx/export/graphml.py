"""The entity graph as GraphML, written node by node, so that memory does not limit its size.

One undirected graph. Nodes are entities, and documents if they are asked for; edges are RELATED between entities and
MENTIONS between a document and an entity. Equal content gives equal bytes: nodes are in the order of their ids, edges
in that of their ends, and weights have six digits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, Literal
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from graphctx.export.options import OnProgress
from graphctx.export.visible import (
    PairFacts,
    Relations,
    VisibleCommunity,
    VisibleEntity,
    relations_between,
    rows_of,
    visible_communities,
    visible_entities,
)
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.walk import gather

_BATCH = 10_000
"""Lines between two writes and two calls of progress."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot represent (its production Char); U+FFFD replaces them."""

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
    'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)

Value = str | int | float
Attribute = tuple[str, Literal["node", "edge"], Literal["string", "int", "double"]]

_NODE: tuple[Attribute, ...] = (
    ("kind", "node", "string"),
    ("name", "node", "string"),
    ("label", "node", "string"),
    ("aliases", "node", "string"),
    ("n_mentions", "node", "int"),
    ("n_units", "node", "int"),
)
_DOCUMENT: tuple[Attribute, ...] = (("uri", "node", "string"), ("tags", "node", "string"))
_EDGE: tuple[Attribute, ...] = (
    ("type", "edge", "string"),
    ("weight", "edge", "double"),
    ("n_facts", "edge", "int"),
    ("predicates", "edge", "string"),
)

_SEPARATOR = "; "
"""Between the values of an attribute that has several."""


def write_graphml(view: GraphView, file: BinaryIO, *, documents: bool, on_progress: OnProgress) -> dict[str, int]:
    """Write the graph as UTF-8; ``documents`` makes documents nodes, too.

    Returns:
        The number of entities, communities and relations, and of documents and their mentions.
    """
    entities = visible_entities(view)
    communities = visible_communities(view)
    relations = relations_between(view, rows_of(entities))
    levels = 1 + max((community.level for community in communities), default=-1)
    counts = {"entities": len(entities), "communities": len(communities), "relations": len(relations)}
    file.write(_HEAD.encode())
    communities_of = [f"community_{level}{part}" for level in range(levels) for part in ("", "_title")]
    attributes = [
        *_NODE,
        *((name, "node", "string") for name in communities_of),
        *(_DOCUMENT if documents else ()),
        *_EDGE,
    ]
    for name, domain, kind in attributes:
        file.write(f'  <key id="{name}" for="{domain}" attr.name="{name}" attr.type="{kind}"/>\n'.encode())
    file.write(b'  <graph id="graphctx" edgedefault="undirected">\n')
    _write(file, _entity_nodes(entities, communities), len(entities), "entities", on_progress)
    if documents:
        rows = [row for row in range(len(view.tables.documents)) if view.sees_document(row)]
        counts["documents"] = _write(file, _document_nodes(view, rows), len(rows), "documents", on_progress)
    ids = {entity.row: entity.id for entity in entities}
    _write(file, _related(view, relations, ids), len(relations), "relations", on_progress)
    if documents:
        counts["mentions"] = _write(file, _mentions(view, ids), 0, "mentions", on_progress)
    file.write(b"  </graph>\n</graphml>\n")
    return counts


def xml_text(text: str) -> str:
    """Return text to be written between tags; characters that XML cannot represent become U+FFFD."""
    return escape(_NOT_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _write(file: BinaryIO, lines: Iterable[str], total: int, what: str, on_progress: OnProgress) -> int:
    done = 0
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) == _BATCH:
            checkpoint()
            file.write("".join(batch).encode())
            done += len(batch)
            batch.clear()
            on_progress(what, done, total, what)
    file.write("".join(batch).encode())
    done += len(batch)
    on_progress(what, done, total, what)
    return done


def _data(values: Mapping[str, Value]) -> str:
    return "".join(
        f'<data key="{name}">{xml_text(value) if isinstance(value, str) else value}</data>'
        for name, value in values.items()
        if value != ""
    )


def _node(id_: str, values: Mapping[str, Value]) -> str:
    return f"    <node id={quoteattr(id_)}>{_data(values)}</node>\n"


def _edge(source: str, target: str, values: Mapping[str, Value]) -> str:
    return f"    <edge source={quoteattr(source)} target={quoteattr(target)}>{_data(values)}</edge>\n"


def _entity_nodes(entities: Sequence[VisibleEntity], communities: Sequence[VisibleCommunity]) -> Iterator[str]:
    places: dict[int, dict[str, str]] = defaultdict(dict)
    for community in communities:
        for row in community.entities:
            places[row][f"community_{community.level}"] = community.id
            places[row][f"community_{community.level}_title"] = community.title
    for entity in entities:
        values: dict[str, Value] = {
            "kind": "entity",
            "name": entity.name,
            "label": entity.label,
            "aliases": _SEPARATOR.join(entity.aliases),
            "n_mentions": entity.n_mentions,
            "n_units": entity.n_units,
        }
        yield _node(entity.id, {**values, **places.get(entity.row, {})})


def _document_nodes(view: GraphView, rows: Sequence[int]) -> Iterator[str]:
    table = view.index.documents
    for row in rows:
        place = {name: table[name][row].as_py() for name in ("id", "uri", "title", "tags")}
        tags = _SEPARATOR.join(place["tags"])
        yield _node(place["id"], {"kind": "document", "name": place["title"], "uri": place["uri"], "tags": tags})


def _related(view: GraphView, relations: Relations, ids: Mapping[int, str]) -> Iterator[str]:
    facts = PairFacts(view)
    for near, far, weight in relations:
        values: dict[str, Value] = {
            "type": "RELATED",
            "weight": float(f"{weight:.6g}"),
            "n_facts": facts.count(near, far),
            "predicates": _SEPARATOR.join(facts.predicates(near, far)),
        }
        yield _edge(ids[near], ids[far], values)


def _mentions(view: GraphView, ids: Mapping[int, str]) -> Iterator[str]:
    """Yield an edge from each document to each entity that it mentions; the weight is how often."""
    documents = view.tables.documents
    rows = np.array(sorted(ids), dtype=np.int64)
    positions, _ = gather(view.walk.entity_ptr, rows)
    pairs = view.walk.entity_pair[positions].astype(np.int64)
    keys = view.walk.unit_doc[view.walk.pair_unit[pairs]].astype(np.int64) * (view.walk.n_entities + 1)
    keys += view.walk.pair_entity[pairs]
    found, owner = np.unique(keys, return_inverse=True)
    counts = np.bincount(owner, weights=view.mention_counts(pairs), minlength=len(found)).astype(np.int64)
    for key, count in zip(found.tolist(), counts.tolist(), strict=True):
        document, entity = divmod(key, view.walk.n_entities + 1)
        if count:
            yield _edge(documents.id(document), ids[entity], {"type": "MENTIONS", "weight": float(count)})
