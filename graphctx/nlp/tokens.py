"""Count, locate and clip tokens with the vocabulary of the embedder that comes with graphctx."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp import weights

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from graphctx.nlp.wordpieces import WordPieces

# Lone surrogates come out of JSON escapes and cannot be encoded. U+FFFD is also one code point, so that
# offsets stay, and the tokenizer drops it.
_SURROGATE = re.compile("[\ud800-\udfff]")

# A clip of n tokens looks first at this many characters per token; English has about five.
_CHARS_PER_TOKEN = 12


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
    """The text with every lone surrogate replaced by U+FFFD, of the same length."""
    return _SURROGATE.sub("\ufffd", text)


class WordPieceCounter:
    """Counts and locates word pieces. Loads its vocabulary on first use; safe to share between threads.

    The tokens that the model itself puts around a text are not counted.
    """

    def __init__(self, folder: Path = weights.FOLDER) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: WordPieces | None = None

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return self._load().count(encodable(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text; faster than one call for each."""
        return self._load().counts([encodable(text) for text in texts])

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """``(start_char, end_char)`` of each token, half open, in code points of ``text``.

        Tokens come in order. Characters that the vocabulary drops (white space, controls, accents that stand
        alone) may lie between two tokens. Tokens of one character that is decomposed, such as a Hangul
        syllable, all have the span of that character.
        """
        return self._load().spans(encodable(text))

    def clip(self, text: str, max_tokens: int) -> int:
        """Where the longest prefix of at most ``max_tokens`` tokens ends.

        Args:
            text: any text, however long: only about as much of it as is kept is looked at.
            max_tokens: at least 0.

        Returns:
            ``len(text)`` if the whole text fits. Else the end of a token, after the marks that belong to its
            last character, and never within what is read as one character (letter and combining marks, emoji
            sequence, flag, conjoining Hangul); 0 if not even the first one fits.

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

    def _load(self) -> WordPieces:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._pieces()
            return self._loaded

    def _pieces(self) -> WordPieces:
        from graphctx.nlp.wordpieces import WordPieces

        return WordPieces(load_tokenizer(self._folder))


class AnswerCounter(WordPieceCounter):
    """Counts what language models see of a text, for all limits of answers, quotes and excerpts.

    Word pieces are about that where the vocabulary has the words; the others are charged by their bytes, as
    `graphctx.nlp.charged` says. What is made of documents (units, sentences) is measured in plain word pieces, which
    the embedder reads.
    """

    def clip(self, text: str, max_tokens: int) -> int:
        """As `WordPieceCounter.clip`; and what is kept is no more than ``max_tokens`` by itself."""
        aim, end = max_tokens, super().clip(text, max_tokens)
        while end and self.count(text[:end]) > max_tokens:  # the start of an unknown word can be more than in it
            aim -= 1
            end = super().clip(text, aim)
        return end

    def _pieces(self) -> WordPieces:
        from graphctx.nlp.charged import ChargedPieces

        return ChargedPieces(load_tokenizer(self._folder))


def _last_boundary(text: str, spans: Sequence[tuple[int, int]], max_tokens: int) -> int:
    """The end of the last of the first ``max_tokens`` spans at which the text may be cut, or 0."""
    for index in range(max_tokens - 1, -1, -1):
        end, following = spans[index][1], spans[index + 1][0]
        while end < following and _continues(text, end):
            end += 1
        if end <= following and not _continues(text, end):
            return end
    return 0


def _continues(text: str, position: int) -> bool:
    """Whether the character at ``position`` is read as part of the one before it.

    These are the rules of Unicode Standard Annex 29, section 3.1.1, which matter to written text: extending
    marks, joiners, emoji modifiers and tags, conjoining Hangul and pairs of regional indicators.
    """
    if position <= 0 or position >= len(text):
        return False
    before, char = text[position - 1], text[position]
    if before == "\u200d" or char in "\u200c\u200d" or unicodedata.category(char).startswith("M"):
        return True
    code = ord(char)
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return True
    if 0x1100 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF or 0xA960 <= code <= 0xA97F:
        return _is_hangul(before)
    if _is_flag_letter(char) and _is_flag_letter(before):
        start = position
        while start > 0 and _is_flag_letter(text[start - 1]):
            start -= 1
        return (position - start) % 2 == 1
    return False


def _is_hangul(char: str) -> bool:
    return "\u1100" <= char <= "\u11ff" or "\uac00" <= char <= "\ud7ff" or "\ua960" <= char <= "\ua97f"


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
