"""The rules that merge names, strongest first. Each adds unions to the union-find."""

from __future__ import annotations

import re
from collections import defaultdict

from graphctx.ingest.names import Name, NameTable, UnionFind
from graphctx.nlp.commonness import rank_of
from graphctx.text.names import acronym_of, digits_of, singular_of

MIN_CORPUS_ACRONYM = 3
"""Characters of an acronym that means the same in the whole corpus once one document says what. Shorter ones are too
often reused, and hold in that document only."""

MIN_JOINED_CHARS = 8
"""Minimum length for merging names that differ only in spaces: in shorter ones a space makes another word."""

MAX_GUESSES = 2
"""Mentions in the corpus that a tagger may label otherwise although they are of a person."""

_PLURAL_ACRONYM = re.compile(r"[A-Z][A-Z0-9]+s")
_FIXED = frozenset({"person", "location", "organization", "group", "work"})


def merge_names(table: NameTable) -> UnionFind:
    """Apply all rules.

    A wrong merge puts the facts of two things on one node and cannot be detected later, so each rule prefers to keep
    two names apart: an ambiguous short name is resolved document by document or not at all.
    """
    same = UnionFind(len(table.names))
    _merge_pairs(table, table.stated, same)
    _merge_acronyms(table, same)
    _merge_people(table, same)
    _merge_plurals(table, same)
    _merge_word_breaks(table, same)
    _merge_code(table, same)
    return same


def _merge_acronyms(table: NameTable, same: UnionFind) -> None:
    """Merge an acronym with the one name of its document that it abbreviates."""
    pairs = []
    for document, acronyms in enumerate(table.acronyms):
        if not acronyms:
            continue
        longs: dict[str, set[int]] = defaultdict(set)
        for at in table.labels[document]:
            name = table.names[at]
            if " " in name.key and not name.identifier:
                longs[acronym_of(name.key)].add(same.find(at))
        for at in sorted(acronyms):
            short = table.names[at].key.upper()
            found = longs.get(short, set())
            if len(short) >= MIN_CORPUS_ACRONYM and len(found) == 1 and same.find_in(document, at, short) == at:
                pairs.append((document, at, next(iter(found))))
    _merge_pairs(table, pairs, same)


def _merge_pairs(table: NameTable, pairs: list[tuple[int, int, int]], same: UnionFind) -> None:
    """Merge ``(document, alias, name)``: everywhere if the alias has one meaning only, else in the document.

    A name of one document alone says nothing about the others: their "NHK" may be another one.
    """
    meanings: dict[int, set[int]] = defaultdict(set)
    for _, alias, name in pairs:
        meanings[alias].add(same.find(name))
    for document, alias, name in pairs:
        short, long = table.names[alias], table.names[name]
        if len(meanings[alias]) == 1 and _holds_everywhere(short) and (long.documents > 1 or short.documents == 1):
            same.union(alias, name)
        else:
            same.union_in(document, alias, name)


def _holds_everywhere(name: Name) -> bool:
    """Whether an alias is specific. A single word that is not an acronym ("Cascade") names other things elsewhere."""
    return len(name.key) >= MIN_CORPUS_ACRONYM if name.acronym else " " in name.key


def _merge_people(table: NameTable, same: UnionFind) -> None:
    """Merge a shortened name of a person into the one full name of its document that it fits."""
    for document, labels in enumerate(table.labels):
        people = {at for at in labels if _is_person(table, document, at)}
        bearers: dict[str, set[int]] = defaultdict(set)
        for at in people:
            words = table.names[at].key.split()
            if len(words) > 1 and "of" not in words and table.names[at].label == "person":
                for word in {words[0], words[-1]}:
                    if len(word) > 1:
                        bearers[word].add(at)
        for at in labels:
            if at not in people and not _may_be_first_name(table.names[at]):
                continue
            name = table.names[at].key
            found = bearers.get(name.split()[-1], set())
            if " " in name:
                found = {one for one in found if _is_shortened(name, table.names[one].key)}
            if len(found) == 1:
                same.union_in(document, at, next(iter(found)))
    _merge_initials(table, same)


