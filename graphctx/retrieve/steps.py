"""The steps of the walk: from the seeds to homes and through rare entities, then to what completes the seeds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.index import Rows, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.recipe import RankWeights
from graphctx.retrieve.rest import rest_edges
from graphctx.retrieve.sparse import NOTHING, Sparse
from graphctx.retrieve.walk import NO_EDGES, Walk, local_walk


def walk_from(
    index: SearchIndex,
    question: Question,
    seeds: Rows,
    known: Sparse,
    boost: Sparse,
    weights: RankWeights,
    homes_count: bool,
    candidates: int,
) -> tuple[Walk, Sparse, bool]:
    """Walk, and weigh what was reached.

    Args:
        index: of what may be seen.
        question: made ready.
        seeds: unit rows to start from.
        known: base score and alias boost of all candidates of the first stage.
        boost: the alias boost alone.
        weights: of the edges.
        homes_count: whether the corpus has homes enough for them to mean something.
        candidates: at most so many of the reached units are looked at for rest edges.

    Returns:
        The edges, what they add to each unit, and whether the graph has little to say.
    """
    strength = np.minimum(1.0, known.at(seeds)).astype(np.float32)
    walked = local_walk(index, question, seeds, strength)
    if not homes_count:
        walked = replace(walked, home=NO_EDGES)
    home = Sparse(*walked.home.best_per_target()).times(weights.home)
    weak = float(home.plus(boost).values.max(initial=0.0)) < weights.weak_boost
    gain = NOTHING if weak else _gain(walked, weights)
    checkpoint()
    if weights.rest:
        found = np.union1d(known.rows, gain.best(candidates))
        rest = rest_edges(index, question, seeds, strength, found)
        walked = replace(walked, rest=rest)
        gain = gain.plus(Sparse(*rest.best_per_target()).times(weights.rest))
    return walked, gain, weak


def _gain(walked: Walk, weights: RankWeights) -> Sparse:
    """What home and entity edges add to each unit."""
    gain = Sparse(*walked.home.best_per_target()).times(weights.home)
    gain = gain.plus(Sparse(*walked.place.best_per_target()).times(weights.place))
    return gain.plus(Sparse(*walked.carried.best_per_target()).times(weights.carried))
