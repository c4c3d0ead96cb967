"""The corpus in row order, which the steps after splitting work on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from graphctx.ingest.sentence_forms import SentenceForm
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
        """Return the forms of all sentences in row order, a column for each attribute of `SentenceForm`."""
        forms = [form for split in self.splits for form in split.forms]
        columns = np.array(forms, dtype=np.int32).reshape(-1, len(SentenceForm._fields)).T
        return dict(zip(SentenceForm._fields, np.ascontiguousarray(columns), strict=True))

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
