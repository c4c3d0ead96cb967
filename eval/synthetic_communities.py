"""A made-up knowledge base with a hierarchy of communities, to measure global search at sizes without a sample.

The documents are those of ``eval/synthetic_index.py``, as many units as communities. Every document has one of up to
400 topics, which its words, names and vectors share; the thousand commonest names belong to none. A root community is
a topic: the entities of its number. Below it they are cut into parts of equal size, at two levels or at three, until
there are as many communities as wanted. A part is not a subject of its own: its points are sentences that name its
entities, and its vector is the mean of its summary's, so that it lies near its topic, as near as so few noisy sentences
do. A question takes words of one topic or of two: it bears on their branches, and on no other more than by chance.

A document is one section. There is no table of communities in LanceDB, and there are no facts and mentions.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from eval.synthetic_index import SAMPLE, synthetic_kb
from eval.synthetic_text import Corpus, make_corpus
from graphctx.store.arrays import load_arrays
from graphctx.store.files import sha256_of
from graphctx.store.manifest import FORMAT_VERSION, FileEntry, read_manifest, write_manifest
from graphctx.store.schema import COMMUNITIES, TABLES
from graphctx.store.snapshot import ARRAYS_NAME, PARQUET_DIR, current_id
from graphctx.store.walk import WalkArrays, gather, pointers

Ints = npt.NDArray[np.int64]

REVISION = 5
"""Counts changes of what is made: an older one in the cache is made anew."""

MOST_CHILDREN = 25
"""A community with more children gets a level between itself and them."""

POINTS, SUMMARY, KEYS, TITLE = 40, 8, 10, 3
"""Sentences, sentences of the summary, key entities and names of the title, as at ingest."""

_N_QUESTIONS = 400
_QUESTIONS = "global_questions.json"
_ROWS = 8_192  # vectors made at a time: 100 MB of sentences


@dataclass(frozen=True, slots=True)
class Level:
    """The communities of one level: of each entity, and of each the parent's place in the level above (-1 at 0)."""

    of_entity: Ints
    parent: Ints


def communities_kb(folder: Path, count: int) -> Path:
    """Return the knowledge base with this many communities, made if the folder has none of this revision.

    Args:
        folder: of all sizes.
        count: how many communities, and units.

    Returns:
        The folder of the knowledge base.
    """
    kb_dir = folder / f"{count}-communities-{REVISION}.{FORMAT_VERSION}"
    if (kb_dir / _QUESTIONS).is_file():
        return kb_dir
    source = synthetic_kb(folder, count)
    shutil.rmtree(kb_dir, ignore_errors=True)
    shutil.copytree(source, kb_dir, copy_function=_linked)
    directory = kb_dir / "snapshots" / str(current_id(kb_dir))
    corpus = make_corpus(count, SAMPLE)
    levels = hierarchy(len(corpus.names), len(corpus.topic_words), count)
    walk = WalkArrays.from_dict(load_arrays(directory / ARRAYS_NAME))
    table = _table(corpus, walk, levels)
    tables = {name: schema.empty_table() for name, schema in TABLES.items()}
    for name in ("documents", "units"):
        del tables[name]
    tables |= {"sections": _sections(corpus), "entities": _entities(corpus), "communities": table}
    for name, made in tables.items():
        pq.write_table(made, directory / PARQUET_DIR / f"{name}.parquet", compression="zstd", row_group_size=16_384)
    _sign(directory, tables)
    (kb_dir / _QUESTIONS).write_text(json.dumps(_questions(corpus), indent=0), "utf-8")
    return kb_dir


def global_questions(kb_dir: Path) -> list[str]:
    """Return the questions of such a knowledge base: every other is about one topic, the rest about two."""
    asked: list[str] = json.loads((kb_dir / _QUESTIONS).read_text("utf-8"))
    return asked


def hierarchy(n_entities: int, n_roots: int, count: int) -> list[Level]:
    """Cut entities into about ``count`` communities, the roots first.

    Args:
        n_entities: entities, of which ``entity % n_roots`` is the root.
        n_roots: roots.
        count: communities of all levels together.
    """
    root = np.arange(n_entities) % n_roots
    levels = [Level(root, np.full(n_roots, -1))]
    sizes = []
    left = count - n_roots
    if left > MOST_CHILDREN * n_roots:
        between = int(np.sqrt(n_roots * left))
        sizes.append(between)
        left -= between
    sizes.append(left)
    place = np.arange(n_entities) // n_roots  # among the entities of its root
    in_root = np.bincount(root, minlength=n_roots)
    parts = 1  # of each root; a multiple of those above, so that every part lies inside one of them
    for size in sizes:
        parts *= max(1, round(size / n_roots / parts))
        cut = root * parts + place * parts // in_root[root]
        above, parent = levels[-1].of_entity, np.zeros(n_roots * parts, dtype=np.int64)
        found, first = np.unique(cut, return_index=True)
        parent[found] = above[first]
        number = np.searchsorted(found, cut)
        levels.append(Level(number, parent[found]))
    return levels


