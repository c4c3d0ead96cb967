"""The columns of every table of a snapshot, which Parquet, LanceDB and the graph share.

A *row* column is the position of a thing in its own table; tables are sorted as their comment says, so that the
same content gives the same rows. Spans are code-point offsets into ``documents.text``.
"""

from __future__ import annotations

import pyarrow as pa

DOCUMENTS = pa.schema(  # sorted by uri
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("uri", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("titled", pa.bool_(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
        pa.field("sha256", pa.string(), nullable=False),
        pa.field("media_type", pa.string(), nullable=False),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
        pa.field("updated_at", pa.string()),
        pa.field("mtime", pa.string()),
        pa.field("page_starts", pa.list_(pa.int32()), nullable=False),
        pa.field("n_units", pa.int32(), nullable=False),
        pa.field("outline", pa.string(), nullable=False),  # headings, blocks and links as JSON, to split again
        pa.field("source", pa.string(), nullable=False),  # the name of its source in kb.toml
    ]
)

SECTIONS = pa.schema(  # sorted by document, ordinal
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("parent_id", pa.string()),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("title", pa.string(), nullable=False),
        pa.field("path", pa.list_(pa.string()), nullable=False),
        pa.field("anchor", pa.string()),
        pa.field("start_char", pa.int32(), nullable=False),
        pa.field("end_char", pa.int32(), nullable=False),
    ]
)

UNITS = pa.schema(  # sorted by document, ordinal
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("doc_id", pa.string(), nullable=False),
        pa.field("doc_row", pa.int32(), nullable=False),
        pa.field("doc_uri", pa.string(), nullable=False),
        pa.field("section_id", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("title", pa.string(), nullable=False),  # the document's
        pa.field("heading", pa.string(), nullable=False),  # section path below the title, joined by " › "
        pa.field("anchor", pa.string()),
        pa.field("start_char", pa.int32(), nullable=False),
        pa.field("end_char", pa.int32(), nullable=False),
        pa.field("n_tokens", pa.int32(), nullable=False),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
        pa.field("updated_at", pa.string()),  # the document's own, else its mtime
        pa.field("text", pa.string(), nullable=False),
    ]
)

SENTENCES = pa.schema(  # sorted by unit row, ordinal
    [
        pa.field("unit_row", pa.int32(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("start_char", pa.int32(), nullable=False),
        pa.field("end_char", pa.int32(), nullable=False),
    ]
)

ENTITIES = pa.schema(  # sorted by id
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("aliases", pa.list_(pa.string()), nullable=False),
        pa.field("n_mentions", pa.int32(), nullable=False),
        pa.field("n_units", pa.int32(), nullable=False),
    ]
)

MENTIONS = pa.schema(  # sorted by unit row, start, end, entity row
    [
        pa.field("unit_row", pa.int32(), nullable=False),
        pa.field("sentence_row", pa.int32(), nullable=False),
        pa.field("entity_row", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("start_char", pa.int32(), nullable=False),
        pa.field("end_char", pa.int32(), nullable=False),
    ]
)

FACTS = pa.schema(  # sorted by sentence row, id
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("unit_id", pa.string(), nullable=False),
        pa.field("unit_row", pa.int32(), nullable=False),
        pa.field("sentence_row", pa.int32(), nullable=False),
        pa.field("subject_id", pa.string(), nullable=False),
        pa.field("predicate", pa.string(), nullable=False),
        pa.field("object_id", pa.string(), nullable=False),
        pa.field("subject", pa.string(), nullable=False),
        pa.field("object", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),  # "subject predicate object", for full text
        pa.field("start_char", pa.int32(), nullable=False),
        pa.field("end_char", pa.int32(), nullable=False),
    ]
)

RELATED = pa.schema(  # entity pairs, source row < target row, sorted by both
    [
        pa.field("source_row", pa.int32(), nullable=False),
        pa.field("target_row", pa.int32(), nullable=False),
        pa.field("weight", pa.float32(), nullable=False),
        pa.field("n_facts", pa.int32(), nullable=False),
        pa.field("n_units", pa.int32(), nullable=False),
        pa.field("similarity", pa.float32(), nullable=False),  # of near-synonyms, else 0
    ]
)

LINKS = pa.schema(  # hyperlinks and title mentions between documents, sorted
    [
        pa.field("source_row", pa.int32(), nullable=False),
        pa.field("target_row", pa.int32(), nullable=False),
        pa.field("n_links", pa.int32(), nullable=False),
        pa.field("n_title_mentions", pa.int32(), nullable=False),
    ]
)

COMMUNITIES = pa.schema(  # sorted by level, id
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("parent_id", pa.string()),
        pa.field("title", pa.string(), nullable=False),
        pa.field("n_entities", pa.int32(), nullable=False),
        pa.field("entity_ids", pa.list_(pa.string()), nullable=False),
        pa.field("modularity", pa.float64(), nullable=False),  # its part of that of a division it belongs to
        pa.field("n_units", pa.int32(), nullable=False),
        pa.field("key_entity_ids", pa.list_(pa.string()), nullable=False),  # at most 10, best first
        pa.field("key_fact_ids", pa.list_(pa.string()), nullable=False),  # at most 10, best first
        pa.field("point_rows", pa.list_(pa.int32()), nullable=False),  # sentence rows, at most 40, best first
        pa.field("summary_rows", pa.list_(pa.int32()), nullable=False),  # those of them that make the summary
        pa.field("summary", pa.string(), nullable=False),  # title and sentences
        pa.field("phrased", pa.string()),  # a language model's cited sentences, as JSON: see store/communities.py
        pa.field("formerly", pa.list_(pa.string()), nullable=False),  # ids that it had in earlier snapshots
    ]
)

TABLES: dict[str, pa.Schema] = {
    "documents": DOCUMENTS,
    "sections": SECTIONS,
    "units": UNITS,
    "sentences": SENTENCES,
    "entities": ENTITIES,
    "mentions": MENTIONS,
    "facts": FACTS,
    "related": RELATED,
    "links": LINKS,
    "communities": COMMUNITIES,
}

UNHASHED_COLUMNS: dict[str, frozenset[str]] = {
    "documents": frozenset({"mtime", "source"}),
    "units": frozenset({"updated_at"}),
    "communities": frozenset({"phrased", "formerly"}),
}
"""Columns that the content hash leaves out, because a copy of the same corpus may differ in them: they come from
the file system, from what was published before, or from a model elsewhere."""
