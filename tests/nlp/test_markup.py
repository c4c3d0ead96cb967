"""Masking keeps every offset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.nlp.markup import mask_markup

_MARKED = st.lists(
    st.sampled_from(
        [*list("ab_*`[](){}<>|#!~:/\\ \n"), "```", "``", "](", "<!--", "-->", "{{", "}}", "http://", "<b>", "''"]
    )
).map("".join)


@given(_MARKED)
def test_masking_keeps_the_length_and_changes_characters_only_to_blanks(text: str) -> None:
    masked = mask_markup(text)
    assert len(masked.text) == len(text)
    assert all(now in (was, " ") for now, was in zip(masked.text, text, strict=True))
    for start, end in masked.code:
        assert masked.text[start:end] == text[start:end]
        assert text[start:end].strip() == text[start:end] != ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("see [the `Drop` trait](ch15.html#x) on **any _type_**", "see the Drop trait on any type"),
        ("snake_case_x and __init__ and 3 * 4", "snake_case_x and __init__ and 3 * 4"),
        ("[Chapter\n8][vectors]<!-- ignore --> is", "Chapter 8 is"),
        ("at <https://x.y/z> or https://foo.bar/a_b now", "at or now"),
        ("> quoted\n> twice", "quoted twice"),
        ("| a | b |\n|---|---|", "a b"),
        ("Vec<T> stays, <br> and </span> go", "Vec<T> stays, and go"),
        (":class:`Foo` and ``bar``_ here", "Foo and bar here"),
        ("`Vec<T>` is *opaque*", "Vec<T> is opaque"),
        ("said ``no'' and ``yes''", "said ``no'' and ``yes''"),
    ],
)
def test_what_is_left_is_what_a_reader_reads(text: str, words: str) -> None:
    assert " ".join(mask_markup(text).text.split()) == words
