"""The corpus in row order: what the later steps of ingest work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from graphctx.ingest.split import Split
from graphctx.model.documents import Document, Section, TextUnit


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents sorted by URI, with their sections and units.

    ``first_unit[i]`` is the row of document ``i``'s first unit, ``first_sentence[r]`` the row of unit ``r``'s first
    sentence; both have one more item at the end, the total.
    """

    documents: tuple[Document, ...]
    splits: tuple[Split, ...]
    units: tuple[TextUnit, ...]
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
            first_unit=tuple(accumulate((len(split.units) for _, split in ordered), initial=0)),
            first_sentence=tuple(accumulate((len(unit.sentences) for unit in units), initial=0)),
        )

    def sections_of(self, row: int) -> tuple[Section, ...]:
        """The sections of a document."""
        return self.splits[row].sections

    def units_of(self, row: int) -> tuple[TextUnit, ...]:
        """The units of a document."""
        return self.splits[row].units
