import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.model.documents import BlockKind
from graphctx.text.sentences import MAX_SENTENCE_CHARS, marker_start, split_sentences

BULLET = re.compile(r"(?m)^[ \t>]*(?:[-*+•‣◦]|\d{1,3}[.)]|[A-Za-z][.)])[ \t]+")
RULE = re.compile(r"(?m)^[\s|:+=-]*$")

FRAGMENTS = st.sampled_from(
    ["Dr. Smith", "the 3.5 mm pin", "e.g. rope", "e.g.", "Stop!", "Why?", "“Yes.”", "J. R. Tolkien", "a.b.c", "...",
     "今日は。", "明日は", "`x = 1`", "\n", "\n\n", "\n- ", "\n1. ", "\n  * ", ". ", "! ", " ", "\t", "|", "---", "Alice: ",
     "é", "😀", "(a)", "x" * 130]
)  # fmt: skip
BLOCKS = st.lists(FRAGMENTS, max_size=40).map("".join) | st.text(max_size=200)
KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(["prose", "list", "code", "table"])


def texts(block: str, kind: BlockKind = "prose") -> list[str]:
    return [block[start:end] for start, end in split_sentences(block, kind)]


@given(BLOCKS, KINDS)
def test_spans_are_in_order_trimmed_bounded_and_never_overlap(block: str, kind: BlockKind) -> None:
    spans = split_sentences(block, kind)
    assert all(0 <= start < end <= len(block) for start, end in spans)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert all(block[start:end] == block[start:end].strip() for start, end in spans)
    assert all(end - start <= MAX_SENTENCE_CHARS for start, end in spans)


@given(BLOCKS, KINDS)
def test_nothing_is_left_out_but_white_space_bullet_marks_and_table_rules(block: str, kind: BlockKind) -> None:
    allowed = set()
    for pattern in {"table": [RULE], "code": []}.get(kind, [BULLET]):
        for match in pattern.finditer(block):
            allowed |= set(range(*match.span()))
    covered = {at for span in split_sentences(block, kind) for at in range(*span)}
    lost = [block[at] for at in range(len(block)) if not block[at].isspace() and at not in covered | allowed]
    assert not lost


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith met J. R. R. Tolkien at 3 p.m. on Main St. yesterday.", "He left."],
        ["It costs $3.50, i.e. less than 1.2 million.", "That is cheap."],
        ["He lived in the U.S.", "Then he moved to Acme Inc.", "It was sold."],
        ["“Stop!” she said.", "He did."],
        ["She asked: “Why?”", "Nobody knew."],
        ["Use graphctx.toml or v2.0.1 of it.", "See example.com for more."],
        ["Wait... there is more!", "Is there?", "Yes."],
        ["See Fig. 3 and Sec. 4 for details.", "They help."],
        ["A. Smith wrote this.", "B. Jones did not."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    assert texts(" ".join(sentences)) == sentences


def test_scripts_without_spaces_are_split_at_their_own_full_stops() -> None:
    assert texts("今日は晴れです。明日は雨でしょう！「傘は。」と聞いた？終わり") == [
        "今日は晴れです。",
        "明日は雨でしょう！",
        "「傘は。」",
        "と聞いた？",
        "終わり",
    ]


def test_a_chat_log_is_split_at_each_speaker() -> None:
    log = "Alice: is the gate up?\nBob Ray: since noon. All good\nAlice: thanks"
    assert texts(log) == ["Alice: is the gate up?", "Bob Ray: since noon.", "All good", "Alice: thanks"]


@pytest.mark.parametrize(
    "sentences",
    [
        [
            "Transcript of Monday",
            "Ann: Hello there",
            "Bob: We lost the anchor",
            "Ann: And the chart?",
            "Bob: It is dry",
        ],
        ["Data sheet of the boat", "Hull: steel", "Length over all: 12 m"],
        ["Notes", "Ann: the gate\nis up", "Bob: good"],
    ],
)
def test_speakers_and_fields_below_a_heading_are_sentences(sentences: list[str]) -> None:
    assert texts("\n".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["The gate is opened\nby hand.", "It closes\nby itself."],
        [f"The crew has a\n[list](https://example.com/{'x' * 120}) of\nropes.", "It is short."],  # a link has no width
        ["The gate was shut by\nKeeper Hale: nobody else has a key.", "He has two."],  # no speaker
        ["A boat can carry between 2 and\n255.", "If more come, another sails."],  # no item of a list
        ['See the\n<dfn title="One. Two.">note</dfn> below.', "It helps."],
    ],
)
def test_hard_wrapped_prose_keeps_its_sentences_across_lines(sentences: list[str]) -> None:
    assert texts("\n".join(sentences)) == sentences


