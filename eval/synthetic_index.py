"""A knowledge base over made-up documents, written through the store, to measure queries at sizes without a sample.

The snapshot has everything that a query reads: texts, tables of units and documents in Parquet, walk arrays,
vectors and the lexical index, under a manifest that verifies. It has no graph database, no vector or full-text index of
LanceDB (minutes to build, and the default first stage asks neither), and no facts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from eval.synthetic_text import N_WORDS, Corpus, make_corpus
from graphctx import KnowledgeBase
from graphctx.ingest.embed import quantise
from graphctx.ingest.link import PLACE_ELSEWHERE, PLACE_FIRST_SENTENCE, PLACE_TITLE
from graphctx.nlp.base import Embedder
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.store.arrays import save_arrays, save_matrix
from graphctx.store.bm25 import write_bm25, write_sentence_terms
from graphctx.store.files import files_below, sha256_of
from graphctx.store.manifest import FORMAT_VERSION, FileEntry, Manifest, Versions, snapshot_id, write_manifest
from graphctx.store.schema import DOCUMENTS, UNITS
from graphctx.store.snapshot import ARRAYS_NAME, MATRICES_DIR, PARQUET_DIR, current_or_none, set_current
from graphctx.store.texts import TEXTS_DIR, write_texts
from graphctx.store.walk import WalkArrays, name_hash, pointers, proper_share
from graphctx.text.gazetteer import name_words
from graphctx.text.lexical import terms

SAMPLE = Path(__file__).resolve().parent / "corpora" / "handbook"
REVISION = 5
"""Counts changes of what is made: an older one in the cache is made anew."""

_NOISE = 0.9
"""Beside a topic's vector of length 1, so that two units of one topic have a cosine of about 0.55."""
_N_QUESTIONS = 1_000
_QUESTIONS = "questions.json"
_FUNCTION_WORDS = 150
"""This many of the commonest words say nothing."""
_ROWS = 16_384  # vectors made at a time: 25 MB


def synthetic_kb(folder: Path, n_units: int) -> Path:
    """Return the knowledge base of a size, made if the folder has none of this revision.

    Args:
        folder: of all sizes.
        n_units: how many units.

    Returns:
        The folder of the knowledge base.
    """
    kb_dir = folder / f"{n_units}-units-{REVISION}.{FORMAT_VERSION}"
    if kb_dir.is_dir() and current_or_none(kb_dir):
        return kb_dir
    shutil.rmtree(kb_dir, ignore_errors=True)
    KnowledgeBase.open(kb_dir, create=True, project_id="bench").close()
    corpus = make_corpus(n_units, SAMPLE)
    sid = snapshot_id(hashlib.sha256(f"synthetic {n_units} {REVISION}".encode()).hexdigest(), "kuzu")
    directory = kb_dir / "snapshots" / sid
    for name in (PARQUET_DIR, MATRICES_DIR, TEXTS_DIR, "bm25"):
        (directory / name).mkdir(parents=True)
    tables = {"documents": _documents(corpus), "units": _units(corpus)}
    for name, table in tables.items():
        pq.write_table(table, directory / PARQUET_DIR / f"{name}.parquet", compression="zstd", row_group_size=16_384)
    write_texts(directory / TEXTS_DIR, tables["documents"]["text"])
    save_arrays(directory / ARRAYS_NAME, _walk(corpus).as_dict())
    vocabulary = write_bm25(directory / "bm25", _terms(corpus, corpus.sentence_slot[corpus.unit_sentence]))
    write_sentence_terms(directory / "bm25", _terms(corpus, corpus.sentence_slot), vocabulary)
    _write_vectors(corpus, directory / MATRICES_DIR, make_embedder(DEFAULT))
    files = {
        path.relative_to(directory).as_posix(): FileEntry(size=path.stat().st_size, sha256=sha256_of(path))
        for path in files_below(directory)
    }
    write_manifest(
        directory,
        Manifest(
            format_version=FORMAT_VERSION,
            snapshot_id=sid,
            content_hash=hashlib.sha256(str(sorted(files.items())).encode()).hexdigest(),
            created_at="2000-01-01T00:00:00+00:00",
            project_id="bench",
            engine="kuzu",
            counts={name: table.num_rows for name, table in tables.items()},
            table_versions={},
            files=files,
            versions=Versions(graphctx="synthetic"),
        ),
    )
    (kb_dir / _QUESTIONS).write_text(json.dumps(_questions(corpus), indent=0), "utf-8")
    set_current(kb_dir, sid)
    return kb_dir


def questions(kb_dir: Path) -> list[str]:
    """Return the questions of a knowledge base: each names two entities and has five words of a unit of its own."""
    asked: list[str] = json.loads((kb_dir / _QUESTIONS).read_text("utf-8"))
    return asked


