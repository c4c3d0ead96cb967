"""The parse of one text unit as plain lists, and mentions together with the tokens that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from graphctx.model.knowledge import EntityLabel, Mention, MentionKind


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A span of tokens ``first:last`` (half open) that the named-entity recogniser labels."""

    first: int
    last: int
    label: str


@dataclass(frozen=True, slots=True)
class Parse:
    """Tokens of a unit with tags (Penn Treebank), dependencies (ClearNLP labels) and entity spans.

    All lists are as long as ``words`` and hold one value for each token. Tokens of one sentence are contiguous;
    heads stay inside it.

    Attributes:
        words: the token as written, without markup.
        starts, ends: offsets into the document.
        sentences: index of the sentence inside the unit.
        segments: index of what was parsed as one sentence: a sentence, or one cell of a table row.
        tags, deps: fine part-of-speech tag and dependency label.
        heads: index of the head; the root is its own head.
        code: whether the token is between back ticks.
        layout_break_before: whether the layout sets the token apart from the one before it; no name reaches across.
        lemmas: lemma of verbs, the lower-case form of other tokens.
        entities: spans of the named-entity recogniser, in order.
        children: indices of the dependents, in order.
    """

    unit_id: str
    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    sentences: Sequence[int]
    segments: Sequence[int]
    tags: Sequence[str]
    deps: Sequence[str]
    heads: Sequence[int]
    code: Sequence[bool]
    layout_break_before: Sequence[bool]
    lemmas: Sequence[str]
    entities: Sequence[EntitySpan] = ()
    children: Sequence[Sequence[int]] = field(init=False)

    def __post_init__(self) -> None:
        children: list[list[int]] = [[] for _ in self.words]
        for token, head in enumerate(self.heads):
            if head != token:
                children[head].append(token)
        object.__setattr__(self, "children", children)

    def child(self, token: int, *labels: str) -> int:
        """The first dependent of a token with one of the labels, or -1."""
        return next((c for c in self.children[token] if self.deps[c] in labels), -1)

    def left_edge(self, token: int) -> int:
        """The leftmost token of the subtree, walking down leftmost children only."""
        while self.children[token] and self.children[token][0] < token:
            token = self.children[token][0]
        return token

    def segment_bounds(self) -> list[tuple[int, int]]:
        """Token ranges of the segments, in order."""
        bounds: list[tuple[int, int]] = []
        first = 0
        for token in range(1, len(self.words) + 1):
            if token == len(self.words) or self.segments[token] != self.segments[first]:
                bounds.append((first, token))
                first = token
        return bounds


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
