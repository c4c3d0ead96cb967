"""Tokens of texts in any script: counted, located, clipped."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.nlp import tokens
from graphctx.nlp.tokens import AnswerCounter, WordPieceCounter, encodable, load_tokenizer
from graphctx.text.graphemes import is_boundary
from tests.conftest import EFFORT

from .embedder_conformance import TEXTS

TOKENIZER = load_tokenizer()
PLAIN = WordPieceCounter()
ANSWER = AnswerCounter()

# Letters with and without marks, Hangul whole and in parts, emoji sequences, flags, joiners, controls, spaces, scripts
# that the vocabulary lacks, long words.
PIECES = ("a", "Ab", "embeddings", "can't", "x_y", "9.5", " ", "  ", "\n", "\t", "\r\n", "é", "e\u0301", "\u0301", "ß", "İ", "ﬁ",
          "한국", "\u1112\u1161\u11ab", "東京", "हिन्दी", "ភាសា", "👨‍👩‍👧", "👍🏽", "🇩🇪", "🇫🇷", "\u200d", "\u200b", "\ufe0f", "\u00a0",
          "\u2028", "\x00", "\x1c", "\x7f", "\ufffd", "\ud800", "\ue000", "[SEP]", "[UNK]", "[", "…", "{\"x\":[", "q" * 70, "xqzjkvh" * 20)  # fmt: skip
TANGLED = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=60))
COUNTERS = st.sampled_from([PLAIN, ANSWER])

LACKED = {
    "Khmer": (0x1780, 0x17A2),
    "Gujarati": (0x0A95, 0x0AA8),
    "Ethiopic": (0x1200, 0x1246),
    "Canadian syllabics": (0x1401, 0x1676),
    "Yi": (0xA000, 0xA48C),
    "Private": (0xE000, 0xF8FF),
    "Cuneiform": (0x12000, 0x12399),
    "Mathematical": (0x1D400, 0x1D454),
    "Emoji": (0x1F600, 0x1F64F),
    "Newer emoji": (0x1FAE0, 0x1FAE8),
    "Box drawing": (0x2500, 0x257F),
}
"""Characters of scripts of which the tokenizer knows none or a few."""


@settings(max_examples=int(600 * EFFORT), deadline=None)
@given(TANGLED)
@example("")
@example("ab \u0301c")
@example("one\x1ctwo three")
def test_pieces_are_those_of_the_tokenizer(text: str) -> None:
    assert PLAIN.offsets(text) == TOKENIZER.encode(encodable(text), add_special_tokens=False).offsets


def test_words_beyond_the_limit_are_counted_from_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_PARTS", 50)
    counter = WordPieceCounter()
    texts = [" ".join(f"word{n * step}" for n in range(40)) + " naïve" + "z" * step for step in range(1, 60)]
    expected = [len(TOKENIZER.encode(text, add_special_tokens=False)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(counter.count, texts)) == expected
        assert list(pool.map(lambda text: len(counter.offsets(text)), texts)) == expected


@settings(max_examples=int(300 * EFFORT), deadline=None)
@given(TANGLED, COUNTERS)
def test_offsets_are_ordered_spans_that_cover_all_letters_and_agree_with_counts(
    text: str, counter: WordPieceCounter
) -> None:
    spans = counter.offsets(text)
    assert len(spans) == counter.count(text) == counter.count_many(["", text])[1]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[0] <= following[0] for one, following in pairwise(spans))
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(at in covered for at, char in enumerate(text) if char.isalnum())


@settings(max_examples=int(500 * EFFORT), deadline=None)
@given(TANGLED, st.integers(0, 40), COUNTERS)
@example("한국어", 2, PLAIN)
@example("e\u0301e\u0301", 1, PLAIN)
@example("हिन्दी", 1, PLAIN)
@example("x 👨‍👩‍👧 y", 2, ANSWER)
def test_a_clip_fits_and_ends_between_graphemes(text: str, limit: int, counter: WordPieceCounter) -> None:
    end = counter.clip(text, limit)
    assert counter.count(text[:end]) <= limit
    assert is_boundary(text, end)
    assert (end == len(text)) >= (counter.count(text) <= limit)


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        ("The dog runs.", 2, "The dog"),
        ("The dog runs.", 99, "The dog runs."),
        ("The dog runs.", 0, ""),
        ("e\u0301 a\u0302 o", 2, "e\u0301 a\u0302"),
        ("हि न", 1, ""),
        ("한 국", 3, "한"),
        ("ok 👨‍👩‍👧 no", 2, "ok 👨‍👩‍👧"),
        ("trailing space   ", 2, "trailing space   "),
    ],
)
def test_clips_by_hand(text: str, limit: int, kept: str) -> None:
    assert text[: PLAIN.clip(text, limit)] == kept


def test_a_clip_of_a_long_text_is_that_of_its_start() -> None:
    text = " ".join(TEXTS * 40)
    for limit in (1, 7, 254, 3000):
        assert PLAIN.clip(text, limit) == PLAIN.offsets(text)[limit - 1][1]


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_tokens is -1"):
        PLAIN.clip("x", -1)


@pytest.mark.timeout(60)  # quadratic work would take minutes
@pytest.mark.parametrize("piece", ["a", ".", "word ", "é", "\u0301", "👨‍👩‍👧", "한", "\x00", "[SEP]"])
def test_work_grows_with_the_length_of_a_line_and_no_faster(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    assert (PLAIN.clip(text, 100) == len(text)) == (PLAIN.count(text) <= 100)


@pytest.mark.parametrize("script", LACKED)
def test_a_script_that_the_vocabulary_lacks_counts_by_its_bytes(script: str) -> None:
    first, last = LACKED[script]
    word = st.text(st.characters(min_codepoint=first, max_codepoint=last), min_size=3)

    # No byte pairs of four public vocabularies take more than 5.6 bytes of such scripts in one token, and 2 are usual.
    @settings(max_examples=int(20 * EFFORT), deadline=None)
    @given(st.lists(word, min_size=1, max_size=20), st.sampled_from([" ", "", ", ", "\n", "a"]))
    def check(words: list[str], between: str) -> None:
        text = between.join(words)
        assert sum(len(word.encode()) for word in words) / 3 <= ANSWER.count(text) <= len(text.encode())

    check()


def heavy(char: str) -> bool:
    """Whether a model sees a character of its own, neither a mark nor an accented letter of Latin or Greek."""
    bare = unicodedata.normalize("NFD", char)[0]
    return unicodedata.category(char)[0] in "LNSP" and bare >= "\u0370"


@settings(max_examples=int(300 * EFFORT), deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=0x370).filter(heavy), min_size=1, max_size=30), max_size=20))
@example(["សួស្តី" * 20])
@example(["कि" * 20, "правительство", "ελλάδα"])
def test_no_text_of_any_script_has_fewer_than_a_token_for_eight_bytes(words: list[str]) -> None:
    assert ANSWER.count(" ".join(words)) >= len("".join(words).encode()) / 8


@settings(max_examples=int(100 * EFFORT), deadline=None)
@given(st.text(st.characters(min_codepoint=9, max_codepoint=0x17F, exclude_categories=["C"]), max_size=90))
@example("The tally of 12 % was “low”: naïve café, Übermut, e\u0301clair. Tiếng Việt")
@example("Россия и ελλάδα, שלום, العربية, 東京 한국")
def test_scripts_that_the_vocabulary_has_count_their_word_pieces(text: str) -> None:
    if "[UNK]" not in TOKENIZER.encode(text).tokens:
        assert ANSWER.offsets(text) == PLAIN.offsets(text)
    assert ANSWER.count(text) >= PLAIN.count(text)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        pytest.param("\U0001f600" * 80, 160, id="emoji"),
        pytest.param("a" + "\u0301" * 400, 380, id="marks"),
        pytest.param("\u200b" * 400, 380, id="spaces of no width"),
        pytest.param("\x00\x01" * 50, 100, id="controls"),
        pytest.param("\ue000 \ue001 " * 50, 100, id="private"),
        pytest.param("\ud800" * 50, 50, id="surrogates"),
        pytest.param("QmFzZTY0" * 4_000, 8_000, id="base64"),
        pytest.param("x\u17c4" + "QmFzZTY0" * 400, 800, id="mixed"),
    ],
)
def test_what_word_pieces_drop_or_lump_together_counts(text: str, least: int) -> None:
    assert ANSWER.count(text) >= least > PLAIN.count(text)


@settings(max_examples=int(200 * EFFORT), deadline=None)
@given(st.lists(TANGLED, min_size=2, max_size=4), st.sampled_from(["\n", "\r\n", "\t", " ", "\n\n"]))
@example(["\u251c\u2500\u2500 app", "\u2502\xa0\xa0 \u251c\u2500\u2500 main.py"], "\n")
def test_lines_count_together_what_each_of_them_counts(lines: list[str], between: str) -> None:
    # What sums sentences relies on it.
    assert ANSWER.count(between.join(lines)) == sum(ANSWER.count_many(lines))
