"""What answers weigh in scripts that the vocabulary of the word pieces lacks."""

from __future__ import annotations

import os
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.nlp.tokens import AnswerCounter, WordPieceCounter, load_tokenizer

EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
COUNTER = AnswerCounter()
PLAIN = WordPieceCounter()
TOKENIZER = load_tokenizer()

LACKED = {
    "Khmer": (0x1780, 0x17A2),
    "Lao": (0x0EA7, 0x0EAA),
    "Gujarati": (0x0A95, 0x0AA8),
    "Telugu": (0x0C15, 0x0C28),
    "Ethiopic": (0x1200, 0x1246),
    "Cherokee": (0x13A0, 0x13F4),
    "Canadian syllabics": (0x1401, 0x1676),
    "Mongolian": (0x1820, 0x1842),
    "Balinese": (0x1B13, 0x1B33),
    "Tifinagh": (0x2D30, 0x2D67),
    "Yi": (0xA000, 0xA48C),
    "Private": (0xE000, 0xF8FF),
    "Linear B": (0x10000, 0x1000B),
    "Cuneiform": (0x12000, 0x12399),
    "Hieroglyphs": (0x13000, 0x1342E),
    "Adlam": (0x1E900, 0x1E943),
    "Mathematical": (0x1D400, 0x1D454),
    "Emoji": (0x1F600, 0x1F64F),
    "Newer emoji": (0x1FAE0, 0x1FAE8),
    "Box drawing": (0x2500, 0x257F),
}
"""Characters of scripts of which the tokenizer knows none or a few."""

WORDS = {name: st.text(st.characters(min_codepoint=a, max_codepoint=b), min_size=3) for name, (a, b) in LACKED.items()}


@pytest.mark.parametrize("script", LACKED)
def test_a_script_that_the_vocabulary_lacks_weighs_by_its_bytes(script: str) -> None:
    # No byte pairs of four public vocabularies take more than 5.6 bytes of such scripts in one token, and 2 are usual.
    @settings(max_examples=int(20 * EFFORT), deadline=None)
    @given(st.lists(WORDS[script], min_size=1, max_size=20), st.sampled_from([" ", "", ", ", "\n", "a"]))
    def check(words: list[str], between: str) -> None:
        text = between.join(words)
        size = sum(len(word.encode()) for word in words)
        assert size / 3 <= COUNTER.count(text) <= len(text.encode())

    check()


def heavy(char: str) -> bool:
    """Whether a model sees a character of its own, neither a mark nor an accented letter of Latin or Greek."""
    bare = unicodedata.normalize("NFD", char)[0]
    return unicodedata.category(char)[0] in "LNSP" and bare >= "\u0370"


@settings(max_examples=int(300 * EFFORT), deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=0x370).filter(heavy), min_size=1, max_size=30), max_size=20))
@example(["សួស្តី" * 20])
@example(["\U0001f600" * 80])
@example(["कि" * 20, "правительство", "ελλάδα"])
def test_no_text_of_any_script_weighs_less_than_a_token_for_eight_bytes(words: list[str]) -> None:
    text = " ".join(words)
    assert COUNTER.count(text) >= len("".join(words).encode()) / 8


@settings(max_examples=int(100 * EFFORT), deadline=None)
@given(st.text(st.characters(min_codepoint=9, max_codepoint=0x17F, exclude_categories=["C"]), max_size=90))
@example("The tally of 12 % was “low”: naïve café, Übermut, e\u0301clair. Tiếng Việt")
@example("Россия и ελλάδα, שלום, العربية, 東京 한국")
def test_scripts_that_the_vocabulary_has_weigh_their_word_pieces(text: str) -> None:
    known = "[UNK]" not in TOKENIZER.encode(text).tokens
    if known:
        assert COUNTER.count(text) == PLAIN.count(text)
        assert COUNTER.offsets(text) == PLAIN.offsets(text)
    assert COUNTER.count(text) >= PLAIN.count(text)


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("\U0001f600" * 80, 160),
        ("a" + "\u0301" * 400, 380),
        ("\u200b" * 400, 380),
        ("\x00\x01" * 50, 100),
        ("\ue000\ue001" * 50, 100),
        ("\ue000 \ue001 " * 50, 100),
        ("\ud800" * 50, 50),
        ("QmFzZTY0" * 4_000, 8_000),
        ("x\u17c4" + "QmFzZTY0" * 400, 800),
    ],
    ids=["emoji", "marks", "spaces of no width", "controls", "private", "apart", "surrogates", "base64", "mixed"],
)
def test_what_word_pieces_drop_or_lump_together_is_charged(text: str, least: int) -> None:
    assert COUNTER.count(text) >= least > PLAIN.count(text)


PIECES = ("a", "Ab", " ", "\n", "e\u0301", "ßé", "\u1112\u1161\u11ab", "東京", "हिन्दी", "ភាសា", "ខ", "👨‍👩‍👧", "👍🏽", "🇩🇪🇫🇷",
          "\u200d", "\ufe0f", "\x00", "\ud800", "\ue000", "[SEP]", "[UNK]", "…", "Worcestershire", "xqzjkvh" * 20)  # fmt: skip
TANGLED = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=60))


@settings(max_examples=int(300 * EFFORT), deadline=None)
@given(TANGLED, st.integers(0, 40))
def test_counts_spans_and_clips_agree_in_any_text(text: str, most: int) -> None:
    spans = COUNTER.offsets(text)
    assert COUNTER.count(text) == len(spans) == COUNTER.count_many(["", text])[1]
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    end = COUNTER.clip(text, most)
    assert COUNTER.count(text[:end]) <= most
    assert (end == len(text)) >= (len(spans) <= most)


@settings(max_examples=int(200 * EFFORT), deadline=None)
@given(st.lists(TANGLED, min_size=2, max_size=4), st.sampled_from(["\n", "\r\n", "\t", " ", "\n\n"]))
@example(["\u251c\u2500\u2500 app", "\u2502\xa0\xa0 \u251c\u2500\u2500 main.py"], "\n")
def test_lines_weigh_together_what_each_of_them_weighs(lines: list[str], between: str) -> None:
    # What sums sentences relies on it.
    assert COUNTER.count(between.join(lines)) == sum(COUNTER.count_many(lines))
