"""How common a word is in English at large.

The vocabulary of the uncased BERT models, which the shipped tokenizer has, lists whole words by falling frequency in
books and an encyclopaedia: "the" comes first, "people" soon after, "propeller" late, "shackle" not at all.
"""

from __future__ import annotations

import json
from functools import cache

from graphctx.nlp.weights import read_verified
from graphctx.text.names import singular_of

_FIRST = "the"
_ZIPF = 2.0
"""Under Zipf's law the word of rank r has a share of about ``1 / (10 r)`` of the words of a text, as the harmonic sum
over 30,000 ranks is about 10; one word in five is a mention."""


@cache
def _ranks() -> dict[str, int]:
    vocabulary = json.loads(read_verified("tokenizer.json"))["model"]["vocab"]
    first = vocabulary[_FIRST]
    return {word: at - first + 1 for word, at in vocabulary.items() if at >= first and word.isalpha()}


def rank_of(word: str) -> int:
    """The rank of a word in lower case, 1 for the most common; its singular's where it has none; 0 for a rare word."""
    ranks = _ranks()
    return ranks.get(word) or ranks.get(singular_of(word), 0)


def expected_mentions(word: str, mentions: int) -> float:
    """How often a text of any sort with so many mentions would mention a word; 0 for a rare word."""
    rank = rank_of(word)
    return mentions / (_ZIPF * rank) if rank else 0.0
