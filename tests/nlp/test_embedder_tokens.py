from __future__ import annotations

import os
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.nlp.tokens import WordPieceCounter

from .embedder_conformance import ODD_TEXTS, TEXTS

EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
COUNTER = WordPieceCounter()

# Letters with and without marks, Hangul whole and in parts, emoji sequences, flags, joiners, controls, spaces.
PIECES = ("a", "Ab", "embeddings", " ", "\n", "é", "e\u0301", "ß", "İ", "ﬁ", "한국", "\u1112\u1161\u11ab", "東京", "हिन्दी",
          "👨‍👩‍👧", "👍🏽", "🇩🇪", "🇫🇷", "\u200d", "\u200b", "\ufe0f", "\x00", "\ud800", "[SEP]", "…", "can't", "x_y", "9.5")  # fmt: skip
TANGLED = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=60))


def naked(text: str) -> str:
    """What the vocabulary sees of a piece of text: lower case, without marks and controls."""
    folded = unicodedata.normalize("NFD", text).lower()
    kept = (c for c in unicodedata.normalize("NFD", folded) if unicodedata.category(c) not in ("Mn", "Cf", "Cc"))
    return "".join(kept)


def test_words_and_punctuation_are_counted() -> None:
    assert COUNTER.count("The dog runs.") == 4
    assert COUNTER.count("") == 0
    assert COUNTER.count(" \n\t ") == 0
    assert COUNTER.offsets("The dog runs.") == [(0, 3), (4, 7), (8, 12), (12, 13)]


def test_many_texts_count_like_each_of_them() -> None:
    texts = [*TEXTS, *ODD_TEXTS]
    assert COUNTER.count_many(texts) == [COUNTER.count(text) for text in texts]
    assert COUNTER.count_many([]) == []


@pytest.mark.parametrize("text", ["naïve café", "e\u0301clair nai\u0308ve", "Ünïcödé", "ça va"])
def test_offsets_of_accented_words_are_those_of_the_text_as_written(text: str) -> None:
    ends = {end for _, end in COUNTER.offsets(text)}
    words = [text[start:end] for start, end in COUNTER.offsets(text)]
    assert naked("".join(words)) == naked(text.replace(" ", ""))
    assert max(ends) == len(text)


@settings(max_examples=int(300 * EFFORT), deadline=None)
@given(TANGLED)
def test_offsets_are_ordered_spans_and_cover_all_that_is_visible(text: str) -> None:
    spans = COUNTER.offsets(text)
    assert len(spans) == COUNTER.count(text)
    for (start, end), (following, following_end) in pairwise(spans):
        assert start <= following
        assert end <= following or (start, end) == (following, following_end)
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for position, char in enumerate(text):
        if position not in covered:
            assert not char.isalnum(), (text, position)


@settings(max_examples=int(400 * EFFORT), deadline=None)
@given(TANGLED, st.integers(0, 12))
@example("한국어", 2)
@example("e\u0301e\u0301", 1)
@example("हिन्दी", 1)
@example("x 👨‍👩‍👧 y", 2)
def test_a_clip_is_the_longest_prefix_that_fits_and_ends_between_characters(text: str, limit: int) -> None:
    end = COUNTER.clip(text, limit)
    assert 0 <= end <= len(text)
    assert COUNTER.count(text[:end]) <= limit
    if end == len(text):
        return
    assert end == 0 or not unicodedata.category(text[end]).startswith("M")
    assert end == 0 or (text[end] != "\u200d" and text[end - 1] != "\u200d")
    # Any later token end that could be cut at would hold too many tokens.
    for later in sorted({e for _, e in COUNTER.offsets(text)}):
        if later > end and not unicodedata.category(text[later : later + 1] or "x").startswith("M"):
            longer_fits = COUNTER.count(text[:later]) <= limit
            assert not longer_fits or _inside_a_character(text, later), (text, end, later)


def _inside_a_character(text: str, position: int) -> bool:
    """Whether marks, joiners, flags, modifiers or jamo meet at a position: there no cut is owed."""
    joins = "\u200c\u200d\ufe0f"
    around = text[max(0, position - 1) : position + 1]
    return any(c in joins or ord(c) > 0x1F000 or 0x1100 <= ord(c) <= 0x11FF for c in around)


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("The dog runs.", 2, "The dog"),
        ("The dog runs.", 99, "The dog runs."),
        ("The dog runs.", 0, ""),
        ("e\u0301 a\u0302 o", 2, "e\u0301 a\u0302"),
        ("हि न", 1, ""),
        ("한 국", 2, ""),
        ("한 국", 3, "한"),
        ("ok 👨‍👩‍👧 no", 2, "ok 👨‍👩‍👧"),
        ("trailing space   ", 2, "trailing space   "),
    ],
)
def test_clips_by_hand(text: str, limit: int, kept: str) -> None:
    assert text[: COUNTER.clip(text, limit)] == kept


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_tokens is -1"):
        COUNTER.clip("x", -1)


def test_a_clip_of_a_long_text_is_that_of_its_start() -> None:
    text = " ".join(TEXTS * 40)
    for limit in (1, 7, 80, 254, 3000):
        assert COUNTER.clip(text, limit) == COUNTER.offsets(text)[limit - 1][1]


@pytest.mark.parametrize("piece", ["a", " ", ".", "word ", "東", "é", "\u0301", "👨‍👩‍👧", "한", "\x00", "[SEP]"])
def test_a_megabyte_on_one_line_takes_seconds_at_most(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    started = time.process_time()
    count = COUNTER.count(text)
    end = COUNTER.clip(text, 100)
    assert time.process_time() - started < 30, "quadratic, or nearly so"
    assert (end == len(text)) == (count <= 100)


def test_threads_may_share_a_counter_from_its_first_use_on() -> None:
    counter = WordPieceCounter()
    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(counter.count, TEXTS * 4))
    assert counts == COUNTER.count_many(TEXTS * 4)
