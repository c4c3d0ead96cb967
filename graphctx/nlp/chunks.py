"""Base noun phrases on the parse, trimmed to the words that could be a term."""

from __future__ import annotations

from collections.abc import Iterator

from graphctx.nlp.candidates import Candidate
from graphctx.nlp.generic import GENERIC, VAGUE
from graphctx.nlp.parse import Parse
from graphctx.nlp.propers import QUANTITIES
from graphctx.text.names import STOPWORDS, singular_of

MAX_CHUNK_TOKENS = 6
"""Longer chunks are descriptions; their last words are taken."""

MAX_CHUNK_CHARS = 80
"""A chunk may hold a code span of any length; a longer one is no term."""

_PHRASE_DEPS = frozenset("oprd nsubj dobj nsubjpass pcomp pobj dative appos attr ROOT npadvmod dep".split())
_TRIMMED_TAGS = frozenset("DT PDT PRP PRP$ CD WDT WP WP$ RB RBR RBS IN CC TO EX WRB".split())
_TRIMMED_WORDS = frozenset(
    "many other such several same own first last next more most few various certain following previous only latter "
    "former different single whole entire particular given specific another second third old new full big recent "
    "current usual good better best bad worse worst complete".split()
)
_BREAK_TAGS = frozenset({"POS", "MD", "VBZ", "VBP", "CC"})
_BREAKS = frozenset(", . ; : ! ? ( ) [ ] { } \" ' ` `` '' “ ” ‘ ’ / | = < > * _ … – —".split())


def noun_chunks(parse: Parse, key_terms: frozenset[str] = frozenset()) -> list[Candidate]:
    """The base noun phrases with a noun as their head, without determiners, quantities and clausal parts.

    Args:
        parse: the parsed unit.
        key_terms: normalised, singular names of what the document is about; these are terms however common.
    """
    quantity = [False] * len(parse.words)
    for entity in parse.entities:
        if entity.label in QUANTITIES:
            quantity[entity.first : entity.last] = [True] * (entity.last - entity.first)
    found = []
    for first, head in _phrases(parse):
        start = _start(parse, first, head)
        if quantity[head] or not _is_term(parse, start, head, key_terms):
            continue
        found.append(Candidate.over(parse, start, head + 1, "noun_chunk", "term"))
    return found


def _phrases(parse: Parse) -> Iterator[tuple[int, int]]:
    """First token and head of each base noun phrase; they do not nest."""
    previous = -1
    for head, tag in enumerate(parse.tags):
        if not tag.startswith("NN"):
            continue
        first = parse.left_edge(head)
        if first <= previous:
            first = previous + 1
        at = head
        while parse.deps[at] == "conj" and parse.heads[at] < at:
            at = parse.heads[at]
        if parse.deps[at] in _PHRASE_DEPS:
            previous = head
            yield first, head


def _start(parse: Parse, first: int, head: int) -> int:
    for token in range(head - 1, first - 1, -1):
        if (
            parse.apart[token + 1]
            or parse.words[token] in _BREAKS
            or parse.tags[token] in ("POS", "MD", "VBZ", "VBP", "CC")
        ):
            first = token + 1
            break
    while first < head and (
        parse.tags[first] in _TRIMMED_TAGS
        or parse.words[first].casefold() in _TRIMMED_WORDS
        or parse.words[first] == "-"
    ):
        first += 1
    while head + 1 - first > MAX_CHUNK_TOKENS or parse.words[first] == "-":
        first += 1
    return first


def _is_term(parse: Parse, first: int, head: int, key_terms: frozenset[str]) -> bool:
    word = parse.words[head].casefold()
    if not any(char.isalpha() for char in word) or len(word) < 2 or parse.code[head]:
        return False
    if (first == head and word[0].isdigit()) or sum(tag == "CD" for tag in parse.tags[first:head]) > 1:
        return False  # "0x22", and a row of a table run together: "acid 38 kg 9 gas"
    if parse.ends[head] - parse.starts[first] > MAX_CHUNK_CHARS:
        return False
    if first == head:
        return word not in STOPWORDS and len(word) > 2 and (word not in GENERIC or singular_of(word) in key_terms)
    described = any(parse.tags[token][:2] in ("NN", "FW") or parse.code[token] for token in range(first, head))
    return described or word not in VAGUE
