"""What is said of the whole: points of a global search, and the communities of entities that they come from."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer, ListAnswer, Place
from graphctx.model.graph import GraphAnswer, Snippet

LOW_RATING = 0.21
"""Where no point reaches it, the answer says that nothing fits well. Of questions about other things 92 in 96 get such
an answer or none, of those that documents answer 8 in 45 (docs/decisions/0033-global-search.md)."""


class Point(Place):
    """A sentence of a document, or a few in a row, that says something to a question about the whole."""

    SILENT: ClassVar[frozenset[str]] = Place.SILENT | {"heading", "truncated"}

    quote: str = Field(description="Exactly as in the document.")
    rating: float = Field(ge=0, le=1, description="How much it bears on the question; 1 is most, below 0.21 little.")
    community_id: str = Field(
        description="The community that it is a point of, for graph.communities; empty if of none."
    )
    title: str
    heading: str = ""
    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt.")
    section_id: str
    uri: str | None = Field(None, description="Resource with the whole passage.")
    truncated: bool = Field(False, description="Whether the quote was cut at its length limit.")


class Theme(Answer):
    """A community that points come from."""

    id: str = Field(description="Pass it to graph.communities.")
    title: str
    level: int = Field(ge=0, description="0 is the root level; deeper ones are finer.")
    rating: float = Field(ge=0, le=1, description="That of the best of its points.")


class PhrasedSentence(Answer):
    """A sentence in a language model's words."""

    text: str
    points: list[int] = Field(description="The points it is drawn from, by their place in points, from 1.")


class GlobalDiagnostics(Answer):
    """How a global answer came about: counts, never times."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"stages"})

    mode: Literal["global"] = "global"
    communities: int = Field(ge=0, description="Communities in the scope, of all levels.")
    rated: int = Field(ge=0, description="Of them, those that were compared with the question.")
    descended: int = Field(ge=0, description="Of the rated, those whose children were rated too.")
    dropped: int = Field(ge=0, description="Of the rated, those that no point was taken from.")
    snapshot_id: str
    stages: dict[str, str | int | float | bool] | None = Field(None, description="More counts, if asked for.")


class GlobalAnswer(ListAnswer):
    """Output of kb.global_search."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"phrased", "note"}

    points: list[Point]
    themes: list[Theme] = Field(description="The communities that the points come from, the best first.")
    phrased: list[PhrasedSentence] = Field([], description="The points in a language model's words, where one is set.")
    extractive: bool = Field(description="Whether every word is of a document: no language model took part.")
    note: str = Field(
        "", description="Why it is extractive though a language model is set, or what its words leave out."
    )
    diagnostics: GlobalDiagnostics


class KeyEntity(Answer):
    """An entity that is characteristic of a community."""

    id: str
    name: str


class CommunityNode(Answer):
    """A community of entities; counts are of the scope that was applied."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"parent_id", "key_facts", "summary", "phrased", "formerly"})

    id: str
    title: str = Field(description="Its most characteristic names.")
    level: int = Field(ge=0, description="0 is the root level; deeper ones are finer.")
    parent_id: str | None = None
    n_children: int = Field(ge=0)
    n_entities: int = Field(ge=0)
    n_units: int = Field(ge=0, description="Units that treat of it.")
    key_entities: list[KeyEntity]
    key_facts: list[str] = Field([], description="As `subject predicate object`.")
    summary: list[Snippet] = Field([], description="The sentences that say most of it, with include_snippet.")
    phrased: str | None = Field(None, description="A language model's words for them, with include_snippet.")
    formerly: list[str] = Field([], description="Ids that it had in earlier snapshots; they still lead here.")


class CommunitiesAnswer(GraphAnswer):
    """Output of graph.communities."""

    communities: list[CommunityNode]
