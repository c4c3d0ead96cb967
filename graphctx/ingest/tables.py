"""The content of a snapshot: its tables, vectors, arrays, lexical index and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import Quantised, naming_title
from graphctx.ingest.link import Linked
from graphctx.ingest.outline import outline_of
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Community, CommunitySummary, Fact
from graphctx.store import schema
from graphctx.store.bm25 import write_bm25, write_sentence_terms
from graphctx.store.publish import SnapshotContent
from graphctx.store.texts import TEXTS_DIR, write_texts
from graphctx.store.walk import WalkArrays
from graphctx.text.lexical import terms
from graphctx.text.statements import statement

_ROWS = 4_096
"""That are made into a table at once."""


def build_tables(
    corpus: Corpus,
    linked: Linked,
    facts: Sequence[Fact],
    related: pa.Table,
    aliases: pa.Table,
    source_of: Mapping[str, str],
) -> dict[str, pa.Table]:
    """Lay out the tables of `graphctx.store.schema`, in their order, all but ``communities``."""
    return {
        "documents": _documents(corpus, source_of),
        "sections": _sections(corpus),
        "units": _units(corpus),
        "sentences": _sentences(corpus),
        "entities": _records(schema.ENTITIES, linked.entities),
        "mentions": linked.mentions,
        "facts": _facts(corpus, facts, linked.entity_rows()),
        "related": related,
        "aliases": aliases,
        "links": linked.links,
    }


def communities_table(
    communities: Sequence[Community],
    summaries: Sequence[CommunitySummary],
    formerly: Mapping[str, Sequence[str]],
) -> pa.Table:
    """Lay out the table ``communities``.

    Args:
        communities: sorted by level and id.
        summaries: one for each.
        formerly: for each id, the ids in earlier snapshots.
    """
    own = schema.COMMUNITIES.names
    rows = [
        {name: getattr(one, name) for one in (community, summary) for name in own if hasattr(one, name)}
        | {"n_entities": len(community.entity_ids), "formerly": formerly[community.id]}
        for community, summary in zip(communities, summaries, strict=True)
    ]
    return pa.Table.from_pylist(rows, schema=schema.COMMUNITIES)


def snapshot_content(
    corpus: Corpus,
    tables: Mapping[str, pa.Table],
    unit_vectors: Quantised,
    sentence_vectors: Quantised,
    arrays: WalkArrays,
    *,
    lancedb: bool = False,
) -> SnapshotContent:
    """Lay out a snapshot. Units and sentences get their terms while the snapshot is written.

    Args:
        corpus: documents and units in row order.
        tables: of `graphctx.store.schema`.
        unit_vectors, sentence_vectors: by row.
        arrays: the walk arrays.
        lancedb: whether it gets LanceDB tables, which hold the vectors of the units unquantised.
    """
    unit_terms = (
        terms(f"{naming_title(document)}\n{heading}\n{document.text[unit.start_char : unit.end_char]}")
        for document, heading, unit in corpus.placed_units()
    )
    spans = zip(arrays.sentence_start.tolist(), arrays.sentence_end.tolist(), strict=True)
    sentence_terms = (
        terms(document.text[start:end])
        for document, _, unit in corpus.placed_units()
        for start, end in islice(spans, len(unit.sentences))
    )
    return SnapshotContent(
        tables=tables,
        vectors={"units": unit_vectors.values * unit_vectors.scale[:, None]} if lancedb else {},
        arrays=arrays.as_dict(),
        matrices={
            "units": unit_vectors.values,
            "unit_scale": unit_vectors.scale,
            "sentences": sentence_vectors.values,
            "sentence_scale": sentence_vectors.scale,
        },
        extras={
            "bm25": lambda directory: write_sentence_terms(
                directory, sentence_terms, write_bm25(directory, unit_terms)
            ),
            TEXTS_DIR: lambda directory: write_texts(directory, tables["documents"]["text"]),
        },
    )


def variant_of(tables: Mapping[str, pa.Table]) -> list[str]:
    """Return what tells snapshots of equal content apart: the words of a language model, former ids, former URIs."""
    phrased = [text or "" for text in tables["communities"]["phrased"].to_pylist()]
    former, renamed = (
        [",".join(ids) for ids in tables[name]["formerly"].to_pylist()] for name in ("communities", "documents")
    )
    parts = (("phrased", phrased), ("formerly", former), ("renamed", renamed))
    return [f"{name}={fingerprint(values)}" for name, values in parts if any(values)]


def _records(table: pa.Schema, items: Sequence[object]) -> pa.Table:
    """Objects whose attributes are named like the columns."""
    return pa.table(
        [pa.array([getattr(item, field.name) for item in items], type=field.type) for field in table],
        schema=table,
    )


def _documents(corpus: Corpus, source_of: Mapping[str, str]) -> pa.Table:
    own = [name for name in schema.DOCUMENTS.names if name not in ("n_units", "outline", "source")]
    rows = [
        {name: getattr(document, name) for name in own}
        | {
            "n_units": len(corpus.units_of(number)),
            "outline": outline_of(document),
            "source": source_of[document.uri],
        }
        for number, document in enumerate(corpus.documents)
    ]
    return pa.Table.from_pylist(rows, schema=schema.DOCUMENTS)


def _sections(corpus: Corpus) -> pa.Table:
    return _records(schema.SECTIONS, [section for split in corpus.splits for section in split.sections])


def _units(corpus: Corpus) -> pa.Table:
    def rows() -> Iterator[dict[str, object]]:
        for number, document in enumerate(corpus.documents):
            anchors = {section.id: section.anchor for section in corpus.sections_of(number)}
            for row, unit in enumerate(corpus.units_of(number), corpus.first_unit[number]):
                yield {
                    "id": unit.id,
                    "doc_id": document.id,
                    "doc_row": number,
                    "doc_uri": document.uri,
                    "section_id": unit.section_id,
                    "ordinal": unit.ordinal,
                    "kind": unit.kind,
                    "title": document.title,
                    "heading": corpus.headings[row],
                    "anchor": anchors[unit.section_id],
                    "start_char": unit.start_char,
                    "end_char": unit.end_char,
                    "n_tokens": unit.n_tokens,
                    "tags": list(document.tags),
                    "updated_at": document.updated_at or document.mtime,
                    "text": document.text[unit.start_char : unit.end_char],
                }

    return _table(rows(), schema.UNITS)


def _table(rows: Iterable[dict[str, object]], columns: pa.Schema) -> pa.Table:
    """Make a table of some rows at a time: as Python objects they take several times the memory."""
    left = iter(rows)
    parts = [pa.RecordBatch.from_pylist(some, schema=columns) for some in iter(lambda: list(islice(left, _ROWS)), [])]
    return pa.Table.from_batches(parts, schema=columns)


def _sentences(corpus: Corpus) -> pa.Table:
    counts = np.diff(np.asarray(corpus.first_sentence))
    rows = np.repeat(np.arange(len(corpus.units)), counts)
    ordinals = np.arange(len(rows)) - np.asarray(corpus.first_sentence[:-1], dtype=np.int64)[rows]
    spans = [(s.start_char, s.end_char) for unit in corpus.units for s in unit.sentences]
    ends = np.array(spans, dtype=np.int32).reshape(-1, 2)
    columns = [rows.astype(np.int32), ordinals.astype(np.int32), ends[:, 0], ends[:, 1]]
    return pa.table([pa.array(column) for column in columns], schema=schema.SENTENCES)


def _facts(corpus: Corpus, facts: Sequence[Fact], entity_row: Mapping[str, int]) -> pa.Table:
    unit_row = corpus.unit_rows()
    texts = {document.id: document.text for document in corpus.documents}
    rows = []
    for fact in facts:
        if fact.subject_id not in entity_row or fact.object_id not in entity_row:
            continue  # an end that nothing mentions was pruned
        row = unit_row[fact.unit_id]
        sentence = texts[corpus.units[row].doc_id][fact.start_char : fact.end_char]
        rows.append(
            {
                name: getattr(fact, name)
                for name in schema.FACTS.names
                if name not in ("unit_row", "sentence_row", "text")
            }
            | {
                "unit_row": row,
                "sentence_row": corpus.first_sentence[row] + fact.sentence,
                "text": statement(fact.subject, fact.predicate, fact.object, sentence),
            }
        )
    rows.sort(key=lambda row: (row["sentence_row"], row["id"]))
    return pa.Table.from_pylist(rows, schema=schema.FACTS)
