"""Entities measured against gold entities: spans found, pairs joined, clusters compared."""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphctx.errors import InvalidArgument
from graphctx.eval.entities_gold import GoldDocument, GoldMention, gold_documents, has_texts, read_gold

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class FoundMention:
    """A mention that the knowledge base has: its span, and the row of its entity."""

    start: int
    end: int
    entity: int


Mentions = Mapping[str, Sequence[FoundMention]]
"""Found mentions by URI."""


@dataclass(frozen=True, slots=True)
class SpanScores:
    """Precision, recall and their harmonic mean, in 0..1, with the counts that they come from."""

    precision: float
    recall: float
    f1: float
    found: int
    found_right: int
    gold: int
    gold_hit: int

    @classmethod
    def of(cls, found: int, found_right: int, gold: int, gold_hit: int) -> SpanScores:
        """Make the shares of the counts; a share of nothing is 0."""
        precision = found_right / found if found else 0.0
        recall = gold_hit / gold if gold else 0.0
        both = precision + recall
        return cls(
            precision, recall, 2 * precision * recall / both if both else 0.0, found, found_right, gold, gold_hit
        )


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """How well entities agree with gold entities over the gold mentions that were found.

    Attributes:
        mentions: gold mentions with a found mention over them.
        entities: entities that these belong to.
        gold_entities: gold entities that these belong to.
        purity: share of mentions whose entity mostly means the same gold entity (Manning, Raghavan and Schütze,
            Introduction to Information Retrieval, section 16.3: ``1/N * sum over clusters of max |cluster & gold|``).
        completeness: the same with the roles changed, also called inverse purity: share of mentions that are in
            the entity that holds most mentions of their gold entity.
        b_cubed_precision: mean over mentions of the share of their entity that is of their gold entity
            (Bagga and Baldwin 1998).
        b_cubed_recall: mean over mentions of the share of their gold entity that is in their entity.
    """

    mentions: int
    entities: int
    gold_entities: int
    purity: float
    completeness: float
    b_cubed_precision: float
    b_cubed_recall: float


def span_scores(gold: Sequence[GoldDocument], found: Mentions) -> tuple[SpanScores, SpanScores]:
    """Compare spans, once exactly and once by any overlap; a span counts once however many mentions share it.

    Args:
        gold: documents with their marks.
        found: the mentions of each, by URI.
    """
    exact, overlap = Counter[str](), Counter[str]()
    for document in gold:
        wanted = sorted({(m.start, m.end) for m in document.mentions})
        given = sorted({(m.start, m.end) for m in found.get(document.uri, ())})
        for counts in (exact, overlap):
            counts["gold"] += len(wanted)
            counts["found"] += len(given)
        same = len(set(wanted) & set(given))
        exact["hit"] += same
        exact["right"] += same
        overlap["hit"] += _touched(wanted, given)
        overlap["right"] += _touched(given, wanted)
    return (
        SpanScores.of(exact["found"], exact["right"], exact["gold"], exact["hit"]),
        SpanScores.of(overlap["found"], overlap["right"], overlap["gold"], overlap["hit"]),
    )


def recall_by_type(gold: Sequence[GoldDocument], found: Mentions) -> dict[str, tuple[int, int]]:
    """Return gold mentions overlapped and gold mentions in all, by the type of the gold entity, sorted by type."""
    hit, every = Counter[str](), Counter[str]()
    for document in gold:
        for mention in document.mentions:
            every[mention.type] += 1
            hit[mention.type] += bool(_over(mention, found.get(document.uri, ())))
    return {kind: (hit[kind], every[kind]) for kind in sorted(every)}


def entity_of(mention: GoldMention, found: Sequence[FoundMention]) -> int:
    """Return the entity whose found mention fits a gold mention best, or -1.

    The best fit is the one with the largest share of the union in common; ties go to the first span, then to the
    lowest row.
    """
    over = _over(mention, found)
    return min(over, key=lambda one: (-_in_common(mention, one), one.start, one.end, one.entity)).entity if over else -1


def cluster_scores(pairs: Iterable[tuple[str, str]]) -> ClusterScores:
    """Compare clusterings given, for each mention that was found, what names its entity and its gold entity."""
    cells = Counter(pairs)
    n = sum(cells.values())
    ours, gold = Counter[str](), Counter[str]()
    best_of_ours: dict[str, int] = {}
    best_of_gold: dict[str, int] = {}
    for (entity, key), count in cells.items():
        ours[entity] += count
        gold[key] += count
        best_of_ours[entity] = max(best_of_ours.get(entity, 0), count)
        best_of_gold[key] = max(best_of_gold.get(key, 0), count)
    if not n:
        return ClusterScores(0, 0, 0, 0.0, 0.0, 0.0, 0.0)
    ordered = sorted(cells.items())
    return ClusterScores(
        mentions=n,
        entities=len(ours),
        gold_entities=len(gold),
        purity=sum(best_of_ours.values()) / n,
        completeness=sum(best_of_gold.values()) / n,
        b_cubed_precision=sum(count * count / ours[entity] for (entity, _), count in ordered) / n,
        b_cubed_recall=sum(count * count / gold[key] for (_, key), count in ordered) / n,
    )


def _touched(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Return how many of some spans overlap any of the others; both sorted."""
    starts = [start for start, _ in others]
    reach, furthest = [], 0
    for _, end in others:
        furthest = max(furthest, end)
        reach.append(furthest)
    return sum((before := bisect_left(starts, end)) > 0 and reach[before - 1] > start for start, end in some)


def _over(mention: GoldMention, found: Sequence[FoundMention]) -> list[FoundMention]:
    return [one for one in found if one.start < mention.end and mention.start < one.end]


def _in_common(mention: GoldMention, one: FoundMention) -> float:
    both = min(mention.end, one.end) - max(mention.start, one.start)
    return both / (max(mention.end, one.end) - min(mention.start, one.start))


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
    """The measures of one suite.

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
        """Return the run as plain JSON."""
        return dataclasses.asdict(self)

    def rows(self) -> list[tuple[str, float, str]]:
        """Return the run as a table: name of the measure, value in percent, and the counts behind it."""
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


def run_entity_suite(path: Path, kb: KnowledgeBase) -> EntityRun:
    """Measure the entities of a knowledge base against a gold file.

    Args:
        path: the gold file, or a folder with ``gold.jsonl`` (forms: `graphctx.eval.entities_gold`).
        kb: a knowledge base with its documents.

    Raises:
        InvalidArgument: the file does not have the form, or its documents are not those of the knowledge base.
    """
    rows = read_gold(path)
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
        suite=path.name if path.is_dir() else path.stem,
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
    """Return the same documents with those marks only that lie in a text unit.

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


def _mentions(snapshot: Snapshot, wanted: dict[int, str]) -> dict[str, list[FoundMention]]:
    """Return the mentions of the wanted documents, by URI, in the order of the table."""
    table = snapshot.table("mentions", ["unit_row", "start_char", "end_char", "entity_row"])
    doc_of = snapshot.table("units", ["doc_row"])["doc_row"].to_pylist()
    found: dict[str, list[FoundMention]] = {}
    for unit, start, end, entity in zip(*(column.to_pylist() for column in table.columns), strict=True):
        uri = wanted.get(doc_of[unit])
        if uri is not None:
            found.setdefault(uri, []).append(FoundMention(start, end, entity))
    return found


def _clustered(rows: Sequence[dict[str, Any]], aligned: dict[str, list[tuple[int, str]]]) -> list[tuple[str, str]]:
    """Entity and gold entity of each mention that was found; where gold entities are known within a row only,
    entities of different rows differ."""
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
