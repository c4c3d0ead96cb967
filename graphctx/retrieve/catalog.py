"""Names and whole documents of a snapshot within a scope: for completion, and for reading one after another."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Filters, Scope
from graphctx.model.results import DocumentOutline, NameResults, OutlineEntry, OutlineResults, UnitEntry, WholeDocument
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.index import SearchIndex

MIN_FUZZY_CHARS = 3
"""Shorter texts are similar to everything."""
MIN_FUZZY_SCORE = 75.0
"""Least `rapidfuzz.fuzz.partial_ratio`, of 100, of names that are not shorter: one letter in four may be wrong."""

MAX_CALLED = 300
"""Entities whose names are read from the texts of a scope for one completion; about 0.1 ms each."""

_SHOWN = ["level", "title", "anchor", "start_char", "end_char"]

Rows = npt.NDArray[np.int64]


class Catalog:
    """The names of a snapshot, and its documents by name. Thread-safe."""

    def __init__(self, index: SearchIndex, tables: GraphTables) -> None:
        self._index = index
        self._tables = tables

    def document(self, name: str, scope: Scope) -> WholeDocument:
        """Return a document by its id or its URI.

        Args:
            name: its id or its URI.
            scope: the documents to look among.

        Raises:
            InvalidArgument: the scope has no such document.
        """
        found = self._index.within(scope, Filters()).document(name)
        return WholeDocument(
            doc_id=found.id,
            uri=found.uri,
            title=found.title,
            tags=found.tags,
            updated_at=found.updated_at,
            text=found.text,
            outline=self._outline(found.id),
        )

    def outline(self, scope: Scope, limit: int) -> OutlineResults:
        """Return the first ``limit`` documents by URI, each with its headings and its units."""
        index = self._index.within(scope, Filters())
        seen = index.visible_documents
        rows = np.arange(len(self._uris)) if seen is None else np.flatnonzero(seen)
        units, doc = index.units, self._tables.units.doc
        found = []
        for row in rows[:limit].tolist():
            checkpoint()
            own = slice(int(np.searchsorted(doc, row)), int(np.searchsorted(doc, row + 1)))
            ids, headings = (units[name][own.start : own.stop].to_pylist() for name in ("id", "heading"))
            doc_id = index.documents["id"][row].as_py()
            found.append(
                DocumentOutline(
                    doc_id=doc_id,
                    uri=self._uris[row].as_py(),
                    title=self._titles[row].as_py(),
                    sections=self._outline(doc_id),
                    units=tuple(map(UnitEntry, ids, headings)),
                )
            )
        return OutlineResults(tuple(found), len(rows))

    def documents(self, text: str, scope: Scope, limit: int) -> NameResults:
        """Return at most ``limit`` URIs of documents whose URI, title or id holds a text or something similar."""
        seen = self._index.within(scope, Filters()).visible_documents
        rows = np.arange(len(self._uris)) if seen is None else np.flatnonzero(seen)
        if text.startswith("d_"):
            return _by_id(self._index.documents["id"], rows, text, limit)
        return _complete(
            text, self._uris, (self._uris, self._titles), rows, np.zeros(len(self._uris), dtype=np.int64), limit
        )

    def entities(self, text: str, scope: Scope, limit: int) -> NameResults:
        """Return at most ``limit`` names of entities that hold a text or something similar, the most mentioned first.

        A text that starts like an id is completed to ids. Within a scope an entity is found only by the name that the
        scope's documents give it; the total is then of the `MAX_CALLED` entities that were looked at.
        """
        index = self._index.within(scope, Filters())
        pairs = np.diff(index.walk.entity_ptr)
        rows = np.flatnonzero(pairs)  # others are named by no document of the scope
        if text.startswith("e_"):
            return _by_id(pa.chunked_array([self._tables.entities.ids]), rows, text, limit)
        name = pa.chunked_array([self._tables.entities.names])
        if index.visible_documents is None:
            return _complete(text, name, (name,), rows, pairs, limit)
        view = GraphView(index, self._tables)
        likely = self._likely(text, rows, pairs)
        called = [(names.name, int(pairs[row])) for row in likely.tolist() if (names := view.names_of(row)) is not None]
        names = pa.chunked_array([pa.array([name for name, _ in called], pa.string())])
        weight = np.array([pair for _, pair in called], dtype=np.int64)
        return _complete(text, names, (names,), np.arange(len(called)), weight, limit)

    def communities(self, text: str, scope: Scope, limit: int) -> NameResults:
        """Return at most ``limit`` titles of communities that hold a text or something similar, the largest first.

        A text that starts like an id is completed to ids. Within a scope the total is of the communities that were
        looked at: at most `MAX_CALLED` of those that hold an entity whose name anywhere fits the text.
        """
        index = self._index.within(scope, Filters())
        view = GraphView(index, self._tables)
        communities = CommunityIndex(view)
        rows = communities.ordered(np.arange(len(communities.hierarchy)))
        if text.startswith("c_"):
            return _by_id(pa.chunked_array([communities.hierarchy.ids]), rows, text, limit)
        if not view.whole:
            pairs = np.diff(index.walk.entity_ptr)
            likely = self._likely(text, np.flatnonzero(pairs), pairs)
            members = communities.hierarchy.entities
            holding = np.unique(members.owner[np.isin(members.value, likely)])
            rows = rows[np.isin(rows, holding)][:MAX_CALLED]
        titles = pa.chunked_array([pa.array([communities.title(row) for row in rows.tolist()], pa.string())])
        return _complete(text, titles, (titles,), np.arange(len(rows)), communities.n_entities[rows], limit)

    def _outline(self, doc_id: str) -> tuple[OutlineEntry, ...]:
        rows = self._sections.filter(pc.equal(self._sections["doc_id"], doc_id)).sort_by("ordinal").to_pylist()
        return tuple(OutlineEntry(row["id"], *(row[name] for name in _SHOWN)) for row in rows)

    def _likely(self, text: str, rows: Rows, pairs: npt.NDArray[np.integer]) -> Rows:
        """Return the entities among some rows that a text fits by any of their names anywhere, visible or not."""
        folded, owner = self._tables.entities.folded
        meant = np.zeros(len(pairs), dtype=bool)
        meant[owner[pc.match_substring(folded, text.lower()).to_numpy(zero_copy_only=False)]] = True
        some = rows[meant[rows]]
        if not len(some) and len(text) >= MIN_FUZZY_CHARS:
            names = self._tables.entities.names.take(pa.array(rows)).to_pylist()
            near = set(_near(text, names, set(), MAX_CALLED))
            some = rows[[name in near for name in names]]
        return some[np.argsort(-pairs[some], kind="stable")][:MAX_CALLED]

    @cached_property
    def _sections(self) -> pa.Table:
        return self._index.snapshot.table("sections", columns=["id", "doc_id", "ordinal", *_SHOWN])

    @property
    def _uris(self) -> pa.ChunkedArray:
        return self._index.documents["uri"]

    @property
    def _titles(self) -> pa.ChunkedArray:
        return self._index.documents["title"]


def _by_id(ids: pa.ChunkedArray, rows: Rows, text: str, limit: int) -> NameResults:
    some = ids.take(pa.array(rows))
    some = some.filter(pc.starts_with(some, text))
    return NameResults(tuple(some.slice(0, limit).to_pylist()), len(some))


def _complete(
    text: str,
    shown: pa.ChunkedArray,
    searched: tuple[pa.ChunkedArray, ...],
    rows: Rows,
    weight: npt.NDArray[np.integer],
    limit: int,
) -> NameResults:
    """Return values of some rows: those that begin with a text, then those with a word that does, that hold it
    anywhere, and that are similar.

    Args:
        text: what was typed, in any case.
        shown: the values.
        searched: columns that a value is found by.
        rows: those to choose from.
        weight: of every row; among equals the heavier comes first, then the value decides.
        limit: the largest number of values.
    """
    some = shown.take(pa.array(rows))
    grades = np.zeros(len(rows), dtype=np.int64)
    for column in searched:
        folded = pc.utf8_lower(column.take(pa.array(rows)))
        grades = np.maximum(grades, _grades(folded, text.lower()))
    values = some.to_pylist()
    found = [int(at) for at in np.flatnonzero(grades)]
    found.sort(key=lambda at: (-grades[at], -weight[rows[at]], values[at]))
    names = list(dict.fromkeys(values[at] for at in found))
    if len(names) < limit and len(text) >= MIN_FUZZY_CHARS:
        names += _near(text, values, set(names), limit - len(names))
    return NameResults(tuple(names[:limit]), len(names))


def _grades(folded: pa.ChunkedArray, text: str) -> npt.NDArray[np.int64]:
    """Return 3 for values that begin with a text, 2 if a word of them does, 1 if they hold it anywhere, else 0."""
    anywhere = pc.match_substring(folded, text)
    start_of_word = pc.match_substring_regex(folded, rf"(^|[^\pL\pN]){_escaped(text)}")
    begins = pc.starts_with(folded, text)
    masks = [np.asarray(mask.to_numpy(), dtype=np.int64) for mask in (anywhere, start_of_word, begins)]
    total: npt.NDArray[np.int64] = np.sum(masks, axis=0)
    return total


def _escaped(text: str) -> str:
    """Return a pattern of RE2 that matches a text literally."""
    return "".join(f"\\x{{{ord(char):x}}}" if not char.isalnum() else char for char in text)


def _near(text: str, values: list[str], known: set[str], limit: int) -> list[str]:
    """Return values that are spelled similarly to a text, the most similar first."""
    from rapidfuzz import fuzz, process

    others = sorted(value for value in set(values) - known if len(value) >= len(text) - 1)
    near = process.extract(
        text, others, scorer=fuzz.partial_ratio, processor=str.lower, score_cutoff=MIN_FUZZY_SCORE, limit=None
    )
    near.sort(key=lambda match: (-match[1], len(match[0]), match[0]))
    return [value for value, _, _ in near[:limit]]
