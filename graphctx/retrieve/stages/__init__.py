"""The exchangeable stages of ranking. Another one is a file here and a line in its registry.

``first stage -> hybrid score -> expansion -> reranker``; `graphctx.retrieve.ranking` runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from graphctx.errors import InvalidArgument
from graphctx.retrieve.stages.arrays_search import search_arrays
from graphctx.retrieve.stages.base import (
    Candidates,
    Edges,
    Expanded,
    Expansion,
    FirstStage,
    Reranker,
    Scorer,
)
from graphctx.retrieve.stages.graph import GraphExpansion, no_expansion
from graphctx.retrieve.stages.lancedb import search_lancedb
from graphctx.retrieve.stages.rerank import no_reranking

__all__ = [
    "EXPANSIONS",
    "FIRST_STAGES",
    "RERANKERS",
    "Candidates",
    "Edges",
    "Expanded",
    "Expansion",
    "FirstStage",
    "Reranker",
    "Scorer",
    "stage_named",
]

Stage = TypeVar("Stage")

FIRST_STAGES: dict[str, FirstStage] = {"arrays": search_arrays, "lancedb": search_lancedb}
EXPANSIONS: dict[str, Expansion] = {"graph": GraphExpansion(), "none": no_expansion}
RERANKERS: dict[str, Reranker] = {"none": no_reranking}


def stage_named(registry: Mapping[str, Stage], name: str, setting: str) -> Stage:
    """Return the stage that a setting names.

    Raises:
        InvalidArgument: the registry has no such stage.

    >>> stage_named(FIRST_STAGES, "arrays", "retrieve.first_stage") is search_arrays
    True
    """
    if name not in registry:
        raise InvalidArgument(
            f"{setting} = {name!r} is not known. Use one of: {', '.join(registry)}.",
            field=setting,
            value=name,
            allowed=list(registry),
        )
    return registry[name]
