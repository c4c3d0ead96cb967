"""Every name of a corpus with what is known of it: the ground on which the ladder stands."""

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
        labels: how often each label other than ``term`` was given.
        surfaces: how often each written form occurs.
        stated: how a document writes it that says what another name stands for; it need not be mentioned itself.
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
        """The most frequent label, where at least half of the mentions carry it; else ``term``."""
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


@dataclass(frozen=True, slots=True)
class StatedAlias:
    """A document says that one name stands for another (indices of names)."""

    document: int
    alias: int
    name: int


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """The names of one document that name things: index to how often each label was given here."""

    labels: dict[int, Counter[EntityLabel]]
    acronyms: frozenset[int]


@dataclass(slots=True)
class NameTable:
    """All names of a corpus.

    Attributes:
        names: in order of first mention.
        index: normalised form to its position in ``names``.
        mentions: the name of each mention, in the order of the extractions; -1 where nothing is left of it.
        stated: the aliases that documents state.
        documents: the names of each document.
        opened: pairs of a noun chunk and the name that it opens with, as in "the Drop trait".
    """

    names: list[Name]
    index: dict[str, int]
    mentions: array[int]
    stated: list[StatedAlias]
    documents: list[DocumentNames]
    opened: set[tuple[int, int]]
    _known: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, extractions: Sequence[Extraction]) -> NameTable:
        """Gather the names of a corpus."""
        table = cls([], {}, array("i"), [], [], set())
        for number, extraction in enumerate(extractions):
            labels: dict[int, Counter[EntityLabel]] = {}
            here: set[int] = set()
            acronyms = set()
            opener = (-1, -1)  # where the last name started, and which it was
            for mention in extraction.mentions:
                at = table._intern(mention.surface)
                table.mentions.append(at)
                if at < 0:
                    continue
                here.add(at)
                table.names[at].count(mention)
                if mention.kind in _NAMING:
                    labels.setdefault(at, Counter())[mention.label] += 1
                    opener = (mention.start_char, at)
                elif opener[0] == mention.start_char and opener[1] != at:
                    table.opened.add((at, opener[1]))
                if mention.kind == "acronym":
                    acronyms.add(at)
                if mention.alias_of is not None:
                    name = table._intern(mention.alias_of)
                    if name not in (-1, at):
                        table.names[name].stated = table.names[name].stated or mention.alias_of
                        table.stated.append(StatedAlias(number, at, name))
            for at in here:
                table.names[at].documents += 1
            table.documents.append(DocumentNames(labels, frozenset(acronyms)))
        return table

    def find(self, surface: str) -> int:
        """The name of a surface, or -1."""
        at = self._known.get(surface)
        return self.index.get(normalise_name(surface), -1) if at is None else at

    def _intern(self, surface: str) -> int:
        at = self._known.get(surface)
        if at is None:
            text = normalise_name(surface)
            at = self.index.get(text, -1)
            if at == -1 and text:
                at = self.index[text] = len(self.names)
                self.names.append(Name(text))
            self._known[surface] = at
        return at


def most_frequent(labels: dict[EntityLabel, int]) -> EntityLabel:
    """The most frequent label, ties to the first in the alphabet; ``term`` where there is none."""
    return min(labels, key=lambda label: (-labels[label], label)) if labels else "term"
