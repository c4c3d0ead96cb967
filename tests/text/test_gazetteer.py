import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.gazetteer import Gazetteer, counts_as_name, name_words

NAMES = {
    "harbour gate": 1,
    "harbour": 2,
    "sieve": 3,
    "fw 17": 4,
    "old harbour gate keeper": 5,
    "`max_wave": 6,
    "maren halloran": 7,
}


def found(text: str, names: dict[str, int] = NAMES) -> list[tuple[int, str]]:
    return [(match.value, text[match.start : match.end]) for match in Gazetteer(names).find(text)]


def test_the_longest_name_wins() -> None:
    assert found("The Old Harbour Gate Keeper opens the harbour gate.") == [
        (5, "Old Harbour Gate Keeper"),
        (1, "harbour gate"),
    ]


def test_a_single_word_counts_only_where_it_is_written_like_a_name() -> None:
    assert found("Sieve runs. A sieve is a kitchen tool.") == [(3, "Sieve")]
    assert found("set max_wave to 3") == [(6, "max_wave")]


def test_a_possessive_belongs_to_the_name() -> None:
    assert found("Maren Halloran’s boat, the Harbour's edge") == [(7, "Maren Halloran’s"), (2, "Harbour's")]


def test_the_capital_of_a_first_word_is_no_sign_of_a_name_in_a_question() -> None:
    assert not counts_as_name("Gate open?", 0, 4, 1, first_word=True)
    assert counts_as_name("Gate open?", 0, 4, 1)
    assert counts_as_name("FW-17x", 0, 6, 1, first_word=True)
    assert not counts_as_name("The gate", 0, 3, 1)


@given(st.lists(st.sampled_from([*NAMES, "The", "Sieve", "of", "Harbour", ".", "’s", "-", "\n", "é"]), max_size=30))
def test_matches_are_names_of_the_dictionary_in_order_without_overlap(parts: list[str]) -> None:
    text = " ".join(parts)
    matches = list(Gazetteer(NAMES).find(text))
    assert all(a.end <= b.start for a, b in itertools.pairwise(matches))
    by_words = {tuple(word for word, _, _ in name_words(name)): value for name, value in NAMES.items()}
    for match in matches:
        assert by_words[tuple(word for word, _, _ in name_words(text[match.start : match.end]))] == match.value


CODE = {"`tail": 1, "`--tail": 2, "`helm tail": 3, "`b.md": 4, "tail": 5, "c++": 6}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run `tail` now", [(1, "tail")]),
        ("run --tail now, or `--tail=3`", [(2, "--tail"), (2, "--tail")]),
        ("run helm tail now", [(3, "helm tail")]),
        ("Tails of a tail, and of Tail", [(5, "Tail")]),
        ("see [it](b.md#x), [b](b.md), b.md and x/b.md", [(4, "b.md")]),
        ("C and C++", [(6, "C++")]),
        ("max-tail, Tail_x and Tail/x", []),
    ],
)
def test_code_is_found_as_it_is_written_and_prose_outside_of_code(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text, CODE) == expected


def test_a_block_of_code_holds_names_of_code_alone() -> None:
    assert [match.value for match in Gazetteer(CODE).find("Tail --tail", prose=False)] == [2]
