"""The corpus in row order, which the steps after splitting work on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from graphctx.ingest.split import Split
from graphctx.model.documents import Document, Section, TextUnit


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents sorted by URI, with their sections and units.

    Attributes:
        documents, splits: by document row.
        units: by unit row.
        headings: the heading path of each unit.
        first_unit: the row of each document's first unit, and the number of units.
        first_sentence: the row of each unit's first sentence, and the number of sentences.
    """

    documents: tuple[Document, ...]
    splits: tuple[Split, ...]
    units: tuple[TextUnit, ...]
    headings: tuple[str, ...]
    first_unit: tuple[int, ...]
    first_sentence: tuple[int, ...]

    @classmethod
    def of(cls, parts: Sequence[tuple[Document, Split]]) -> Corpus:
        """Sort documents by URI and number their parts."""
        ordered = sorted(parts, key=lambda part: part[0].uri)
        units = tuple(unit for _, split in ordered for unit in split.units)
        return cls(
            documents=tuple(document for document, _ in ordered),
            splits=tuple(split for _, split in ordered),
            units=units,
            headings=tuple(heading for document, split in ordered for heading in _headings(document, split)),
            first_unit=tuple(accumulate((len(split.units) for _, split in ordered), initial=0)),
            first_sentence=tuple(accumulate((len(unit.sentences) for unit in units), initial=0)),
        )

    def sections_of(self, row: int) -> tuple[Section, ...]:
        """The sections of a document."""
        return self.splits[row].sections

    def units_of(self, row: int) -> tuple[TextUnit, ...]:
        """The units of a document."""
        return self.splits[row].units

    def unit_rows(self) -> dict[str, int]:
        """Return the row of each unit id."""
        return {unit.id: row for row, unit in enumerate(self.units)}

    def sentence_forms(self) -> dict[str, npt.NDArray[np.int32]]:
        """Return how all sentences are quoted, in row order.

        The columns are ``start_char`` and ``end_char`` of each with its bullet, and ``kind``, ``opens``, ``links`` and
        ``n_tokens`` of `SentenceForms`.
        """

        def column(values: Iterable[int]) -> npt.NDArray[np.int32]:
            return np.fromiter(values, dtype=np.int32, count=self.first_sentence[-1])

        def form(name: str) -> npt.NDArray[np.int32]:
            return column(value for split in self.splits for value in getattr(split.forms, name))

        sentences = [sentence for unit in self.units for sentence in unit.sentences]
        return {
            "start_char": column(sentence.start_char for sentence in sentences) - form("marker"),
            "end_char": column(sentence.end_char for sentence in sentences),
            **{name: form(name) for name in ("kind", "opens", "links", "n_tokens")},
        }

    def placed_units(self) -> Iterator[tuple[Document, str, TextUnit]]:
        """Yield each unit with its document and heading path, in row order."""
        for row, document in enumerate(self.documents):
            for number, unit in enumerate(self.units_of(row), self.first_unit[row]):
                yield document, self.headings[number], unit


def heading_path(document: Document, section: Section) -> str:
    """Return the headings above a unit, without the document's own title, joined by `` › ``."""
    path = section.path
    if path and path[0].casefold() == document.title.casefold():
        path = path[1:]
    return " › ".join(path)


def _headings(document: Document, split: Split) -> list[str]:
    paths = {section.id: heading_path(document, section) for section in split.sections}
    return [paths[unit.section_id] for unit in split.units]
