"""Mentions in a parsed unit: names, identifiers, code spans, noun chunks, acronyms, titles and headings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from graphctx.model.documents import Document, TextUnit
from graphctx.model.knowledge import EntityLabel, Mention, MentionKind
from graphctx.nlp.aliases import expansions
from graphctx.nlp.chunks import noun_chunks
from graphctx.nlp.identifiers import code_identifiers, is_camel, is_capitals, is_identifier
from graphctx.nlp.markup import MAX_CODE_SPAN_CHARS, mask_markup, sentence_kinds
from graphctx.nlp.parse import NAME_KINDS, Candidate, Parse, covering
from graphctx.nlp.proper_names import INSTITUTIONS, opens_line, proper_spans, tagged_spans
from graphctx.text.names import DETERMINERS, is_nameable, normalise_name, singular_of, unnumbered

MAX_TITLE_WORDS = 10
"""A longer title or heading is a sentence, not a name."""

MAX_KEY_TERM_WORDS = 4

SHOUTED_SHARE = 0.5
"""In a sentence with a larger share of all-caps words, all-caps words are not taken as acronyms."""

_CAPTIONS = frozenset("appendix chapter equation example figure listing page part section step table".split())
"""What stands before the number of a part of a document."""

_BEFORE_OBJECT = frozenset("DT PDT PRP$ WDT WP WRB".split())
"""Behind a word that opens a line these tags tell a verb from a name: "Specifies the port", "Determines whether"."""

_FENCE = re.compile(r"(?:`{3,}|~{3,}).*\n?")
_PRONOUN = re.compile(r"\b(?:he|she|his|her|hers|him|himself|herself)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
BIOGRAPHY_SHARE = 0.015
"""A text with a larger share of pronouns for one person, and a title like a person's name, is about that person:
pages on people have 2 to 6 %, pages on teams, towns and films mostly below 1 %."""

_QUALIFIER = re.compile(r"(?<!\s)\s*+\([^()]*\)$")


@dataclass(frozen=True, slots=True)
class About:
    """What the rules on a unit need to know of its whole document.

    Attributes:
        terms: normalised, singular names of what it is about.
        person: whom it is about, by the title; empty where it is about no one person.
    """

    terms: frozenset[str]
    person: str

    @classmethod
    def of(cls, document: Document) -> About:
        """Build from a document."""
        return cls(_key_terms(document), _subject_person(document))


def find_mentions(parse: Parse, document: Document, about: About) -> list[Candidate]:
    """Find the mentions of one unit, with the tokens that they cover, in order.

    Names (tagged, capitalised, identifiers, code) do not overlap: the longest stays. A noun chunk may hold names,
    and a title or heading may hold anything.
    """
    shaped = _shaped(parse)
    names = _longest([*shaped, *tagged_spans(parse), *proper_spans(parse)])
    names = _titled(parse, document, names)
    chunks = [chunk for chunk in noun_chunks(parse, about.terms) if not _is_one_of(chunk, names)]
    found = expansions(parse, [*names, *chunks])
    found = _short_forms(found, about.person, document.text)
    return sorted(
        (c for c in found if is_nameable(normalise_name(c.mention.surface)) and not _is_label(parse, document, c)),
        key=lambda c: (c.mention.start_char, c.mention.end_char, c.mention.kind),
    )


def _is_label(parse: Parse, document: Document, candidate: Candidate) -> bool:
    """Whether a candidate names nothing itself.

    It is a verb ("Specifies the port"), a caption ("Listing 4-1"), opens several explanations in bold ("**Default:**
    `utf8`"), or would lose its name with its determiner ("the `Some` variant").
    """
    first, last, start = candidate.first, candidate.last, candidate.mention.start_char
    word = parse.words[first]
    if last > first + 1 or parse.code[first]:
        return last > first + 1 and parse.code[first] and word.casefold() in DETERMINERS
    after = parse.words[last] if last < len(parse.words) else ""
    if after.islower() and parse.tags[last] in _BEFORE_OBJECT and opens_line(parse, first):
        return True
    if after[:1].isdigit() and word.casefold() in _CAPTIONS:
        return True
    return after == ":" and document.text.startswith("**", start - 2) and document.text.count(f"**{word}:**") > 1


def identifiers_of_code(document: Document, unit: TextUnit) -> list[Mention]:
    """The identifiers of the code blocks of a unit, each once a block."""
    mentions = []
    for number, (sentence, kind) in enumerate(zip(unit.sentences, sentence_kinds(document, unit), strict=True)):
        if kind != "code":
            continue
        text = document.text[sentence.start_char : sentence.end_char]
        opening = _FENCE.match(text)  # its attributes are no code
        skipped = opening.end() if opening else 0
        base = sentence.start_char + skipped
        for start, end in code_identifiers(text[skipped:]):
            name = document.text[base + start : base + end]
            mentions.append(Mention(unit.id, number, name, "code", "identifier", base + start, base + end))
    return mentions


def named_headings(document: Document, unit: TextUnit) -> list[Mention]:
    """The headings inside a unit's text, as names of what the unit is about."""
    mentions = []
    for heading in document.headings:
        if not unit.start_char <= heading.start_char < heading.end_char <= unit.end_char:
            continue
        name = unnumbered(" ".join(mask_markup(heading.title).text.split()))
        if len(name.split()) > MAX_TITLE_WORDS or not is_nameable(normalise_name(name)):
            continue
        sentence = next((n for n, s in enumerate(unit.sentences) if s.end_char > heading.start_char), 0)
        kind: MentionKind = "title" if heading.title == document.title else "heading"
        mentions.append(Mention(unit.id, sentence, name, "term", kind, heading.start_char, heading.end_char))
    return mentions


def _subject_person(document: Document) -> str:
    """The title of a document that is about one person, as far as its words tell; else the empty string.

    Taggers take rare names for towns and companies, so that labels alone miss who a page is about.
    """
    title = _QUALIFIER.sub("", document.title.strip())
    words = title.split()
    if not document.titled or not 2 <= len(words) <= 3 or words[-1].casefold() in INSTITUTIONS:
        return ""
    if not all(word[0].isupper() and word.replace("-", "").replace("'", "").isalpha() for word in words):
        return ""
    said = len(_PRONOUN.findall(document.text))
    return title if said > BIOGRAPHY_SHARE * len(_WORD.findall(document.text)) else ""


def _short_forms(candidates: Iterable[Candidate], person: str, text: str) -> list[Candidate]:
    """Let the first or last name of the person whom a document is about stand for the whole name.

    Args:
        candidates: mentions of a unit.
        person: the person's name; empty for any other document.
        text: of the document; what it puts behind "in" or "at" is a place.
    """
    first, last = (person.split()[0], person.split()[-1]) if person else ("", "")
    short = {
        name
        for name in (first, last)
        if len(name) > 1 and not re.search(rf"\b(?:[Ii]n|[Aa]t|[Nn]ear|the|The) {re.escape(name)}\b", text)
    }
    return [
        c.with_mention(replace(c.mention, alias_of=person))
        if c.is_name and c.mention.kind not in ("code", "identifier") and c.mention.surface in short
        else c
        for c in candidates
    ]


def _key_terms(document: Document) -> frozenset[str]:
    """Normalised, singular names of what a document is about: its title, its headings and their halves."""
    terms = set()
    for title in map(unnumbered, (document.title, *(heading.title for heading in document.headings))):
        for part in (title, *re.split(r" and |: ", title)):
            name = singular_of(normalise_name(mask_markup(part).text))
            if len(name.split()) <= MAX_KEY_TERM_WORDS and is_nameable(name):
                terms.add(name)
    return frozenset(terms)


def _shaped(parse: Parse) -> list[Candidate]:
    """Code spans, identifiers and words in capitals: single tokens, known by how they are written."""
    found = []
    for first, last in parse.segment_bounds():
        words = [parse.words[t] for t in range(first, last) if parse.words[t].isalpha() and len(parse.words[t]) > 1]
        shouted = sum(word.isupper() for word in words) > SHOUTED_SHARE * len(words) and len(words) > 2
        for token in range(first, last):
            word = parse.words[token]
            if parse.code[token]:
                if len(word) <= MAX_CODE_SPAN_CHARS:
                    found.append(Candidate.over(parse, token, token + 1, "code", "code"))
            elif is_identifier(word):
                shape: EntityLabel = "term" if is_camel(word) else "code"
                found.append(Candidate.over(parse, token, token + 1, "identifier", shape))
            elif not shouted and is_capitals(word) and parse.tags[token][:2] in ("NN", "JJ", "FW"):
                found.append(Candidate.over(parse, token, token + 1, "acronym", "term"))
    return found


def _longest(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the longest of overlapping names; of equal spans the first, with the better label."""
    kept: dict[tuple[int, int], Candidate] = {}
    taken: set[int] = set()
    for candidate in sorted(candidates, key=lambda c: c.first - c.last):
        span = candidate.first, candidate.last
        if span in kept:
            if kept[span].mention.label == "term":
                better = replace(kept[span].mention, label=candidate.mention.label)
                kept[span] = kept[span].with_mention(better)
        elif taken.isdisjoint(range(*span)):
            kept[span] = candidate
            taken.update(range(*span))
    return list(kept.values())


def _titled(parse: Parse, document: Document, names: list[Candidate]) -> list[Candidate]:
    """Take the document's own title, where the text uses it, as one name: the first time in each sentence."""
    title = _QUALIFIER.sub("", document.title.strip())
    wanted = title.split()
    if not document.titled or not 1 <= len(wanted) <= MAX_TITLE_WORDS or not any(c.isupper() for c in title):
        return names
    if len(wanted) == 1 and (len(title) < 4 or not parse.words):
        return names
    spans = _occurrences(parse, title)
    for first, last in spans:
        inside = covering(names, first, last)
        if any(c.first <= first and last <= c.last and (c.first, c.last) != (first, last) for c in inside):
            continue  # part of a longer name
        label: EntityLabel = next((c.mention.label for c in inside if (c.first, c.last) == (first, last)), "term")
        if len(wanted) == 1 and not inside:
            continue  # a capitalised word at the start of a sentence
        names = [c for c in names if c not in inside]
        names.append(Candidate.over(parse, first, last, "title", label))
    return names


def _occurrences(parse: Parse, title: str) -> list[tuple[int, int]]:
    compact = "".join(title.split())
    spans = []
    for first, last in parse.segment_bounds():
        for token in range(first, last):
            if not compact.startswith(parse.words[token]):
                continue
            built, end = "", token
            while end < last and len(built) < len(compact):
                built += parse.words[end].replace(" ", "")
                end += 1
            if built == compact:
                spans.append((token, end))
                break
    return spans


def _is_one_of(chunk: Candidate, names: list[Candidate]) -> bool:
    """Whether a chunk's head belongs to a name: then the chunk is that name, or that name with a title before it."""
    return any(c.first < chunk.last <= c.last and c.mention.kind in NAME_KINDS for c in names)
