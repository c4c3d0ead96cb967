"""Aliases: a name of code and a name of prose that a document shows to mean one thing.

Resolution keeps names of code and names of prose apart. Where a document shows that two of them mean the same thing
they are linked, never merged, and the link keeps its reason and the sentence that shows it. Likeness of spelling alone
links nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import pyarrow as pa

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition
from graphctx.ingest.link import Linked
from graphctx.ingest.name_keys import CODE_MARK, name_key
from graphctx.ingest.resolve import Resolution
from graphctx.model.knowledge import AliasReason, Entity
from graphctx.nlp.identifiers import is_camel
from graphctx.store.schema import ALIASES
from graphctx.text.names import is_acronym_of, singular_of

KINDS = frozenset(
    "argument attribute class command constant crate decorator directory enum field file flag folder function header "
    "keyword library macro method module operator option package parameter property setting struct subcommand trait "
    "type utility variable".split()
)
"""What a name of code may be called behind it."""

_IDENTIFIER = re.compile(r"-{0,2}[\w.:-]*\w(?:\(\))?")
_PHRASE = re.compile(r"[^\W_]+(?:[ -][^\W_]+)+")
_WORD = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[^\W_]")
_OPENS = re.compile(r"[`*_]{0,4}\s?\([`*_\"“]{0,4}")
_CLOSES = re.compile(r"[`*_\"”]{0,4}\)")
_STATED = re.compile(
    r"[`*_\"”]{0,4},?\s?\(?(?:(?:also|better|formerly|often) (?:known as|called|referred to as)|a\.k\.a\.|aka"
    r"|abbreviated(?: as| to)?|shortened to|short(?:hand)? for|(?:an? )?(?:alias|abbreviation|synonym) (?:for|of))"
    r"(?: an?| the)?\s?[`*_\"“]{0,4}",
    re.IGNORECASE,
)
_MAX_GAP = 40
"""Characters between two names of which a text says that they mean one thing."""

_Mention = tuple[int, int, int, int]
"""Sentence row, entity row, start and end."""

Alias = tuple[int, int, AliasReason, int]
"""The rows of the name of code and of the name of prose, the reason, and the row of the sentence that shows it."""


def link_aliases(corpus: Corpus, linked: Linked, resolution: Resolution, definitions: Sequence[Definition]) -> pa.Table:
    """Link names of code with the names of prose that mean the same thing.

    Returns:
        A table of schema ``ALIASES``: of each pair the first sentence of each document that shows it.
    """
    row_of = linked.entity_rows()
    row_at = [row_of.get(entity.id) for entity in resolution.entities]
    names = {key: row for key, at in resolution.entity_of.items() if (row := row_at[at]) is not None}
    headings = _headings(corpus, names, definitions)
    columns = ("unit_row", "sentence_row", "entity_row", "start_char", "end_char", "kind")
    mentions: dict[int, list[_Mention]] = defaultdict(list)
    for unit, *place, kind in zip(*(linked.mentions[name].to_pylist() for name in columns), strict=True):
        if kind != "code_block":
            mentions[unit].append(tuple(place))
    found: dict[tuple[int, int, int], Alias] = {}
    for row, document in enumerate(corpus.documents):
        for number, unit in enumerate(corpus.units_of(row), corpus.first_unit[row]):
            here = mentions.get(number, [])
            for alias in (
                *_appositions(document.text, here, names, linked.entities),
                *_equations(document.text, here),
                *_headed(document.text, here, headings.get(unit.section_id, [])),
            ):
                found.setdefault((alias[0], alias[1], row), alias)
    rows = [dict(zip(ALIASES.names, alias, strict=True)) for alias in sorted(found.values())]
    return pa.Table.from_pylist(rows, schema=ALIASES)


def _headings(
    corpus: Corpus, names: Mapping[str, int], definitions: Sequence[Definition]
) -> dict[str, list[tuple[str, int, bool]]]:
    """Return the headings and titles of sections that are names: each with its entity and whether it is code."""
    titles = {section.id: section.title for split in corpus.splits for section in split.sections}
    document = [one.title for one, _, _ in corpus.placed_units()]
    found = defaultdict(list)
    for one in definitions:
        section = corpus.units[one.unit_row].section_id
        if one.own and one.key in names and one.surface in (titles[section], document[one.unit_row]):
            found[section].append((one.surface, names[one.key], one.key.startswith(CODE_MARK)))
    return found


def _appositions(
    text: str, mentions: Sequence[_Mention], names: Mapping[str, int], entities: Sequence[Entity]
) -> Iterator[Alias]:
    """Names that are a name of code, as it is written, and what it is: "the ``--set`` flag"."""
    for sentence, entity, start, end in mentions:
        name, _, kind = text[start:end].rpartition(" ")
        if kind in KINDS and (name.endswith("`") or name_key(name).startswith(CODE_MARK)):
            code = names.get(name_key(name, code=True), entity)
            if code != entity and entities[entity].name == f"{name.strip('`')} {kind}":
                yield code, entity, "apposition", sentence


def _equations(text: str, mentions: Sequence[_Mention]) -> Iterator[Alias]:
    """Neighbours in a sentence, one of them written as code, that brackets or words equate."""
    for (sentence, one, start, middle), (behind, other, begin, end) in pairwise(mentions):
        if sentence != behind or one == other or not 0 < begin - middle <= _MAX_GAP:
            continue
        between = text[middle:begin]
        brackets = _OPENS.fullmatch(between) and _CLOSES.match(text, end)
        if not (brackets or _STATED.fullmatch(between)) or _is_code(text, start, middle) == _is_code(text, begin, end):
            continue
        code, prose, pair = text[start:middle], text[begin:end], (one, other)
        if _is_code(text, begin, end):
            code, prose, pair = prose, code, (other, one)
        if not brackets:
            yield *pair, "stated", sentence
        elif is_acronym_of(code, prose) or _same_words(code, prose):
            yield *pair, "brackets", sentence


def _headed(text: str, mentions: Sequence[_Mention], headings: Sequence[tuple[str, int, bool]]) -> Iterator[Alias]:
    """Names that a section writes in the words of its heading, one of them as code.

    A class is named by what it makes: a ``JSONResponse`` is no second name of "JSON response".
    """
    for title, heading, code in headings:
        for sentence, entity, start, end in mentions:
            name, prose, pair = text[start:end], title, (entity, heading)
            if code:
                name, prose, pair = prose, name, (heading, entity)
            different = entity != heading and _is_code(text, start, end) != code
            if different and not is_camel(name) and _same_words(name, prose):
                yield *pair, "heading", sentence


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether a span is written as code: between back ticks, or in the shape of code."""
    if text[max(0, start - 1) : start] == "`" and text[end : end + 1] == "`":
        return True
    return not text[start:end].isalpha() and name_key(text[start:end]).startswith(CODE_MARK)


def _same_words(code: str, prose: str) -> bool:
    """Whether an identifier has the words of a name of several words, in whatever case and number."""
    if not (_IDENTIFIER.fullmatch(code) and _PHRASE.fullmatch(prose)):
        return False
    words = ("".join(singular_of(word.casefold()) for word in _WORD.findall(name)) for name in (code, prose))
    return next(words) == next(words)
