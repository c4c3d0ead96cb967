"""Recipes: every weight and switch of ranking and quoting, and the named variants that are compared with the default.

One recipe serves every corpus. What it holds is documented in docs/retrieval.md; the figures behind each part are
printed by ``graphctx eval SUITE --variants …``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from graphctx.errors import InvalidArgument

First = Literal["bm25", "vector", "rrf", "hybrid"]


@dataclass(frozen=True, slots=True)
class RankWeights:
    """How units are ranked.

    Attributes:
        lexical, meaning, sentence: of the base score (BM25, cosine of the unit, cosine of its best sentence).
        support: of what the best other unit of the same document has over ``support_from``.
        alias: of a unit that is at home in what the question names.
        home: of home edges; ``place`` and ``carried`` of entity edges, by where the target names the entity and by
            how well the naming sentence fits the question; ``rest`` of rest edges, to units that hold what the
            question asks for and the seed does not.
        base_seeds: seeds by base score; ``alias_seeds``: seeds by alias and base score.
        base_pool: units by base score that are ranked beside those that the walk reached.
        min_home_share: where fewer of the units are the first home of a name of their own, homes mislead (news, chat)
            and count nothing; 0 switches the gate off.
        weak_boost: where no alias or home adds more, the graph has little to say: only its rest edges count, the
            best two by base stay in front, and ``weak_lexical``, ``weak_meaning`` and ``weak_sentence`` make the
            base score; 0 switches this off.
        walk: whether there is a walk at all.
    """

    lexical: float = 0.3
    meaning: float = 0.5
    sentence: float = 0.2
    support: float = 0.1
    support_from: float = 0.5
    alias: float = 0.3
    home: float = 1.0
    place: float = 0.2
    carried: float = 0.2
    rest: float = 1.0
    base_seeds: int = 5
    alias_seeds: int = 6
    base_pool: int = 60
    min_home_share: float = 0.2
    weak_boost: float = 0.15
    weak_lexical: float = 0.4
    weak_meaning: float = 0.3
    weak_sentence: float = 0.3
    walk: bool = True

    def where_weak(self) -> RankWeights:
        """The same, with the base score's weights for where the graph has little to say."""
        return replace(self, lexical=self.weak_lexical, meaning=self.weak_meaning, sentence=self.weak_sentence)


@dataclass(frozen=True, slots=True)
class QuoteWeights:
    """How the sentences of the best units are picked.

    Attributes:
        unit: of the unit's score, as a share of the best.
        reached: of what the walk adds to the unit: where edges lead stands what the question is after.
        cosine, lexical, lead, kind: of a sentence's features.
        linked_penalty: for each quote that was already taken from the same unit where the best units are linked
            (the largest home edge among them is over ``linked_from``), else ``unlinked_penalty``.
        room: lost by a sentence around which nothing is left that a quote could grow by, in part where little is.
        repeat: lost by a sentence that says what a quote says already, in part from a cosine of ``repeat_from`` on, or
            that stands in a unit of which most is quoted from elsewhere.
        grow: whether quotes grow by neighbouring sentences up to their length.
        rerank: whether this mix picks at all; otherwise lexical overlap alone does (tool contract, section 4.6.1).
    """

    unit: float = 1.25
    reached: float = 0.5
    cosine: float = 0.7
    lexical: float = 0.3
    lead: float = 0.15
    kind: float = 0.2
    linked_penalty: float = 0.3
    unlinked_penalty: float = 0.05
    linked_from: float = 0.2
    room: float = 0.15
    repeat: float = 0.6
    repeat_from: float = 0.8
    grow: bool = True
    rerank: bool = True


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one retrieval does.

    Attributes:
        first: how the first stage orders units; all but ``hybrid`` end there (``rank`` counts nothing then).
        rank: weights of the base score and of the walk.
        quote: weights of the evidence.
    """

    first: First = "hybrid"
    rank: RankWeights = field(default_factory=RankWeights)
    quote: QuoteWeights = field(default_factory=QuoteWeights)


DEFAULT = Recipe()
_RANK, _QUOTE = DEFAULT.rank, DEFAULT.quote

VARIANTS: dict[str, Recipe] = {
    "hybrid_local": DEFAULT,
    "bm25": Recipe("bm25"),
    "vector": Recipe("vector"),
    "rrf": Recipe("rrf"),
    "hybrid": Recipe(rank=replace(_RANK, walk=False, alias=0.0, weak_boost=0.0, support=0.0)),
    "no_support": Recipe(rank=replace(_RANK, support=0.0)),
    "no_alias": Recipe(rank=replace(_RANK, alias=0.0)),
    "no_homes": Recipe(rank=replace(_RANK, home=0.0)),
    "no_entity_edges": Recipe(rank=replace(_RANK, place=0.0, carried=0.0)),
    "no_rest_edges": Recipe(rank=replace(_RANK, rest=0.0)),
    "no_alias_seeds": Recipe(rank=replace(_RANK, alias_seeds=0)),
    "no_base_seeds": Recipe(rank=replace(_RANK, base_seeds=0)),
    "no_gate": Recipe(rank=replace(_RANK, min_home_share=0.0, weak_boost=0.0)),
    "no_rerank": Recipe(quote=replace(_QUOTE, rerank=False)),
    "no_growth": Recipe(quote=replace(_QUOTE, grow=False)),
}
"""Named recipes: the default, the baselines (``bm25``, ``vector``, ``rrf``, the bare ``hybrid`` without a graph), and
the default without one part each."""

DEFAULT_VARIANT = "hybrid_local"


def recipe_of(variant: str) -> Recipe:
    """The recipe of a name.

    Raises:
        InvalidArgument: there is none.
    """
    if variant not in VARIANTS:
        raise InvalidArgument(f"There is no variant {variant!r}. Take one of: {', '.join(VARIANTS)}.", variant=variant)
    return VARIANTS[variant]
