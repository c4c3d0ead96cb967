"""Count, locate and clip tokens with the vocabulary of the embedder that comes with graphctx.

`WordPieceCounter` counts what the embedder reads: units and sentences are measured in it. `AnswerCounter` counts about
what language models see of a text, in any script: all limits of answers are measured in it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp import weights
from graphctx.text.graphemes import ceil, is_boundary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Spans = tuple[tuple[int, int], ...]

# Lone surrogates come out of JSON escapes and cannot be encoded. U+FFFD is also one code point, so that
# offsets stay, and the tokenizer drops it.
_SURROGATE = re.compile("[\ud800-\udfff]")

_CHARS_PER_TOKEN = 12
"""Characters that a clip looks at first for each token; English has about five."""

_PLAIN = re.compile(r"[!-Z\\-~]+")  # printable ASCII without the bracket that opens "[SEP]"

MAX_PARTS = 40_000
"""Parts whose pieces are kept, some 8 MB; beyond that they are collected anew."""

MAX_PART_CHARS = 64
"""Longer parts are not kept: they are seldom seen twice."""

MAX_WORDPIECE_CHARS = 100
"""The tokenizer makes one unknown piece of a longer word."""

_DROPPED = regex.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Co}\uFFFD]+|(?<=[\p{Mn}\p{Cf}]{2})[\p{Mn}\p{Cf}]+")
"""What the tokenizer drops and a language model sees: controls and private characters; marks and formatting characters
from the third in a row on, since those before it belong to the writing of languages whose pieces were measured."""

_FREE = regex.compile(r"[\s\p{Mn}\p{Cf}]+")


def load_tokenizer(folder: Path = weights.FOLDER) -> Tokenizer:
    """Load the tokenizer in about 15 ms, without truncation and padding.

    Raises:
        BackendUnavailable: its file is absent or damaged.
    """
    content = weights.read_verified(weights.TOKENIZER, folder)
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise BackendUnavailable(
            "The package tokenizers is not installed: pip install tokenizers", package="tokenizers"
        ) from error
    tokenizer = Tokenizer.from_buffer(content)
    # The published file comes with both switched on.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encodable(text: str) -> str:
    """Replace every lone surrogate by U+FFFD; the length stays."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class WordPieceCounter:
    """Counts and locates word pieces. Loads its vocabulary on first use; safe to share between threads.

    The tokens that the model itself puts around a text are not counted.

        WordPieceCounter().count("The dog runs.")  # 4
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _WordPieces | None = None

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; faster than one call for each."""
        return self._pieces().counts([encodable(text) for text in texts])

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return ``(start_char, end_char)`` of each token, half open, in code points of ``text``.

        Tokens come in order. Characters that the vocabulary drops (white space, controls, accents that stand
        alone) may lie between two tokens. Tokens of one character that is decomposed, such as a Hangul
        syllable, all have the span of that character.
        """
        return self._pieces().spans(encodable(text))

    def clip(self, text: str, max_tokens: int) -> int:
        """Return where the longest prefix of at most ``max_tokens`` tokens ends.

        Args:
            text: any text, however long: only about as much of it as is kept is looked at.
            max_tokens: at least 0.

        Returns:
            ``len(text)`` if the whole text fits. Else the end of a token, after the marks that belong to its
            last character, and never within a grapheme; 0 if not even the first one fits.

        Raises:
            InvalidArgument: ``max_tokens`` is negative.
        """
        if max_tokens < 0:
            raise InvalidArgument(f"max_tokens is {max_tokens}; give 0 or more.", max_tokens=max_tokens)
        window = max(64, max_tokens * _CHARS_PER_TOKEN)
        while True:
            # No token crosses a space, so that the tokens of a prefix which ends before one are the text's own.
            cut = text.rfind(" ", 0, window) if window < len(text) else len(text)
            spans = self.offsets(text[:cut]) if cut > 0 else []
            if len(spans) > max_tokens:
                return _last_boundary(text, spans, max_tokens)
            if window >= len(text):
                return len(text)
            window *= 4

    def _pieces(self) -> _WordPieces:
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._loaded = self._loaded or self._load()
        return loaded

    def _load(self) -> _WordPieces:
        return _WordPieces(load_tokenizer())


class AnswerCounter(WordPieceCounter):
    """Counts word pieces, with a byte-based estimate for out-of-vocabulary text: about the tokens that LLMs see.

    The vocabulary has one piece, ``[UNK]``, for a whole word with a letter that it lacks, for a word beyond 100
    characters and for any run of emoji, and none for what its tokenizer drops. Byte pairs of language models take all
    of it apart, about two bytes to a token (docs/decisions/0016-what-an-answer-weighs.md). Of a text that has none of
    this, every figure is that of `WordPieceCounter`.
    """

    def clip(self, text: str, max_tokens: int) -> int:
        """Return where the prefix ends, as `WordPieceCounter.clip`; the prefix alone has at most ``max_tokens``."""
        aim, end = max_tokens, super().clip(text, max_tokens)
        while end and self.count(text[:end]) > max_tokens:  # the start of an unknown word can be more than in it
            aim -= 1
            end = super().clip(text, aim)
        return end

    def _load(self) -> _WordPieces:
        return _ByteFallback(load_tokenizer())


class _WordPieces:
    """The pieces of texts by one tokenizer, each part between spaces looked up once.

    The tokenizer reads a part by itself as it does within its text, and most parts of a text were seen before.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, Spans] = {}

    def counts(self, texts: Sequence[str]) -> list[int]:
        parts = [_parts(text) for text in texts]
        known = self._known
        try:
            return [sum(map(len, map(known.__getitem__, of))) for of in parts]
        except KeyError:
            known = self._with(set(chain.from_iterable(parts)))
            return [sum(map(len, map(known.__getitem__, of))) for of in parts]

    def spans(self, text: str) -> list[tuple[int, int]]:
        parts = _parts(text)
        try:
            pieces = [*map(self._known.__getitem__, parts)]
        except KeyError:
            pieces = [*map(self._with(set(parts)).__getitem__, parts)]
        starts = accumulate([len(part) + 1 for part in parts], initial=0)
        return [(at + first, at + end) for at, of in zip(starts, pieces, strict=False) for first, end in of]

    def _with(self, parts: set[str]) -> dict[str, Spans]:
        """A dictionary that knows all of these parts."""
        known = self._known
        missing = parts.difference(known)
        if not missing:
            return known
        plain = [part for part in missing if len(part) <= MAX_WORDPIECE_CHARS and _PLAIN.fullmatch(part)]
        fresh = dict(zip(plain, self._encode_plain(plain), strict=True))
        fresh |= {part: self._encode(part) for part in missing.difference(plain)}
        kept = {part: pieces for part, pieces in fresh.items() if len(part) <= MAX_PART_CHARS}
        if len(known) + len(kept) > MAX_PARTS:
            # Another dictionary: a thread that took the one before goes on with it.
            self._known = known = {part: known[part] for part in parts if part in known}
        known.update(kept)
        return known if len(kept) == len(fresh) else {**{part: known.get(part, ()) for part in parts}, **fresh}

    def _encode_plain(self, parts: list[str]) -> list[Spans]:
        """Encode many parts of printable ASCII in one call."""
        pieces: list[list[tuple[int, int]]] = [[] for _ in parts]
        bounds = list(accumulate((len(part) + 1 for part in parts), initial=0))
        at = 0
        for first, end in self._tokenizer.encode(" ".join(parts), add_special_tokens=False).offsets:
            while first >= bounds[at + 1]:
                at += 1
            pieces[at].append((first - bounds[at], end - bounds[at]))
        return [tuple(of) for of in pieces]

    def _encode(self, text: str) -> Spans:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).offsets)


