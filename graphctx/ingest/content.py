"""The content of a snapshot: tables, vectors, arrays, the lexical index and the texts."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.embed import Quantised, naming_title
from graphctx.model.ids import fingerprint
from graphctx.nlp.base import Vectors
from graphctx.store.bm25 import write_bm25, write_sentence_terms
from graphctx.store.publish import SnapshotContent
from graphctx.store.texts import TEXTS_DIR, write_texts
from graphctx.store.walk import WalkArrays
from graphctx.text.lexical import terms


def snapshot_content(
    corpus: Corpus,
    tables: Mapping[str, pa.Table],
    vectors: Mapping[str, Vectors],
    sentence_vectors: Quantised,
    arrays: WalkArrays,
) -> SnapshotContent:
    """Lay out a snapshot. Sentences get their terms while the snapshot is written."""
    unit_terms = [
        terms(f"{naming_title(document)}\n{heading}\n{document.text[unit.start_char : unit.end_char]}")
        for document, heading, unit in corpus.placed_units()
    ]
    sentence_terms = (
        terms(document.text[sentence.start_char : sentence.end_char])
        for document, _, unit in corpus.placed_units()
        for sentence in unit.sentences
    )
    return SnapshotContent(
        tables=tables,
        vectors={name: vectors[name] for name in ("units", "entities", "communities")},
        arrays=arrays.as_dict(),
        matrices={
            "units": vectors["units"],
            "communities": vectors["communities"],
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


def variant_of(communities: pa.Table) -> list[str]:
    """Return what gives equal content a snapshot of its own: the words of a language model, and former ids."""
    phrased = [text or "" for text in communities["phrased"].to_pylist()]
    former = [",".join(ids) for ids in communities["formerly"].to_pylist()]
    parts = (("phrased", phrased), ("formerly", former))
    return [f"{name}={fingerprint(values)}" for name, values in parts if any(values)]
