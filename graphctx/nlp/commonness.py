"""How common a word is in English at large, by the counts of web pages that symspellpy ships (MIT).

Web pages know the everyday words of computing: "user" and "file" are as common there as "house", while books and
encyclopaedias hardly have them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import islice

from graphctx.text.names import singular_of

_WORDS_PER_MENTION = 5.0
"""One word in five of a text is a mention."""


@cache
def _shares() -> dict[str, float]:
    """The share of each word, in the singular, among the words of a text, from the most common down."""
    counts: Counter[str] = Counter()
    for line in files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text("utf-8-sig").splitlines():
        word, _, count = line.partition(" ")
        counts[singular_of(word)] += int(count)
    total = counts.total()
    return {word: count / total for word, count in counts.most_common()}


@cache
def _ranks() -> dict[str, int]:
    return {word: rank for rank, word in enumerate(_shares(), 1)}


def rank_of(word: str) -> int:
    """Return the rank of a word in lower case, 1 for the most common; 0 for a word that the list lacks."""
    return _ranks().get(singular_of(word), 0)


@cache
def common_words(most: int) -> tuple[str, ...]:
    """Return the most common words, in the singular."""
    return tuple(islice(_shares(), most))


def expected_mentions(word: str, mentions: int) -> float:
    """Return how often a text of any sort with this many mentions mentions a word; 0 for a word that the list lacks."""
    return mentions * _WORDS_PER_MENTION * _shares().get(singular_of(word), 0.0)
