"""Rung two: aliases that the text states, and acronyms whose long form stands in the same document."""

from __future__ import annotations

from collections import defaultdict

from graphctx.ingest.resolution.names import Name, NameTable
from graphctx.ingest.resolution.union_find import UnionFind
from graphctx.text.names import acronym_of

MIN_CORPUS_ACRONYM = 3
"""Characters of an acronym that means the same in the whole corpus once one document says what; shorter ones are
too often reused, and hold in that document only."""


def merge_aliases(table: NameTable, same: UnionFind) -> None:
    """Merge what the documents equate: for the whole corpus where they all agree, else document by document."""
    pairs = [(s.document, s.alias, s.name) for s in table.stated]
    _merge_pairs(table, pairs, same)


def merge_acronyms(table: NameTable, same: UnionFind) -> None:
    """Merge an acronym with the one name of its document that it abbreviates."""
    pairs = []
    for number, document in enumerate(table.documents):
        if not document.acronyms:
            continue
        longs: dict[str, set[int]] = defaultdict(set)
        for at in document.labels:
            name = table.names[at]
            if " " in name.text and not name.code:
                longs[acronym_of(name.text)].add(same.find(at))
        for at in sorted(document.acronyms):
            short = table.names[at].text.upper()
            found = longs.get(short, set())
            if len(short) >= MIN_CORPUS_ACRONYM and len(found) == 1 and same.find_in(number, at, short) == at:
                pairs.append((number, at, next(iter(found))))
    _merge_pairs(table, pairs, same)


def _merge_pairs(table: NameTable, pairs: list[tuple[int, int, int]], same: UnionFind) -> None:
    """Merge ``(document, alias, name)``: everywhere if the alias has one meaning only, else where it is stated.

    A name that stands in one document alone says nothing about the others: their "NHK" may be another one.
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
    """A single word that is no acronym ("Cascade") names other things in other documents."""
    if name.acronym:
        return len(name.text) >= MIN_CORPUS_ACRONYM
    return " " in name.text
