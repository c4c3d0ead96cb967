"""Labels of entities: what the tagger mostly says of a name, where the corpus supports it.

On technical text the tagger takes tools for people and formats for companies, and agrees with itself. A label is left
out unless it rests on something else: what looks like code is marked as code; nothing in the corpus writes a word of
the name as code; a single word is read in documents without code; a person has a full name somewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from graphctx.ingest.names import Name, NameTable, most_frequent
from graphctx.model.knowledge import EntityLabel, Extraction, Mention

LABEL_SHARE = 0.5
"""A label on a smaller share of the mentions is a guess."""

CODE_SHARE = 0.02
"""A document with a larger share of code among its mentions is about software."""


MARKED_SHARE = 0.1
"""A name that only looks like code ("Node.js", "UTF-8") is code if more of its mentions are marked as code."""

_JOINED = re.compile(r"\w+(?:[.-]\w+)+")


@dataclass(frozen=True, slots=True)
class Labels:
    """Chooses labels.

    Attributes:
        code_words: words that the corpus writes as code.
        as_code: names that it often writes as code.
        of_people: words of full names of people.
    """

    code_words: frozenset[str]
    as_code: frozenset[str]
    of_people: frozenset[str]

    @classmethod
    def of(cls, table: NameTable) -> Labels:
        """Build from the names of a corpus."""
        people = (name for name in table.names if name.label == "person" and _is_full(name.key))
        words = (name.key.split() for name in people)
        of_people = (word for full in words if table.code_words.isdisjoint(full) for word in full)
        mentions, marked = Counter[str](), Counter[str]()
        for name in table.names:
            mentions[name.words] += name.mentions
            marked[name.words] += name.marked
        as_code = frozenset(words for words, times in marked.items() if times > MARKED_SHARE * mentions[words])
        return cls(table.code_words, as_code, frozenset(of_people))

    def choose(self, name: Name, mentions: int, counts: dict[EntityLabel, int]) -> EntityLabel:
        """Return the label of an entity, ``term`` without evidence.

        Args:
            name: its canonical name.
            mentions: of the entity.
            counts: how many of them the tagger gives each label, as far as `is_evidence` counts it.
        """
        if name.is_code:
            return "code" if name.words in self.as_code or not _JOINED.fullmatch(name.key[1:]) else "term"
        label = most_frequent(counts)
        if counts.get(label, 0) < LABEL_SHARE * mentions:
            return "term"
        if label == "code":
            return label if name.words in self.as_code else "term"
        if not self.code_words.isdisjoint(name.key.split()):
            return "term"
        if label == "person" and not (_is_full(name.key) or name.key in self.of_people):
            return "term"
        return label


def is_evidence(mention: Mention, about_software: bool) -> bool:
    """Whether the label of a mention counts: not the tagger's for a single word in a document about software."""
    return mention.label == "code" or " " in mention.surface or not (about_software or mention.kind == "identifier")


def is_about_software(extraction: Extraction) -> bool:
    """Whether a document is about software, by the share of code among its mentions."""
    code = sum(mention.kind in ("code", "identifier") for mention in extraction.mentions)
    return code > CODE_SHARE * len(extraction.mentions)


def _is_full(key: str) -> bool:
    """Whether a name has two words or more, of letters alone."""
    return " " in key and all(char.isalpha() or char in " '" for char in key)
