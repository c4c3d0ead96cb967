"""What of a model's answer is believed: sentences that cite the given ones, and bring in nothing checkable.

A citation does not prove that a sentence follows from what it cites. What a program can tell is checked: the number
exists, and each figure and link of the sentence is in what it cites. What was asked is no source: "Did it grow 40 %?"
does not bear out that it did.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from graphctx.nlp.llm.base import ChatFailed, Cited, Completion
from graphctx.nlp.llm.links import adds_figures, adds_links, without_markup
from graphctx.nlp.llm.prompts import NOTHING, Prompt
from graphctx.text.sentences import split_sentences

_MARK = re.compile(r"(?<!\s)\s*+\[\s*(\d{1,6}(?:\s*[,;]\s*\d{1,6})*)\s*\]")
_MARKS_AFTER_END = re.compile(rf"(?<![.!?…。！？])([.!?…。！？]++)((?:{_MARK.pattern})+)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•‣]|\d{1,3}[.)])\s+")
_THOUGHT = re.compile(r"^.*</think>", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_BEFORE_POINT = re.compile(r"(?<!\s)\s+([.,;:!?…])")


@dataclass(frozen=True, slots=True)
class Reading:
    """The sentences that are kept, in their order, and how many were dropped."""

    sentences: tuple[Cited, ...]
    dropped: int


def read_cited(completion: Completion, prompt: Prompt) -> Reading:
    """Read an answer.

    Args:
        completion: as the model gave it; if it was cut off, its last sentence is dropped.
        prompt: what was asked.

    Raises:
        ChatFailed: nothing in it can be kept.
    """
    text = _THOUGHT.sub("", completion.text).strip()
    if prompt.may_be_empty and text.rstrip(".") == NOTHING:
        return Reading((), 0)
    sentences = _sentences(text)
    if not completion.finished:
        sentences = sentences[:-1]
    kept: list[Cited] = []
    seen: set[str] = set()
    for sentence in sentences:
        cited = _cited(sentence)
        if _holds(cited, prompt) and cited.text not in seen and len(kept) < prompt.max_sentences:
            seen.add(cited.text)
            kept.append(cited)
    if not kept:
        why = (
            "was cut off before its first cited sentence" if sentences == [] and text else "cites nothing it was given"
        )
        raise ChatFailed(f"The model's answer {why}.", "uncited")
    return Reading(tuple(kept), len(sentences) - len(kept))


def _sentences(text: str) -> list[str]:
    """The sentences of an answer, each with its citations: those after a full stop belong to what it ends."""
    found: list[str] = []
    for line in text.splitlines():
        line = _MARKS_AFTER_END.sub(r"\2\1", _LIST_ITEM.sub("", line))
        found.extend(line[start:end] for start, end in split_sentences(line))
    return found


def _cited(sentence: str) -> Cited:
    """A sentence without its marks, and the indices that they name."""
    numbers = {int(number) for mark in _MARK.findall(sentence) for number in _NUMBER.findall(mark)}
    bare = without_markup(_MARK.sub("", sentence)).replace("**", "")
    shown = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in bare)
    text = _BEFORE_POINT.sub(r"\1", " ".join(shown.split()))
    return Cited(text, tuple(sorted(number - 1 for number in numbers)))


def _holds(cited: Cited, prompt: Prompt) -> bool:
    """Whether a sentence cites given ones only, and takes its figures and links from them."""
    if not cited.cites or cited.cites[0] < 0 or cited.cites[-1] >= len(prompt.given):
        return False
    if not any(char.isalpha() for char in cited.text):
        return False
    source = " ".join(prompt.given[at] for at in cited.cites)
    return not adds_figures(cited.text, source) and not adds_links(cited.text, source)