def _questions(corpus: Corpus) -> list[str]:
    rng = np.random.default_rng(4)
    asked: list[str] = []
    for unit in rng.permutation(corpus.n_units)[: 2 * _N_QUESTIONS]:
        first, last = corpus.unit_sentence[unit], corpus.unit_sentence[unit + 1]
        slots = corpus.slot[corpus.sentence_slot[first] : corpus.sentence_slot[last]]
        named = slots[slots >= 2 * N_WORDS]
        said = slots[(slots < N_WORDS) & (slots > _FUNCTION_WORDS)]
        if len(named) >= 2 and len(said) >= 5:
            one, two = (corpus.bodies[at] for at in rng.choice(named, 2, replace=False))
            words = " ".join(corpus.bodies[at] for at in rng.choice(said, 5, replace=False))
            asked.append(f"What does {one} {words} with {two}?")
    return asked[:_N_QUESTIONS]


def _documents(corpus: Corpus) -> pa.Table:
    count = len(corpus.topic)
    titles = corpus.titles()
    columns = {
        "id": [f"d_{row:016x}" for row in range(count)],
        "uri": [f"notes/{row:07}.md" for row in range(count)],
        "title": titles,
        "titled": pa.array(corpus.title >= 0),
        "text": corpus.texts.cast(pa.large_string()),
        "sha256": pa.repeat("", count),
        "media_type": pa.repeat("text/markdown", count),
        "tags": [[]] * count,
        "updated_at": pa.nulls(count, pa.string()),
        "mtime": pa.repeat("2000-01-01T00:00:00+00:00", count),
        "page_starts": [[]] * count,
        "formerly": [[]] * count,
        "n_units": pa.array(np.diff(corpus.doc_unit).astype(np.int32)),
        "outline": pa.repeat("{}", count),
        "source": pa.repeat("bench", count),
    }
    return pa.table([pa.array(columns[f.name], f.type) for f in DOCUMENTS], schema=DOCUMENTS)


def _units(corpus: Corpus) -> pa.Table:
    count = corpus.n_units
    document = np.repeat(np.arange(len(corpus.topic)), np.diff(corpus.doc_unit))
    ordinal = np.arange(count) - corpus.doc_unit[document]
    start = corpus.sentence_start[corpus.unit_sentence[:-1]]
    end = corpus.sentence_end[corpus.unit_sentence[1:] - 1]
    texts = corpus.texts.to_pylist()
    titles = corpus.titles()
    columns = {
        "id": [f"u_{row:016x}" for row in range(count)],
        "doc_id": [f"d_{row:016x}" for row in document],
        "doc_row": pa.array(document.astype(np.int32)),
        "doc_uri": [f"notes/{row:07}.md" for row in document],
        "section_id": [f"s_{row:016x}" for row in document],
        "ordinal": pa.array(ordinal.astype(np.int32)),
        "kind": pa.repeat("prose", count),
        "title": [titles[row] for row in document],
        "heading": pa.repeat("", count),
        "anchor": pa.nulls(count, pa.string()),
        "start_char": pa.array(start.astype(np.int32)),
        "end_char": pa.array(end.astype(np.int32)),
        "n_tokens": pa.array(np.diff(corpus.sentence_slot[corpus.unit_sentence]).astype(np.int32)),
        "tags": [[]] * count,
        "updated_at": pa.nulls(count, pa.string()),
        "text": [texts[row][a:b] for row, a, b in zip(document, start, end, strict=True)],
    }
    return pa.table([pa.array(columns[f.name], f.type) for f in UNITS], schema=UNITS)


