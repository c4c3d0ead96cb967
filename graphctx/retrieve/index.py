"""The search index of one snapshot: arrays in memory, texts read by row on demand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import InvalidArgument
from graphctx.model.ids import content_id, unit_ids
from graphctx.model.requests import Filters, Scope
from graphctx.nlp.base import Embedder
from graphctx.retrieve.arrays import Mask, Rows, Scores, inner_products
from graphctx.retrieve.binary_prefilter import BinaryPrefilter
from graphctx.retrieve.documents import DocumentCache, DocumentText
from graphctx.retrieve.scope import DocumentFilter, Empty, empty_because
from graphctx.store.bm25 import Bm25, SentenceTerms
from graphctx.store.snapshot import Snapshot
from graphctx.store.texts import TEXTS_DIR, Texts
from graphctx.store.walk import WalkArrays, gather

_KEPT_SCOPES = 8
"""Scopes whose index is cached. One takes as much memory as the graph within it, and 16 bytes for each row."""

_MEAN_SAMPLE = 20_000
"""Sentences that the mean vector is taken over: 30 MB at a time."""

_NO_FILTERS = Filters()

_UNIT_COLUMNS = ["id", "doc_row", "kind", "heading", "anchor", "start_char", "end_char"]
_DOCUMENT_COLUMNS = ["id", "uri", "title", "tags", "updated_at", "mtime", "page_starts", "formerly"]

_SHARED = (
    "unit_vectors",
    "sentence_vectors",
    "sentence_terms",
    "units",
    "documents",
    "document_filter",
    "_unit_columns",
    "_document_columns",
    "_section_ids",
    "_section_numbers",
    "_document_texts",
)
"""Properties that `SearchIndex.part` shares."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The place of a text unit, as citations give it."""

    row: int
    id: str
    doc_row: int
    kind: str
    heading: str
    anchor: str | None
    start_char: int
    end_char: int


