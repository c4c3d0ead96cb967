from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphctx.nlp.tokens import WordPieceCounter
from graphctx.server.clip import clip_end, clip_start

from .library import count_tokens

WORD_PIECES = WordPieceCounter()

texts = st.text(st.sampled_from("ab cdé☕\n. 𝄞"), max_size=200)


@given(texts, st.integers(1, 40), st.integers(1, 200))
def test_a_clipped_end_keeps_both_limits_and_always_something(text: str, tokens: int, size: int) -> None:
    clip = clip_end(text, tokens, size, count_tokens)
    kept = text[: clip.length]
    assert count_tokens(kept) <= max(tokens, 1)
    assert len(kept.encode()) <= size or clip.length == 1
    assert clip.length >= min(1, len(text))
    assert (clip.cut is None) == (clip.length == len(text))


@given(texts, st.integers(0, 40), st.integers(1, 200))
def test_a_clipped_start_keeps_both_limits(text: str, tokens: int, size: int) -> None:
    clip = clip_start(text, tokens, size, count_tokens)
    kept = text[len(text) - clip.length :]
    assert count_tokens(kept) <= tokens
    assert len(kept.encode()) <= max(size, 4)


def test_words_stay_whole_where_they_can() -> None:
    assert clip_end("one two three", 100, 9, count_tokens).length == len("one two ")
    assert clip_start("one two three", 2, 100, count_tokens).length == len("two three")


@given(texts, st.integers(1, 40))
def test_the_shipped_tokenizer_agrees_that_a_clip_fits(text: str, tokens: int) -> None:
    count = WORD_PIECES.count
    assert count(text[: clip_end(text, tokens, 10_000, count).length]) <= tokens
    kept = clip_start(text, tokens, 10_000, count).length
    assert count(text[len(text) - kept :]) <= tokens
