"""Measures of extraction and resolution: spans found, pairs joined, clusters compared."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphctx.eval.entities_gold import GoldDocument, GoldMention


@dataclass(frozen=True, slots=True)
class Found:
    """A mention that the knowledge base has: its span, and the row of its entity."""

    start: int
    end: int
    entity: int


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


def span_scores(gold: Sequence[GoldDocument], found: Mapping[str, Sequence[Found]]) -> tuple[SpanScores, SpanScores]:
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


def recall_by_type(gold: Sequence[GoldDocument], found: Mapping[str, Sequence[Found]]) -> dict[str, tuple[int, int]]:
    """Gold mentions overlapped and gold mentions in all, by the type of the gold entity, sorted by type."""
    hit, every = Counter[str](), Counter[str]()
    for document in gold:
        for mention in document.mentions:
            every[mention.type] += 1
            hit[mention.type] += bool(_over(mention, found.get(document.uri, ())))
    return {kind: (hit[kind], every[kind]) for kind in sorted(every)}


def entity_of(mention: GoldMention, found: Sequence[Found]) -> int:
    """The entity whose found mention fits a gold mention best, or -1.

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
    """How many of some spans overlap any of the others; both sorted."""
    starts = [start for start, _ in others]
    reach, furthest = [], 0
    for _, end in others:
        furthest = max(furthest, end)
        reach.append(furthest)
    return sum((before := bisect_left(starts, end)) > 0 and reach[before - 1] > start for start, end in some)


def _over(mention: GoldMention, found: Sequence[Found]) -> list[Found]:
    return [one for one in found if one.start < mention.end and mention.start < one.end]


def _in_common(mention: GoldMention, one: Found) -> float:
    both = min(mention.end, one.end) - max(mention.start, one.start)
    return both / (max(mention.end, one.end) - min(mention.start, one.start))
