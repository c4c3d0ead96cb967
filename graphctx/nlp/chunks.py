"""Base noun phrases on the parse, trimmed to the words that could be a term."""

from __future__ import annotations

from collections.abc import Iterator

from graphctx.nlp.parse import Candidate, Parse
from graphctx.nlp.proper_names import is_edit, quantities
from graphctx.text.names import STOPWORDS, singular_of

MAX_CHUNK_TOKENS = 6
"""Longer chunks are descriptions; their last words are taken."""

MAX_CHUNK_CHARS = 80
"""A chunk may hold a code span of any length; a longer one is not a term."""

GENERIC = frozenset(
    # what anything can be called
    "way thing lot kind sort part number example case fact bit reason something anything nothing everything someone "
    "somebody anyone anybody everyone everybody nobody people person one rest half variety series set item piece "
    "pair couple dozen group name type value form level matter subject topic issue question problem answer other "
    "course instance effect term sense majority amount amounting member aspect feature factor detail version copy "
    "manner fashion means approach result use usage purpose goal aim idea concept notion point side hand place area "
    "position spot situation condition status circumstance basis base foundation role nature quality character "
    "degree extent range scale size siz length height width depth weight speed distance shape colour color "
    # doing and happening
    "addition advance advantage attempt attention beginning behaviour behavior benefit care chance change choice "
    "comparison concern confirmation connection consequence control cost deal decade difference difficulty "
    "discussion doubt effort end ending evidence exception experience explanation exchange failure focus guess help "
    "hope impact importance influence interest job kindness knowledge lack lead limit load look loss luck meaning "
    "mention mistake move need note opinion option order pause permission possibility practice preference presence "
    "progress promise proof reading refusal relation relationship requirement responsibility restart return review "
    "risk selection solution start step story success support surprise talk thought trouble try turn view visit walk "
    "warning work worry default fix "
    # time
    "time moment second minute hour day night morning afternoon evening midnight week weekend month quarter year "
    "century age today tomorrow yesterday tonight while period season date past present future spring summer autumn "
    "fall winter interval deadline delay "
    # measures
    "percent percentage per cent share metre meter kilometre mile foot feet inch knot kilo kilogram gram ton tonne "
    "litre decimal digit total sum average mean maximum minimum rate ratio count figure dollar euro price money "
    # where on a page or in a text
    "line list section chapter page paragraph sentence word letter text title heading cell entry link label header "
    "footer box top bottom middle left right front back centre center edge corner "
    # anybody
    "man men woman women boy girl child children guy friend body head eye face voice mind life live death world home "
    "house room door wall floor street thank hello please yes no etc".split()
)
"""Common nouns, in the singular, that say nothing of the text that they are in: they become no entity."""

OF_DOCUMENTATION = frozenset("doc docs documentation functionality listing typo".split())
"""What documentation of any sort says of itself and of what it documents: these are no terms of it."""

VAGUE = frozenset(
    "way thing lot kind sort bit one while reason time moment second minute hour day night morning evening week "
    "month year decade rest half person people man men woman women somebody someone something place end start "
    "beginning hand chance look example case part amount majority".split()
)
"""Heads, in the singular, that an adjective alone does not make a term: "long while", "dead one"."""

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
    quantity = quantities(parse)
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
        if parse.layout_break_before[token + 1] or parse.words[token] in _BREAKS or parse.tags[token] in _BREAK_TAGS:
            first = token + 1
            break
    while first < head and (
        parse.tags[first] in _TRIMMED_TAGS
        or parse.words[first].casefold() in _TRIMMED_WORDS
        or not any(char.isalnum() for char in parse.words[first])
        or is_edit(parse, first)
    ):
        first += 1
    while head + 1 - first > MAX_CHUNK_TOKENS or parse.words[first] == "-":
        first += 1
    return first


def _is_term(parse: Parse, first: int, head: int, key_terms: frozenset[str]) -> bool:
    word = parse.words[head].casefold()
    one = singular_of(word)
    if not any(char.isalpha() for char in word) or len(word) < 2 or parse.code[head]:
        return False
    if (first == head and word[0].isdigit()) or sum(tag == "CD" for tag in parse.tags[first:head]) > 1:
        return False  # "0x22", and a row of a table run together: "acid 38 kg 9 gas"
    if parse.ends[head] - parse.starts[first] > MAX_CHUNK_CHARS:
        return False
    if first == head:
        if word in STOPWORDS or one in OF_DOCUMENTATION or len(word) < 3 or is_edit(parse, head):
            return False
        return one not in GENERIC or one in key_terms
    described = any(parse.tags[token][:2] in ("NN", "FW") or parse.code[token] for token in range(first, head))
    return described or one not in VAGUE