def _parts(text: str) -> list[str]:
    """Divide a text at its spaces; no token crosses one."""
    return text.replace("\n", " ").replace("\t", " ").split(" ")


class _ByteFallback(_WordPieces):
    """The pieces of texts, with tokens of its own bytes in place of each unknown piece."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self._unknown = tokenizer.token_to_id("[UNK]")

    def _encode(self, text: str) -> Spans:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        spans: list[tuple[int, int]] = []
        hidden, seen = list(text), 0
        for piece, (start, end) in zip(encoded.ids, encoded.offsets, strict=True):
            if piece == self._unknown:
                spans += self._unknown_piece_tokens(text, start, end)
                hidden[start:end] = "x" * (end - start)  # counted by its bytes already
            else:
                spans.append((start, end))
        rest = "".join(hidden)
        for match in _DROPPED.finditer(rest):
            spans += _by_bytes(text, *match.span())
        for first, last in (*encoded.offsets, (len(text), len(text))):
            for at in range(seen, first):
                # The tokenizer's tables are older than some characters: it drops them as it does controls.
                if not _FREE.match(rest, at, at + 1) and not _DROPPED.match(rest, at):
                    spans += _by_bytes(text, at, at + 1)
            seen = max(seen, last)
        return tuple(sorted(spans))

    def _unknown_piece_tokens(self, text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
        """The tokens of an unknown piece."""
        if end - start <= MAX_WORDPIECE_CHARS or min(text[start:end]) >= "\x80":
            return _by_bytes(text, start, end)
        # There may be words in it: it is cut into parts that the tokenizer looks up.
        return (
            (at + first, at + last)
            for at in range(start, end, MAX_WORDPIECE_CHARS)
            for first, last in self._encode(text[at : min(end, at + MAX_WORDPIECE_CHARS)])
        )


def _by_bytes(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Tokens of a stretch by its bytes: two to a token, four characters of ASCII, one control character."""
    spans: list[tuple[int, int]] = []
    quarters = 0
    for at in range(start, end):
        code = ord(text[at])
        quarters += 1 if 0x20 <= code < 0x7F else 4 if code < 0x800 else 6 if code < 0x10000 else 8
        due = -(-quarters // 4) - len(spans)
        if due:
            spans += [(at, at + 1)] * due
        else:
            spans[-1] = (spans[-1][0], at + 1)
    return spans


def _last_boundary(text: str, spans: Sequence[tuple[int, int]], max_tokens: int) -> int:
    """The end of the last of the first ``max_tokens`` spans at which the text may be cut, or 0."""
    for index in range(max_tokens - 1, -1, -1):
        end = ceil(text, spans[index][1])
        if end <= spans[index + 1][0] and is_boundary(text, end):
            return end
    return 0
