"""Proper names: what the named-entity recogniser labels, and runs of capitalised words."""

from __future__ import annotations

from itertools import pairwise

from graphctx.model.knowledge import EntityLabel
from graphctx.nlp.commonness import rank_of
from graphctx.nlp.parse import Candidate, Parse

LABELS: dict[str, EntityLabel] = {
    "PERSON": "person",
    "ORG": "organization",
    "GPE": "location",
    "LOC": "location",
    "FAC": "location",
    "NORP": "group",
    "EVENT": "event",
    "PRODUCT": "product",
    "WORK_OF_ART": "work",
    "LAW": "work",
    "LANGUAGE": "term",
}
"""OntoNotes labels that name things; numbers, dates and amounts do not."""

QUANTITIES = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
MAX_NAME_TOKENS = 10
COMMON_RANK = 10_000
"""The capital of a word as common as this marks no name where the word opens a line."""

TITLE_CASE_SHARE = 0.8
"""A sentence of at least five words with a larger share of capitals is a title line: its capitals mark nothing."""

_HONORIFICS = frozenset("mr mr. mrs mrs. ms ms. dr dr. sir dame prof prof. st. rev rev. gen. sen. gov. rep.".split())
_EDITS = frozenset(
    "add bring bump deprecate fix implement improve introduce refactor remove rename replace revert tweak update "
    "upgrade adds fixes introduces removes replaces added bumped changed corrected deprecated fixed implemented "
    "improved introduced moved refactored removed renamed replaced reverted reworked rewrote updated upgraded".split()
)
_CONNECTORS = frozenset("of for de da do del di der von van du la le & bin ibn al".split())
INSTITUTIONS = frozenset(
    "airport award awards prize medal university college school institute foundation center centre museum library "
    "hospital church cathedral street avenue road bridge park house hall palace castle stadium theatre theater "
    "company corporation inc group trust band orchestra quartet trio show island islands county city lake river "
    "mountain mountains bay cup trophy act law theorem station records pictures studios films press court "
    "falls valley village creek hill hills beach mount port fort airline airlines line".split()
)
"""A name ending in one of these is named after a person but is not one."""

_CALENDAR = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri "
    "sat sun gmt utc am pm bc ad ce bce".split()
)
"""A run of these words and of numbers is a date or a time; one of them alone may be a name ("May", "April")."""

_BRACKETS = frozenset("()[]{}")
_CLOSED_TAGS = frozenset("DT IN PRP PRP$ WDT WP WP$ WRB CC MD TO EX UH RB RBR VBZ VBD VBP VB".split())
_EDGE_PUNCTUATION = frozenset("-–—,.;:!?\"'`“”‘’()[]{}/*_~<>|&%$+=") | {"``", "''", "'s", "’s"}


def tagged_spans(parse: Parse) -> list[Candidate]:
    """The tagger's spans that hold a capital and no code, without determiner, honorific and possessive."""
    found = []
    for entity in parse.entities:
        label = LABELS.get(entity.label)
        if label is None:
            continue
        for first, last in _parts(parse, entity.first, entity.last):
            if not 0 < last - first <= MAX_NAME_TOKENS or any(parse.code[first:last]):
                continue
            if any(capitalised(parse.words[token]) for token in range(first, last)):
                found.append(Candidate.over(parse, first, last, "ner", label))
    return found


def _parts(parse: Parse, first: int, last: int) -> list[tuple[int, int]]:
    """The names in a tagged span: cut at brackets and columns, trimmed, without dates.

    Two words joined by "and" are two names ("Starlette and Pydantic"); longer spans may be one.
    """
    parts = []
    start = first
    for token in range(first, last + 1):
        bracket = token < last and parse.words[token] in _BRACKETS
        if token < last and not bracket and not (parse.layout_break_before[token] and token > start):
            continue
        one, end = trimmed(parse, start, token)
        if end - one == 3 and parse.words[one + 1].lower() == "and":
            parts += [(one, one + 1), (end - 1, end)]
        elif one < end and not is_date(parse, one, end):
            parts.append((one, end))
        start = token + bracket
    return parts


def is_date(parse: Parse, first: int, last: int) -> bool:
    """Whether a span of several words holds nothing but numbers and words of the calendar."""
    words = [parse.words[token].casefold().rstrip(".,") for token in range(first, last)]
    return len(words) > 1 and all(not word or word.isdigit() or word in _CALENDAR for word in words)


def quantities(parse: Parse) -> list[bool]:
    """Return for each token whether the tagger takes it for a number, a date or an amount."""
    inside = [False] * len(parse.words)
    for entity in parse.entities:
        if entity.label in QUANTITIES:
            inside[entity.first : entity.last] = [True] * (entity.last - entity.first)
    return inside


