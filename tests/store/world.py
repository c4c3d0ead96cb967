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


def entity_id(topic: str) -> str:
    return content_id("e", topic)


def world(n_docs: int = 4, units_per_doc: int = 3, *, stamp: str = "first") -> dict[str, pa.Table]:
    """Tables of a corpus in which each unit names its topic and the next one; a chain of related entities."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    topics = sorted(TOPICS, key=entity_id)
    for d in range(n_docs):
        uri, tags = f"notes/{d:04d}.md", ["even"] if d % 2 == 0 else []
        doc_id = content_id("d", uri)
        pairs = [(TOPICS[(d + u) % 7], TOPICS[(d + u + 1) % 7]) for u in range(units_per_doc)]
        texts = [f"The {one} feeds the {other}. It was {stamp} built in {1900 + d}." for one, other in pairs]
        rows["documents"].append(
            {"id": doc_id, "uri": uri, "title": f"Note {d}", "titled": True, "text": "\n".join(texts), "sha256": "0" * 64,
             "media_type": "text/markdown", "tags": tags, "mtime": "2026-01-01T00:00:00", "page_starts": [],
             "n_units": units_per_doc, "outline": "{}", "source": "notes", "formerly": []}
        )  # fmt: skip
        root, child = content_id("s", uri, 0), content_id("s", uri, 1)
        for ordinal, (section, parent) in enumerate(((root, None), (child, root))):
            rows["sections"].append(
                {"id": section, "doc_id": doc_id, "parent_id": parent, "ordinal": ordinal, "level": ordinal + 1,
                 "title": f"Part {ordinal}", "path": [f"Part {i}" for i in range(ordinal + 1)], "start_char": 0, "end_char": 10}
            )  # fmt: skip
        at = 0
        for u, (text, (one, other)) in enumerate(zip(texts, pairs, strict=True)):
            unit_id, unit_row, sentence_row = content_id("u", uri, u), len(rows["units"]), len(rows["sentences"])
            stop = at + text.index(".") + 1
            rows["units"].append(
                {"id": unit_id, "doc_id": doc_id, "doc_row": d, "doc_uri": uri, "section_id": child if u else root, "ordinal": u,
                 "kind": "prose", "title": f"Note {d}", "heading": f"Part {min(u, 1)}", "start_char": at, "end_char": at + len(text),
                 "n_tokens": 12, "tags": tags, "updated_at": f"2026-01-{d % 28 + 1:02d}", "text": text}
            )  # fmt: skip
            for ordinal, (start, end) in enumerate(((at, stop), (stop + 1, at + len(text)))):
                rows["sentences"].append(
                    {"unit_row": unit_row, "ordinal": ordinal, "start_char": start, "end_char": end}
                )
            for name in (one, other):
                start = at + text.index(name)
                rows["mentions"].append(
                    {"unit_row": unit_row, "sentence_row": sentence_row, "entity_row": topics.index(name), "kind": "noun_chunk",
                     "start_char": start, "end_char": start + len(name)}
                )  # fmt: skip
            rows["facts"].append(
                {"id": content_id("f", unit_id), "unit_id": unit_id, "unit_row": unit_row, "sentence_row": sentence_row,
                 "subject_id": entity_id(one), "predicate": "feed", "object_id": entity_id(other), "subject": one, "object": other,
                 "text": f"{one} feed {other}", "start_char": at, "end_char": stop}
            )  # fmt: skip
            at += len(text) + 1
    rows["entities"] = [
        {"id": entity_id(one), "name": one, "label": "term", "aliases": [], "n_mentions": 2, "n_units": 2}
        for one in topics
    ]
    for i in range(len(TOPICS) - 1):
        source, target = sorted((topics.index(TOPICS[i]), topics.index(TOPICS[i + 1])))
        numbers = {"weight": 1.0 + i, "n_facts": i, "n_units": 1, "similarity": 0.0}
        rows["related"].append({"source_row": source, "target_row": target, **numbers})
    rows["related"].sort(key=lambda row: (row["source_row"], row["target_row"]))
    rows["aliases"] = [{"source_row": 0, "target_row": 1, "reason": "heading", "sentence_row": at} for at in (0, 2)]
    rows["links"] = [
        {"source_row": d, "target_row": d + 1, "n_links": 1, "n_title_mentions": d} for d in range(n_docs - 1)
    ]
    whole, halves = content_id("c", 0), [content_id("c", 1, part) for part in range(2)]
    members = {whole: TOPICS, halves[0]: TOPICS[:4], halves[1]: TOPICS[4:]}
    for each, title in ((whole, "All"), *sorted(zip(halves, ("Half 0", "Half 1"), strict=True))):
        ids = sorted(map(entity_id, members[each]))
        rows["communities"].append(
            {"id": each, "level": int(each != whole), "parent_id": None if each == whole else whole, "title": title,
             "n_entities": len(ids), "entity_ids": ids, "modularity": 0.1, "n_units": 2, "key_entity_ids": [], "key_fact_ids": [],
             "point_rows": [0, 2], "summary_rows": [0], "summary": f"{title}\n{rows['units'][0]['text']}", "formerly": []}
        )  # fmt: skip
    return {name: pa.Table.from_pylist(rows[name], schema=schema) for name, schema in TABLES.items()}


def unit_vectors(count: int, seed: int = 7) -> np.ndarray:
    """float32 [count, DIMENSION], each row of norm 1."""
    raw = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return raw / np.linalg.norm(raw, axis=1, keepdims=True)


def content(n_docs: int = 4, *, stamp: str = "first", **changes: Any) -> SnapshotContent:
    tables = world(n_docs, stamp=stamp)
    units = tables["units"].num_rows
    vectors = {"units": unit_vectors(units)}
    parts: dict[str, Any] = {
        "tables": tables,
        "vectors": vectors,
        "arrays": {"unit_pair": np.arange(units + 1, dtype=np.int64), "weight": np.array([0.5], np.float32)},
        "matrices": {
            "units": vectors["units"],
            "sentences": np.ones((2 * units, DIMENSION), np.int8),
        },
        "extras": {"bm25": lambda directory: (directory / "words.json").write_text('["harbour"]')},
    }
    return SnapshotContent(**{**parts, **changes})


def publish_world(
    kb_dir: Path, n_docs: int = 4, *, stamp: str = "first", at: str = "2026-01-01T00:00:00Z", **options: Any
) -> Manifest:
    return publish_content(kb_dir, content(n_docs, stamp=stamp), at=at, **options)


def publish_content(
    kb_dir: Path, made: SnapshotContent, *, at: str = "2026-01-01T00:00:00Z", **options: Any
) -> Manifest:
    options = {"engine": "kuzu", "project_id": "test", "versions": Versions(graphctx="0.1.0"), **options}
    return publish(kb_dir, made, created_at=at, **options)
