"""The columns of every table of a snapshot, which Parquet, LanceDB and the graph share.

A *row* column is the position of a thing in its own table; tables are sorted as their comment says, so that the
same content gives the same rows. Spans are code-point offsets into ``documents.text``.
"""

from __future__ import annotations

import pyarrow as pa

TEXT, INT, TEXTS, INTS = pa.string(), pa.int32(), pa.list_(pa.string()), pa.list_(pa.int32())
_NULLABLE = {"anchor", "mtime", "parent_id", "phrased", "updated_at"}


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field(name, kind, nullable=name in _NULLABLE) for name, kind in columns.items()])


DOCUMENTS = _schema(  # sorted by uri
    id=TEXT,
    uri=TEXT,
    title=TEXT,
    titled=pa.bool_(),
    text=pa.large_string(),
    sha256=TEXT,
    media_type=TEXT,
    tags=TEXTS,
    updated_at=TEXT,
    mtime=TEXT,
    page_starts=INTS,
    n_units=INT,
    outline=TEXT,  # headings, blocks and links as JSON, to split again
    source=TEXT,  # the name of its source in kb.toml
    formerly=TEXTS,  # URIs that it had before its file was renamed
)

SECTIONS = _schema(  # sorted by document, ordinal
    id=TEXT,
    doc_id=TEXT,
    parent_id=TEXT,
    ordinal=INT,
    level=INT,
    title=TEXT,
    path=TEXTS,
    anchor=TEXT,
    start_char=INT,
    end_char=INT,
)

UNITS = _schema(  # sorted by document, ordinal
    id=TEXT,
    doc_id=TEXT,
    doc_row=INT,
    doc_uri=TEXT,
    section_id=TEXT,
    ordinal=INT,
    kind=TEXT,
    title=TEXT,  # the document's
    heading=TEXT,  # section path below the title, joined by " › "
    anchor=TEXT,
    start_char=INT,
    end_char=INT,
    n_tokens=INT,
    tags=TEXTS,
    updated_at=TEXT,  # the document's own, else its mtime
    text=TEXT,
)

SENTENCES = _schema(  # sorted by unit row, ordinal
    unit_row=INT,
    ordinal=INT,
    start_char=INT,
    end_char=INT,
)

ENTITIES = _schema(  # sorted by id
    id=TEXT,
    name=TEXT,
    label=TEXT,
    aliases=TEXTS,
    n_mentions=INT,
    n_units=INT,
)

MENTIONS = _schema(  # sorted by unit row, start, end, entity row
    unit_row=INT,
    sentence_row=INT,
    entity_row=INT,
    kind=TEXT,
    start_char=INT,
    end_char=INT,
)

FACTS = _schema(  # sorted by sentence row, id
    id=TEXT,
    unit_id=TEXT,
    unit_row=INT,
    sentence_row=INT,
    subject_id=TEXT,
    predicate=TEXT,
    object_id=TEXT,
    subject=TEXT,
    object=TEXT,
    text=TEXT,  # "subject predicate object"
    start_char=INT,
    end_char=INT,
)

RELATED = _schema(  # entity pairs, source row < target row, sorted by both
    source_row=INT,
    target_row=INT,
    weight=pa.float32(),
    n_facts=INT,
    n_units=INT,
)

ALIASES = _schema(  # a name of code and a name of prose that mean one thing, sorted by all columns
    source_row=INT,
    target_row=INT,
    reason=TEXT,
    sentence_row=INT,  # the sentence that shows it
)

LINKS = _schema(  # hyperlinks and title mentions between documents, sorted
    source_row=INT,
    target_row=INT,
    n_links=INT,
    n_title_mentions=INT,
)

COMMUNITIES = _schema(  # sorted by level, id
    id=TEXT,
    level=INT,
    parent_id=TEXT,
    title=TEXT,
    n_entities=INT,
    entity_ids=TEXTS,
    modularity=pa.float64(),  # this community's contribution to the modularity of its partition
    n_units=INT,
    key_entity_ids=TEXTS,  # at most 10, best first
    key_fact_ids=TEXTS,  # at most 10, best first
    point_rows=INTS,  # sentence rows, at most 40, best first
    summary_rows=INTS,  # those of them that make the summary
    summary=TEXT,  # title and sentences
    phrased=TEXT,  # a language model's cited sentences, as JSON: see store/communities.py
    formerly=TEXTS,  # ids that it had in earlier snapshots
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
    "aliases": ALIASES,
    "links": LINKS,
    "communities": COMMUNITIES,
}

UNHASHED_COLUMNS: dict[str, frozenset[str]] = {
    "documents": frozenset({"mtime", "source", "formerly"}),
    "units": frozenset({"updated_at"}),
    "communities": frozenset({"phrased", "formerly"}),
}
"""Columns that the content hash leaves out, because a copy of the same corpus may differ in them: they come from
the file system, from what was published before, or from a model elsewhere."""

STORED_AS_TEXTS = (("documents", "text"), ("units", "text"))
"""Columns that Parquet leaves out, because the texts of documents are stored once, in ``texts/``."""

SPAN_COLUMNS = ("doc_row", "start_char", "end_char")
"""Columns of ``units`` that say where in which text a unit is."""
