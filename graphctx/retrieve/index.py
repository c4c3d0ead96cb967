"""The search index of one snapshot: arrays in memory, texts fetched by row when they are needed."""

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
from graphctx.model.documents import line_of, line_starts
from graphctx.nlp.base import Embedder
from graphctx.retrieve.signs import Signs
from graphctx.store.bm25 import Bm25
from graphctx.store.sentence_terms import SentenceTerms
from graphctx.store.snapshot import Snapshot
from graphctx.store.texts import TEXTS_DIR, Texts
from graphctx.store.walk import WalkArrays, gather

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]

_TEXT_CACHE_CHARS = 8_000_000
"""Decoded document texts that are kept: about 8 to 32 MB at most."""

_UNIT_COLUMNS = ["id", "doc_row", "kind", "heading", "anchor", "start_char", "end_char"]
_DOCUMENT_COLUMNS = ["id", "uri", "title", "tags", "updated_at", "mtime", "page_starts"]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's text with what is needed to cite from it."""

    row: int
    id: str
    uri: str
    title: str
    tags: tuple[str, ...]
    updated_at: str | None
    page_starts: tuple[int, ...]
    text: str
    line_starts: list[int]

    def line(self, char: int) -> int:
        """The 1-based line of a character offset."""
        return line_of(self.line_starts, char)

    def page(self, char: int) -> int | None:
        """The 1-based page of a character offset, if the source has pages."""
        return line_of(list(self.page_starts), char) if self.page_starts else None


@dataclass(frozen=True, slots=True)
class Unit:
    """A text unit's place: what a citation says of it."""

    row: int
    id: str
    doc_row: int
    kind: str
    heading: str
    anchor: str | None
    start_char: int
    end_char: int


