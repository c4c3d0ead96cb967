import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.spans import best_spans, question_tokens, split_spans

PASSAGES = st.lists(
    st.sampled_from(
        [
            "One two.",
            "Three!",
            "four",
            "\n",
            "\n\n",
            "\n- ",
            "\n1. ",
            "```\n",
            "x = 1. y\n",
            " ",
            "? ",
            "α β. ",
            "Gate?",
        ]
    ),
    max_size=30,
).map("".join)


def texts(passage: str) -> list[str]:
    return [passage[start:end] for start, end in split_spans(passage)]


def test_question_tokens_are_lower_case_distinct_and_have_three_characters() -> None:
    assert question_tokens("Who set FW-17's MAX_WAVE, and who set max wave?") == ("who", "set", "max", "wave", "and")


def test_fenced_code_is_one_span_and_prose_is_split_at_blank_lines_bullets_and_sentence_ends() -> None:
    passage = "First. Second!\n\n- item one\n- item two. More\n\n```py\na = 1. \n\nb = 2\n```\nAfter it."
    assert texts(passage) == [
        "First.",
        "Second!",
        "item one",
        "item two.",
        "More",
        "```py\na = 1. \n\nb = 2\n```",
        "After it.",
    ]


def test_the_number_of_a_list_item_is_no_span_of_its_own() -> None:
    assert texts("1. open the gate\n2. close it. Now\n10) rest") == ["open the gate", "close it.", "Now", "rest"]


@given(PASSAGES | st.text(max_size=200))
def test_spans_are_exact_trimmed_in_order_and_never_overlap(passage: str) -> None:
    spans = split_spans(passage)
    assert all(0 <= start < end <= len(passage) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert all(text == text.strip() for text in texts(passage))


@given(PASSAGES)
def test_every_word_is_in_a_span(passage: str) -> None:
    marks = re.compile(r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])")
    covered = {at for span in split_spans(passage) for at in range(*span)}
    allowed = {at for mark in marks.finditer(passage) for at in range(*mark.span())}
    assert not [at for at, char in enumerate(passage) if not char.isspace() and at not in covered | allowed]


@given(st.lists(PASSAGES, max_size=4), st.text("onetwhrfugaxα ?", max_size=30), st.integers(1, 8))
def test_the_ranking_is_by_share_of_tokens_then_length_then_position(
    passages: list[str], question: str, limit: int
) -> None:
    tokens = question_tokens(question)
    found = best_spans(question, passages, limit)
    every = [
        (-sum(token in passage[a:b].lower() for token in tokens) / max(1, len(tokens)), b - a, a, number)
        for number, passage in enumerate(passages)
        for a, b in split_spans(passage)
    ]
    expected = sorted(key for key in every if key[0] < 0)[:limit]
    assert [(-s.score, s.end_char - s.start_char, s.start_char, s.passage) for s in found] == expected
    assert all(0 < s.score <= 1 for s in found)
