"""Variants of retrieval: the default, the baselines, and the default without one part.

One default serves every corpus; docs/retrieval.md documents it, and ``graphctx eval SUITE --variants …`` compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from graphctx.errors import InvalidArgument
from graphctx.retrieve.stages.base import Expansion, Reranker
from graphctx.retrieve.stages.graph import GraphExpansion, no_expansion
from graphctx.retrieve.stages.rerank import no_reranking

RankingMode = Literal["bm25", "vector", "rrf", "hybrid"]


@dataclass(frozen=True, slots=True)
class SelectionWeights:
    """How the sentences of the best units are selected for quotes.

    Attributes:
        unit: weight of the unit's score, as a share of the best unit's.
        reached: weight of what the expansion adds to the unit: the answer stands where edges lead.
        cosine, lexical, lead, answer_type: weights of a sentence's features.
        same_unit, same_short_unit: lost for each quote that was already taken from the same unit; of a document of one
            or two units, whose unit is a whole passage, less.
        room: lost by a sentence around which nothing is left that a quote could grow by, in part where little is.
        cut, cut_item: lost by a part of a sentence, or of another block, that no quote can hold whole.
        repeat: lost by a sentence that repeats a quote, in part from a cosine of ``repeat_from`` on.
        grow: whether quotes grow by neighbouring sentences up to their length.
        semantic: whether this mix selects at all; otherwise lexical overlap alone does (tool contract, section 4.6.1).
    """

    unit: float = 0.8
    reached: float = 0.5
    cosine: float = 0.7
    lexical: float = 0.4
    lead: float = 0.05
    answer_type: float = 0.3
    same_unit: float = 0.3
    same_short_unit: float = 0.05
    room: float = 0.3
    cut: float = 0.05
    cut_item: float = 0.2
    repeat: float = 0.6
    repeat_from: float = 0.8
    grow: bool = True
    semantic: bool = True


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to retrieve.

    Attributes:
        ranking: how units are ordered; all but ``hybrid`` order by the first stage alone.
        expansion, reranker: override those of the settings.
        selection: weights of the selection of sentences.
    """

    ranking: RankingMode = "hybrid"
    expansion: Expansion | None = None
    reranker: Reranker | None = None
    selection: SelectionWeights = field(default_factory=SelectionWeights)


DEFAULT = Variant()
DEFAULT_VARIANT = "hybrid_local"

_SELECTION = DEFAULT.selection

VARIANTS: dict[str, Variant] = {
    DEFAULT_VARIANT: DEFAULT,
    "bm25": Variant("bm25", reranker=no_reranking),
    "vector": Variant("vector", reranker=no_reranking),
    "rrf": Variant("rrf", reranker=no_reranking),
    "hybrid": Variant(expansion=no_expansion),
    "no_definition_edges": Variant(expansion=GraphExpansion(definition=0.0)),
    "no_entity_edges": Variant(expansion=GraphExpansion(entity=0.0)),
    "no_bridge_edges": Variant(expansion=GraphExpansion(bridge=0.0)),
    "lexical_quotes": Variant(selection=replace(_SELECTION, semantic=False)),
    "no_growth": Variant(selection=replace(_SELECTION, grow=False)),
}
"""The default, the baselines (``bm25``, ``vector``, ``rrf``, and ``hybrid`` without the graph), and the default without
one part each."""


def variant_named(name: str) -> Variant:
    """Return the variant of a name.

    Raises:
        InvalidArgument: there is no such variant.
    """
    if name not in VARIANTS:
        raise InvalidArgument(f"variant = {name!r} is not known. Use one of: {', '.join(VARIANTS)}.", variant=name)
    return VARIANTS[name]
