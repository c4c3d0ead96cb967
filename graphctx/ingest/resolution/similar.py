"""Rung four: spellings of one name, under a strict threshold."""

from __future__ import annotations

from collections import defaultdict

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from graphctx.ingest.resolution.names import Name, NameTable
from graphctx.ingest.resolution.union_find import UnionFind
from graphctx.text.names import digits_of, singular_of

MIN_RATIO = 93.0
"""rapidfuzz's ratio: one edit in 15 characters. Below it, most pairs that we looked at were different things."""

MIN_CHARS = 8
"""In shorter names one letter makes another word."""

MIN_WORD_CHARS = 6
"""Of the word that differs, for the same reason."""

RARE_SHARE = 5
"""A slip of the pen is at least this much rarer than the right form."""

MAX_BLOCK = 64
"""Names of one block that are compared with each other; a larger block is a common half, not a common name."""

_FIXED = frozenset({"person", "location", "organization", "group", "work"})


def merge_plurals(table: NameTable, same: UnionFind) -> None:
    """Merge the plural of a common noun, a type or an acronym into its singular, where the corpus has both."""
    for at, name in enumerate(table.names):
        text = singular_of(name.text)
        singular = table.index.get(text, -1) if text != name.text else -1
        if singular == -1 or name.label in _FIXED:
            continue
        one = table.names[singular]
        if one.label in _FIXED and not one.acronym:
            continue
        if one.is_named and not one.acronym and not one.code and name.is_named and not name.code:
            continue  # two proper names: "Beatle", "Beatles"
        if one.acronym and one.is_named and not any(_has_capitals(surface) for surface in name.surfaces):
            continue  # "SLOs" are of SLO, but "crowns" are not of CROWN
        if not any(mark in text for mark in ("_", "::", ".", "--")):
            same.union(at, singular)


def _has_capitals(surface: str) -> bool:
    return sum(char.isupper() for char in surface) > 1


def merge_spellings(table: NameTable, same: UnionFind) -> None:
    """Merge names that differ in word breaks ("data base"), and rare ones that differ by one letter in a long word."""
    joined: dict[str, int] = {}
    fit = [at for at, name in enumerate(table.names) if len(name.text) >= MIN_CHARS and not name.code]
    for at in sorted(fit, key=lambda at: _rank(table.names[at])):
        squashed = table.names[at].text.replace(" ", "")
        if len(squashed) < MIN_CHARS:
            continue
        other = joined.setdefault(squashed, at)
        if other != at and digits_of(table.names[other].text) == digits_of(table.names[at].text):
            same.union(at, other)
    for one, other in _pairs(table, fit):
        common, rare = sorted((one, other), key=lambda at: _rank(table.names[at]))
        if _is_slip(table.names[rare], table.names[common]):
            same.union(rare, common)


def _rank(name: Name) -> tuple[int, str]:
    return (-name.mentions, name.text)


def _pairs(table: NameTable, fit: list[int]) -> list[tuple[int, int]]:
    """Pairs that may be one edit apart: of equal length or one more, with an equal first or second half.

    An edit leaves one half of the shorter name as it is, so blocking by halves misses no such pair.
    """
    blocks: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for at in fit:
        text = table.names[at].text
        half = len(text) // 2
        blocks[len(text), "head", text[:half]].append(at)
        blocks[len(text), "tail", text[half:]].append(at)
    found = set()
    for at in fit:
        text = table.names[at].text
        for length in (len(text), len(text) - 1):
            half = length // 2
            keys = ((length, "head", text[:half]), (length, "tail", text[len(text) - (length - half) :]))
            for key in keys:
                block = blocks.get(key, ())
                if len(block) > MAX_BLOCK:
                    continue
                for other in block:
                    if other != at and Levenshtein.distance(text, table.names[other].text, score_cutoff=1) == 1:
                        found.add((min(at, other), max(at, other)))
    return sorted(found, key=lambda pair: (table.names[pair[0]].text, table.names[pair[1]].text))


def _is_slip(rare: Name, common: Name) -> bool:
    """Whether a rare form differs from a common one by one letter in one long word."""
    if rare.label == "person" or common.label == "person" or rare.mentions * RARE_SHARE > common.mentions:
        return False
    if digits_of(rare.text) != digits_of(common.text) or fuzz.ratio(rare.text, common.text) < MIN_RATIO:
        return False
    ours, theirs = rare.text.split(), common.text.split()
    if len(ours) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(differing) != 1:
        return False
    one, other = differing[0]
    return (
        min(len(one), len(other)) >= MIN_WORD_CHARS
        and one[0] == other[0]
        and singular_of(one) != singular_of(other)
        and one.isalpha()
        and other.isalpha()
    )