def _walk(corpus: Corpus) -> WalkArrays:
    """Return the arrays that `graphctx.ingest.link` would make: titles are defined by the units below them."""
    names = corpus.names
    n_units, n_entities = corpus.n_units, len(names)
    sentence_unit = np.repeat(np.arange(n_units), np.diff(corpus.unit_sentence))
    sentence = np.searchsorted(corpus.sentence_slot, corpus.mention_slot, side="right") - 1
    document = np.repeat(np.arange(len(corpus.topic)), np.diff(corpus.doc_unit))
    defining = np.flatnonzero(corpus.title[document] >= 0)
    mention_key = sentence_unit[sentence] * n_entities + corpus.mention_entity
    definition_key = defining * n_entities + corpus.title[document[defining]]
    pair_key = np.unique(np.concatenate([mention_key, definition_key]))
    pair_unit, pair_entity = pair_key // n_entities, pair_key % n_entities
    place = np.full(len(pair_key), PLACE_ELSEWHERE, dtype=np.float32)
    first = np.isin(sentence, corpus.unit_sentence[:-1])
    place[np.searchsorted(pair_key, mention_key[first])] = PLACE_FIRST_SENTENCE
    definitions = np.searchsorted(pair_key, definition_key)
    place[definitions] = PLACE_TITLE
    value = np.zeros(len(pair_key), dtype=np.float32)
    value[definitions] = np.where(corpus.doc_unit[document[defining]] == defining, 1.0, 0.6)
    mentions = np.bincount(np.searchsorted(pair_key, mention_key), minlength=len(pair_key)).astype(np.int32)
    n_sentences = len(sentence_unit)
    by_pair = np.unique(np.searchsorted(pair_key, mention_key) * n_sentences + sentence)
    by_entity = np.lexsort((pair_unit, pair_entity))
    of_entity = by_entity[value[by_entity] > 0]
    hashes = np.array([name_hash([word for word, _, _ in name_words(name)]) for name in names], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    return WalkArrays(
        unit_doc=document.astype(np.int32),
        unit_sentence=corpus.unit_sentence.astype(np.int32),
        sentence_start=corpus.sentence_start.astype(np.int32),
        sentence_end=corpus.sentence_end.astype(np.int32),
        sentence_tokens=((corpus.sentence_end - corpus.sentence_start) // 4).astype(np.uint16),
        sentence_kind=np.zeros(len(corpus.sentence_start), dtype=np.uint8),
        sentence_opens=np.zeros(len(corpus.sentence_start), dtype=bool),
        sentence_links=np.zeros(len(corpus.sentence_start), dtype=bool),
        unit_pair=pointers(pair_unit, n_units),
        pair_unit=pair_unit.astype(np.int32),
        pair_entity=pair_entity.astype(np.int32),
        pair_place=place,
        pair_definition=value,
        pair_sentence_ptr=pointers(by_pair // n_sentences, len(pair_key)),
        pair_sentence=(by_pair % n_sentences).astype(np.int32),
        entity_ptr=pointers(pair_entity[by_entity], n_entities),
        entity_pair=by_entity.astype(np.int32),
        definition_ptr=pointers(pair_entity[of_entity], n_entities),
        definition_unit=pair_unit[of_entity].astype(np.int32),
        definition_value=value[of_entity],
        entity_proper=proper_share(pair_entity.astype(np.int32), mentions, mentions, n_entities),
        entity_label=(np.arange(n_entities) % 5).astype(np.int8),
        name_hash=hashes[order],
        name_entity=order.astype(np.int32),
        pair_mentions=mentions,
        pair_capitals=mentions,  # every name is capitalised
    )


def _terms(corpus: Corpus, slots: npt.NDArray[np.int64]) -> list[list[str]]:
    """Return the index terms between some slots, each word's computed once."""
    of_body = [terms(body) for body in corpus.bodies]
    flat = np.array([term for group in of_body for term in group], dtype=object)
    first = np.concatenate([[0], np.cumsum([len(group) for group in of_body])])
    lengths = np.diff(first)[corpus.slot]
    offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    chosen = flat[np.repeat(first[corpus.slot], lengths) + offsets]
    ends = np.concatenate([[0], np.cumsum(lengths)])[slots]
    return [chosen[a:b].tolist() for a, b in pairwise(ends)]


def _write_vectors(corpus: Corpus, directory: Path, embedder: Embedder) -> None:
    """Units scatter around their topic's vector, and sentences around their unit's."""
    rng = np.random.default_rng(384)
    topics = embedder.embed([" ".join(corpus.bodies[at] for at in row) for row in corpus.topic_words])
    of_unit = corpus.topic[np.repeat(np.arange(len(corpus.topic)), np.diff(corpus.doc_unit))]
    units = np.empty((corpus.n_units, embedder.dimension), dtype=np.float32)
    for start in range(0, len(units), _ROWS):
        units[start : start + _ROWS] = _around(topics[of_unit[start : start + _ROWS]], rng)
    of_units = quantise(units)
    save_matrix(directory / "units.npy", of_units.values)
    save_matrix(directory / "unit_scale.npy", of_units.scale)
    of_sentence = np.repeat(np.arange(corpus.n_units), np.diff(corpus.unit_sentence))
    values = np.empty((len(of_sentence), embedder.dimension), dtype=np.int8)
    scale = np.empty(len(of_sentence), dtype=np.float32)
    for start in range(0, len(values), _ROWS):
        rows = slice(start, start + _ROWS)
        part = quantise(_around(units[of_sentence[rows]], rng))
        values[rows], scale[rows] = part.values, part.scale
    save_matrix(directory / "sentences.npy", values)
    save_matrix(directory / "sentence_scale.npy", scale)


def _around(centres: npt.NDArray[np.float32], rng: np.random.Generator) -> npt.NDArray[np.float32]:
    noise = rng.standard_normal(centres.shape, dtype=np.float32) * np.float32(_NOISE / np.sqrt(centres.shape[1]))
    made = centres + noise
    scattered: npt.NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
    return scattered
