"""Excerpts: bounded whatever is asked for, exact, and read on to the end of the passage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import ExcerptAnswer
from graphctx.model.arguments import parse_arguments
from graphctx.model.budgets import Limits, weigh
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.scratch import ScratchStore
from graphctx.server.tools import TOOLS
from graphctx.text.graphemes import is_boundary

from .library import Library

COUNT = AnswerCounter().count
BY_NAME = {tool.name: tool for tool in TOOLS}
MARKED = "".join(
    [
        "The \U0001f468\u200d\U0001f469\u200d\U0001f467 of Z\u0351\u036b\u0343rich \U0001f1eb\U0001f1ee \u1112\u1161\u11ab. "
    ]
    * 40
)
LIBRARY = Library(
    {
        "marks.md": (
            "Marks",
            "",
            f"# Before\n\nA line before.\n\n{MARKED.strip()}\n\nA line after. {'And on. ' * 200}\n",
        ),
        "long.txt": ("Long", "", "x" * 200_000),
        "words.txt": ("Words", "", "lorem ipsum " * 20_000),
        "pile.txt": ("Pile", "", "a" + "\u0301" * 50_000),
    }
)
UNITS = {unit.doc_uri: unit for unit in LIBRARY.units.values()} | {
    "marks.md": next(unit for unit in LIBRARY.units.values() if unit.text.startswith("The "))
}


def ask(tool: str, library: Library = LIBRARY, limits: Limits | None = None, **arguments: Any) -> ExcerptAnswer:
    config = ServerConfig(limits=limits or Limits())
    desk = Desk(library, COUNT, ScratchStore(1 << 24, 60), "x_aaaaaaaaaaaaaaaa", config)
    reply = BY_NAME[tool].run(desk, parse_arguments(BY_NAME[tool].input, arguments))
    answer = ExcerptAnswer.model_validate(reply.answer.model_dump(mode="json"))
    assert library.text_of(answer.doc_uri)[answer.start_char : answer.end_char] == answer.excerpt
    assert COUNT(answer.excerpt) <= 800
    assert len(answer.excerpt.encode()) <= 32 * 1024
    assert answer.budget.tokens >= weigh([reply.text, reply.answer.model_dump_json()], COUNT).tokens
    assert answer.truncated == (answer.limit_reason != "none")
    return answer


@given(st.integers(12, 120), st.integers(60, 2_000))
@settings(deadline=None, max_examples=25)
def test_reading_on_gives_the_whole_passage_between_graphemes(max_tokens: int, max_bytes: int) -> None:
    unit, read, start = UNITS["marks.md"], [], 0
    while start is not None:
        answer = ask(
            "kb.read_excerpt", passage_id=unit.section_id, start_char=start, max_tokens=max_tokens, max_bytes=max_bytes
        )
        assert COUNT(answer.excerpt) <= max_tokens
        assert len(answer.excerpt.encode()) <= max_bytes
        assert is_boundary(unit.text, start)
        assert answer.truncated == (answer.next_start_char is not None)
        read.append(answer.excerpt)
        start = answer.next_start_char
    assert "".join(read) == unit.text


@pytest.mark.parametrize("uri", ["long.txt", "words.txt", "pile.txt"])
def test_a_passage_without_an_end_is_read_in_bounded_pieces(uri: str) -> None:
    unit = UNITS[uri]
    first = ask("kb.read_excerpt", passage_id=unit.section_id, max_tokens=800)
    assert first.next_start_char == len(first.excerpt) > 0
    second = ask("kb.read_excerpt", passage_id=unit.section_id, start_char=first.next_start_char)
    assert second.start_char == first.end_char
    assert ask("kb.expand_excerpt", passage_id=unit.section_id, before_tokens=800, after_tokens=800).truncated


def test_a_start_within_a_character_moves_to_where_it_begins() -> None:
    unit = UNITS["marks.md"]
    family = unit.text.index("\U0001f468")
    answer = ask("kb.read_excerpt", passage_id=unit.section_id, start_char=family + 3)
    assert answer.start_char == unit.start_char + family


def test_a_limit_below_one_character_is_refused_with_what_it_needs() -> None:
    unit = UNITS["marks.md"]
    family = unit.text.index("\U0001f468")
    with pytest.raises(BudgetExceeded) as caught:
        ask("kb.read_excerpt", passage_id=unit.section_id, start_char=family, max_bytes=5)
    needed = caught.value.details["needed_bytes"]
    assert ask("kb.read_excerpt", passage_id=unit.section_id, start_char=family, max_bytes=needed).excerpt


@given(
    before=st.integers(0, 800), after=st.integers(0, 800), max_tokens=st.integers(8, 800), size=st.integers(60, 32_768)
)
@settings(deadline=None, max_examples=40)
def test_an_expanded_excerpt_is_one_span_within_its_limits(before: int, after: int, max_tokens: int, size: int) -> None:
    unit = UNITS["marks.md"]
    answer = ask(
        "kb.expand_excerpt",
        passage_id=unit.section_id,
        before_tokens=before,
        after_tokens=after,
        max_tokens=max_tokens,
        max_bytes=size,
    )
    document = LIBRARY.text_of("marks.md")
    assert COUNT(answer.excerpt) <= max_tokens
    assert len(answer.excerpt.encode()) <= size
    assert is_boundary(document, answer.start_char)
    assert is_boundary(document, answer.end_char)
    assert answer.start_char <= unit.start_char
    assert answer.line == 1 + document.count("\n", 0, answer.start_char)


SHORT = Library(
    {
        "notes.txt": (
            "Notes",
            "",
            "".join(
                f"{'QmFzZTY0' * 40}{n} \u1797\u17b6\u179f\u17b6\u1781\u17d2\u1798\u17c2\u179a {n} \U0001f600 lorem ipsum.\n\n"
                for n in range(30)
            ),
        )
    }
)
MIDDLE = list(SHORT.units.values())[15]


@given(
    before=st.integers(0, 800), after=st.integers(0, 800), max_tokens=st.integers(8, 800), size=st.integers(60, 4_000)
)
@example(before=800, after=0, max_tokens=800, size=500)
@example(before=150, after=150, max_tokens=310, size=32_768)
@settings(deadline=None, max_examples=40)
def test_an_expanded_excerpt_holds_its_passage_whenever_that_fits(
    before: int, after: int, max_tokens: int, size: int
) -> None:
    limits = {"passage_id": MIDDLE.section_id, "max_tokens": max_tokens, "max_bytes": size}
    alone = ask("kb.expand_excerpt", SHORT, before_tokens=0, after_tokens=0, **limits)
    answer = ask("kb.expand_excerpt", SHORT, before_tokens=before, after_tokens=after, **limits)
    assert COUNT(answer.excerpt) <= max_tokens
    assert len(answer.excerpt.encode()) <= size
    if MIDDLE.text in alone.excerpt:
        assert MIDDLE.text in answer.excerpt
    else:
        assert answer.excerpt == alone.excerpt


@pytest.mark.parametrize("limits", [Limits(1_300, 30_000), Limits(8_000, 2_600)], ids=["tokens", "bytes"])
def test_an_expanded_excerpt_holds_its_passage_in_the_smallest_response(limits: Limits) -> None:
    answer = ask(
        "kb.expand_excerpt",
        SHORT,
        limits,
        passage_id=MIDDLE.section_id,
        before_tokens=800,
        after_tokens=0,
        max_tokens=800,
    )
    assert MIDDLE.text in answer.excerpt
    assert answer.truncated
