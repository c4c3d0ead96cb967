"""What a first sentence defines, and by which names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.subjects import DEFINED, MAX_WORDS, SHORTENED, lead_subjects


def names(text: str) -> dict[str, float]:
    return {subject.name: subject.value for subject in lead_subjects(text)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Port Averil is a town on the Outer Hestra.", "Port Averil"),
        ('"Evening Linnet" was the first ferry of the line.', "Evening Linnet"),
        ("What's Left of Autumn? is a play in two acts.", "What's Left of Autumn?"),
        ("His Last Ferry is an early silent film.", "His Last Ferry"),
        ("Knots: A Manual is the oldest book in the loft.", "Knots: A Manual"),
        ("Linnets (Linaria, formerly Carduelis) are often called the poor man's canary.", "Linnets"),
        ("Vasslund [pronounced VAHS-lund (roughly)] is a village.", "Vasslund"),
        ("Wenna Tregear, born in Port Averil, is a pilot.", "Wenna Tregear"),
        ("The lock gate is an obstacle.", "The lock gate"),
        ("7 is a number.", "7"),
    ],
)
def test_the_subject_of_a_defining_sentence_is_what_the_text_is_about(text: str, name: str) -> None:
    assert names(text)[name] == DEFINED


def test_a_person_is_known_by_shorter_names_too() -> None:
    text = 'Sir Tomas Arvid "Tam" Okello (4 May 1931 – 2 June 1999), also known as Oak, was a pilot.'
    found = names(text)
    assert found["Tomas Arvid Okello"] == found["Tam Okello"] == DEFINED
    assert found["Tomas Okello"] == SHORTENED
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_names_in_brackets_count_less() -> None:
    found = names("Averil Wireless Society (also known as Hestra Hams; founded 1922) is a club.")
    assert found == {"Averil Wireless Society": DEFINED, "Hestra Hams": SHORTENED}


def test_an_apposition_is_no_part_of_the_name() -> None:
    assert set(names("Skua, a fast boat with two masts, is the pride of the yard.")) == {"Skua"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "In 2014 a new pier was the talk of the town.",
        "It is a town.",
        "There was a storm.",
        "During the night the mast was a danger to all.",
        "He is one of us.",
        "The board met on Friday. Nobody was a member yet.",
        "Boats leave at seven. Linnet is a bird.",
        "and then there is a pause",
        "Averil competed in the regatta.",
        "Most of the old houses that stand along the upper harbour road are a sorry sight.",
    ],
)
def test_a_sentence_that_defines_nothing_gives_no_name(text: str) -> None:
    assert names(text) == {}


@given(st.text(alphabet=st.sampled_from("AZaz1 ,.;:\"()[]iswa\n'’–é"), max_size=200) | st.text(max_size=200))
def test_any_text_gives_short_names_of_its_own_words(text: str) -> None:
    for subject in lead_subjects(text + " is a"):
        assert 0 < subject.value <= 1
        assert 0 < len(subject.name.split()) <= MAX_WORDS