def proper_spans(parse: Parse) -> list[Candidate]:
    """Runs of capitalised words, joined by small words ("University of Copenhagen"), with a number behind them.

    A run that ends in a person's name and only puts a title before it ("President Lincoln") is left to the tagger.
    """
    quantity = quantities(parse)
    ends = {
        label: {trimmed(parse, e.first, e.last)[1]: e.first for e in parse.entities if e.label == label}
        for label in ("PERSON", "ORG")
    }
    people, organizations = ends["PERSON"], ends["ORG"]
    starts = {label: {e.first for e in parse.entities if e.label == label} for label in ("PERSON", "GPE")}
    found = []
    for first, last in _stretches(parse):
        if _is_title_line(parse, first, last):
            continue
        token = first
        while token < last:
            if quantity[token] or not _opens_name(parse, token, token == first):
                token += 1
                continue
            end = _run_end(parse, token, last, quantity)
            for of in range(token + 1, end - 1):
                # The tagger ends a name here: "Analyst Ada Poe of the Harbour Team", "Pacific Marine Inc. of Houston".
                if parse.words[of] in ("of", "for") and (
                    of in people or (of in organizations and of + 1 in starts["GPE"])
                ):
                    end = of
                    break
            start, end = trimmed(parse, token, end)
            if end - start == 1 and _opens_line(parse, first, start) and _is_common(parse.words[start]):
                token = max(end, token + 1)
                continue
            if people.get(end, start) > start:
                start = end
            if start < end and not is_date(parse, start, end):
                person = start in starts["PERSON"] and parse.words[end - 1].casefold() not in INSTITUTIONS
                found.append(Candidate.over(parse, start, end, "proper", "person" if person else "term"))
            token = max(end, token + 1)
    return found


def _stretches(parse: Parse) -> list[tuple[int, int]]:
    """Token ranges of the segments, each cut where the layout sets something apart."""
    bounds = []
    for first, last in parse.segment_bounds():
        cuts = [token for token in range(first + 1, last) if parse.layout_break_before[token]]
        bounds += list(pairwise([first, *cuts, last]))
    return bounds


def capitalised(word: str) -> bool:
    """Whether a word opens with a capital, behind quotes at most."""
    return word[:1].isupper() or (word[:1] in "'‘’“\"" and word[1:2].isupper())


def is_edit(parse: Parse, token: int) -> bool:
    """Whether a word opens its line as those of a changelog do: "Fix JSON Schema", "Worker: Fixed a deadlock"."""
    if parse.words[token].casefold() not in _EDITS or not capitalised(parse.words[token]) or parse.code[token]:
        return False
    return opens_line(parse, token) or parse.words[token - 1] == ":"


def opens_line(parse: Parse, token: int) -> bool:
    """Whether a word is the first of its segment."""
    return _opens_line(parse, parse.segments.index(parse.segments[token]), token)


def trimmed(parse: Parse, first: int, last: int) -> tuple[int, int]:
    """Cut determiners, honorifics, the verb of a changelog and punctuation off the edges of a span."""
    while first < last and (
        parse.tags[first] in ("DT", "PRP$", "PDT", "POS")
        or parse.words[first].casefold() in _HONORIFICS
        or is_edit(parse, first)
        or _is_punctuation(parse.words[first])
    ):
        first += 1
    while first < last and (parse.tags[last - 1] == "POS" or _is_punctuation(parse.words[last - 1])):
        last -= 1
    return first, last


def _is_punctuation(word: str) -> bool:
    return word in _EDGE_PUNCTUATION or not any(char.isalnum() for char in word)


def _is_title_line(parse: Parse, first: int, last: int) -> bool:
    words = [parse.words[token] for token in range(first, last) if parse.words[token][:1].isalpha()]
    return len(words) >= 5 and sum(capitalised(word) for word in words) >= TITLE_CASE_SHARE * len(words)


def _opens_name(parse: Parse, token: int, opens_sentence: bool) -> bool:
    word, tag = parse.words[token], parse.tags[token]
    if not capitalised(word) or parse.code[token] or tag in _CLOSED_TAGS or word == "I":
        return False
    return tag.startswith("NNP") if opens_sentence or _after_quote(parse, token) else True


def _opens_line(parse: Parse, first: int, token: int) -> bool:
    """Whether no word stands before a token: its capital is that of the line."""
    return all(_is_punctuation(parse.words[before]) for before in range(first, token))


def _is_common(word: str) -> bool:
    return 0 < rank_of(word.casefold()) <= COMMON_RANK


def _after_quote(parse: Parse, token: int) -> bool:
    return token > 0 and parse.words[token - 1] in ("“", '"', "``", "‘", ":", "(", "•", "*")


def _run_end(parse: Parse, token: int, last: int, quantity: list[bool]) -> int:
    """The end of the run of name words that starts at a token."""
    end = token + 1
    while end < last and end - token < MAX_NAME_TOKENS:
        word = parse.words[end]
        if parse.layout_break_before[end]:
            break
        if _continues(parse, end, quantity):
            end += 1
            continue
        if word == "-" or (word.casefold() in _CONNECTORS):
            after = end + 1
            if after < last and parse.layout_break_before[after]:
                break
            if after < last and word.casefold() == "of" and parse.words[after].casefold() == "the":
                after += 1
            if after < last and _continues(parse, after, quantity) and not parse.words[after].isdigit():
                end = after + 1
                continue
        break
    return end


def _continues(parse: Parse, token: int, quantity: list[bool]) -> bool:
    word, tag = parse.words[token], parse.tags[token]
    if parse.code[token]:
        return False
    if tag == "CD" and word[:1].isdigit() and word.isalnum() and parse.tags[token - 1].startswith("NNP"):
        return len(word) <= 3 or word[-1:].isalpha()  # "Apollo 11", but no year
    return capitalised(word) and not quantity[token] and tag not in _CLOSED_TAGS and word != "I"
