"""What a search through layers is asked and answers, and how records are ranked.

A record's score is 0.5 if it holds the query letter for letter, white space and case aside, 0.3 of its vector's
similarity and 0.2 of the share of the query's words that it holds. This makes exact sentence lookups succeed: on the
sentences of the development layers, whose chunks run to twenty pages, the vectors alone put a sentence's chunk first
for 45 to 64 of 100, with its words for 95 to 99, and all three for every one. Where a vector is given instead of
words, or the metric is ``dot``, the similarity alone counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.layers.chunk import Chunk
from graphctx.layers.conflicts import Conflict
from graphctx.layers.effective import LayerView
from graphctx.layers.names import LayerName, rank
from graphctx.layers.scoring import Metric, coverage, holders

_SIMILARITY, _COVERAGE, _VERBATIM = 0.3, 0.2, 0.5
_CANDIDATES = 200  # nearest records of a layer whose words are looked at, or four times what is asked for
_NAMED = 5  # chunks, and tombstones of each, that a note names
_DECIMALS = 6  # of a score: what is equal but for the last bits of a sum is ordered by precedence and id
_SEEN = 1 << 16  # characters of a candidate in which a query is looked for with white space aside


@dataclass(frozen=True, slots=True)
class LayerHit:
    """A chunk that was found.

    Attributes:
        layer: where.
        record: the number of its record in the layer's file.
        chunk: the chunk's newest revision.
        score: by which it is ranked.
        similarity: of its vector to the query's.
        coverage: the share of the query's words that it holds, 0 to 1; 0 for a query without words.
        verbatim: whether it holds the query as it is, white space and case aside.
        revisions: how many records of the layer have its id; 1 where it was never edited.
        retracted_by: tombstones that take it back, as (layer, id).
        conflicts: with chunks of other layers.
    """

    layer: LayerName
    record: int
    chunk: Chunk
    score: float
    similarity: float
    coverage: float = 0.0
    verbatim: bool = False
    revisions: int = 1
    retracted_by: tuple[tuple[LayerName, int], ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerAnswer:
    """What a search through layers found.

    Attributes:
        hits: at most ``k``, the best first; ties by precedence, then by id.
        searched: layers that were searched, by precedence.
        absent: layers asked for that have no file.
        notes: what the reader of the hits should know, in sentences.
        left_out: chunks that tombstones retract and that would be among the first ``k`` but for that, the best first;
            ``retracted_by`` of each says which tombstones. Empty where the search shows what was retracted.
    """

    hits: tuple[LayerHit, ...]
    searched: tuple[LayerName, ...]
    absent: tuple[LayerName, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[LayerHit, ...] = ()

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts of all hits, each once."""
        return tuple(dict.fromkeys(conflict for hit in self.hits for conflict in hit.conflicts))


@dataclass(slots=True)
class ChunkCandidate:
    """A record on its way to a hit."""

    view: LayerView
    record: int
    similarity: float
    coverage: float = 0.0
    verbatim: bool = False
    score: float = 0.0


def candidates(
    view: LayerView, allowed: npt.NDArray[np.bool_], similarities: npt.NDArray[np.float32], text: str, k: int
) -> list[ChunkCandidate]:
    """The allowed records of a layer that may come among the first ``k``: the nearest, and those that hold the text."""
    places = np.flatnonzero(allowed)
    nearest = places[_largest(similarities[places], max(_CANDIDATES, 4 * k))]
    found = dict.fromkeys(nearest.tolist())
    found |= dict.fromkeys(record for record in holders(view.file, text).tolist() if allowed[record])
    return [ChunkCandidate(view, record, float(similarities[record])) for record in found]


def ranked(found: Sequence[ChunkCandidate], text: str, *, words: bool) -> list[ChunkCandidate]:
    """Candidates by score; ties by precedence, then by id.

    Args:
        found: of all layers.
        text: the query.
        words: whether the query's words count.
    """
    if words:
        contents = [candidate.view.file.content(candidate.record) for candidate in found]
        phrase = " ".join(text.split()).casefold()
        for candidate, content, share in zip(found, contents, coverage(text, contents).tolist(), strict=True):
            candidate.coverage = share
            candidate.verbatim = _holds(content, text, phrase)
            parts = _SIMILARITY * candidate.similarity, _COVERAGE * share, _VERBATIM * candidate.verbatim
            candidate.score = round(sum(parts), _DECIMALS)
    else:
        for candidate in found:
            candidate.score = round(candidate.similarity, _DECIMALS)
    return sorted(found, key=lambda c: (-c.score, rank(c.view.name), int(c.view.file.ids[c.record])))


def retractors(views: Mapping[LayerName, LayerView], view: LayerView, record: int) -> tuple[tuple[LayerName, int], ...]:
    """Tombstones that take a record back: those of its own layer, and of layers before it that have no such chunk.

    What an agent writes does not hide what others wrote, so a tombstone by ``mcp`` counts in its own layer alone.
    """
    chunk_id = int(view.file.ids[record])
    found: list[tuple[LayerName, int]] = []
    for other in views.values():
        if other.name == view.name:
            found += [(other.name, tombstone) for tombstone in other.retractions.get(chunk_id, ())]
        elif rank(other.name) < rank(view.name) and chunk_id not in other.records:
            found += [(other.name, tombstone) for tombstone in other.retractions_below.get(chunk_id, ())]
    return tuple(found)


def left_out_note(left_out: Sequence[LayerHit]) -> tuple[str, ...]:
    """What a search of what is live says about chunks that tombstones kept out, if there are any."""
    if not left_out:
        return ()
    named = [
        f"{hit.layer} {hit.chunk.id} (by {', '.join(f'{layer} {number}' for layer, number in by)})"
        for hit, by in ((hit, hit.retracted_by[:_NAMED]) for hit in left_out[:_NAMED])
    ]
    more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
    return (f"Left out, because tombstones take them back: {', '.join(named)}{more}.",)


def similarity_kept(metric: Metric, value: float) -> float:
    """A similarity as it is shown: rounded like scores."""
    return round(value, _DECIMALS) if metric == "cosine" else value


def _holds(content: str, text: str, phrase: str) -> bool:
    if not phrase:
        return False
    return text.strip() in content or phrase in " ".join(content[:_SEEN].split()).casefold()


def _largest(values: npt.NDArray[Any], number: int) -> npt.NDArray[np.int64]:
    """Where the largest values stand, the largest first; ties by place."""
    if len(values) > number:
        least = np.partition(values, len(values) - number)[len(values) - number]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(len(values))
    return places[np.argsort(-values[places], kind="stable")][:number]
