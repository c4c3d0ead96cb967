"""Compression: summaries of items whose lines cite the sentences that they rest on.

Without a language model a summary is extractive: the sentences that say most. With one it is in the model's words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphctx.errors import GraphctxError, TimedOut
from graphctx.memory.items import MemoryItem
from graphctx.nlp.tokens import AnswerCounter
from graphctx.settings import LlmSettings
from graphctx.text.lexical import terms
from graphctx.text.prose import stands_alone
from graphctx.text.sentences import split_sentences

if TYPE_CHECKING:
    from graphctx.nlp.llm.phrase import Phrased

REPEATED = 0.5
"""Share of a sentence's terms that chosen sentences may have; beyond, it is left out."""

FRAGMENT_SHARE = 0.3
"""What is left of the weight of a sentence that does not stand alone."""

MAX_MODEL_SENTENCES = 8
"""Sentences of a summary that a language model writes."""

_MAX_SENTENCES = 2000


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an item, ``item.text[start_char:end_char]``, and the line of the summary that rests on it."""

    item_id: str
    start_char: int
    end_char: int
    line: int = 0


@dataclass(frozen=True, slots=True)
class ItemSummary:
    """A summary of some items and the sentences that its lines rest on, in the order of the lines.

    ``model`` is the language model that wrote it; empty if every line is a sentence of an item.
    """

    text: str
    sentences: tuple[CitedSentence, ...]
    model: str = ""


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
    cited = tuple(replace(each.cited, line=line) for line, each in enumerate(chosen))
    return ItemSummary("\n".join(each.line for each in chosen), cited)


def write_summaries(
    groups: Sequence[Sequence[MemoryItem]],
    max_tokens: int,
    counter: AnswerCounter,
    llm: LlmSettings,
    within_seconds: float,
) -> tuple[list[ItemSummary], str]:
    """Have a language model summarise groups of items; a group that it fails on has its extractive summary.

    Args:
        groups: each in the order in which its sentences were said.
        max_tokens: most tokens of a summary.
        counter: counts them.
        llm: the endpoint.
        within_seconds: for all groups together.

    Returns:
        A summary of each group, and why some are extractive; empty if none is.

    Raises:
        TimedOut: the call was given up.
    """
    summaries = [summarise_items(group, max_tokens, counter) for group in groups]
    try:
        sentences = [_fitting(group, counter) for group in groups]
        phrased = _phrased([[each.line for each in group] for group in sentences], counter, llm, within_seconds)
    except TimedOut:
        raise
    except GraphctxError as error:
        return summaries, error.message
    except Exception as error:  # a model elsewhere may fail in any way; the message may hold a secret
        return summaries, f"The language model could not be asked: {type(error).__name__}."
    failures: list[str] = []
    for number, (given, made) in enumerate(zip(sentences, phrased, strict=True)):
        lines: list[str] = []
        left = max_tokens
        cited: list[CitedSentence] = []
        for one in made.sentences:
            left -= counter.count(one.text) + 1
            if left < 0:
                break
            cited += [replace(given[at].cited, line=len(lines)) for at in one.cites]
            lines.append(one.text)
        if lines:
            summaries[number] = ItemSummary("\n".join(lines), tuple(cited), llm.model)
        elif given:
            failures.append(made.failure or f"The model's first sentence has more than {max_tokens} tokens.")
    if not failures:
        return summaries, ""
    return summaries, f"{len(failures)} of {len(groups)} summaries are extractive: {failures[0]}"


def _phrased(groups: list[list[str]], counter: AnswerCounter, llm: LlmSettings, within_seconds: float) -> list[Phrased]:
    from graphctx.nlp.llm.client import make_chat_model
    from graphctx.nlp.llm.phrase import PhraserLlm

    phraser = PhraserLlm(make_chat_model(llm), llm, counter)
    return phraser.memories(groups, max_sentences=MAX_MODEL_SENTENCES, within_seconds=within_seconds)[0]


def _fitting(items: Sequence[MemoryItem], counter: AnswerCounter) -> list[_Sentence]:
    """Return the sentences of items; of more than a prompt holds, those that say most."""
    from graphctx.nlp.llm.prompts import MAX_GIVEN_TOKENS

    sentences = _sentences(items, counter)
    if sum(each.tokens for each in sentences) <= MAX_GIVEN_TOKENS:
        return sentences
    chosen = summarise_items(items, MAX_GIVEN_TOKENS, counter).sentences
    kept = {(each.item_id, each.start_char) for each in chosen}
    return [each for each in sentences if (each.cited.item_id, each.cited.start_char) in kept]


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
