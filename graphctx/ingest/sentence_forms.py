"""How the sentences of a document are quoted: with their bullets, by the kind of their block, and at what cost."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from graphctx.model.documents import BLOCK_KINDS, Block, Document, TextUnit
from graphctx.nlp.markup import sentence_kinds
from graphctx.nlp.tokens import AnswerCounter
from graphctx.text.sentences import marker_start

_LINK_TARGET = re.compile(r"\]\([^()\n]*\)|\]\[[^\]\n]*\]|<[^<>\s]+>")
"""Of Markdown and reStructuredText."""


class SentenceForm(NamedTuple):
    """How a sentence is quoted.

    Attributes:
        start_char: where it starts, with its bullet or number.
        end_char: where it ends.
        kind: of its block, a position in ``BLOCK_KINDS``.
        opens: whether it opens a block or an item.
        links: whether its block is mostly labels of links, which are no evidence.
        n_tokens: its tokens, as quotes are measured.
    """

    start_char: int
    end_char: int
    kind: int
    opens: bool
    links: bool
    n_tokens: int


def sentence_forms(document: Document, units: Iterable[TextUnit]) -> tuple[SentenceForm, ...]:
    """Return the form of each sentence of a document's units, in order."""
    starts = [block.start_char for block in document.blocks]
    of_links = [_is_links(document, block) for block in document.blocks]
    spans: list[tuple[int, int]] = []
    rest: list[tuple[int, bool, bool]] = []
    last = -1
    for unit in units:
        for sentence, kind in zip(unit.sentences, sentence_kinds(document, unit), strict=True):
            start, at = sentence.start_char, bisect_right(starts, sentence.start_char) - 1
            if kind != "code":
                start = max(unit.start_char, marker_start(document.text, start))
            spans.append((start, sentence.end_char))
            opens = at != last or start < sentence.start_char
            rest.append((BLOCK_KINDS.index(kind), opens, at >= 0 and of_links[at]))
            last = at
    tokens = _counter().count_many([document.text[start:end] for start, end in spans])
    return tuple(
        SentenceForm(start, end, kind, opens, links, count)
        for (start, end), (kind, opens, links), count in zip(spans, rest, tokens, strict=True)
    )


def _is_links(document: Document, block: Block) -> bool:
    """Whether most letters of a block are in labels of links; targets do not count."""
    first = bisect_left(document.links, block.start_char, key=lambda link: link.start_char)
    labels = "".join(
        document.text[link.start_char : link.end_char]
        for link in takewhile(lambda link: link.end_char <= block.end_char, islice(document.links, first, None))
    )
    if block.kind == "code" or not labels:
        return False
    text = _LINK_TARGET.sub("", document.text[block.start_char : block.end_char])
    return 2 * sum(map(str.isalnum, labels)) > sum(map(str.isalnum, text))


@lru_cache(maxsize=1)
def _counter() -> AnswerCounter:
    return AnswerCounter()
