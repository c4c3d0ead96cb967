"""What is there to be named: documents with their outline, and names that begin or sound like a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading of a document; ``start_char:end_char`` is the section below it, up to the next heading."""

    section_id: str
    level: int
    title: str
    anchor: str | None
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document with its text and its headings in reading order."""

    doc_id: str
    uri: str
    title: str
    tags: tuple[str, ...]
    updated_at: str | None
    text: str
    outline: tuple[OutlineEntry, ...]


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit of a document, by the path of headings above it."""

    section_id: str
    heading: str


@dataclass(frozen=True, slots=True)
class Outlined:
    """A document without its text: its headings and its units in reading order."""

    doc_id: str
    uri: str
    title: str
    sections: tuple[OutlineEntry, ...]
    units: tuple[UnitEntry, ...]


@dataclass(frozen=True, slots=True)
class Outlines:
    """The first documents by URI, and how many there are in all."""

    documents: tuple[Outlined, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Names:
    """Names that complete what somebody has typed, the likeliest first, and how many there are in all."""

    values: tuple[str, ...]
    total: int
