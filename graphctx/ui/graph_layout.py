"""The places of a drawing's nodes: force-directed, and the same for the same graph."""

from __future__ import annotations

import random
import threading
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows

ROUNDS = 12
"""Calls of igraph: it holds the interpreter during one, so that many short ones let other requests through."""

ITERATIONS = 12
"""Of one call."""

MANY = 500
"""Nodes from which on only edges within communities pull: those between them would draw all into one heap."""

SEED = 7

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
_LOCK = threading.Lock()

Places = npt.NDArray[np.float64]


def layout(near: Rows, far: Rows, community: Rows) -> Places:
    """Place the nodes of a graph by the algorithm of Fruchterman and Reingold (1991), starting from their communities.

    Args:
        near: the node at one end of each edge, int64 [M].
        far: the node at the other end, int64 [M].
        community: of each node, int64 [N]; -1 for none.

    Returns:
        Coordinates, [N, 2], with their centre at 0.
    """
    arrays = (np.ascontiguousarray(part, dtype=np.int64).tobytes() for part in (near, far, community))
    return _layout(*arrays)


@lru_cache(maxsize=16)
def _layout(near: bytes, far: bytes, community: bytes) -> Places:
    import igraph

    communities = np.frombuffer(community, dtype=np.int64)
    n = len(communities)
    places = _sunflowers(communities)
    if n < 2:
        return places
    ends = np.stack([np.frombuffer(near, dtype=np.int64), np.frombuffer(far, dtype=np.int64)], axis=1)
    if n > MANY:
        ends = ends[communities[ends[:, 0]] == communities[ends[:, 1]]]
    graph = igraph.Graph(n, ends.tolist())
    hottest = 2.0 if n > MANY else np.sqrt(n) / 4
    for at in range(ROUNDS):
        checkpoint()
        with _LOCK:  # igraph has one random generator for all threads
            igraph.set_random_number_generator(random.Random(SEED))
            found = graph.layout_fruchterman_reingold(
                seed=places.tolist(),
                niter=ITERATIONS,
                start_temp=hottest * (1 - at / ROUNDS),
                grid="grid" if n > MANY else "nogrid",
            )
            igraph.set_random_number_generator(random)
        places = np.array(found.coords, dtype=np.float64)
    centred: Places = places - places.mean(axis=0)
    return centred


def _sunflowers(communities: Rows) -> Places:
    """Return the places to start from: a spiral for each community, on a spiral of communities, the largest inside.

    Nodes without a community are outside.
    """
    found, community, size = np.unique(communities, return_inverse=True, return_counts=True)
    order = np.lexsort((found, -size, found < 0))
    inside = np.empty(len(found), dtype=np.float64)
    inside[order] = np.cumsum(size[order]) - size[order] / 2
    turn = np.empty(len(found), dtype=np.float64)
    turn[order] = np.arange(len(found)) * _GOLDEN_ANGLE
    reach = 1.6 * np.sqrt(inside)
    nth = np.zeros(len(communities))
    for at in range(len(found)):
        members = np.flatnonzero(community == at)
        nth[members] = np.arange(len(members))
    angle = nth * _GOLDEN_ANGLE
    own = np.sqrt(nth + 0.5)
    return np.stack(
        [
            reach[community] * np.cos(turn[community]) + own * np.cos(angle),
            reach[community] * np.sin(turn[community]) + own * np.sin(angle),
        ],
        axis=1,
    )
