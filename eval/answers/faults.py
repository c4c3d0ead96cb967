"""Faults of quotes: what a strict reader would send back, told by rules over the quotes and their documents.

Rules read Markdown. Each returns the positions of the quotes that have the fault; the order of the quotes is that of
the answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from eval.answers.blocks import Block, begins_sentence, block_at, blocks, ends_sentence
from graphctx.text.sentences import split_sentences


@dataclass(frozen=True)
class Page:
    """The text of a document; ``uri`` says by its ending whether it is MDX."""

    uri: str
    text: str

    @cached_property
    def blocks(self) -> list[Block]:
        return blocks(self.text, mdx=self.uri.endswith(".mdx"))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of lines ``first`` to ``last``, counted from 1, without the last line break."""
        return self._line_starts[first - 1], self._line_starts[last] - 1


@dataclass(frozen=True, slots=True)
class Span:
    """A quote: its document, its span in code points, the headings above it, and its confidence in 0..1."""

    page: Page
    start: int
    end: int
    heading: str = ""
    confidence: float = 0.0

    @property
    def text(self) -> str:
        return self.page.text[self.start : self.end]

    @property
    def inside(self) -> list[Block]:
        """The blocks of the document that the quote shares a character with."""
        return [one for one in self.page.blocks if one.start < self.end and one.end > self.start]


Rule = Callable[[Sequence[Span]], list[int]]

NEAR_CHARS = 60
"""Quotes with fewer characters between them nearly touch."""

_OPENING = " \t*_\"'([|>~"
_CLOSING = " \t\n*_\"')]|>~"
_SEE_ALSO = re.compile(r"see also|further reading|learn more|related|next steps|links|resources|references", re.I)
_LINK = re.compile(
    r"!?\[([^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\](?:\([^)\s]*(?:\s[^)]*)?\)|\[[^\]]*\])|<?(https?://[^\s>)]+)>?"
)
_BULLET = re.compile(r"(?:^|\n)[ \t>]*(?:[-*+•]|\d{1,9}[.)])[ \t]*$")
_WORD = re.compile(r"\w[\w.'’-]*")
_COLON = re.compile(r":[\s*_`\"')\]]*(?:</\w+>\s*)*$")


def split(quotes: Sequence[Span]) -> list[int]:
    """Quotes that touch or nearly touch another one of their document; no heading or code stands between."""
    return [
        later
        for earlier, later in _neighbours(quotes)
        if len(_between(quotes[earlier], quotes[later]).strip()) < NEAR_CHARS
        and not _divided(quotes[earlier], quotes[later])
    ]


def one_sentence_between(quotes: Sequence[Span]) -> list[int]:
    """Quotes with nothing or one sentence between them and another one of their section; no fault beyond `split`."""
    return [
        later
        for earlier, later in _neighbours(quotes)
        if len(split_sentences(_between(quotes[earlier], quotes[later]))) <= 1
        and not _divided(quotes[earlier], quotes[later])
    ]


def _neighbours(quotes: Sequence[Span]) -> list[tuple[int, int]]:
    """Positions of quotes that are next to each other in a document, in the document's order."""
    pages: dict[str, list[int]] = defaultdict(list)
    for at in sorted(range(len(quotes)), key=lambda at: (quotes[at].start, quotes[at].end)):
        pages[quotes[at].page.uri].append(at)
    return [pair for found in pages.values() for pair in pairwise(found)]


def _between(first: Span, second: Span) -> str:
    """The text between two quotes without a bullet at its end."""
    return _BULLET.sub("", first.page.text[first.end : second.start])


def _divided(first: Span, second: Span) -> bool:
    """Whether a heading or code stands between two quotes."""
    between = Span(first.page, first.end, second.start).inside
    return any(one.kind in ("heading", "code") and one.end <= second.start for one in between)


def out_of_order(quotes: Sequence[Span]) -> list[int]:
    """Quotes behind the first that come after one of a later place in the same document."""
    return _falls(quotes, lambda one: one.page.uri)


def section_out_of_order(quotes: Sequence[Span]) -> list[int]:
    """The same within a section, and quotes apart from the section's others."""
    key = [(one.page.uri, one.heading) for one in quotes]
    apart = [at for at in range(2, len(key)) if key[at] != key[at - 1] and key[at] in key[1:at]]
    return sorted({*_falls(quotes, lambda one: (one.page.uri, one.heading)), *apart})


def _falls(quotes: Sequence[Span], key: Callable[[Span], object]) -> list[int]:
    furthest: dict[object, int] = {}
    found = []
    for at, one in enumerate(quotes[1:], 1):  # the first is the surest, wherever it stands
        if one.start < furthest.get(key(one), -1):
            found.append(at)
        furthest[key(one)] = max(one.start, furthest.get(key(one), -1))
    return found


