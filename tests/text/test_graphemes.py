"""Cutting text: never within what a reader takes for one character."""

from __future__ import annotations

import time

import regex
from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.graphemes import MAX_GRAPHEME_CHARS, ceil, cut_end, cut_start, first_end, floor, is_boundary

WHOLE = [
    "e\u0301",
    "\r\n",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466",  # a family
    "\U0001f9d1\U0001f3fd\u200d\U0001f4bb",  # a skin tone and a joiner
    "\u2764\ufe0f\u200d\U0001f525",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland, spelt in tags
    "\U0001f1eb\U0001f1ee",  # a flag
    "1\ufe0f\u20e3",  # a keycap
    "\u1112\u1161\u11ab",  # a syllable of Hangul, decomposed
    "\u0915\u094d\u0937\u093f",  # a conjunct of Devanagari with its vowel
    "\u0e01\u0e33",  # Thai, with a spacing mark
    "Z\u0351\u036b\u0343\u036a\u0302",  # marks piled up
]
pieces = st.one_of(
    st.sampled_from(WHOLE),
    st.text(max_size=4),
    st.text(st.characters(), max_size=4),  # surrogates, controls and null among them
    st.sampled_from(["word ", "\u202e", "\u2067", "\u200f", " ", "\n", "\x00", "\ud83d", "\u200d"]),
)
texts = st.lists(pieces, max_size=30).map("".join)


def boundaries(text: str) -> set[int]:
    """Every place where a grapheme begins or ends, found from the start of the text on."""
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(texts, st.integers(-3, 140))
def test_the_nearest_boundaries_are_those_of_the_clusters_of_the_text(text: str, at: int) -> None:
    known = boundaries(text)
    assert floor(text, at) == max(place for place in known if place <= max(at, 0))
    assert ceil(text, at) == min(place for place in known if place >= min(max(at, 0), len(text)))
    assert is_boundary(text, at) == (at in known or at < 0 or at > len(text))


@given(texts, st.integers(1, 20))
def test_pieces_that_are_read_on_give_the_whole_text(text: str, size: int) -> None:
    known, read, at = boundaries(text), [], 0
    while at < len(text):
        end = cut_end(text, at, at + size)
        if end == at:
            end = first_end(text, at)
        assert at < end
        assert end in known
        read.append(text[at:end])
        at = end
    assert "".join(read) == text


@given(texts, st.data())
def test_a_piece_keeps_to_its_ends_and_at_least_half_of_what_is_whole(text: str, data: st.DataObject) -> None:
    first, last = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    assert first <= cut_end(text, first, last) <= last or last == len(text)
    assert first <= cut_start(text, first, last) <= last or first == 0
    known = boundaries(text)
    assert cut_end(text, first, last) in known | {first}
    assert cut_start(text, first, last) in known | {last}


def test_words_stay_whole_where_there_are_words() -> None:
    assert cut_end("one two three", 0, 10) == len("one two ")
    assert cut_end("one two three", 0, 7) == len("one two")
    assert cut_start("one two three", 2, 13) == len("one")
    assert cut_start("one (two) three", 2, 15) == len("one")
    assert cut_end("incomprehensibilities", 0, 9) == 9
    assert cut_end("\u8a9e" * 20, 0, 9) == 9


def test_a_million_marks_are_cut_between_code_points_and_at_once() -> None:
    text = "a" + "\u0301" * 1_000_000
    began = time.thread_time()
    for at in range(500_000, 500_200):
        assert floor(text, at) == ceil(text, at) == at
    assert first_end(text, 0) == 1
    assert time.thread_time() - began < 5  # by looking at all of them it would be minutes
    assert floor(text, MAX_GRAPHEME_CHARS - 1) == 0
