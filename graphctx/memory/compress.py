"""Extractive compression: the sentences of some items that say most of them, each cited to its item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from graphctx.memory.items import MemoryItem
from graphctx.nlp.tokens import AnswerCounter
from graphctx.text.lexical import terms
from graphctx.text.prose import stands_alone
from graphctx.text.sentences import split_sentences

REPEATED = 0.5
"""Share of a sentence's terms that chosen sentences may have; beyond, it is left out."""

FRAGMENT_SHARE = 0.3
"""What is left of the weight of a sentence that does not stand alone."""

_MAX_SENTENCES = 2000


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an item, ``item.text[start_char:end_char]``."""

    item_id: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """A summary of some items and the sentences that it is made of, in their order."""

    text: str
    sentences: tuple[CitedSentence, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    order: int
    cited: CitedSentence
    line: str
    terms: frozenset[str]
    tokens: int
    form: float


def summarise_items(items: Sequence[MemoryItem], max_tokens: int, counter: AnswerCounter) -> ItemSummary:
    """Choose sentences under a token budget: central ones, that stand alone, without repetition.

    Args:
        items: in the order in which their sentences are to appear.
        max_tokens: most tokens of the summary; its first sentence is cut to it.
        counter: counts them.

    Returns:
        Lines, each a sentence, after its speaker if it has one.
    """
    sentences = _sentences(items, counter)
    frequency = Counter(term for sentence in sentences for term in sentence.terms)

    def weight(sentence: _Sentence) -> float:
        mass = sum(math.log1p(frequency[term]) for term in sentence.terms)
        return sentence.form * mass / math.sqrt(8 + len(sentence.terms))

    chosen: list[_Sentence] = []
    said: set[str] = set()
    left = max_tokens
    for sentence in sorted(sentences, key=lambda each: (-weight(each), each.order)):
        repeated = len(sentence.terms & said) / len(sentence.terms) if sentence.terms else 1.0
        if sentence.tokens + 1 > left or (chosen and repeated > REPEATED):
            continue
        chosen.append(sentence)
        said |= sentence.terms
        left -= sentence.tokens + 1
    if not chosen and sentences:
        chosen = [_clipped(sentences[0], max_tokens, counter)]
    chosen.sort(key=lambda each: each.order)
    return ItemSummary("\n".join(each.line for each in chosen), tuple(each.cited for each in chosen))


def _sentences(items: Sequence[MemoryItem], counter: AnswerCounter) -> list[_Sentence]:
    found: list[tuple[CitedSentence, str, str]] = []
    for item in items:
        speaker = f"{item.author}: " if item.author else ""
        for start, end in split_sentences(item.text):
            said = item.text[start:end]
            found.append((CitedSentence(item.id, start, end), f"{speaker}{' '.join(said.split())}", said))
    found = found[:_MAX_SENTENCES]
    counts = counter.count_many([line for _, line, _ in found])
    return [
        _Sentence(order, cited, line, frozenset(terms(said)), tokens, max(FRAGMENT_SHARE, stands_alone(said, "prose")))
        for order, ((cited, line, said), tokens) in enumerate(zip(found, counts, strict=True))
    ]


def _clipped(sentence: _Sentence, max_tokens: int, counter: AnswerCounter) -> _Sentence:
    end = counter.clip(sentence.line, max_tokens)
    cited = sentence.cited
    return _Sentence(0, cited, sentence.line[:end], sentence.terms, max_tokens, sentence.form)
