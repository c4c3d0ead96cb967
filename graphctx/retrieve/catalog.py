"""Names and whole documents of a snapshot, within a scope: for completion, and for reading one after another."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.model.catalog import Names, Outlined, OutlineEntry, Outlines, UnitEntry, WholeDocument
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.view import View
from graphctx.retrieve.index import SearchIndex

MIN_FUZZY_CHARS = 3
"""Shorter texts are near to everything."""
MIN_FUZZY_SCORE = 75.0
"""Of 100, `rapidfuzz.fuzz.partial_ratio`: about one letter in four may be wrong. Of names that are not shorter."""

MAX_CALLED = 300
"""Entities whose names within a scope are looked up in its texts for one completion; about 0.1 ms each."""

_SECTION_COLUMNS = ["id", "doc_id", "ordinal", "level", "title", "anchor", "start_char", "end_char"]

Rows = npt.NDArray[np.int64]


class Catalog:
    """What one snapshot can be asked for by name. Thread-safe."""

    def __init__(self, index: SearchIndex, tables: GraphTables) -> None:
        """Read nothing yet.

        Args:
            index: of the whole snapshot.
            tables: of its graph.
        """
        self._index = index
        self._tables = tables

    def document(self, name: str, scope: Scope) -> WholeDocument:
        """A document by its id or its URI.

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

    def outline(self, scope: Scope, limit: int) -> Outlines:
        """The first documents by URI, each with its headings and its units; at most ``limit``."""
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
                Outlined(
                    doc_id=doc_id,
                    uri=self._uris[row].as_py(),
                    title=self._titles[row].as_py(),
                    sections=self._outline(doc_id),
                    units=tuple(map(UnitEntry, ids, headings)),
                )
            )
        return Outlines(tuple(found), len(rows))

    def documents(self, text: str, scope: Scope, limit: int) -> Names:
        """URIs of documents whose URI, title or id has a text in it, or nearly so; at most ``limit``."""
        seen = self._index.within(scope, Filters()).visible_documents
        rows = np.arange(len(self._uris)) if seen is None else np.flatnonzero(seen)
        if text.startswith("d_"):
            return _by_id(self._index.documents["id"], rows, text, limit)
        return _complete(
            text, self._uris, (self._uris, self._titles), rows, np.zeros(len(self._uris), dtype=np.int64), limit
        )

    def entities(self, text: str, scope: Scope, limit: int) -> Names:
        """Names of entities that have a text in them, or nearly so, the most mentioned first; at most ``limit``.

        A text that starts like an id is completed to ids. Within a scope an entity has the name that the documents of
        the scope give it, and is found by no other; the total is then of those that were looked at (`MAX_CALLED`).
        """
        index = self._index.within(scope, Filters())
        pairs = np.diff(index.walk.entity_ptr)
        rows = np.flatnonzero(pairs)  # an entity that no document of the scope names is not there
        if text.startswith("e_"):
            return _by_id(pa.chunked_array([self._tables.entities.ids]), rows, text, limit)
        name = pa.chunked_array([self._tables.entities.names])
        if index.visible_documents is None:
            return _complete(text, name, (name,), rows, pairs, limit)
        view = View(index, self._tables)
        likely = self._likely(text, rows, pairs)
        called = [
            (names.name, int(pairs[row])) for row in likely.tolist() if (names := names_of(view, row)) is not None
        ]
        told = pa.chunked_array([pa.array([name for name, _ in called], pa.string())])
        weight = np.array([pair for _, pair in called], dtype=np.int64)
        return _complete(text, told, (told,), np.arange(len(called)), weight, limit)

    def communities(self, text: str, scope: Scope, limit: int) -> Names:
        """Titles of communities that have a text in them, or nearly so, the largest first; at most ``limit``.

        A text that starts like an id is completed to ids. Within a scope the total is of those that were looked at: at
        most `MAX_CALLED` that hold an entity which may be meant.
        """
        index = self._index.within(scope, Filters())
        view = View(index, self._tables)
        communities = self._tables.communities.within(view)
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
        return tuple(
            OutlineEntry(
                section_id=row["id"],
                level=row["level"],
                title=row["title"],
                anchor=row["anchor"],
                start_char=row["start_char"],
                end_char=row["end_char"],
            )
            for row in rows
        )

    def _likely(self, text: str, rows: Rows, pairs: npt.NDArray[np.integer]) -> Rows:
        """Those entities of some rows that may be meant by a text, by all names that they have anywhere."""
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
        return self._index.snapshot.table("sections", columns=_SECTION_COLUMNS)

    @property
    def _uris(self) -> pa.ChunkedArray:
        return self._index.documents["uri"]

    @property
    def _titles(self) -> pa.ChunkedArray:
        return self._index.documents["title"]


def _by_id(ids: pa.ChunkedArray, rows: Rows, text: str, limit: int) -> Names:
    some = ids.take(pa.array(rows))
    some = some.filter(pc.starts_with(some, text))
    return Names(tuple(some.slice(0, limit).to_pylist()), len(some))


def _complete(
    text: str,
    shown: pa.ChunkedArray,
    searched: tuple[pa.ChunkedArray, ...],
    rows: Rows,
    weight: npt.NDArray[np.integer],
    limit: int,
) -> Names:
    """Values of some rows: those that begin with a text, then where a word does, where it is anywhere, what is near.

    Args:
        text: what was typed; upper and lower case are one.
        shown: the values.
        searched: what a value is found by.
        rows: those to choose from.
        weight: of every row; among equals the heavier comes first, then the value itself decides.
        limit: as many at most.
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
    return Names(tuple(names[:limit]), len(names))


def _grades(folded: pa.ChunkedArray, text: str) -> npt.NDArray[np.int64]:
    """3 where a value begins with a text, 2 where a word of it does, 1 where it is anywhere, else 0."""
    anywhere = pc.match_substring(folded, text)
    start_of_word = pc.match_substring_regex(folded, rf"(^|[^\pL\pN]){_escaped(text)}")
    begins = pc.starts_with(folded, text)
    masks = [np.asarray(mask.to_numpy(), dtype=np.int64) for mask in (anywhere, start_of_word, begins)]
    total: npt.NDArray[np.int64] = np.sum(masks, axis=0)
    return total


def _escaped(text: str) -> str:
    """A text as RE2 takes it literally."""
    return "".join(f"\\x{{{ord(char):x}}}" if not char.isalnum() else char for char in text)


def _near(text: str, values: list[str], known: set[str], limit: int) -> list[str]:
    """Values that are spelled nearly like a text, the nearest first."""
    from rapidfuzz import fuzz, process

    others = sorted(value for value in set(values) - known if len(value) >= len(text) - 1)
    near = process.extract(
        text, others, scorer=fuzz.partial_ratio, processor=str.lower, score_cutoff=MIN_FUZZY_SCORE, limit=None
    )
    near.sort(key=lambda match: (-match[1], len(match[0]), match[0]))
    return [value for value, _, _ in near[:limit]]