class SearchIndex:
    """What retrieval reads. Thread-safe; everything is opened on first use, or at once by `warm`."""

    def __init__(self, snapshot: Snapshot, embedder: Embedder) -> None:
        self.snapshot = snapshot
        self.embedder = embedder
        self._texts: OrderedDict[int, DocumentText] = OrderedDict()
        self._cached_chars = 0
        self._lock = threading.RLock()

    def warm(self) -> None:
        """Open what a first question would otherwise wait for."""
        with self._lock:
            _ = (self.walk, self.signs, self.sentence_vectors, self.bm25, self.sentence_terms)
            _ = (self._unit_columns, self._document_columns)
            self.embedder.embed(["warm"])
            if self.walk.n_units:
                self.text_of(0)

    @cached_property
    def walk(self) -> WalkArrays:
        """The walk arrays."""
        return WalkArrays.from_dict(self.snapshot.arrays())

    @cached_property
    def vectors(self) -> Scores:
        """Unit vectors, float32 [N, d]."""
        return np.ascontiguousarray(self.snapshot.matrix("units"), dtype=np.float32)

    @cached_property
    def signs(self) -> Signs | None:
        """The signs of the unit vectors, where there are so many that it pays to look at these first."""
        return Signs(self.vectors) if Signs.worth_it(self.vectors) else None

    @cached_property
    def sentence_vectors(self) -> tuple[npt.NDArray[np.int8], Scores]:
        """Sentence vectors, int8 [M, d] memory-mapped, and their scale, float32 [M]."""
        # Plain arrays over the same pages: a memmap makes another one, slowly, for every selection.
        return np.asarray(self.snapshot.matrix("sentences")), np.asarray(self.snapshot.matrix("sentence_scale"))

    @cached_property
    def bm25(self) -> Bm25:
        """The lexical index."""
        return Bm25(self.snapshot.directory / "bm25")

    @cached_property
    def sentence_terms(self) -> SentenceTerms | None:
        """The terms of the sentences; snapshots of older versions have them in the texts alone."""
        folder = self.snapshot.directory / "bm25"
        return SentenceTerms(folder, self.bm25.vocabulary) if SentenceTerms.are_in(folder) else None

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
        pa.default_memory_pool().release_unused()  # reading took several times as much as was read
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
    def _all_texts(self) -> Texts | None:
        """The texts in one file; snapshots of older versions have them in the tables alone."""
        folder = self.snapshot.directory / TEXTS_DIR
        return Texts(folder) if folder.is_dir() else None

    def unit(self, row: int) -> Unit:
        """A unit by its row."""
        return Unit(row, *(column[row].as_py() for column in self._unit_columns.values()))

    def unit_row(self, unit_id: str) -> int:
        """The row of a unit, by its own id or by that of the section that it opens.

        Raises:
            InvalidArgument: the snapshot has neither.
        """
        row = _row_of(unit_id, self._section_ids if unit_id.startswith("s_") else self._unit_columns["id"])
        if row is None:
            raise InvalidArgument(
                f"There is no passage {unit_id!r} in the published snapshot. Search again: ids change when the "
                "text that they stand for does.",
                section_id=unit_id,
            )
        return row

    def text_of(self, doc_row: int) -> DocumentText:
        """A document with its text, from a cache of the last ones."""
        with self._lock:
            known = self._texts.get(doc_row)
            if known is not None:
                self._texts.move_to_end(doc_row)
                return known
        meta = {name: column[doc_row].as_py() for name, column in self._document_columns.items()}
        text = self._text(doc_row)
        loaded = DocumentText(
            row=doc_row,
            id=meta["id"],
            uri=meta["uri"],
            title=meta["title"],
            tags=tuple(meta["tags"]),
            updated_at=meta["updated_at"] or meta["mtime"],
            page_starts=tuple(meta["page_starts"]),
            text=text,
            line_starts=line_starts(text),
        )
        with self._lock:
            if doc_row not in self._texts:
                self._texts[doc_row] = loaded
                self._cached_chars += len(text)
            while self._cached_chars > _TEXT_CACHE_CHARS and len(self._texts) > 1:
                _, dropped = self._texts.popitem(last=False)
                self._cached_chars -= len(dropped.text)
        return loaded

    def _text(self, doc_row: int) -> str:
        if self._all_texts is not None:
            return self._all_texts[doc_row]
        text: str = self.snapshot.tables.take("documents", [doc_row], ["text"])["text"][0].as_py()
        return text

    def document(self, name: str) -> DocumentText:
        """A document by its URI or its id.

        Raises:
            InvalidArgument: the snapshot has no such document.
        """
        columns = self._document_columns
        row = _row_of(name, columns["uri"])
        if row is None:
            row = _row_of(name, columns["id"])
        if row is None:
            raise InvalidArgument(f"There is no document {name!r} in the published snapshot.", document=name)
        return self.text_of(row)

    def sentence_rows(self, unit_rows: Sequence[int] | Rows) -> tuple[Rows, Rows]:
        """The sentence rows of some units, and for each the position of its unit in ``unit_rows``."""
        return gather(self.walk.unit_sentence, np.asarray(unit_rows, dtype=np.int64))

    def sentence_similarity(self, vector: Scores, sentence_rows: Rows) -> Scores:
        """Cosine of a query vector with some sentences, float32."""
        values, scale = self.sentence_vectors
        chosen = values[sentence_rows].astype(np.float32)
        similarity: Scores = np.einsum("ij,j->i", chosen, vector) * scale[sentence_rows]
        return similarity

    def close(self) -> None:
        """Close the snapshot."""
        self.snapshot.close()


def _columns(table: pa.Table) -> dict[str, pa.Array]:
    """The columns of a table in one piece: a value of a chunked one takes several times as long to get."""
    return {
        name: table[name].chunk(0) if table.num_rows else pa.array([], table[name].type) for name in table.column_names
    }


def _row_of(value: str, column: pa.Array) -> int | None:
    """The first row of a value: half a millisecond in 100,000, for which a dictionary would take 20 MB."""
    row = pc.index(column, value).as_py()
    return row if row >= 0 else None
