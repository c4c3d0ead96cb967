"""The steps of the walk: from the seeds, once more from the best homes reached, and to what completes both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphctx.retrieve.index import Rows, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.recipe import RankWeights
from graphctx.retrieve.rest import rest_edges
from graphctx.retrieve.scope import Mask
from graphctx.retrieve.sparse import NOTHING, Sparse
from graphctx.retrieve.walk import NO_EDGES, Walk, local_walk


def walk_from(
    index: SearchIndex,
    question: Question,
    seeds: Rows,
    known: Sparse,
    boost: Sparse,
    weights: RankWeights,
    mask: Mask | None,
    homes_count: bool,
    candidates: int,
) -> tuple[Walk, Sparse, bool]:
    """Walk, and weigh what was reached.

    Args:
        index: of the snapshot.
        question: made ready.
        seeds: unit rows to start from.
        known: base score and alias boost of all candidates of the first stage.
        boost: the alias boost alone.
        weights: of the edges.
        mask: the units that may be seen, or ``None`` for all.
        homes_count: whether the corpus has homes enough for them to mean something.
        candidates: at most so many of the reached units are looked at for rest edges.

    Returns:
        The edges, what they add to each unit, and whether the graph has little to say.
    """
    walked = _step(index, question, seeds, known, mask, homes_count)
    home = Sparse(*walked.home.best_per_target()).times(weights.home)
    weak = float(home.plus(boost).values.max(initial=0.0)) < weights.weak_boost
    gain = NOTHING if weak else _gain(walked, weights)
    if weights.second_seeds and not weak:
        further = _second_seeds(home, seeds, known.plus(gain), weights)
        if len(further):
            second = _step(index, question, further, known.plus(gain).times(weights.second), mask, homes_count)
            walked, seeds = walked.joined(second), np.concatenate([seeds, further])
            gain = _gain(walked, weights)
    if weights.rest:
        found = np.union1d(known.rows, gain.best(candidates))
        strength = np.minimum(1.0, known.plus(gain).at(seeds)) if not weak else np.minimum(1.0, known.at(seeds))
        rest = rest_edges(index, question, seeds, strength.astype(np.float32), found)
        walked = replace(walked, rest=rest)
        gain = gain.plus(Sparse(*rest.best_per_target()).times(weights.rest))
    return walked, gain, weak


def _step(
    index: SearchIndex, question: Question, seeds: Rows, known: Sparse, mask: Mask | None, homes_count: bool
) -> Walk:
    strength = np.minimum(1.0, known.at(seeds)).astype(np.float32)
    walked = local_walk(index, question, seeds, strength, mask)
    return walked if homes_count else replace(walked, home=NO_EDGES)


def _gain(walked: Walk, weights: RankWeights) -> Sparse:
    """What home and entity edges add to each unit."""
    gain = Sparse(*walked.home.best_per_target()).times(weights.home)
    gain = gain.plus(Sparse(*walked.place.best_per_target()).times(weights.place))
    return gain.plus(Sparse(*walked.carried.best_per_target()).times(weights.carried))


def _second_seeds(home: Sparse, seeds: Rows, total: Sparse, weights: RankWeights) -> Rows:
    """The best homes that the first step reached."""
    reached = Sparse(home.rows, np.where(np.isin(home.rows, seeds), 0.0, total.at(home.rows)).astype(np.float32))
    return np.sort(reached.best(weights.second_seeds))
