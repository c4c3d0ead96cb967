"""Retrieval by levels: concepts, the sections that treat of them, and the chunks with the detail.

Level 1 are communities, 2 sections, 3 chunks (text units), and 4 what a question quotes, found to the letter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphctx.context.candidates import TOKENS_PER_UNIT, ContextCandidates, find_candidates
from graphctx.context.documents import MAX_CONCEPTS, concepts_of, exact_matches, place_section, span_section
from graphctx.model.answers import Answered, EmptyReason
from graphctx.model.context import RELEVANT, SURELY_RELEVANT, ContextSection, SearchContextInput
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.arrays import inner_products
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import unknown_words
from graphctx.retrieve.global_search.introductions import asks_for_everything
from graphctx.retrieve.global_search.selection import themes_of_units
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.scope import Empty
from graphctx.retrieve.searcher import Searcher
from graphctx.settings import ContextSettings

SECTIONS_OF_CONCEPT = 5
SECTION_TOKENS = 512
"""The longest piece of a section: that of a whole block."""

CONCEPT_PART = 3
"""One in this many results may be a concept, at least one; all if no other level is asked for."""

_UNITS = 100
"""Units that are looked at."""


@dataclass(frozen=True, slots=True)
class HierarchicalResults:
    """Sections of all levels, broad ones first, and why there are none.

    Attributes:
        answered: as ``kb.retrieve_evidence`` says of its quotes: ``near`` if no section reaches `RELEVANT`, or
            `SURELY_RELEVANT` where there are unknown words.
        unknown_words: key words of the question that no document in scope holds.
        nearest: where there are none, URIs of the documents that come nearest.
    """

    sections: tuple[ContextSection, ...]
    empty_reason: EmptyReason | None = None
    filtered_by: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    unknown_words: tuple[str, ...] = ()

    @property
    def answered(self) -> Answered:
        """Whether what was found fits the question."""
        if not self.sections:
            return "no"
        least = SURELY_RELEVANT if self.unknown_words else RELEVANT
        return "yes" if any(one.relevance_score >= least for one in self.sections) else "near"


class HierarchicalRetriever:
    """Retrieves sections at the levels that a question needs.

    Args:
        searcher: the pinned snapshot.
        tokens: counts tokens.
        settings: which levels by default, and how long chunks are.
    """

    def __init__(self, searcher: Searcher, tokens: TokenCounter, settings: ContextSettings | None = None) -> None:
        self._searcher = searcher
        self._tokens = tokens
        self._settings = settings or ContextSettings()

    def retrieve(self, request: SearchContextInput) -> HierarchicalResults:
        """Return the most relevant sections: concepts first, then sections, chunks and exact matches.

        Example:
            >>> HierarchicalRetriever(kb.searcher(), kb.tokens).retrieve(  # doctest: +SKIP
            ...     SearchContextInput(query="How is a chart signed?")
            ... )
        """
        found = find_candidates(
            self._searcher, request.query, request.scope, request.filters, self._tokens, _UNITS * TOKENS_PER_UNIT
        )
        if isinstance(found, Empty):
            return HierarchicalResults((), found.reason, found.filtered_by)
        levels = request.levels if "levels" in request.model_fields_set else self._settings.levels
        alone = set(levels) == {1}
        most = request.max_results if alone else max(1, request.max_results // CONCEPT_PART)
        every = [
            one
            for one in self._levels(found, request.query, levels, most if alone else MAX_CONCEPTS)
            if one.relevance_score >= request.min_relevance
        ]
        concepts = [one for one in every if one.hierarchy_level == 1][:most]
        others = [one for one in every if one.hierarchy_level != 1]
        best = sorted(range(len(others)), key=lambda at: (-others[at].relevance_score, at))
        room = request.max_results - len(concepts)
        kept = (*concepts, *(others[at] for at in sorted(best[:room])))
        unknown = unknown_words(found.index, found.question)
        if not kept:
            return HierarchicalResults((), "no_evidence", nearest=tuple(found.nearest), unknown_words=unknown)
        return HierarchicalResults(kept, unknown_words=unknown)

    def _levels(
        self, found: ContextCandidates, query: str, levels: Collection[int], max_concepts: int
    ) -> Iterator[ContextSection]:
        """Yield the sections of each level, those of one level by relevance; none that a shown one holds."""
        if 1 in levels:
            yield from concepts_of(found, max_concepts)
        shown: list[ContextSection] = []
        if 2 in levels:
            shown = self._sections(found)
            yield from shown
        checkpoint()
        if 3 in levels and not asks_for_everything(query):
            for chunk in self._joined_chunks(found) if self._settings.chunk_tokens else _chunks(found):
                if not any(_within(chunk, one) for one in shown):
                    yield chunk
        if 4 in levels:
            matches = exact_matches(found, query)
            for at in np.flatnonzero(matches).tolist():
                yield span_section(found, at, at, level=4, relevance=1.0)

    def _sections(self, found: ContextCandidates) -> list[ContextSection]:
        """Return the best sections of each concept, and of the units of none: by relevance, then by their vectors."""
        themes = themes_of_units(found.communities, found.rows).tolist()
        nearness = section_cosines(found)
        by_theme: dict[int, dict[int, int]] = {}  # theme to section to its best unit
        order = np.argsort(-found.score, kind="stable").tolist()
        for unit in order:
            by_theme.setdefault(themes[unit], {}).setdefault(int(found.section[unit]), unit)
        best: dict[int, int] = {}
        for sections in by_theme.values():
            ranked = sorted(sections, key=lambda row: (-found.relevance[sections[row]], -nearness[row], row))
            for row in ranked[:SECTIONS_OF_CONCEPT]:
                best.setdefault(row, sections[row])
        pieces = [(row, self._piece(found, unit)) for row, unit in best.items()]
        return [
            piece for row, piece in sorted(pieces, key=lambda one: (-one[1].relevance_score, -nearness[one[0]], one[0]))
        ]

    def _piece(self, found: ContextCandidates, unit: int) -> ContextSection:
        """Return as much of a unit's section as fits, from the section's start or else from the unit on."""
        section = found.section[unit]
        first = unit
        while first and found.section[first - 1] == section and found.rows[first - 1] == found.rows[first] - 1:
            first -= 1
        last = unit
        while (
            last + 1 < len(found.rows)
            and found.section[last + 1] == section
            and found.rows[last + 1] == found.rows[last] + 1
        ):
            last += 1
        end = int(found.sentences[1][last]) - 1
        before, tokens = found.runs.at.before, found.runs.at.tokens
        for start in (int(found.sentences[0][first]), int(found.sentences[0][unit])):
            if before[end] - before[start] + tokens[end] <= SECTION_TOKENS:
                return span_section(found, start, end, level=2)
        within = (at for at in range(end, start, -1) if before[at] - before[start] + tokens[at] <= SECTION_TOKENS)
        return span_section(found, start, next(within, start), level=2)

    def _joined_chunks(self, found: ContextCandidates) -> Iterator[ContextSection]:
        """Yield chunks of several units by the relevance, then by the score, of the best."""
        section_of = self._searcher.graph.tables.units.section
        shown: set[int] = set()
        groups: dict[int, list[list[int]]] = {}
        for unit in _by_relevance(found):
            row, section = int(found.rows[unit]), int(found.section[unit])
            if row in shown:
                continue
            if section not in groups:
                groups[section] = self._groups(
                    found, range(*np.searchsorted(section_of, [section, section + 1]).tolist())
                )
            group = next(one for one in groups[section] if row in one)
            shown.update(group)
            first = group[0]
            start = self._overlapping(found, first, first > 0 and section_of[first - 1] == section)
            yield place_section(found, unit, start, found.index.unit(group[-1]).end_char)

    def _groups(self, found: ContextCandidates, rows: range) -> list[list[int]]:
        """Cut the units of a section into chunks of this many tokens, from its start on."""
        groups: list[list[int]] = []
        left = 0
        for row in rows:
            unit = found.index.unit(row)
            text = found.index.text_of(unit.doc_row).text
            cost = self._tokens.count(text[unit.start_char : unit.end_char])
            if not groups or cost > left:
                groups.append([])
                left = self._settings.chunk_tokens
            groups[-1].append(row)
            left -= cost
        return groups

    def _overlapping(self, found: ContextCandidates, row: int, same_section: bool) -> int:
        """Return where the chunk that begins with a unit starts, with whole sentences of the unit before it."""
        unit, walk = found.index.unit(row), found.index.walk
        start = unit.start_char
        if not (same_section and self._settings.chunk_overlap):
            return start
        text = found.index.text_of(unit.doc_row).text
        for at in range(int(walk.unit_sentence[row]) - 1, int(walk.unit_sentence[row - 1]) - 1, -1):
            before = int(walk.sentence_start[at])
            if self._tokens.count(text[before : unit.start_char]) > self._settings.chunk_overlap:
                break
            start = before
        return start


def section_cosines(found: ContextCandidates) -> dict[int, float]:
    """Return the cosine of the question with the vector of each section: the mean of the vectors of its candidates.

    Vectors of sections are made when they are asked for: those of some hundred units take a millisecond, those of a
    snapshot would take its size again.
    """
    rows, back = np.unique(found.section, return_inverse=True)
    vectors = found.index.vectors_of(found.rows)
    total = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
    np.add.at(total, back, vectors)
    length = np.sqrt(np.einsum("ij,ij->i", total, total))
    cosines = inner_products(total, np.arange(len(rows)), found.question.vector) / np.maximum(length, 1e-9)
    return dict(zip(rows.tolist(), np.round(cosines, 5).tolist(), strict=True))


def _chunks(found: ContextCandidates) -> Iterator[ContextSection]:
    """Yield whole units by relevance, then by score."""
    for unit in _by_relevance(found):
        first, after = int(found.sentences[0][unit]), int(found.sentences[1][unit])
        if first < after:
            yield span_section(found, first, after - 1)


def _by_relevance(found: ContextCandidates) -> list[int]:
    return sorted(range(len(found.rows)), key=lambda unit: (-found.relevance[unit], -float(found.score[unit]), unit))


def _within(one: ContextSection, other: ContextSection) -> bool:
    mine, theirs = one.metadata, other.metadata
    return bool(
        mine["doc_uri"] == theirs["doc_uri"]
        and theirs["start_char"] <= mine["start_char"]
        and mine["end_char"] <= theirs["end_char"]
    )


def hierarchy_page(searcher: Searcher, level: int, start: int, size: int) -> tuple[list[dict[str, Any]], int]:
    """Return some items of a level of everything that the boundary leaves, and how many there are in all.

    Args:
        searcher: the pinned snapshot.
        level: 1 communities, 2 sections, 3 chunks.
        start: the position of the first item.
        size: most items.

    Returns:
        Items with ``id``, ``label``, ``hierarchy_level``, ``parent`` and their place in the documents.
    """
    index = searcher.index.within(searcher.boundary.narrow(Scope()), Filters())
    view = GraphView(index, searcher.graph.tables)
    if level == 1:
        communities = CommunityIndex(view)
        rows = np.flatnonzero(communities.visible)
        return [_community(communities, row) for row in rows[start : start + size].tolist()], len(rows)
    if level == 2:
        sections = view.tables.sections
        seen = index.visible_documents
        rows = np.arange(len(sections)) if seen is None else np.flatnonzero(seen[sections.doc])
        return [_section_item(view, row) for row in rows[start : start + size].tolist()], len(rows)
    rows = index.visible_rows
    return [_unit_item(view, row) for row in rows[start : start + size].tolist()], len(rows)


def _community(communities: CommunityIndex, row: int) -> dict[str, Any]:
    hierarchy = communities.hierarchy
    parent = int(hierarchy.parent[row])
    return {
        "id": hierarchy.id(row),
        "label": communities.title(row),
        "hierarchy_level": 1,
        "parent": hierarchy.id(parent) if parent >= 0 else None,
        "depth": int(hierarchy.level[row]),
        "entities": int(communities.n_entities[row]),
    }


def _section_item(view: GraphView, row: int) -> dict[str, Any]:
    sections, documents = view.tables.sections, view.tables.documents
    document, parent = int(sections.doc[row]), int(sections.parent[row])
    return {
        "id": sections.id(row),
        "label": sections.value("title", row) or documents.titles[document].as_py(),
        "hierarchy_level": 2,
        "parent": sections.id(parent) if parent >= 0 else documents.id(document),
        "doc_uri": documents.uris[document].as_py(),
        "start_char": sections.value("start_char", row),
        "end_char": sections.value("end_char", row),
    }


def _unit_item(view: GraphView, row: int) -> dict[str, Any]:
    unit = view.index.unit(row)
    document = unit.doc_row
    return {
        "id": unit.id,
        "label": unit.heading or view.tables.documents.titles[document].as_py(),
        "hierarchy_level": 3,
        "parent": view.tables.sections.id(int(view.tables.units.section[row])),
        "doc_uri": view.tables.documents.uris[document].as_py(),
        "start_char": unit.start_char,
        "end_char": unit.end_char,
    }
