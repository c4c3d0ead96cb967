"""A knowledge base that holds some documents of another and nothing else, carved out of its snapshot row by row.

What the ingest of the larger one settled, which names there are and whose they are, stays as it is: what such a
knowledge base answers is what the larger one must answer within a scope that leaves the same documents. Nothing of what
narrows an index at query time is used here.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.arrays import save_arrays, save_matrix
from graphctx.store.bm25 import write_bm25, write_sentence_terms
from graphctx.store.files import files_below, sha256_of
from graphctx.store.manifest import FileEntry, write_manifest
from graphctx.store.snapshot import ARRAYS_NAME, MATRICES_DIR, PARQUET_DIR, Snapshot, set_current
from graphctx.store.texts import TEXTS_DIR, write_texts
from graphctx.store.walk import WalkArrays, pointers
from graphctx.text.gazetteer import is_identifier
from graphctx.text.lexical import terms


def carve(snapshot: Snapshot, documents: np.ndarray, folder: Path) -> KnowledgeBase:
    """Carve some documents, bool [D], out of a snapshot into a fresh folder."""
    walk = WalkArrays.from_dict(snapshot.arrays())
    units = np.flatnonzero(documents[walk.unit_doc])
    sentences = np.array(
        [row for unit in units for row in range(walk.unit_sentence[unit], walk.unit_sentence[unit + 1])], dtype=np.int64
    )
    tables = {"documents": snapshot.table("documents").filter(pa.array(documents)), "units": _units(snapshot, units)}
    KnowledgeBase.open(folder, create=True, project_id="test").close()
    directory = folder / "snapshots" / snapshot.id
    for name in (PARQUET_DIR, MATRICES_DIR, TEXTS_DIR, "bm25"):
        (directory / name).mkdir(parents=True)
    for name, table in tables.items():
        pq.write_table(table, directory / PARQUET_DIR / f"{name}.parquet")
    write_texts(directory / TEXTS_DIR, tables["documents"]["text"])
    for name, rows in (
        ("units", units),
        ("unit_scale", units),
        ("sentences", sentences),
        ("sentence_scale", sentences),
    ):
        save_matrix(directory / MATRICES_DIR / f"{name}.npy", np.asarray(snapshot.matrix(name))[rows])
    save_arrays(directory / ARRAYS_NAME, _walk(snapshot, walk, units, sentences).as_dict())
    _write_terms(directory / "bm25", tables, walk, units)
    files = {
        path.relative_to(directory).as_posix(): FileEntry(size=path.stat().st_size, sha256=sha256_of(path))
        for path in files_below(directory)
    }
    write_manifest(directory, snapshot.manifest.model_copy(update={"files": files}))
    set_current(folder, snapshot.id)
    return KnowledgeBase.open(folder)


def _units(snapshot: Snapshot, rows: np.ndarray) -> pa.Table:
    units = snapshot.table("units").take(pa.array(rows))
    _, document = np.unique(units["doc_row"].to_numpy(), return_inverse=True)
    at = units.schema.get_field_index("doc_row")
    return units.set_column(at, units.schema.field(at), pa.array(document.astype(np.int32)))


def _write_terms(directory: Path, tables: dict[str, pa.Table], walk: WalkArrays, units: np.ndarray) -> None:
    documents, lexical, held = tables["documents"].to_pylist(), [], []
    for row, unit in zip(units, tables["units"].to_pylist(), strict=True):
        document = documents[unit["doc_row"]]
        lexical.append(terms(f"{document['title']}\n{unit['heading']}\n{unit['text']}"))
        for at in range(walk.unit_sentence[row], walk.unit_sentence[row + 1]):
            held.append(terms(document["text"][walk.sentence_start[at] : walk.sentence_end[at]]))
    write_sentence_terms(directory, held, write_bm25(directory, lexical))


def _walk(snapshot: Snapshot, walk: WalkArrays, units: np.ndarray, sentences: np.ndarray) -> WalkArrays:
    new_unit = {int(row): at for at, row in enumerate(units)}
    new_sentence = {int(row): at for at, row in enumerate(sentences)}
    pairs = [at for at in range(len(walk.pair_unit)) if int(walk.pair_unit[at]) in new_unit]
    entities = sorted({int(walk.pair_entity[at]) for at in pairs})
    new_entity = {row: at for at, row in enumerate(entities)}
    pair_unit = np.array([new_unit[int(walk.pair_unit[at])] for at in pairs], dtype=np.int32)
    pair_entity = np.array([new_entity[int(walk.pair_entity[at])] for at in pairs], dtype=np.int32)
    carried = [
        [
            new_sentence[int(row)]
            for row in walk.pair_sentence[walk.pair_sentence_ptr[at] : walk.pair_sentence_ptr[at + 1]]
        ]
        for at in pairs
    ]
    order = sorted(range(len(pairs)), key=lambda at: (pair_entity[at], pair_unit[at]))
    definitions = [at for at in order if walk.pair_definition[pairs[at]] > 0]
    names = [at for at in range(len(walk.name_hash)) if int(walk.name_entity[at]) in new_entity]
    counts = np.array([walk.unit_sentence[row + 1] - walk.unit_sentence[row] for row in units])
    _, document = np.unique(walk.unit_doc[units], return_inverse=True)
    return dataclasses.replace(
        walk,
        unit_doc=document.astype(np.int32),
        unit_sentence=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        sentence_start=walk.sentence_start[sentences],
        sentence_end=walk.sentence_end[sentences],
        sentence_tokens=walk.sentence_tokens[sentences],
        sentence_kind=walk.sentence_kind[sentences],
        sentence_opens=walk.sentence_opens[sentences],
        sentence_links=walk.sentence_links[sentences],
        unit_pair=pointers(pair_unit, len(units)),
        pair_unit=pair_unit,
        pair_entity=pair_entity,
        pair_place=walk.pair_place[pairs],
        pair_definition=walk.pair_definition[pairs],
        pair_sentence_ptr=np.cumsum([0, *map(len, carried)]).astype(np.int32),
        pair_sentence=np.array([row for rows in carried for row in rows], dtype=np.int32),
        entity_ptr=pointers(np.sort(pair_entity), len(entities)),
        entity_pair=np.array(order, dtype=np.int32),
        definition_ptr=pointers(pair_entity[definitions], len(entities)),
        definition_unit=pair_unit[definitions],
        definition_value=walk.pair_definition[[pairs[at] for at in definitions]],
        entity_proper=_proper(snapshot, new_unit, new_entity),
        entity_label=walk.entity_label[entities],
        name_hash=walk.name_hash[names],
        name_entity=np.array([new_entity[int(walk.name_entity[at])] for at in names], dtype=np.int32),
        pair_mentions=walk.pair_mentions[pairs],
        pair_capitals=walk.pair_capitals[pairs],
    )


def _proper(snapshot: Snapshot, new_unit: dict[int, int], new_entity: dict[int, int]) -> np.ndarray:
    """The share of capitalised mentions, counted in the texts."""
    texts = snapshot.table("documents", ["text"])["text"].to_pylist()
    document = snapshot.table("units", ["doc_row"])["doc_row"].to_pylist()
    counts = np.ones((len(new_entity), 2))
    for mention in snapshot.table("mentions").to_pylist():
        if mention["unit_row"] in new_unit:
            text, start, end = texts[document[mention["unit_row"]]], mention["start_char"], mention["end_char"]
            surface = text[start:end]
            code = surface[:1].isalpha() and not any(c.isspace() for c in surface) and is_identifier(text, start, end)
            counts[new_entity[mention["entity_row"]]] += [1, any(c.isupper() for c in surface) or code]
    return (counts[:, 1] / counts[:, 0]).astype(np.float32)