def first_not_surest(quotes: Sequence[Span]) -> list[int]:
    """The first quote, where another has a higher confidence."""
    return [0] if quotes and quotes[0].confidence < max(one.confidence for one in quotes) else []


def _each(test: Callable[[Span], bool]) -> Rule:
    return lambda quotes: [at for at, one in enumerate(quotes) if test(one)]


def starts_inside(quote: Span) -> bool:
    """Whether it starts in the middle of a sentence, list item, table row or code block; a lost bullet is not that."""
    block = block_at(quote.page.blocks, quote.start)
    if block is None or quote.start <= block.body_start or block.kind == "other":
        return False
    if block.kind == "code":
        return quote.page.text[block.body_start : quote.start].strip() != ""
    if block.kind in ("item", "header", "row"):
        return quote.page.text[block.body_start : quote.start].strip(_OPENING) != ""
    return not begins_sentence(quote.page.text, block, quote.start)


def ends_inside(quote: Span) -> bool:
    """Whether it ends in the middle of a sentence, list item or table row."""
    block = block_at(quote.page.blocks, quote.end - 1)
    if block is None or block.kind in ("other", "code"):
        return False
    if block.kind in ("item", "header", "row"):
        return quote.page.text[quote.end : block.end].strip(_CLOSING) != ""
    return not ends_sentence(quote.page.text, block, quote.end)


def lost_bullet(quote: Span) -> bool:
    """Whether it starts right behind the bullet or number of a list item."""
    block = block_at(quote.page.blocks, quote.start)
    if block is None or block.kind != "item" or quote.start <= block.start:
        return False
    return quote.page.text[block.body_start : quote.start].strip(_OPENING) == ""


def ends_at_lead_in(quote: Span) -> bool:
    """Whether it ends at the colon before what is announced, or at a table's header without a row."""
    last = block_at(quote.page.blocks, quote.end - 1)
    if last is not None and last.kind == "header":
        return True
    if not _COLON.search(quote.text) or (last is not None and quote.page.text[quote.end : last.end].strip(_CLOSING)):
        return False
    after = next((one for one in quote.page.blocks if one.start >= quote.end), None)
    return after is not None and after.kind != "heading"


def cut_code(quote: Span) -> bool:
    """Whether it has lines of a code block without its first or its last."""
    for block in quote.inside:
        if block.kind != "code":
            continue
        start, end = max(quote.start, block.body_start), min(quote.end, block.body_end)
        if start >= end:
            continue
        if quote.page.text[block.body_start : start].strip() or quote.page.text[end : block.body_end].strip():
            return True
    return False


def link_list(quote: Span) -> bool:
    """Whether most of its words are links, or it is the links below a heading such as "See also"."""
    if any(one.kind == "code" for one in quote.inside):
        return False
    links = list(_LINK.finditer(quote.text))
    if not links:
        return False
    within = sum(len(_WORD.findall(one[1])) if one[1] is not None else 1 for one in links)
    around = len(_WORD.findall(_LINK.sub(" ", quote.text)))
    if within >= 2 * around:
        return True
    items = [one for one in quote.inside if one.kind == "item"]
    last = quote.heading.rpartition("›")[2]
    return bool(_SEE_ALSO.search(last)) and len(items) > 0 and len(links) >= len(items)


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule, what it is called in tables, and whether answers that have it are counted instead of quotes."""

    name: str
    rule: Rule
    of_answers: bool = False


FAULTS = (
    Fault("split", split, of_answers=True),
    Fault("one sentence between", one_sentence_between, of_answers=True),
    Fault("out of document order", out_of_order, of_answers=True),
    Fault("out of section order", section_out_of_order, of_answers=True),
    Fault("first not surest", first_not_surest, of_answers=True),
    Fault("starts inside", _each(starts_inside)),
    Fault("ends inside", _each(ends_inside)),
    Fault("lost bullet", _each(lost_bullet)),
    Fault("ends at lead-in", _each(ends_at_lead_in)),
    Fault("cut code", _each(cut_code)),
    Fault("link list", _each(link_list)),
)


def faults(quotes: Sequence[Span]) -> dict[str, list[int]]:
    """Return the name of each fault and the positions of the quotes of one answer that have it."""
    return {one.name: one.rule(quotes) for one in FAULTS}


def shares(answers: Sequence[tuple[Sequence[Span], Mapping[str, list[int]]]]) -> dict[str, tuple[int, int]]:
    """Return, for each fault, how many answers or quotes have it, and of how many; empty answers do not count."""
    quoted = [(quotes, found) for quotes, found in answers if quotes]
    n_quotes = sum(len(quotes) for quotes, _ in quoted)
    return {
        one.name: (
            sum(bool(found[one.name]) if one.of_answers else len(found[one.name]) for _, found in quoted),
            len(quoted) if one.of_answers else n_quotes,
        )
        for one in FAULTS
    }
