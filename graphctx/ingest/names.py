"""The names of a corpus, and which of them name one thing."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from graphctx.ingest.definitions import Definition
from graphctx.ingest.name_keys import CODE_MARK, name_key
from graphctx.model.knowledge import EntityLabel, Extraction, Mention
from graphctx.text.names import normalise_name

_NAMING = frozenset({"ner", "proper", "identifier", "code", "acronym", "title", "heading"})


def is_code_mention(mention: Mention) -> bool:
    """Whether a mention is written as code. A word with a capital inside is a name of prose where prose has it."""
    return mention.kind == "code" or (mention.kind == "identifier" and mention.label == "code")


@dataclass(slots=True)
class Name:
    """One normalised name.

    Attributes:
        key: its identity, as `name_key` returns it.
        mentions: how often it is mentioned.
        documents: in how many documents.
        named: how many of these mentions name a thing rather than describe it.
        labels: how often it has each label other than ``term``.
        surfaces: how often each written form occurs.
        stated: its form in a document that defines it, or that states it as the meaning of another name.
        defined: the value of its best definition that makes a name, in 0..1; 0 without one.
        lower: how many mentions are written without a capital.
        marked: how many mentions are marked as code.
        identifier: whether it is ever written as code or as an identifier.
        acronym: whether it is ever written as an acronym.
    """

    key: str
    mentions: int = 0
    documents: int = 0
    named: int = 0
    labels: dict[EntityLabel, int] = field(default_factory=dict)
    surfaces: dict[str, int] = field(default_factory=dict)
    stated: str = ""
    defined: float = 0.0
    lower: int = 0
    marked: int = 0
    identifier: bool = False
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
    def is_code(self) -> bool:
        """Whether it is a name of code."""
        return self.key.startswith(CODE_MARK)

    @property
    def words(self) -> str:
        """The normalised form without its kind."""
        return normalise_name(self.key[1:]) if self.is_code else self.key

    @property
    def is_lower(self) -> bool:
        """Whether at least a quarter of its mentions are written in lower case."""
        return 4 * self.lower >= self.mentions

    def count(self, mention: Mention) -> None:
        """Add one mention."""
        self.mentions += 1
        self.named += mention.kind in _NAMING
        self.lower += mention.surface == mention.surface.lower()
        self.marked += mention.kind == "code"
        self.identifier |= mention.kind in ("code", "identifier")
        self.acronym |= mention.kind == "acronym"
        if mention.label != "term":
            self.labels[mention.label] = self.labels.get(mention.label, 0) + 1
        self.surfaces[mention.surface] = self.surfaces.get(mention.surface, 0) + 1


@dataclass
class NameTable:
    """All names of a corpus.

    Attributes:
        names: in order of first mention.
        mentions: the name of each mention, in the order of the extractions; -1 if nothing is left of it.
        stated: ``(document, alias, name)``: a document says that one name stands for another.
        labels: for each document, how often each name that names a thing in it has each label other than ``term``.
        acronyms: the acronyms of each document.
    """

    names: list[Name] = field(default_factory=list)
    mentions: array[int] = field(default_factory=lambda: array("i"))
    stated: list[tuple[int, int, int]] = field(default_factory=list)
    labels: list[dict[int, dict[EntityLabel, int]]] = field(default_factory=list)
    acronyms: list[set[int]] = field(default_factory=list)
    _rows: dict[str, int] = field(default_factory=dict)
    _keys: dict[tuple[str, bool], str] = field(default_factory=dict)

    @classmethod
    def of(cls, extractions: Iterable[Extraction], definitions: Sequence[Definition] = ()) -> NameTable:
        """Gather the names of a corpus: those that are mentioned, and those that definitions make."""
        table = cls()
        for document, extraction in enumerate(extractions):
            table.labels.append({})
            table.acronyms.append(set())
            here: set[int] = set()
            for mention in extraction.mentions:
                code = is_code_mention(mention)
                at = table._add(table._key(mention.surface, code))
                table.mentions.append(at)
                if at < 0:
                    continue
                here.add(at)
                table.names[at].count(mention)
                if mention.kind in _NAMING:
                    labels = table.labels[document].setdefault(at, {})
                    if mention.label != "term":
                        labels[mention.label] = labels.get(mention.label, 0) + 1
                if mention.kind == "acronym":
                    table.acronyms[document].add(at)
                if mention.alias_of is not None:
                    name = table._add(table._key(mention.alias_of, False))
                    if name not in (-1, at):
                        table.names[name].stated = table.names[name].stated or mention.alias_of
                        table.stated.append((document, at, name))
            for at in here:
                table.names[at].documents += 1
        for definition in definitions:
            if definition.makes_name:
                own = table.names[table._add(definition.key)]
                own.defined = max(own.defined, definition.value)
                own.stated = own.stated or definition.surface
        return table

    @cached_property
    def code_words(self) -> frozenset[str]:
        """The words that the corpus writes as code, those inside identifiers too."""
        code = (name.key.casefold() for name in self.names if name.is_code and name.mentions)
        return frozenset(word for key in code for word in re.findall(r"[^\W_]+", key))

    def row(self, key: str) -> int:
        """Return the row of a name by its key, or -1."""
        return self._rows.get(key, -1)

    def find(self, surface: str) -> int:
        """Return the row of the name that a surface has in prose, else in code, or -1."""
        at = self.row(self._key(surface, False))
        return self.row(self._key(surface, True)) if at == -1 else at

    def _key(self, surface: str, code: bool) -> str:
        key = self._keys.get((surface, code))
        if key is None:
            key = self._keys[surface, code] = name_key(surface, code=code)
        return key

    def _add(self, key: str) -> int:
        at = self.row(key)
        if at == -1 and key:
            at = self._rows[key] = len(self.names)
            self.names.append(Name(key))
        return at


class UnionFind:
    """Sets of names of one thing, each with its canonical name; single documents may differ.

    Args:
        size: how many names there are; at first each is its own canonical name.
    """

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._in_document: dict[tuple[int, int], int] = {}
        self._elsewhere: dict[int, list[int]] = {}

    def find(self, name: int) -> int:
        """Return the canonical name of a name in the whole corpus."""
        parent = self._parent
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    def roots_of(self, name: int) -> list[int]:
        """Return the canonical name of a name in the whole corpus, then those in single documents."""
        return [self.find(name), *(self.find(into) for into in self._elsewhere.get(name, ()))]

    def union(self, name: int, into: int) -> None:
        """Merge a name into another one everywhere; that one's canonical name stays."""
        self._parent[self.find(name)] = self.find(into)

    def union_in(self, document: int, name: int, into: int) -> None:
        """Merge a name into another one in one document only. The first merge of a name in a document holds."""
        if self.find(name) != self.find(into) and (document, name) not in self._in_document:
            self._in_document[document, name] = into
            self._elsewhere.setdefault(name, []).append(into)

    def find_in(self, document: int, name: int, surface: str) -> int:
        """Return the canonical name of a name in a document.

        A surface in lower case is never a short form: in a text about Ms Snow, "the snow" is snow.
        """
        into = self._in_document.get((document, name)) if surface != surface.lower() else None
        return self.find(name if into is None else into)


def most_frequent(labels: dict[EntityLabel, int]) -> EntityLabel:
    """Return the most frequent label, of equals the first in the alphabet; ``term`` if there is none."""
    return min(labels, key=lambda label: (-labels[label], label)) if labels else "term"
