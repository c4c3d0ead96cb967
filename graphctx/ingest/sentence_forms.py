"""How the sentences of a document are quoted: with their bullets, by the kind of their block, and at what cost."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile

from graphctx.model.documents import BLOCK_KINDS, Block, Document, TextUnit
from graphctx.nlp.markup import sentence_kinds
from graphctx.nlp.tokens import AnswerCounter
from graphctx.text.sentences import marker_start

_LINK_TARGET = re.compile(r"\]\([^()\n]*\)|\]\[[^\]\n]*\]|<[^<>\s]+>")
"""Of Markdown and reStructuredText."""


@dataclass(frozen=True, slots=True)
class SentenceForms:
    """How the sentences of a document are quoted: columns, in the order of the sentences of its units.

    Attributes:
        marker: characters of the bullet or number before it.
        kind: of its block, a position in ``BLOCK_KINDS``.
        opens: whether it opens a block or an item.
        links: whether its block is mostly labels of links, which are no evidence.
        n_tokens: its tokens, as quotes are measured.
    """

    marker: tuple[int, ...]
    kind: tuple[int, ...]
    opens: tuple[bool, ...]
    links: tuple[bool, ...]
    n_tokens: tuple[int, ...]


def sentence_forms(document: Document, units: Iterable[TextUnit]) -> SentenceForms:
    """Return the forms of the sentences of a document's units."""
    starts = [block.start_char for block in document.blocks]
    of_links = [_is_links(document, block) for block in document.blocks]
    quoted: list[str] = []
    marker: list[int] = []
    kinds: list[int] = []
    opens: list[bool] = []
    links: list[bool] = []
    last = -1
    for unit in units:
        for sentence, kind in zip(unit.sentences, sentence_kinds(document, unit), strict=True):
            start, at = sentence.start_char, bisect_right(starts, sentence.start_char) - 1
            if kind != "code":
                start = max(unit.start_char, marker_start(document.text, start))
            quoted.append(document.text[start : sentence.end_char])
            marker.append(sentence.start_char - start)
            kinds.append(BLOCK_KINDS.index(kind))
            opens.append(at != last or start < sentence.start_char)
            links.append(at >= 0 and of_links[at])
            last = at
    tokens = _counter().count_many(quoted)
    return SentenceForms(tuple(marker), tuple(kinds), tuple(opens), tuple(links), tuple(tokens))


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
