"""Base noun phrases on the parse, trimmed to the words that could be a term."""

from __future__ import annotations

from collections.abc import Iterator

from graphctx.nlp.parse import Candidate, Parse
from graphctx.nlp.propers import QUANTITIES
from graphctx.text.names import STOPWORDS, singular_of

MAX_CHUNK_TOKENS = 6
"""Longer chunks are descriptions; their last words are taken."""

MAX_CHUNK_CHARS = 80
"""A chunk may hold a code span of any length; a longer one is no term."""

GENERIC = frozenset(
    # what anything can be called
    "way ways thing things lot lots kind kinds sort sorts part parts number numbers example examples case cases fact "
    "facts bit reason reasons something anything nothing everything someone somebody anyone anybody everyone everybody "
    "nobody people person one ones rest half variety series set sets item items piece pieces pair pairs couple dozen "
    "group groups name names type types value values form forms level levels matter matters subject topic issue issues "
    "question questions problem problems answer answers others course instance effect effects terms sense majority "
    "amount amounts amounting member members aspect aspects feature features factor "
    "factors detail details version versions copy copies manner fashion means approach approaches "
    "result results use uses usage purpose purposes goal goals aim aims idea ideas concept concepts notion point "
    "points side sides hand hands place places area areas position positions spot situation situations condition "
    "conditions status circumstance circumstances basis base foundation role roles term nature "
    "quality qualities character degree extent range scale size sizes length lengths height heights width depth "
    "depths weight weights speed distance distances shape shapes colour colours color colors "
    # doing and happening
    "addition advance advantage advantages attempt attempts attention beginning behaviour behavior benefit benefits "
    "care chance chances change changes choice choices comparison concern concerns confirmation connection consequence "
    "consequences control cost costs deal decade difference differences difficulty difficulties discussion doubt "
    "effort efforts end ends ending evidence exception exceptions experience explanation "
    "exchange failure failures focus guess help hope impact importance influence interest interests "
    "job jobs kindness knowledge lack lead limit limits load look loss luck meaning mention mistake mistakes move need "
    "needs note notes opinion opinions option options order orders pause permission possibility practice "
    "preference presence progress promise proof reading refusal relation relationship "
    "requirement requirements responsibility restart return review risk risks "
    "selection solution solutions start step steps story success support surprise talk thought "
    "trouble try turn view views visit walk warning work works worry "
    # time
    "time times moment moments second seconds minute minutes hour hours day days night nights morning mornings "
    "afternoon evening evenings midnight week weeks weekend month months quarter year years century centuries age "
    "ages today tomorrow yesterday tonight while period periods season seasons date dates past present future spring "
    "summer autumn fall winter interval deadline delay "
    # measures
    "percent percentage per cent share shares metre metres meter meters kilometre kilometres mile miles foot feet inch "
    "inches degree degrees knot knots kilo kilos kilogram kilograms gram grams ton tons tonne tonnes litre litres "
    "decimal decimals digit digits total totals sum average mean maximum minimum rate rates ratio count counts "
    "figure figures dollar dollars euro euros cent cents price prices money "
    # where on a page or in a text
    "line lines list lists section sections chapter chapters page pages paragraph sentence word words letter letters "
    "text texts title titles heading cell cells entry entries link links label "
    "labels header footer box top bottom middle left right front back centre center edge corner "
    # anybody
    "man men woman women boy boys girl girls child children guy guys friend friends body head eye eyes foot face voice "
    "mind life lives death world home house room rooms door wall floor street "
    "thanks hello please yes no etc".split()
)
"""Written for this purpose: nouns that stand in texts of every sort and name nothing by themselves."""

VAGUE = frozenset(
    "way ways thing things lot lots kind kinds sort sorts bit one ones while reason reasons time times moment moments "
    "second seconds minute minutes hour hours day days night nights morning evening week weeks month months year years "
    "decade decades rest half person people man men woman women somebody someone something place places end start "
    "beginning hand hands chance look example examples case cases part parts amount majority".split()
)
"""Heads that an adjective alone does not make a term: "long while", "dead one", "last few years"."""

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
