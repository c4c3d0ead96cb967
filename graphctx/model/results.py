"""What a searcher returns, before sessions, pages and budgets: whole results, which keep their rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from graphctx.model.answers import (
    EmptyReason,
    LimitReason,
    PhrasedSentence,
    Point,
    Quote,
    RunMode,
    SearchResult,
    Theme,
)
from graphctx.model.graph import Unresolved
from graphctx.model.requests import Scope

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Results(Generic[Item]):
    """All items of a result, in order. ``empty_reason`` is set if and only if there are none.

    Attributes:
        items: the items, without the fields of a session (``passage_id``, ``scratch_uri``, ``uri``).
        snapshot_id: the snapshot that they come from; empty if nothing is published.
        scope: the scope that applies; ``None`` for that of the request.
        rows: the unit row of each item, -1 for an item that is not a unit; empty if no item is one.
        empty_reason: why there are none.
        filtered_by: the arguments that leave no document (``filters.doc_tag``, ``scope.repositories``, …).
        capped: the cap of the request's own that left some out for good (``node_cap``, ``doc_cap``, ``passage_cap``).
        layers: a stamp of the layers that items come from, too; empty without layers.
        layer_notes: remarks on these layers.
        read_as: misspelt words of the question and what they were read as.
    """

    items: Sequence[Item]
    snapshot_id: str
    scope: Scope | None = None
    rows: Sequence[int] = ()
    empty_reason: EmptyReason | None = None
    filtered_by: Sequence[str] = ()
    capped: LimitReason = "none"
    layers: str = ""
    layer_notes: Sequence[str] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def version(self) -> str:
        """The version that a cursor of these results belongs to: the snapshot, and the layers as they were."""
        return f"{self.snapshot_id} {self.layers}" if self.layers else self.snapshot_id


SearchResults = Results[SearchResult]
"""The results of a search: every result up to ``top_k`` in rank order (not one page of them)."""


@dataclass(frozen=True, kw_only=True)
class EvidenceResults(Results[Quote]):
    """The results of a question: every quote up to ``max_quotes``, the surest first, then in reading order.

    ``candidates`` is the number of text units that were considered for quotes; ``stages`` holds counts of the retrieval
    stages (never times) for ``include_diagnostics``. ``nearest`` has the URIs of the nearest documents, best first, if
    and only if there is ``no_evidence``; ``unknown_words`` the key words of the question that no document in scope
    holds.
    """

    mode: RunMode
    candidates: int = 0
    stages: dict[str, str | int | float | bool] = field(default_factory=dict)
    nearest: Sequence[str] = ()
    unknown_words: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class GraphResults(Results[Item]):
    """The results of a graph request: every item up to its caps, in order.

    ``starts`` are the ids of the nodes that the request was understood to name.
    """

    unresolved: Sequence[Unresolved] = ()
    starts: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class GlobalResults(Results[Point]):
    """The results of a global search: every point that its limits allow, in order.

    ``themes`` are the communities that points come from; ``communities``, ``rated``, ``descended`` and ``dropped`` are
    as in `graphctx.model.answers.GlobalDiagnostics`. ``phrased`` cites points by their place, from 1; ``note`` says why
    nothing is phrased though it should have been.
    """

    themes: Sequence[Theme] = ()
    communities: int = 0
    rated: int = 0
    descended: int = 0
    dropped: int = 0
    phrased: Sequence[PhrasedSentence] = ()
    note: str = ""
    stages: dict[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnitText:
    """A text unit with its words and its place: ``document.text[start_char:end_char] == text``.

    ``tags`` are the document's, ``line`` is the 1-based line at which the unit starts, and ``page_starts`` are the
    offsets at which the document's pages start (empty where there are none).
    """

    section_id: str
    doc_id: str
    doc_uri: str
    tags: tuple[str, ...]
    title: str
    heading: str
    anchor: str | None
    text: str
    start_char: int
    end_char: int
    line: int
    page_starts: tuple[int, ...] = ()
    updated_at: str | None = None

    def page(self, at: int) -> int | None:
        """The 1-based page of an offset into the document; ``None`` where the document has no pages."""
        return bisect_right(self.page_starts, at) if self.page_starts else None


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading of a document; ``start_char:end_char`` is the section below it, up to the next heading."""

    section_id: str
    level: int
    title: str
    anchor: str | None
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document with its text and its headings in reading order."""

    doc_id: str
    uri: str
    title: str
    tags: tuple[str, ...]
    updated_at: str | None
    text: str
    outline: tuple[OutlineEntry, ...]


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit of a document, by the path of headings above it."""

    section_id: str
    heading: str


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """A document without its text: its headings and its units in reading order."""

    doc_id: str
    uri: str
    title: str
    sections: tuple[OutlineEntry, ...]
    units: tuple[UnitEntry, ...]


@dataclass(frozen=True, slots=True)
class OutlineResults:
    """The first documents by URI, and how many there are in all."""

    documents: tuple[DocumentOutline, ...]
    total: int


@dataclass(frozen=True, slots=True)
class NameResults:
    """Names that complete what somebody has typed, the likeliest first, and how many there are in all."""

    values: tuple[str, ...]
    total: int