class SearchIndex:
    """The arrays, texts and metadata that retrieval reads. Thread-safe; opened on first use, or all by `warm`."""

    def __init__(self, snapshot: Snapshot, embedder: Embedder, visible_documents: Mask | None = None) -> None:
        """Create the index without opening anything.

        Args:
            snapshot: the indexed snapshot.
            embedder: the model of its vectors.
            visible_documents: bool [D]; ``None`` for all. Use `within` instead.
        """
        self.snapshot = snapshot
        self.embedder = embedder
        self.visible_documents = visible_documents
        self._parts: OrderedDict[str, SearchIndex | None] = OrderedDict()  # None: itself
        self._lock = threading.RLock()

    def within(self, scope: Scope, filters: Filters) -> SearchIndex:
        """Return the index of the documents that a request sees; this index where it sees all.

        Row numbers stay. ``walk`` holds only the pairs, definitions and names of visible units, ``bm25`` counts only
        these, and `unit_row` and `document` know no other. What is fetched by a row number (`unit`, `text_of`, vectors)
        is not checked again: no row from outside is ever reached. Indexes of the last few scopes are kept. Thread-safe.
        """
        if not (scope.doc_tags or scope.repositories) and filters == _NO_FILTERS:
            return self
        if scope.project_id or scope.environment:
            scope = Scope(doc_tags=scope.doc_tags, repositories=scope.repositories)
        key = scope.model_dump_json() + filters.model_dump_json()
        with self._lock:
            if key in self._parts:
                self._parts.move_to_end(key)
                return self._parts[key] or self
        # Two threads may build the same index at once; a lock would let all other scopes wait.
        made = self.part(self.document_filter.visible(scope, filters))
        with self._lock:
            self._parts[key] = None if made is self else made  # a cycle would keep the snapshot open
            while len(self._parts) > _KEPT_SCOPES:
                self._parts.popitem(last=False)
        return made

    def part(self, visible_documents: Mask) -> SearchIndex:
        """Return the index of some documents; this index where they are all of its own.

        Args:
            visible_documents: bool [D].
        """
        if self.visible_documents is not None:
            visible_documents = visible_documents & self.visible_documents
            if (visible_documents == self.visible_documents).all():
                return self
        elif visible_documents.all():
            return self
        part = SearchIndex(self.snapshot, self.embedder, visible_documents)
        visible = visible_documents[self.walk.unit_doc]
        many = BinaryPrefilter.pays(int(np.count_nonzero(visible)), self.unit_vectors[0].shape[1])
        seen = {
            "visible": visible,
            "walk": self.walk.within(visible),
            "bm25": self.bm25.within(visible),
            "prefilter": self.prefilter if many else None,
        }
        # Cached properties are in an object's dictionary: the shared ones are opened once.
        part.__dict__.update(seen | {name: getattr(self, name) for name in _SHARED})
        return part

    @cached_property
    def visible(self) -> Mask | None:
        """The visible units, bool [N]; ``None`` for all."""
        return None if self.visible_documents is None else self.visible_documents[self.walk.unit_doc]

    def empty_reason(self, scope: Scope, filters: Filters) -> Empty | None:
        """Return why a request sees no document; ``None`` where it sees one.

        Arguments are named that match no document alone (a filter: within the scope), or all of them where only their
        combination matches none.
        """
        if not self.walk.n_units:
            return Empty("empty_knowledge_base")
        within = self.within(scope, filters).visible_documents
        if within is None or within.any():
            return None
        masks = self.document_filter.each(scope, filters)
        by_scope = {name: mask for name, mask in masks.items() if name.startswith("scope.")}
        in_scope = self.document_filter.all_of(by_scope.values())
        if self.visible_documents is not None:
            in_scope &= self.visible_documents
        if not in_scope.any():
            return Empty("nothing_in_scope", empty_because(by_scope))
        by_filter = {name: mask & in_scope for name, mask in masks.items() if name not in by_scope}
        return Empty("filtered_out", empty_because(by_filter))

    @cached_property
    def visible_rows(self) -> Rows:
        """The rows of the visible units."""
        return np.arange(self.walk.n_units) if self.visible is None else np.flatnonzero(self.visible)

    @cached_property
    def document_filter(self) -> DocumentFilter:
        """Evaluates scopes and filters."""
        return DocumentFilter(self.documents)

    def warm(self) -> None:
        """Load all that a first question needs."""
        with self._lock:
            _ = (self.walk, self.prefilter, self.sentence_vectors, self.bm25, self.sentence_terms)
            _ = (self._unit_columns, self._document_columns, self._section_numbers)
            self.embedder.embed(["warm"])
            if len(self.visible_rows):
                self.text_of(int(self.walk.unit_doc[self.visible_rows[0]]))

    @cached_property
    def walk(self) -> WalkArrays:
        """The walk arrays."""
        return WalkArrays.from_dict(self.snapshot.arrays())

    @cached_property
    def unit_vectors(self) -> tuple[npt.NDArray[np.int8], Scores]:
        """Unit vectors, int8 [N, d] memory-mapped, and their scale, float32 [N]."""
        return np.asarray(self.snapshot.matrix("units")), np.asarray(self.snapshot.matrix("unit_scale"))

    @cached_property
    def prefilter(self) -> BinaryPrefilter | None:
        """The binary prefilter of the unit vectors, where there are enough of them."""
        values, _ = self.unit_vectors
        return BinaryPrefilter(values) if BinaryPrefilter.pays(*values.shape) else None

    @cached_property
    def sentence_vectors(self) -> tuple[npt.NDArray[np.int8], Scores]:
        """Sentence vectors, int8 [M, d] memory-mapped, and their scale, float32 [M]."""
        # Plain arrays over the same pages: a memmap makes another one, slowly, for every selection.
        return np.asarray(self.snapshot.matrix("sentences")), np.asarray(self.snapshot.matrix("sentence_scale"))

    @cached_property
    def bm25(self) -> Bm25:
        """The lexical index."""
        return Bm25.open(self.snapshot.directory / "bm25")

    @cached_property
    def sentence_terms(self) -> SentenceTerms:
        """The distinct terms of the sentences."""
        return SentenceTerms(self.snapshot.directory / "bm25", self.bm25.vocabulary)

    @cached_property
    def units(self) -> pa.Table:
        """Unit places, without their text."""
        return self._table("units", _UNIT_COLUMNS)

    @cached_property
    def documents(self) -> pa.Table:
        """Documents, without their text."""
        return self._table("documents", _DOCUMENT_COLUMNS)

    def _table(self, name: str, columns: list[str]) -> pa.Table:
        table = self.snapshot.table(name, columns=columns).combine_chunks()
        pa.default_memory_pool().release_unused()  # reading takes several times the memory of the result
        return table

    @cached_property
    def _unit_columns(self) -> dict[str, pa.Array]:
        return _columns(self.units)

    @cached_property
    def _document_columns(self) -> dict[str, pa.Array]:
        return _columns(self.documents)

    @cached_property
    def _section_ids(self) -> pa.Array:
        return self.snapshot.table("units", columns=["section_id"])["section_id"].combine_chunks()

    @cached_property
    def _section_numbers(self) -> npt.NDArray[np.int32]:
        numbers: npt.NDArray[np.int32] = pc.dictionary_encode(self._section_ids).indices.to_numpy(zero_copy_only=False)
        return numbers

    @cached_property
    def _document_texts(self) -> DocumentCache:
        return DocumentCache(self._document_columns, Texts(self.snapshot.directory / TEXTS_DIR))

    @cached_property
    def former_documents(self) -> dict[str, int]:
        """The row that each former URI and id of a renamed document leads to."""
        rows: dict[str, int] = {}
        for row, uris in enumerate(self._document_columns["formerly"].to_pylist()):
            rows |= {name: row for uri in uris for name in (uri, content_id("d", uri))}
        return rows

    @cached_property
    def former_units(self) -> dict[str, int]:
        """The row that each former id of a unit of a renamed document leads to."""
        rows: dict[str, int] = {}
        for name, document in self.former_documents.items():
            if name.startswith("d_"):
                own = np.flatnonzero(self.walk.unit_doc == document).tolist()
                units, text = map(self.unit, own), self.text_of(document).text
                ids = unit_ids(name, [text[unit.start_char : unit.end_char] for unit in units])
                rows |= dict(zip(ids, own, strict=True))
        return rows

    def unit(self, row: int) -> Unit:
        """Return a unit by its row."""
        return Unit(row, *(column[row].as_py() for column in self._unit_columns.values()))

    def section_numbers(self, rows: Rows) -> Rows:
        """Return a number for the section of each of some units, equal for units of the same section."""
        return self._section_numbers[rows].astype(np.int64)

    def unit_row(self, unit_id: str) -> int:
        """Return the row of a unit, by its own id or by that of the section that it opens.

        Raises:
            InvalidArgument: the snapshot has neither.
        """
        row = row_of(self._section_ids if unit_id.startswith("s_") else self._unit_columns["id"], unit_id)
        if row is None:
            row = self.former_units.get(unit_id)
        if row is None or (self.visible is not None and not self.visible[row]):
            raise InvalidArgument(
                f"There is no passage {unit_id[:200]!r} in the published snapshot. Search again: ids change when the "
                "text that they stand for does.",
                field="section_id",
                value=unit_id[:200],
                allowed="the section_id of an answer from the published snapshot",
            )
        return row

    def text_of(self, doc_row: int) -> DocumentText:
        """Return a document with its text; the last ones are cached."""
        return self._document_texts[doc_row]

    def document(self, name: str, argument: str = "doc_uri") -> DocumentText:
        """Return a document by its URI or its id.

        Raises:
            InvalidArgument: the snapshot has no such document.
        """
        columns = self._document_columns
        row = row_of(columns["uri"], name)
        if row is None:
            row = row_of(columns["id"], name)
        if row is None:
            row = self.former_documents.get(name)
        if row is None or (self.visible_documents is not None and not self.visible_documents[row]):
            raise InvalidArgument(
                f"There is no document {name[:200]!r} in the published snapshot.",
                field=argument,
                value=name[:200],
                allowed="the id or the URI of a document",
            )
        return self.text_of(row)

    def sentence_rows(self, unit_rows: Sequence[int] | Rows) -> tuple[Rows, Rows]:
        """Return the sentence rows of some units, and for each the position of its unit in ``unit_rows``."""
        return gather(self.walk.unit_sentence, np.asarray(unit_rows, dtype=np.int64))

    def unit_similarity(self, vector: Scores, unit_rows: Rows) -> Scores:
        """Return the cosines of a query vector with some units, float32."""
        return _similarity(self.unit_vectors, unit_rows, vector)

    def vectors_of(self, unit_rows: Rows) -> Scores:
        """Return the vectors of some units, float32 [len(unit_rows), d]."""
        values, scale = self.unit_vectors
        return values[unit_rows] * scale[unit_rows, None]

    def sentence_similarity(self, vector: Scores, sentence_rows: Rows) -> Scores:
        """Return the cosines of a query vector with some sentences, float32."""
        return _similarity(self.sentence_vectors, sentence_rows, vector)

    @cached_property
    def typical(self) -> tuple[Scores, int]:
        """The mean vector of the visible sentences, float32 [d], and their number; sampled where they are many."""
        values, scale = self.sentence_vectors
        rows, _ = self.sentence_rows(self.visible_rows)
        some = rows[:: 1 + len(rows) // _MEAN_SAMPLE]
        chosen = values[some].astype(np.float32) * scale[some, None]
        total = chosen.sum(axis=0, dtype=np.float64) / max(len(some), 1)
        return total.astype(np.float32), len(rows)

    def close(self) -> None:
        """Close the snapshot."""
        self.snapshot.close()


def _similarity(vectors: tuple[npt.NDArray[np.int8], Scores], rows: Rows, vector: Scores) -> Scores:
    values, scale = vectors
    similarity: Scores = inner_products(values, rows, vector) * scale[rows]
    return similarity


def _columns(table: pa.Table) -> dict[str, pa.Array]:
    """Return the columns of a table as single chunks: reading a value of a chunked column is several times slower."""
    return {
        name: table[name].chunk(0) if table.num_rows else pa.array([], table[name].type) for name in table.column_names
    }


def row_of(column: pa.Array, value: str) -> int | None:
    """Return the first row of a value: half a millisecond in 100,000 rows; a dictionary would take 20 MB."""
    try:
        row = pc.index(column, value).as_py()
    except UnicodeEncodeError:  # half of a surrogate pair, which no column holds
        return None
    return row if row >= 0 else None
