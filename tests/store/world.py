"""Small but whole snapshots: every table has rows, every row number fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphctx.model.ids import content_id
from graphctx.store.manifest import Manifest, Versions
from graphctx.store.publish import SnapshotContent, publish
from graphctx.store.schema import TABLES

DIMENSION = 16
TOPICS = ("harbour", "turbine", "ledger", "orchard", "beacon", "quarry", "loom")


def world(n_docs: int = 4, units_per_doc: int = 3, *, stamp: str = "first") -> dict[str, pa.Table]:
    """Tables of a corpus in which each unit names its topic and the next one.

    Entity ``i`` is ``TOPICS[i]``, related to ``i + 1``: a chain, so that shortest paths are known.
    """
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in TABLES}
    entity_ids = [content_id("e", topic) for topic in TOPICS]
    order = sorted(range(len(TOPICS)), key=lambda i: entity_ids[i])
    row_of = {topic: row for row, topic in enumerate(order)}
    for d in range(n_docs):
        uri = f"notes/{d:04d}.md"
        doc_id = content_id("d", uri)
        texts = [
            f"The {TOPICS[(d + u) % 7]} feeds the {TOPICS[(d + u + 1) % 7]}. It was {stamp} built in {1900 + d}."
            for u in range(units_per_doc)
        ]
        rows["documents"].append(
            {
                "id": doc_id, "uri": uri, "title": f"Note {d}", "titled": True, "text": "\n".join(texts), "sha256": "0" * 64,
                "media_type": "text/markdown", "tags": ["even"] if d % 2 == 0 else [], "updated_at": None, "mtime": "2026-01-01T00:00:00",
                "page_starts": [], "n_units": units_per_doc,
            }
        )  # fmt: skip
        root = content_id("s", uri, 0)
        child = content_id("s", uri, 1)
        for ordinal, (section, parent) in enumerate(((root, None), (child, root))):
            rows["sections"].append(
                {
                    "id": section, "doc_id": doc_id, "parent_id": parent, "ordinal": ordinal, "level": ordinal + 1, "title": f"Part {ordinal}",
                    "path": [f"Part {i}" for i in range(ordinal + 1)], "anchor": None, "start_char": 0, "end_char": 10,
                }
            )  # fmt: skip
        at = 0
        for u, text in enumerate(texts):
            unit_row = len(rows["units"])
            unit_id = content_id("u", uri, u)
            rows["units"].append(
                {
                    "id": unit_id, "doc_id": doc_id, "doc_row": d, "doc_uri": uri, "section_id": child if u else root, "ordinal": u,
                    "kind": "prose", "title": f"Note {d}", "heading": f"Part {min(u, 1)}", "anchor": None, "start_char": at,
                    "end_char": at + len(text), "n_tokens": 12, "tags": ["even"] if d % 2 == 0 else [],
                    "updated_at": f"2026-01-{d % 28 + 1:02d}", "text": text,
                }
            )  # fmt: skip
            sentence_row = len(rows["sentences"])
            stop = text.index(".") + 1
            rows["sentences"].append({"unit_row": unit_row, "ordinal": 0, "start_char": at, "end_char": at + stop})
            rows["sentences"].append(
                {"unit_row": unit_row, "ordinal": 1, "start_char": at + stop + 1, "end_char": at + len(text)}
            )
            subject, target = TOPICS[(d + u) % 7], TOPICS[(d + u + 1) % 7]
            for name in (subject, target):
                start = at + text.index(name)
                rows["mentions"].append(
                    {
                        "unit_row": unit_row, "sentence_row": sentence_row, "entity_row": row_of[TOPICS.index(name)],
                        "kind": "noun_chunk", "start_char": start, "end_char": start + len(name),
                    }
                )  # fmt: skip
            rows["facts"].append(
                {
                    "id": content_id("f", unit_id), "unit_id": unit_id, "unit_row": unit_row, "sentence_row": sentence_row,
                    "subject_id": content_id("e", subject), "predicate": "feed", "object_id": content_id("e", target),
                    "subject": subject, "object": target, "text": f"{subject} feed {target}", "start_char": at, "end_char": at + stop,
                }
            )  # fmt: skip
            at += len(text) + 1
    for i in order:
        aliases = [f"the {TOPICS[i]}"] if i % 2 else []
        rows["entities"].append(
            {"id": entity_ids[i], "name": TOPICS[i], "label": "term", "aliases": aliases, "n_mentions": 2, "n_units": 2}
        )
    for i in range(len(TOPICS) - 1):
        pair = sorted((row_of[i], row_of[i + 1]))
        rows["related"].append(
            {
                "source_row": pair[0],
                "target_row": pair[1],
                "weight": 1.0 + i,
                "n_facts": i,
                "n_units": 1,
                "similarity": 0.0,
            }
        )
    rows["related"].sort(key=lambda row: (row["source_row"], row["target_row"]))
    for d in range(n_docs - 1):
        rows["links"].append({"source_row": d, "target_row": d + 1, "n_links": 1, "n_title_mentions": d})
    fine = [content_id("c", 1, part) for part in range(2)]
    coarse = content_id("c", 0)
    halves = (sorted(entity_ids[:4]), sorted(entity_ids[4:]))
    communities = [
        {
            "id": fine[i],
            "level": 1,
            "parent_id": coarse,
            "title": f"Half {i}",
            "n_entities": len(half),
            "entity_ids": half,
        }
        for i, half in enumerate(halves)
    ]
    communities.sort(key=lambda row: str(row["id"]))
    whole = {
        "id": coarse,
        "level": 0,
        "parent_id": None,
        "title": "All",
        "n_entities": 7,
        "entity_ids": sorted(entity_ids),
    }
    rows["communities"] = [
        row
        | {
            "modularity": 0.1, "n_units": 2, "key_entity_ids": [], "key_fact_ids": [], "point_rows": [0, 2], "summary_rows": [0],
            "summary": f"{row['title']}\n{rows['units'][0]['text']}", "phrased": None, "formerly": [],
        }
        for row in (whole, *communities)
    ]  # fmt: skip
    for row in rows["documents"]:
        row |= {"outline": "{}", "source": "notes"}
    return {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in TABLES.items()}


def unit_vectors(count: int, seed: int = 7) -> np.ndarray:
    """float32 [count, DIMENSION], each row of norm 1."""
    raw = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def entity_id(topic: str) -> str:
    return content_id("e", topic)


def content(n_docs: int = 4, *, stamp: str = "first") -> SnapshotContent:
    tables = world(n_docs, stamp=stamp)
    units, entities = tables["units"].num_rows, tables["entities"].num_rows
    return SnapshotContent(
        tables=tables,
        vectors={
            "units": unit_vectors(units),
            "entities": unit_vectors(entities, 8),
            "communities": unit_vectors(3, 9),
        },
        arrays={"unit_pair": np.arange(units + 1, dtype=np.int64), "weight": np.array([0.5], np.float32)},
        matrices={
            "units": unit_vectors(units),
            "communities": unit_vectors(3, 9),
            "sentences": np.ones((2 * units, DIMENSION), np.int8),
        },
        extras={"bm25": write_words},
    )


def write_words(directory: Path) -> None:
    (directory / "words.json").write_text('["harbour"]')


def publish_world(
    kb_dir: Path, n_docs: int = 4, *, stamp: str = "first", at: str = "2026-01-01T00:00:00Z", **given: Any
) -> Manifest:
    given = {"engine": "kuzu", "project_id": "test", "versions": Versions(graphctx="0.1.0"), **given}
    return publish(kb_dir, content(n_docs, stamp=stamp), created_at=at, **given)
