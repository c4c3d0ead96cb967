"""What the server needs from the knowledge base: retrieval and text, without sessions, pages or budgets.

`KnowledgeBase` implements `Backend`. The server adds what belongs to a session (passage ids, scratch URIs),
cuts pages, enforces the response budget and renders the text. All methods are synchronous, may be called from
several threads at once, and raise the typed errors of `graphctx.errors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from graphctx.model.answers import (
    EmptyReason,
    Environment,
    ExtractEvidenceInput,
    Quote,
    RetrieveInput,
    RunMode,
    SearchInput,
    SearchResult,
)


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a search: every result up to ``top_k`` in rank order (not one page of them).

    ``results`` have ``passage_id`` and ``scratch_uri`` of ``None``; ``section_id`` is the text unit's id and
    ``size_bytes`` the UTF-8 size of the whole unit. ``empty_reason`` is set if and only if there are none.
    """

    results: Sequence[SearchResult]
    snapshot_id: str
    empty_reason: EmptyReason | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The outcome of an extraction: every quote up to ``max_quotes`` in rank order.

    ``quotes`` have ``passage_id`` and ``uri`` of ``None``. ``candidates`` is the number of text units that
    were quoted from; ``stages`` holds counts of the retrieval stages (never times) for
    ``include_diagnostics``.
    """

    quotes: Sequence[Quote]
    snapshot_id: str
    mode: RunMode
    candidates: int
    empty_reason: EmptyReason | None = None
    stages: dict[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnitText:
    """A text unit with its words and its place: ``document.text[start_char:end_char] == text``.

    ``doc_tag`` is the document's tags joined by commas, ``line`` the 1-based line at which the unit starts,
    and ``page_starts`` the offsets at which the document's pages start (empty where there are none).
    """

    section_id: str
    doc_id: str
    doc_uri: str
    doc_tag: str
    title: str
    heading: str
    anchor: str | None
    text: str
    start_char: int
    end_char: int
    line: int
    page_starts: tuple[int, ...] = ()
    updated_at: str | None = None


@runtime_checkable
class Backend(Protocol):
    """A published knowledge base, as the server sees it.

    ``scope.project_id`` and ``scope.environment`` are already checked against `project_id` and `environment`
    when a request arrives here; ``scope.doc_tags``, ``scope.repositories`` and ``filters`` are the backend's
    to apply, before ranking. ``cursor`` and ``page_size`` are not its business.
    """

    @property
    def project_id(self) -> str:
        """The project that this knowledge base holds."""

    @property
    def environment(self) -> Environment:
        """The environment that this knowledge base belongs to."""

    @property
    def snapshot_id(self) -> str:
        """The published snapshot that answers come from."""

    def find(self, request: SearchInput) -> Found:
        """Find the units that bear on ``request.query``."""

    def evidence(self, request: RetrieveInput) -> Evidence:
        """Find units and quote from them."""

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        """Quote from these units (``request.passage_ids`` belong to the server's session, not to you).

        Raises:
            InvalidArgument: one of ``section_ids`` is not in the published snapshot.
        """

    def unit(self, section_id: str) -> UnitText:
        """The whole text of a unit.

        Raises:
            InvalidArgument: there is no such unit in the published snapshot.
        """

    def document_text(self, doc_id: str) -> str:
        """The text that the spans of this document's units count in.

        Raises:
            InvalidArgument: there is no such document in the published snapshot.
        """

    def warm(self) -> None:
        """Load models and open tables, so that the next call is fast. Called from a background thread."""
