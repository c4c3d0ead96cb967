"""Dictionary matching: every place where a unit names something whose definition or entity is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphctx.text.lexical import STOPWORDS, fold

_WORD = re.compile(r"[^\W_]+(?:[.'’_]+[^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Match:
    """A dictionary name in a text: its value in the dictionary and its span."""

    value: int
    start: int
    end: int


def name_words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as names are compared, each with its span: folded, without a possessive ``'s``."""
    return [(_bare(fold(match.group())), match.start(), match.end()) for match in _WORD.finditer(text)]


def counts_as_name(text: str, start: int, end: int, n_words: int, *, first_word: bool = False) -> bool:
    """Whether a span that is in the dictionary is meant as a name there.

    More than one word always is. A single one counts only where it is written like an identifier or capitalised,
    and not for a capital that any first word of a question has.
    """
    if n_words > 1:
        return True
    word = text[start:end]
    if is_identifier(text, start, end):
        return True
    inner_capital = any(c.isupper() for c in word[1:])
    return (inner_capital or (word[:1].isupper() and not first_word)) and word.casefold() not in STOPWORDS


def is_identifier(text: str, start: int, end: int) -> bool:
    """Whether one word is written as code writes names: ``max_wave``, ``v2``, `` `tail` ``, ``--tail``, ``tail()``."""
    if any(c in "._0123456789" for c in text[start:end]):
        return True
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    return (before[-1:] == "`" and after[:1] in "`=( ") or before in (" --", "`--", "--") or after == "()"


class Gazetteer:
    """Finds the longest dictionary names in texts.

    A name of one word counts only where the text capitalises it or writes it like an identifier: most single words
    in lower case are no names, whatever the dictionary says.
    """

    def __init__(self, names: Mapping[str, int]) -> None:
        """Build from normalised names and the number each stands for."""
        self._values: dict[tuple[str, ...], int] = {}
        self._longest: dict[str, int] = {}
        for name, value in sorted(names.items()):
            key = tuple(word for word, _, _ in name_words(name))
            if key and key not in self._values:
                self._values[key] = value
                self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))

    def find(self, text: str) -> Iterable[Match]:
        """Yield the matches in a text in order; they do not overlap."""
        found = name_words(text)
        words = [word for word, _, _ in found]
        at = 0
        while at < len(words):
            length = min(self._longest.get(words[at], 0), len(words) - at)
            while length:
                value = self._values.get(tuple(words[at : at + length]))
                start, end = found[at][1], found[at + length - 1][2]
                if value is not None and counts_as_name(text, start, end, length) and not _in_path(text, start, end):
                    yield Match(value, start, end)
                    break
                length -= 1
            at += max(1, length)


def _in_path(text: str, start: int, end: int) -> bool:
    """Whether a span is a file's name inside a longer path or a link's target, which says nothing about the file."""
    return text[max(0, start - 1) : start] in ("/", "(") and "." in text[start:end]


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s")