@pytest.mark.parametrize("text", ["](" * 500_000, '<a b="' + "A! " * 300_000, "<b c=" * 200_000, "Dr. " * 200_000])
@pytest.mark.timeout(60)  # minutes if any of it were quadratic
def test_a_hostile_text_is_split_in_linear_time(text: str) -> None:
    assert split_sentences(text)


def test_a_long_item_of_a_list_divides_no_sentence_of_another() -> None:
    items = ["`rope` is a function for tying up a boat (`rope\n  bow`).", "word " * 30 + "end"]
    assert texts("".join(f"- {item}\n" for item in items), "list") == items


def test_a_line_that_goes_on_in_lower_case_is_joined_where_lines_are_long() -> None:
    assert texts(f"{'word ' * 30}and\nmore\nAnother") == [f"{'word ' * 30}and\nmore", "Another"]


def test_a_number_that_opens_a_wrapped_line_is_no_marker() -> None:
    text = "A boat can carry between 2 and\n255. If more come, another sails."
    assert marker_start(text, text.index("If")) == text.index("If")


def test_a_line_break_ends_a_sentence_where_lines_are_not_wrapped() -> None:
    long = "word " * 40
    assert texts(f"{long.strip()}\nShort line\nAnother") == [long.strip(), "Short line", "Another"]


def test_list_items_are_sentences_without_their_bullets() -> None:
    block = "- one. Two.\n* three\n  goes on\n1. four\na) five\n• six"
    assert texts(block, "list") == ["one.", "Two.", "three\n  goes on", "four", "five", "six"]


def test_table_rows_are_sentences_and_rules_are_none() -> None:
    table = "| a | b |\n|:--|--:|\n| 1. x | 2 |\n+---+---+\n"
    assert texts(table, "table") == ["| a | b |", "| 1. x | 2 |"]


def test_code_that_is_too_long_is_cut_at_line_ends() -> None:
    code = "".join(f"call_number_{i}()\n" for i in range(200))
    pieces = texts(code, "code")
    assert len(pieces) > 1
    assert all(piece.startswith("call_number_") and piece.endswith("()") for piece in pieces)
    assert "\n".join(pieces) == code.strip()


def test_prose_that_is_wrapped_at_a_great_width_is_split_at_full_stops() -> None:
    lines = [
        "The harbour board of Port Averil keeps one register (the red one) of moorings and another of the boats that lie at",
        "Averil, and it reads both aloud on the first of May. Whoever finds a mistake may say so until the lamp is out, which is",
        "commonly about a quarter of an hour. Nothing is changed after that until the next reading.",
    ]
    text = "\n".join(lines).replace("one register", "rather carefully one register")
    assert max(map(len, text.split("\n"))) > 120
    assert [text[start:end].split()[0] for start, end in split_sentences(text)] == ["The", "Whoever", "Nothing"]


def test_a_row_of_a_grid_table_is_whole() -> None:
    rows = ["| when | what |", "| daily | at noon, |\n|       | at six    |", "| never | - |"]
    grid = "+---+---+\n{}\n+===+===+\n{}\n+---+---+\n{}\n+---+---+".format(*rows)
    assert [grid[start:end] for start, end in split_sentences(grid, "table")] == rows