def _table(corpus: Corpus, walk: WalkArrays, levels: list[Level]) -> pa.Table:
    first_row = np.concatenate([[0], np.cumsum([len(level.parent) for level in levels])])
    columns: dict[str, list[object]] = {name: [] for name in COMMUNITIES.names}
    names = corpus.names
    naming = np.diff(walk.entity_ptr)
    for at, level in enumerate(levels):
        for number, (members, rows) in enumerate(_contents(walk, level, naming)):
            best = members[:KEYS].tolist()
            columns["id"].append(f"c_{first_row[at] + number:016x}")
            columns["level"].append(at)
            columns["parent_id"].append(f"c_{first_row[at - 1] + level.parent[number]:016x}" if at else None)
            columns["title"].append(", ".join(names[entity] for entity in best[:TITLE]))
            columns["n_entities"].append(len(members))
            columns["entity_ids"].append([_entity_id(entity) for entity in np.sort(members).tolist()])
            columns["modularity"].append(0.0)
            columns["n_units"].append(int(naming[members].sum()))
            columns["key_entity_ids"].append([_entity_id(entity) for entity in best])
            columns["key_fact_ids"].append([])
            columns["point_rows"].append(rows.tolist())
            columns["summary_rows"].append(rows[:SUMMARY].tolist())
            columns["summary"].append(columns["title"][-1])
            columns["phrased"].append(None)
            columns["formerly"].append([])
    return pa.table([pa.array(columns[one.name], one.type) for one in COMMUNITIES], schema=COMMUNITIES)


def _contents(walk: WalkArrays, level: Level, naming: npt.NDArray[np.integer]) -> Iterator[tuple[Ints, Ints]]:
    """Of each community its entities, the most named first, and its points: sentences that name most of them."""
    count = len(level.parent)
    by_name = np.lexsort((np.arange(len(naming)), -naming, level.of_entity))
    member_ptr = pointers(level.of_entity[by_name], count)
    sentences, pair = gather(walk.pair_sentence_ptr, np.arange(len(walk.pair_entity)))
    owner = level.of_entity[walk.pair_entity[pair]]
    n_sentences = len(walk.sentence_start)
    keys, named = np.unique(owner * n_sentences + walk.pair_sentence[sentences], return_counts=True)
    order = np.lexsort((keys, -named, keys // n_sentences))
    owner, rows = keys[order] // n_sentences, keys[order] % n_sentences
    point_ptr = pointers(owner, count)
    for at in range(count):
        members = by_name[member_ptr[at] : member_ptr[at + 1]]
        yield members, rows[point_ptr[at] : point_ptr[at + 1]][:POINTS]


def _sections(corpus: Corpus) -> pa.Table:
    schema, count = TABLES["sections"], len(corpus.topic)
    last = corpus.sentence_end[corpus.unit_sentence[corpus.doc_unit[1:]] - 1]
    columns = {
        "id": [f"s_{row:016x}" for row in range(count)],
        "doc_id": [f"d_{row:016x}" for row in range(count)],
        "parent_id": pa.nulls(count, pa.string()),
        "ordinal": pa.array(np.zeros(count, dtype=np.int32)),
        "level": pa.array(np.zeros(count, dtype=np.int32)),
        "title": pa.repeat("", count),
        "path": [[]] * count,
        "anchor": pa.nulls(count, pa.string()),
        "start_char": pa.array(np.zeros(count, dtype=np.int32)),
        "end_char": pa.array(last.astype(np.int32)),
    }
    return pa.table([pa.array(columns[one.name], one.type) for one in schema], schema=schema)


def _entities(corpus: Corpus) -> pa.Table:
    schema, names = TABLES["entities"], corpus.names
    n_mentions = np.bincount(corpus.mention_entity, minlength=len(names))
    columns = {
        "id": [_entity_id(row) for row in range(len(names))],
        "name": names,
        "label": pa.repeat("TERM", len(names)),
        "aliases": [[]] * len(names),
        "n_mentions": n_mentions,
        "n_units": n_mentions,
    }
    return pa.table([pa.array(columns[one.name], one.type) for one in schema], schema=schema)


def _questions(corpus: Corpus) -> list[str]:
    rng = np.random.default_rng(5)
    asked: list[str] = []
    for number in range(_N_QUESTIONS):
        topics = rng.choice(len(corpus.topic_words), size=1 + number % 2, replace=False)
        # Words at the front of a topic's list are used most.
        words = [corpus.bodies[at] for topic in topics for at in corpus.topic_words[topic][rng.choice(20, 5, False)]]
        asked.append(f"What is there to say about {', '.join(words[:-1])} and {words[-1]}?")
    return list(dict.fromkeys(asked))


def _sign(directory: Path, tables: dict[str, pa.Table]) -> None:
    """Put what was added into the manifest."""
    manifest = read_manifest(directory)
    added = [f"{PARQUET_DIR}/{name}.parquet" for name in tables]
    files = dict(manifest.files)
    for name in added:
        path = directory / name
        files[name] = FileEntry(size=path.stat().st_size, sha256=sha256_of(path))
    counts = manifest.counts | {name: table.num_rows for name, table in tables.items()}
    write_manifest(directory, manifest.model_copy(update={"files": files, "counts": counts}))


def _entity_id(row: int) -> str:
    return f"e_{row:016x}"


def _linked(source: str, target: str) -> None:
    """A hard link, or a copy where the file is written anew or links are not possible."""
    if Path(source).suffix not in (".json", ".toml"):
        try:
            os.link(source, target)
            return
        except OSError:
            pass
    shutil.copy2(source, target)
