"""The names of a corpus, and which of them name one thing."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphctx.model.knowledge import EntityLabel, Extraction, Mention
from graphctx.text.names import normalise_name

_NAMING = frozenset({"ner", "proper", "identifier", "code", "acronym", "title", "heading"})


@dataclass(slots=True)
class Name:
    """One normalised name.

    Attributes:
        text: the normalised form.
        mentions: how often it is mentioned.
        documents: in how many documents.
        named: how many of these mentions name a thing rather than describe it.
        labels: how often it has each label other than ``term``.
        surfaces: how often each written form occurs.
        stated: its form in a document that states it as the meaning of another name.
        lower: whether a mention that names a thing is ever written without a capital.
        code: whether it is ever written as code or as an identifier.
        acronym: whether it is ever written as an acronym.
    """

    text: str
    mentions: int = 0
    documents: int = 0
    named: int = 0
    labels: dict[EntityLabel, int] = field(default_factory=dict)
    surfaces: dict[str, int] = field(default_factory=dict)
    stated: str = ""
    lower: bool = False
    code: bool = False
    acronym: bool = False

    @property
    def label(self) -> EntityLabel:
        """The most frequent label if at least half of the mentions have it, else ``term``."""
        label = most_frequent(self.labels)
        return label if 2 * self.labels.get(label, 0) >= self.mentions else "term"

    @property
    def is_named(self) -> bool:
        """Whether at least half of its mentions name a thing."""
        return 2 * self.named >= self.mentions

    @property
    def is_capital(self) -> bool:
        """Whether it is a word of code that has a capital wherever it names a thing: in lower case it is another word.

        Of other names that does not hold: "the euro" is the Euro.
        """
        return self.code and self.is_named and not self.lower and " " not in self.text

    def count(self, mention: Mention) -> None:
        """Add one mention."""
        self.mentions += 1
        if mention.kind in _NAMING:
            self.named += 1
            self.lower |= mention.surface == mention.surface.lower()
        self.code |= mention.kind in ("code", "identifier")
        self.acronym |= mention.kind == "acronym"
        if mention.label != "term":
            self.labels[mention.label] = self.labels.get(mention.label, 0) + 1
        self.surfaces[mention.surface] = self.surfaces.get(mention.surface, 0) + 1


@dataclass(slots=True)
class NameTable:
    """All names of a corpus.

    Attributes:
        names: in order of first mention.
        mentions: the name of each mention, in the order of the extractions; -1 if nothing is left of it.
        stated: ``(document, alias, name)``: a document says that one name stands for another.
        labels: for each document, how often each name that names a thing in it has each label.
        acronyms: the acronyms of each document.
    """

    names: list[Name] = field(default_factory=list)
    mentions: array[int] = field(default_factory=lambda: array("i"))
    stated: list[tuple[int, int, int]] = field(default_factory=list)
    labels: list[dict[int, Counter[EntityLabel]]] = field(default_factory=list)
    acronyms: list[set[int]] = field(default_factory=list)
    _by_text: dict[str, int] = field(default_factory=dict)
    _by_surface: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, extractions: Sequence[Extraction]) -> NameTable:
        """Gather the names of a corpus."""
        table = cls()
        for document, extraction in enumerate(extractions):
            table.labels.append({})
            table.acronyms.append(set())
            here: set[int] = set()
            for mention in extraction.mentions:
                at = table._add(mention.surface)
                table.mentions.append(at)
                if at < 0:
                    continue
                here.add(at)
                table.names[at].count(mention)
                if mention.kind in _NAMING:
                    table.labels[document].setdefault(at, Counter())[mention.label] += 1
                if mention.kind == "acronym":
                    table.acronyms[document].add(at)
                if mention.alias_of is not None:
                    name = table._add(mention.alias_of)
                    if name not in (-1, at):
                        table.names[name].stated = table.names[name].stated or mention.alias_of
                        table.stated.append((document, at, name))
            for at in here:
                table.names[at].documents += 1
        return table

    def row(self, text: str) -> int:
        """Return the row of a normalised name, or -1."""
        return self._by_text.get(text, -1)

    def find(self, surface: str) -> int:
        """Return the row of a surface's name, or -1."""
        at = self._by_surface.get(surface)
        return self.row(normalise_name(surface)) if at is None else at

    def _add(self, surface: str) -> int:
        at = self._by_surface.get(surface)
        if at is None:
            text = normalise_name(surface)
            at = self.row(text)
            if at == -1 and text:
                at = self._by_text[text] = len(self.names)
                self.names.append(Name(text))
            self._by_surface[surface] = at
        return at


class UnionFind:
    """Sets of names of one thing, each with its canonical name; single documents may differ.

    Args:
        size: how many names there are; at first each is its own canonical name.
    """

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._in_document: dict[tuple[int, int], int] = {}

    def find(self, name: int) -> int:
        """Return the canonical name of a name in the whole corpus."""
        parent = self._parent
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    def union(self, name: int, into: int) -> None:
        """Merge a name into another one everywhere; that one's canonical name stays."""
        self._parent[self.find(name)] = self.find(into)

    def union_in(self, document: int, name: int, into: int) -> None:
        """Merge a name into another one in one document only. The first merge of a name in a document holds."""
        if self.find(name) != self.find(into):
            self._in_document.setdefault((document, name), into)

    def find_in(self, document: int, name: int, surface: str) -> int:
        """Return the canonical name of a name in a document.

        A surface in lower case is never a short form: in a text about Ms Snow, "the snow" is snow.
        """
        into = self._in_document.get((document, name)) if surface != surface.lower() else None
        return self.find(name if into is None else into)


def most_frequent(labels: dict[EntityLabel, int]) -> EntityLabel:
    """Return the most frequent label, of equals the first in the alphabet; ``term`` if there is none."""
    return min(labels, key=lambda label: (-labels[label], label)) if labels else "term"