def _merge_initials(table: NameTable, same: UnionFind) -> None:
    """Merge an initial and a surname into the one person of the corpus with that surname, if the initial fits."""
    people = [at for at, name in enumerate(table.names) if name.label == "person" and " " in name.key]
    bearers: dict[str, list[int]] = defaultdict(list)
    for at in people:
        first, *_, last = table.names[at].key.split()
        if len(first) > 1:
            bearers[last].append(at)
    for at in people:
        first, *_, last = table.names[at].key.split()
        found = bearers[last] if len(first) == 1 else []
        if len(found) == 1 and _is_shortened(table.names[at].key, table.names[found[0]].key):
            same.union(at, found[0])


def _is_person(table: NameTable, document: int, at: int) -> bool:
    """Whether a document mentions a name as a person at least as often as anything else."""
    name, labels = table.names[at], table.labels[document][at]
    if not table.code_words.isdisjoint(name.key.split()):
        return False
    if name.identifier or name.acronym or any(char.isdigit() for char in name.key):
        return False
    others = max((count for label, count in labels.items() if label != "person"), default=0)
    return labels.get("person", 0) >= max(1, others)


def _may_be_first_name(name: Name) -> bool:
    """Whether a single word that the tagger labels otherwise may be a rare first name, on which taggers guess."""
    others = sum(count for label, count in name.labels.items() if label != "person")
    return " " not in name.key and not name.identifier and not name.acronym and name.is_named and others <= MAX_GUESSES


def _is_shortened(short: str, long: str) -> bool:
    """Whether a name leaves out or shortens first and middle names: ``john booth``, ``j booth``, ``john w booth``."""
    few, many = short.split(), long.split()
    if few == many or len(few) > len(many) or few[-1] != many[-1]:
        return False
    if few[0] != many[0] and (len(few[0]) > 1 or not many[0].startswith(few[0])):
        return False
    middle = iter(many[1:-1])
    return all(any(full.startswith(part) for full in middle) for part in few[1:-1])


def _merge_plurals(table: NameTable, same: UnionFind) -> None:
    """Merge the plural of a common noun, a type or an acronym into its singular, if the corpus has both."""
    for at, name in enumerate(table.names):
        surface = max(name.surfaces, key=lambda surface: (name.surfaces[surface], surface), default="")
        key = name.key[:-1] if _PLURAL_ACRONYM.fullmatch(surface) else singular_of(name.key)
        singular = table.row(key) if key != name.key and not name.is_code else -1
        if singular == -1 or name.label in _FIXED:
            continue
        one = table.names[singular]
        if one.label in _FIXED and not one.acronym:
            continue
        if surface.isupper():
            continue  # "HTTPS" is not the plural of HTTP
        if not (one.acronym or one.identifier or one.is_lower or name.is_lower) and one.is_named and name.is_named:
            continue  # two proper names: "Beatle", "Beatles"
        if one.acronym and one.is_named and not any(_has_capitals(surface) for surface in name.surfaces):
            continue  # "SLOs" are of SLO, but "crowns" are not of CROWN
        same.union(at, singular)


def _has_capitals(surface: str) -> bool:
    return sum(char.isupper() for char in surface) > 1


def _merge_word_breaks(table: NameTable, same: UnionFind) -> None:
    """Merge names that differ in word breaks only: "data base"."""
    joined: dict[str, int] = {}
    fit = [at for at, name in enumerate(table.names) if not name.identifier]
    for at in sorted(fit, key=lambda at: (-table.names[at].mentions, table.names[at].key)):
        key = table.names[at].key.replace(" ", "")
        if len(key) >= MIN_JOINED_CHARS:
            other = joined.setdefault(key, at)
            if other != at and digits_of(table.names[other].key) == digits_of(table.names[at].key):
                same.union(at, other)


def _merge_code(table: NameTable, same: UnionFind) -> None:
    """Merge a name of code into the name that prose mostly writes in the same way: `FastAPI`, but not `Option`.

    A word of English in lower case is another word as code: `match`, `move`.
    """
    for at, name in enumerate(table.names):
        written = name.key[1:]
        prose = table.row(name.words) if name.is_code else -1
        if prose == -1 or (written.islower() and rank_of(written)):
            continue
        one = table.names[prose]
        alike = one.surfaces.get(written, 0) if one.mentions else one.stated == written
        if 2 * alike >= one.mentions:
            same.union(at, prose)
