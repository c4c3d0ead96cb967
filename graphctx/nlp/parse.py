"""The parse of one text unit as plain lists, so that the rules on it need no parser at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A span of tokens ``first:last`` (half open) that the statistical tagger labels."""

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
        code: whether the token stands between back ticks.
        apart: whether the layout sets the token apart from the one before it; no name reaches across.
        lemmas: lemma of verbs, the lower-case form of other tokens.
        entities: spans of the tagger, in order.
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
    apart: Sequence[bool]
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
