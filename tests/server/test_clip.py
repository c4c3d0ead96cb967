from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.model.budgets import CountTokens
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server.clip import clip_end, clip_start
from graphctx.text.graphemes import is_boundary

WORD_PIECES = AnswerCounter()


def count_words(text: str) -> int:
    return len(re.findall(r"\w+|[^\w\s]", text))


pieces = st.sampled_from(
    [
        *"ab cdé☕\n. 𝄞",
        "e\u0301",
        "\U0001f468\u200d\U0001f469",
        "\U0001f1eb\U0001f1ee",
        "word ",
        "\u202e",
        "\x00",
        "\ud800",
    ]
)
texts = st.lists(pieces, max_size=120).map("".join)
both = pytest.mark.parametrize("count", [count_words, WORD_PIECES.count], ids=["words", "word-pieces"])


@both
@given(text=texts, tokens=st.integers(0, 40), size=st.integers(0, 200))
def test_a_clip_keeps_both_limits_and_graphemes_whole(count: CountTokens, text: str, tokens: int, size: int) -> None:
    for clip, kept, cut_at in (
        (end := clip_end(text, tokens, size, count), text[: end.length], end.length),
        (start := clip_start(text, tokens, size, count), text[len(text) - start.length :], len(text) - start.length),
    ):
        assert count(kept) <= tokens
        assert len(kept.encode("utf-8", "surrogatepass")) <= size
        assert is_boundary(text, cut_at)
        assert (clip.cut is None) == (kept == text)


def test_a_word_without_end_is_many_tokens() -> None:
    clip = clip_end("QmFzZTY0" * 20_000, 100, 32_768, WORD_PIECES.count)
    assert clip.cut == "token_cap"
    assert 100 < clip.length < 600
    assert clip_start("QmFzZTY0" * 20_000, 100, 32_768, WORD_PIECES.count).length < 600


@both
@given(text=texts)
def test_what_fits_is_not_clipped(count: CountTokens, text: str) -> None:
    tokens, size = count(text), len(text.encode("utf-8", "surrogatepass"))
    assert clip_end(text, tokens, size, count).length == len(text)
    assert clip_start(text, tokens, size, count).length == len(text)


def test_words_stay_whole_where_they_can() -> None:
    assert clip_end("one two three", 100, 9, count_words).length == len("one two ")
    assert clip_start("one two three", 2, 100, count_words).length == len("two three")


def test_a_line_without_end_is_clipped_by_looking_at_its_start() -> None:
    seen: list[int] = []

    def count(text: str) -> int:
        seen.append(len(text))
        return WORD_PIECES.count(text)

    assert clip_end("lorem " * 200_000, 20, 32_768, count).cut == "token_cap"
    assert max(seen) <= 1_000
