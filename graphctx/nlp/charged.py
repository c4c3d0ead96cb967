"""Word pieces, and what the vocabulary lacks by its bytes: about as many tokens as language models see, in any script.

The vocabulary of MiniLM has one piece, ``[UNK]``, for a whole word with a letter that it lacks, for a word beyond 100
characters and for any row of emoji, and none for what its tokenizer drops. Byte pairs of language models take apart all
of it. So such a word is charged by its UTF-8 bytes, two to a token; what was measured is in
docs/decisions/0016-what-an-answer-weighs.md. Of text that has none of this, every figure is that of `WordPieces`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import regex

from graphctx.nlp.wordpieces import Spans, WordPieces

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WHOLE = 4
"""Shares of one token; `share` gives a character's."""

MAX_PIECED_CHARS = 100
"""The tokenizer makes one unknown piece of a longer word."""

_DROPPED = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Co}\uFFFD]+|(?<=[\p{Mn}\p{Cf}]{2})[\p{Mn}\p{Cf}]+")
"""What the tokenizer drops and a model sees: controls and private characters; marks and formatting characters from the
third in a row on, since those before it belong to the writing of languages whose pieces were measured."""

_FREE = regex.compile(r"[\s\p{Mn}\p{Cf}]+")


def share(char: str) -> int:
    """How many quarters of a token a character is charged: one in ASCII, else two for each UTF-8 byte; four if it is
    a control character, which no pair holds."""
    code = ord(char)
    if " " <= char < "\x7f":
        return 1
    return 4 if code < 0x800 else 6 if code < 0x10000 else 8


class ChargedPieces(WordPieces):
    """The pieces of texts, with tokens of its own characters in place of each unknown piece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self._unknown = tokenizer.token_to_id("[UNK]")

    def _encode(self, text: str) -> Spans:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        pieces: Spans = tuple(encoded.offsets)
        rest = text
        if self._unknown in encoded.ids:
            lacked = [span for piece, span in zip(encoded.ids, pieces, strict=True) if piece == self._unknown]
            known = (span for piece, span in zip(encoded.ids, pieces, strict=True) if piece != self._unknown)
            rest = _without(text, lacked)
            pieces = (*known, *chain.from_iterable(self._charged(text, *span) for span in lacked))
        dropped = tuple(_dropped(rest, encoded.offsets))
        return tuple(sorted((*pieces, *dropped))) if dropped or rest is not text else pieces

    def _encode_words(self, words: list[str]) -> list[Spans]:
        found = super()._encode_words([word for word in words if len(word) <= MAX_PIECED_CHARS])
        if len(found) == len(words):
            return found
        short = iter(found)
        return [self._slices(word, 0, len(word)) if len(word) > MAX_PIECED_CHARS else next(short) for word in words]

    def _charged(self, text: str, start: int, end: int) -> Spans:
        if end - start > MAX_PIECED_CHARS and min(text[start:end]) < "\x80":  # there may be words in it
            return self._slices(text, start, end)
        return tuple(_charge(text, start, end))

    def _slices(self, text: str, start: int, end: int) -> Spans:
        """The pieces of a long word, which is cut into words that the tokenizer looks up."""
        return tuple(
            (at + first, at + last)
            for at in range(start, end, MAX_PIECED_CHARS)
            for first, last in self._encode(text[at : min(end, at + MAX_PIECED_CHARS)])
        )


def _charge(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Tokens of a stretch by its bytes: as many end with each character as all up to it are charged."""
    spans: list[tuple[int, int]] = []
    charged = 0
    for at in range(start, end):
        charged += share(text[at])
        due = -(-charged // WHOLE) - len(spans)
        if due:
            spans += [(at, at + 1)] * due
        else:
            spans[-1] = (spans[-1][0], at + 1)
    return spans


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with other characters in place of those of some spans."""
    kept, end = [], 0
    for first, last in spans:
        kept += [text[end:first], "x" * (last - first)]
        end = last
    return "".join([*kept, text[end:]])


def _dropped(text: str, pieces: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Tokens of what no piece stands for although a model sees it."""
    for match in _DROPPED.finditer(text):
        yield from _charge(text, *match.span())
    end = 0
    for first, last in (*pieces, (len(text), len(text))):
        for at in range(end, first):
            # The tokenizer's tables are older than some characters: it drops them as it does controls.
            if not _FREE.match(text, at, at + 1) and not _DROPPED.match(text, at):
                yield from _charge(text, at, at + 1)
        if last > end:
            end = last
