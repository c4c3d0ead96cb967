"""Which sentences of a model's answer are kept: those that cite the given ones, and add no figure and no link.

A citation does not prove that a sentence follows from what it cites. What a program can check is checked: the number
exists, and each figure and link of the sentence is in what it cites. The question is not a source: "Did it grow 40 %?"
does not say that it did.

A link is whatever a client might turn into one: not only addresses with a scheme, but hosts, mail addresses, paths of
files, tags of HTML, and the markup of Markdown around them. Texts are compared as a reader sees them: letters of other
widths, invisible characters, case and entities make no difference.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass

from graphctx.nlp.llm.client import ChatFailed, Completion
from graphctx.nlp.llm.prompts import NOTHING, Prompt
from graphctx.text.sentences import split_sentences

_MARK = re.compile(r"(?<!\s)\s*+\[\s*(\d{1,6}(?:\s*[,;]\s*\d{1,6})*)\s*\]")
_MARKS_AFTER_END = re.compile(rf"(?<![.!?…。！？])([.!?…。！？]++)((?:{_MARK.pattern})+)")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•‣]|\d{1,3}[.)])\s+")
_THOUGHT = re.compile(r"^.*</think>", re.DOTALL)
_NUMBER = re.compile(r"\d+")
_BEFORE_POINT = re.compile(r"(?<!\s)\s+([.,;:!?…])")

_LINK = re.compile(
    r"""
    [a-z][a-z0-9+.-]{0,60}:\S    # a scheme
    | // | \\\\ | @             # a host without one, a share, an address of mail
    | \w\.[^\W\d_]{2}           # a host, a file: the end has letters, other than that of "e.g." or "2.5"
    | [a-z0-9]\u3002[a-z]{2}     # resolvers take the full stop of Chinese for a dot
    | \d(?:\.\d+){2}\.\d         # an address in numbers
    """,
    re.VERBOSE,
)
_TAG = re.compile(r"<[a-z/!?][^>]*>?")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_AROUND = "()[]{}<>\"'`*_~.,;:!?\u2026\u3002\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
_OWNER = re.compile(r"['\u2019]s$")
_INSIDE = re.compile(r"[()\[\]{}<>\"`|]+")

_MARKED = re.compile(r"!?\[([^\[\]]*)\]\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^\s<>]+|[^\s<>@]+@[^\s<>]+)>", re.IGNORECASE)
_NESTED = 3
"""An image in a link in a link; what is nested deeper stays as it is, and is not a link that a source has."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of a model, and which of the given sentences it is drawn from: indices from 0, sorted."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """The sentences that are kept, in their order, and how many were dropped."""

    sentences: tuple[Cited, ...]
    dropped: int


def read_cited(completion: Completion, prompt: Prompt) -> CitedAnswer:
    """Read an answer.

    Args:
        completion: as the model gave it; if it was cut off, its last sentence is dropped.
        prompt: what was asked.

    Raises:
        ChatFailed: nothing in it can be kept.
    """
    text = _THOUGHT.sub("", completion.text).strip()
    if prompt.may_be_empty and text.rstrip(".") == NOTHING:
        return CitedAnswer((), 0)
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
    return CitedAnswer(tuple(kept), len(sentences) - len(kept))


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


def without_markup(text: str) -> str:
    """A text with the links and images of Markdown written out: ``[this](target)`` becomes ``this (target)``."""
    for _ in range(_NESTED):
        plain = _MARKED.sub(r"\1 (\2)", text)
        if plain == text:
            break
        text = plain
    return _AUTOLINK.sub(r"\1", text)


def adds_links(text: str, source: str) -> bool:
    """Whether a text has a link, or a tag, that its source does not have as a whole."""
    said, known = _folded(text), _folded(source)
    if any(tag not in known for tag in _TAG.findall(said)):
        return True
    links = {token for token in _tokens(said) if _LINK.search(token)}
    return bool(links) and not links <= _tokens(known) | _tokens(_INSIDE.sub(" ", known))


def adds_figures(text: str, source: str) -> bool:
    """Whether a text has a figure that its source lacks: whole numbers count, and zeros before them do not."""
    return not _figures(text) <= _figures(source)


def _figures(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKC", text)
    return {_THOUSANDS.sub("", figure).lstrip("0") for figure in _FIGURE.findall(plain)}


def _folded(text: str) -> str:
    """A text as it is compared."""
    plain = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")


def _tokens(folded: str) -> set[str]:
    """The words between spaces, without the marks around it."""
    return {_OWNER.sub("", token.strip(_AROUND)) for token in folded.split()}
