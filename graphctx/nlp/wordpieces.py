"""The word pieces of texts, each word's looked up once: several times as fast as running the tokenizer again.

BERT's tokenizer cuts a text at white space and around each mark of punctuation, and then each word by itself. So the
pieces of a text are those of its words, and most words of a text were seen before. For printable ASCII that is all.
Where a text has another character, what stands around it up to the next spaces is one word here, since no piece crosses
a space, and is left to the tokenizer as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Spans = tuple[tuple[int, int], ...]

_WORD = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_OTHER = re.compile(r"[^\t\n\r -~]")

MAX_WORDS = 40_000
"""Words that are kept, some 7 MB; when there are more, they are collected anew."""
MAX_WORD_CHARS = 64
"""Longer words are seldom seen twice."""


class WordPieces:
    """The pieces of texts by one tokenizer, which neither truncates nor pads. Safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        added = [re.escape(token.content) for token in tokenizer.get_added_tokens_decoder().values()]
        # "[SEP]" in a text is one piece, not three.
        self._added = re.compile("|".join(added) or r"(?!)")
        self._known: dict[str, Spans] = {}
        self._shapes: dict[Spans, Spans] = {}

    def count(self, text: str) -> int:
        """How many pieces a text has."""
        return self.counts([text])[0]

    def counts(self, texts: Sequence[str]) -> list[int]:
        """How many pieces each text has."""
        plain: list[list[str]] = [[] for _ in texts]
        rough: list[list[str]] = [[] for _ in texts]
        whole = {}
        for at, text in enumerate(texts):
            if self._added.search(text):
                whole[at] = len(self._encode(text))
                continue
            for _, part, is_plain in _parts(text):
                if is_plain:
                    plain[at] += _WORD.findall(part)
                else:
                    rough[at].append(part)
        totals = [0] * len(texts)
        for kind, is_plain in ((plain, True), (rough, False)):
            known = self._with(list(chain.from_iterable(kind)), is_plain)
            for at, words in enumerate(kind):
                totals[at] += sum(map(len, map(known.__getitem__, words)))
        return [whole.get(at, total) for at, total in enumerate(totals)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each piece, in code points."""
        if self._added.search(text):
            return list(self._encode(text))
        found: list[tuple[int, int]] = []
        for start, part, plain in _parts(text):
            if plain:
                words = [(start + match.start(), match.group()) for match in _WORD.finditer(part)]
            else:
                words = [(start, part)]
            known = self._with([word for _, word in words], plain)
            found += [(at + first, at + end) for at, word in words for first, end in known[word]]
        return found

    def _with(self, words: list[str], plain: bool) -> dict[str, Spans]:
        """A dictionary that knows all of these words."""
        known = self._known
        missing = list(set(words).difference(known))  # in any order: each is looked up by itself
        if not missing:
            return known
        found = self._encode_words(missing) if plain else map(self._encode, missing)
        fresh = dict(zip(missing, found, strict=True))
        kept = {word: self._shapes.setdefault(of, of) for word, of in fresh.items() if len(word) <= MAX_WORD_CHARS}
        if len(known) + len(kept) > MAX_WORDS:
            # Another dictionary: a thread that took the one before goes on with it.
            self._known = known = {word: known[word] for word in words if word in known}
            self._shapes = {}
        known.update(kept)
        return known if len(kept) == len(fresh) else {**{word: known.get(word, ()) for word in words}, **fresh}

    def _encode(self, text: str) -> Spans:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def _encode_words(self, words: list[str]) -> list[Spans]:
        """The pieces of each of many words in one call. The tokenizer numbers words as they are cut here."""
        encoded = self._tokenizer.encode(" ".join(words), add_special_tokens=False)
        starts = list(accumulate((len(word) + 1 for word in words), initial=0))
        pieces: list[list[tuple[int, int]]] = [[] for _ in words]
        for at, (first, end) in zip(encoded.word_ids, encoded.offsets, strict=True):
            if at is not None:  # that is for special tokens, of which there are none
                pieces[at].append((first - starts[at], end - starts[at]))
        return [tuple(of) for of in pieces]


def _parts(text: str) -> Iterator[tuple[int, str, bool]]:
    """A text in parts that no piece crosses: where each starts, its words, and whether they are all ASCII."""
    at = 0
    for match in _OTHER.finditer(text):
        if match.start() < at:
            continue
        first = max(at, text.rfind(" ", at, match.start()) + 1)
        space = text.find(" ", match.end())
        end = len(text) if space < 0 else space
        if first > at:
            yield at, text[at:first], True
        yield first, text[first:end], False
        at = end
    if at < len(text):
        yield at, text[at:] if at else text, True
