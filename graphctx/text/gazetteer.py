"""Dictionary matching: every place where a unit names something whose definition or entity is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphctx.text.lexical import STOPWORDS, fold

_WORD = re.compile(r"[^\W_]+(?:[.'’_]+[^\W_]+)*(?:\+\+|#(?!\w))?")
_CODE_WORD = re.compile(r"(?:--?|[/.$@_])?\w(?:[\w.:/@-]*\w)?(?:\+\+|#(?!\w))?")
_BREAK = re.compile(r"[`\[\])<>|]|\n\s*\n|[.:;!?]\s")
"""No name of prose reaches across code, a link's edge, a closed bracket or the end of a sentence."""

_CODE_CHARACTER = re.compile(r"[._0-9]")

_JOINTS = tuple("-_/.$@:=`")


@dataclass(frozen=True, slots=True)
class Match:
    """A dictionary name in a text: its value in the dictionary and its span."""

    value: int
    start: int
    end: int


def name_words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as names are compared, each with its span: folded, without a possessive ``'s``."""
    if text.isascii():
        return [(match.group().removesuffix("'s"), *match.span()) for match in _WORD.finditer(text.lower())]
    return [(_bare(fold(match.group())), *match.span()) for match in _WORD.finditer(text)]


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
    if word.islower():
        return False
    inner_capital = any(map(str.isupper, word[1:]))
    return (inner_capital or (word[:1].isupper() and not first_word)) and word.casefold() not in STOPWORDS


def is_identifier(text: str, start: int, end: int) -> bool:
    """Whether one word is written as code writes names: ``max_wave``, ``v2``, `` `tail` ``, ``--tail``, ``tail()``."""
    if _CODE_CHARACTER.search(text, start, end):
        return True
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    return (before[-1:] == "`" and after[:1] in "`=( ") or before in (" --", "`--", "--") or after == "()"


class Gazetteer:
    """Finds the longest dictionary names in texts: names of code as they are written, names of prose by their words.

    A name of prose of one word counts only where the text capitalises it: most single words in lower case are no
    names, whatever the dictionary says. A name of code of one plain word counts only between back ticks.
    """

    def __init__(self, names: Mapping[str, int]) -> None:
        """Build from names and the number each stands for; a back tick before a name marks it as code."""
        self._prose = _Phrases()
        self._code = _Phrases()
        for name, value in sorted(names.items()):
            if name.startswith("`"):
                self._code.add(tuple(match.group() for match in _CODE_WORD.finditer(name)), value)
            else:
                self._prose.add(tuple(word for word, _, _ in name_words(name)), value)

    def find(self, text: str, *, prose: bool = True) -> Iterable[Match]:
        """Yield the matches in a text in order; they do not overlap.

        Args:
            text: to search.
            prose: whether to look for names of prose; they mean nothing in a block of code.
        """
        found: list[Match] = []
        if self._code.may_begin(_CODE_WORD.findall(text)):
            code = [(match.group(), match.start(), match.end()) for match in _CODE_WORD.finditer(text)]
            found += [match for match in self._code.find(code) if _is_written_as_code(text, match.start, match.end)]
        if prose:
            found += [match for match in self._prose.find(name_words(text)) if _is_prose(text, match.start, match.end)]
        end = 0
        for match in sorted(found, key=lambda match: (match.start, -match.end)):
            if match.start >= end:
                end = match.end
                yield match


class _Phrases:
    """Finds sequences of words, the longest first."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, ...], int] = {}
        self._longest: dict[str, int] = {}

    def add(self, words: tuple[str, ...], value: int) -> None:
        if words and words not in self._values:
            self._values[words] = value
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def may_begin(self, words: Iterable[str]) -> bool:
        """Whether any of some words is the first of a phrase."""
        return not self._longest.keys().isdisjoint(words)

    def find(self, found: Sequence[tuple[str, int, int]]) -> Iterable[Match]:
        words = [word for word, _, _ in found]
        longest, past = self._longest, 0
        for at in [at for at, word in enumerate(words) if word in longest]:
            for length in range(min(longest[words[at]], len(words) - at) if at >= past else 0, 0, -1):
                value = self._values.get(tuple(words[at : at + length]))
                if value is not None:
                    past = at + length
                    yield Match(value, found[at][1], found[past - 1][2])
                    break


def _is_written_as_code(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    if text[max(0, start - 2) : start] == "](":
        return False  # the target of a link
    if any(not (char.isalnum() or char == "-") for char in word) or word[0] == "-":
        return True  # marks or several words
    return text[max(0, start - 1) : start] == "`" and text[end : end + 1] in ("`", "=", "(", " ")


def _is_prose(text: str, start: int, end: int) -> bool:
    """Whether a span is a name, and no part of a longer word of code: of a flag, a path, an identifier or a call."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if before in _JOINTS or (after != "" and after in "_/=(") or text[end : end + 2] == "::":
        return False
    n_words = len(name_words(text[start:end]))
    return _BREAK.search(text, start, end) is None and counts_as_name(text, start, end, n_words)


def _bare(word: str) -> str:
    return word.replace("’", "'").removesuffix("'s")
