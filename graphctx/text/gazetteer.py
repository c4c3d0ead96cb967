"""Dictionary matching: every place where a unit names something whose home or entity is known."""

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
            key = tuple(fold(word) for word in _WORD.findall(name))
            if key and key not in self._values:
                self._values[key] = value
                self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))

    def find(self, text: str, *, skip_first_word: bool = False) -> Iterable[Match]:
        """Yield the matches in order; they do not overlap.

        Args:
            text: where to look.
            skip_first_word: a capital there says nothing (a question's first word), so a name of one word does
                not count there.
        """
        spans = [(match.start(), match.end()) for match in _WORD.finditer(text)]
        words = [_bare(fold(text[start:end])) for start, end in spans]
        at = 0
        while at < len(words):
            length = min(self._longest.get(words[at], 0), len(words) - at)
            while length:
                value = self._values.get(tuple(words[at : at + length]))
                if value is not None and self._counts(text, spans[at], length, skip_first_word and at == 0):
                    yield Match(value, spans[at][0], spans[at + length - 1][1])
                    break
                length -= 1
            at += max(1, length)

    @staticmethod
    def _counts(text: str, span: tuple[int, int], length: int, first_word: bool) -> bool:
        if length > 1:
            return True
        word = text[span[0] : span[1]]
        if any(c in "._0123456789" for c in word):
            return True
        return not first_word and any(c.isupper() for c in word) and word.casefold() not in STOPWORDS


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s")
