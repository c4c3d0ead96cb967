from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.printable import one_line, printable_json, visible

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""What a terminal acts on, or turns or breaks a line at, except for line feeds and tabs."""

NASTY = st.text(
    st.one_of(
        st.characters(codec="utf-8"), st.sampled_from("\x1b\x07\r\n\t\x7f\x85\x9b\x9d\u2028\u202e\u2066\u2069]2J;\\\"'")
    )
)


@given(NASTY)
def test_no_text_holds_what_a_terminal_obeys(text: str) -> None:
    shown = visible(text)
    assert not OBEYED.search(shown)
    assert visible(shown) == shown
    assert len(one_line(text).splitlines()) <= 1
    assert not OBEYED.search(one_line(text))


@given(st.dictionaries(NASTY, st.one_of(NASTY, st.lists(NASTY), st.floats(allow_nan=False), st.none())))
def test_printed_json_parses_to_the_same_value(value: dict[str, object]) -> None:
    printed = printable_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(printed) == value
    assert not OBEYED.search(printed)
    assert visible(printed) == printed


def test_what_is_hidden_becomes_visible() -> None:
    assert visible("a\x1b[2Jb\x9b31m\u202ec\x7f\r\n") == "a␛[2Jb\\u009b31m\\u202ec␡\n"
    assert one_line("name\n\tof a file") == "name␊␉of a file"
