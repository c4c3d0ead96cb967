"""How good the nodes of the graph are: mentions, resolved entities and joined pairs against gold entities.

Gold sets mark what their makers cared for, not everything that is worth a node: precision is a lower bound, recall is
not touched by it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphctx.errors import InvalidArgument
from graphctx.eval.corpora import kept_name
from graphctx.eval.entities_gold import GoldDocument, corpus_lines, gold_documents, has_texts, read_gold
from graphctx.eval.entities_measures import (
    ClusterScores,
    Found,
    SpanScores,
    cluster_scores,
    entity_of,
    recall_by_type,
    span_scores,
)
from graphctx.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from graphctx.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class PairScores:
    """Gold pairs that the graph joins.

    Attributes:
        pairs: gold pairs.
        joined: those with an edge between their entities, or a fact, in the whole graph.
        by_fact: those with a fact.
        recall: ``joined / pairs``.
    """

    pairs: int
    joined: int
    by_fact: int
    recall: float


@dataclass(frozen=True, slots=True)
class EntityRun:
    """What was measured on one suite.

    Attributes:
        suite: its name.
        snapshot_id: of the knowledge base.
        documents: with gold marks.
        exact: spans that are the same.
        overlap: spans that share a character.
        types: overlapped and all gold mentions by type.
        pairs: related pairs.
        clusters: resolved entities against gold entities.
        n_entities: of the whole knowledge base.
    """

    suite: str
    snapshot_id: str
    documents: int
    exact: SpanScores
    overlap: SpanScores
    types: dict[str, tuple[int, int]]
    pairs: PairScores
    clusters: ClusterScores
    n_entities: int

    def as_dict(self) -> dict[str, Any]:
        """The run as plain JSON."""
        return dataclasses.asdict(self)

    def rows(self) -> list[tuple[str, float, str]]:
        """The run as a table: name of the measure, value in percent, and the counts behind it."""
        spans = [
            row
            for name, scores in (("exact", self.exact), ("overlap", self.overlap))
            for row in (
                (f"span precision, {name}", scores.precision, f"{scores.found_right} of {scores.found}"),
                (f"span recall, {name}", scores.recall, f"{scores.gold_hit} of {scores.gold}"),
                (f"span F1, {name}", scores.f1, ""),
            )
        ]
        clusters = self.clusters
        sizes = f"{clusters.mentions} mentions, {clusters.entities} entities, {clusters.gold_entities} gold"
        others = [
            ("pair recall", self.pairs.recall, f"{self.pairs.joined} of {self.pairs.pairs}"),
            ("pair recall by facts", _share(self.pairs.by_fact, self.pairs.pairs), f"{self.pairs.by_fact}"),
            ("purity", clusters.purity, sizes),
            ("completeness", clusters.completeness, ""),
            ("B-cubed precision", clusters.b_cubed_precision, ""),
            ("B-cubed recall", clusters.b_cubed_recall, ""),
        ]
        types = [(f"recall of {kind or '?'}", _share(hit, n), f"{hit} of {n}") for kind, (hit, n) in self.types.items()]
        return [(name, 100 * value, counts) for name, value, counts in [*spans, *others, *types]]


def run_entity_suite(
    path: Path, *, kb: KnowledgeBase | None = None, work: Path = Path(".kb/eval"), corpus: Path | None = None
) -> EntityRun:
    """Measure the entities of a knowledge base against a gold file.

    Args:
        path: the gold file, or a folder with ``gold.jsonl`` (forms: `graphctx.eval.entities_gold`).
        kb: the knowledge base that holds the documents; for rows with texts it may be left out, and they are
            ingested into one below ``work``.
        work: where such knowledge bases are kept, one for each corpus; an unchanged one is taken as it is.
        corpus: a folder to ingest in the same way, for rows that only name their documents.

    Raises:
        InvalidArgument: the file does not have the form, or its documents are not those of the knowledge base.
    """
    rows = read_gold(path)
    name = path.name if path.is_dir() else path.stem
    if kb is not None:
        return _measure(name, rows, kb)
    source = path if has_texts(rows) else corpus
    if source is None:
        raise InvalidArgument(f"{path.name} only names its documents: say which knowledge base has them.")
    kept = work / f"{kept_name(name, source)}-entities"
    if has_texts(rows):
        source = kept.with_name(f"{kept.name}-corpus") / f"{name}.jsonl"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(corpus_lines(rows), "utf-8")
    with KnowledgeBase.open(kept, create=True, project_id=name) as own:
        own.ingest([source], prune=True)
        return _measure(name, rows, own)


def _measure(name: str, rows: Sequence[dict[str, Any]], kb: KnowledgeBase) -> EntityRun:
    snapshot = kb.searcher().index.snapshot
    documents = snapshot.table("documents", ["uri", "text"])
    uris = documents["uri"].to_pylist()
    row_of = {suffix: at for at, uri in enumerate(uris) for suffix in _suffixes(uri)}

    def text_of(uri: str) -> str:
        at = row_of.get(uri)
        if at is None:
            raise InvalidArgument(f"The knowledge base has no document {uri!r}; ingest it first.", uri=uri)
        return str(documents["text"][at].as_py())

    gold = gold_documents(rows, text_of)
    if not has_texts(rows):
        gold = _in_units(snapshot, gold, row_of)
    found = _mentions(snapshot, {row_of[document.uri]: document.uri for document in gold})
    aligned = {
        document.uri: [(entity_of(m, found.get(document.uri, ())), m.entity) for m in document.mentions]
        for document in gold
    }
    exact, overlap = span_scores(gold, found)
    return EntityRun(
        suite=name,
        snapshot_id=snapshot.id,
        documents=len(gold),
        exact=exact,
        overlap=overlap,
        types=recall_by_type(gold, found),
        pairs=_pairs(snapshot, gold, aligned),
        clusters=cluster_scores(_clustered(rows, aligned)),
        n_entities=snapshot.table("entities", ["id"]).num_rows,
    )


def _suffixes(uri: str) -> list[str]:
    """What a gold row may call a document: its URI, or the fragment that names the row of a JSONL corpus."""
    head, mark, fragment = uri.rpartition("#")
    return [uri, f"#{fragment}"] if mark and head else [uri]


def _in_units(snapshot: Snapshot, gold: Sequence[GoldDocument], row_of: dict[str, int]) -> list[GoldDocument]:
    """The same documents with those marks only that lie in a text unit.

    Where a mark is a string, it is found in front matter and in heading lines too. These are metadata and section
    titles of the graph, and no text that anything is extracted from.
    """
    units = snapshot.table("units", ["doc_row", "start_char", "end_char"])
    spans: dict[int, list[tuple[int, int]]] = {}
    for row, start, end in zip(*(column.to_pylist() for column in units.columns), strict=True):
        spans.setdefault(row, []).append((start, end))
    return [
        replace(
            document,
            mentions=tuple(
                m
                for m in document.mentions
                if any(a <= m.start and m.end <= b for a, b in spans.get(row_of[document.uri], ()))
            ),
        )
        for document in gold
    ]


def _mentions(snapshot: Snapshot, wanted: dict[int, str]) -> dict[str, list[Found]]:
    """The mentions of the wanted documents, by URI, in the order of the table."""
    table = snapshot.table("mentions", ["unit_row", "start_char", "end_char", "entity_row"])
    doc_of = snapshot.table("units", ["doc_row"])["doc_row"].to_pylist()
    found: dict[str, list[Found]] = {}
    for unit, start, end, entity in zip(*(column.to_pylist() for column in table.columns), strict=True):
        uri = wanted.get(doc_of[unit])
        if uri is not None:
            found.setdefault(uri, []).append(Found(start, end, entity))
    return found


def _clustered(rows: Sequence[dict[str, Any]], aligned: dict[str, list[tuple[int, str]]]) -> list[tuple[str, str]]:
    """Entity and gold entity of each mention that was found; where gold entities are known within a row only,
    entities are told apart by row too."""
    local = has_texts(rows)
    return [
        (f"{uri} {entity}" if local else str(entity), key)
        for uri, mentions in aligned.items()
        for entity, key in mentions
        if entity >= 0
    ]


def _pairs(snapshot: Snapshot, gold: Sequence[GoldDocument], aligned: dict[str, list[tuple[int, str]]]) -> PairScores:
    related = snapshot.table("related", ["source_row", "target_row", "n_facts"])
    n_facts = {(a, b): n for a, b, n in zip(*(column.to_pylist() for column in related.columns), strict=True)}
    total = joined = by_fact = 0
    rows: dict[str, set[int]] = {}
    for mentions in aligned.values():
        for entity, key in mentions:
            if entity >= 0:
                rows.setdefault(key, set()).add(entity)
    for document in gold:
        for one, other in document.pairs:
            edges = [(min(a, b), max(a, b)) for a in rows.get(one, ()) for b in rows.get(other, ())]
            total += 1
            joined += any(edge in n_facts for edge in edges)
            by_fact += any(n_facts.get(edge, 0) > 0 for edge in edges)
    return PairScores(total, joined, by_fact, _share(joined, total))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
