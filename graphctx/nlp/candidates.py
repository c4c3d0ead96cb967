"""A mention together with the tokens that it covers, while the parse is at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphctx.model.knowledge import EntityLabel, Mention, MentionKind
from graphctx.nlp.parse import Parse

NAME_KINDS: frozenset[MentionKind] = frozenset({"ner", "proper", "identifier", "code", "acronym", "title"})
"""Kinds that name one thing; a noun chunk describes."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mention over the tokens ``first:last`` (half open)."""

    first: int
    last: int
    mention: Mention

    @classmethod
    def over(cls, parse: Parse, first: int, last: int, kind: MentionKind, label: EntityLabel) -> Candidate:
        """Make the mention of a span of tokens; its surface is their words, spaced as the source spaces them."""
        surface = surface_of(parse, first, last)
        mention = Mention(
            parse.unit_id, parse.sentences[first], surface, label, kind, parse.starts[first], parse.ends[last - 1]
        )
        return cls(first, last, mention)

    def with_mention(self, mention: Mention) -> Candidate:
        """The same tokens with another mention."""
        return Candidate(self.first, self.last, mention)

    @property
    def is_name(self) -> bool:
        """Whether it names one thing."""
        return self.mention.kind in NAME_KINDS


def surface_of(parse: Parse, first: int, last: int) -> str:
    """The words of a span, joined by one space where the source has any gap between them."""
    parts = [parse.words[first]]
    for token in range(first + 1, last):
        if parse.starts[token] > parse.ends[token - 1]:
            parts.append(" ")
        parts.append(parse.words[token])
    return "".join(parts)


def covering(candidates: Iterable[Candidate], first: int, last: int) -> list[Candidate]:
    """The candidates that share a token with ``first:last``."""
    return [c for c in candidates if c.first < last and first < c.last]
