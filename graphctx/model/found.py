"""What retrieval gives, before sessions, pages and budgets: the façade and the server make answers of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphctx.model.answers import EmptyReason, Quote, RunMode, SearchResult


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
    ``include_diagnostics``. ``nearest`` has the URIs of the nearest documents, best first, if and only if there is
    ``no_evidence``.
    """

    quotes: Sequence[Quote]
    snapshot_id: str
    mode: RunMode
    candidates: int
    empty_reason: EmptyReason | None = None
    stages: dict[str, str | int | float | bool] = field(default_factory=dict)
    nearest: Sequence[str] = ()


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
