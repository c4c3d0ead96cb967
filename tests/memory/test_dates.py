"""Dates: the days that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphctx.memory import MemoryDraft, MemoryQuery
from graphctx.memory.dates import periods_in

from .conftest import HERE, OpenMemory, on_day

WEDNESDAY = datetime(2026, 3, 18, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("What did we decide on 2026-01-05?", ["2026-01-05..2026-01-06"]),
        (
            "Who called on 20260105, and who on the 5th of May, 2023?",
            ["2026-01-05..2026-01-06", "2023-05-05..2023-05-06"],
        ),
        ("What did Ann report on March 18th?", ["2026-03-18..2026-03-19"]),
        ("What did Ann report on March 19?", ["2025-03-19..2025-03-20"]),
        ("What happened in December?", ["2025-12-01..2026-01-01"]),
        ("What happened in July 2025?", ["2025-07-01..2025-08-01"]),
        ("What happened in 2024?", ["2024-01-01..2025-01-01"]),
        ("What did I say today, and what yesterday?", ["2026-03-18..2026-03-19", "2026-03-17..2026-03-18"]),
        ("What did I say last Monday?", ["2026-03-16..2026-03-17"]),
        ("What did I say last Wednesday?", ["2026-03-11..2026-03-12"]),
        ("What did I say three days ago?", ["2026-03-15..2026-03-16"]),
        ("What did I say last week?", ["2026-03-08..2026-03-15"]),
        ("What did I say two weeks ago?", ["2026-03-01..2026-03-08"]),
        ("Who was 20260230, and who had 5 cats?", []),
    ],
)
def test_a_question_names_days_months_and_years(text: str, periods: list[str]) -> None:
    found = [f"{start.date()}..{end.date()}" for start, end in periods_in(text, WEDNESDAY)]
    assert found == periods


@pytest.mark.parametrize("asked", ["20 days ago", "on January 11", "on 20260111", "last Sunday"])
def test_what_was_said_on_the_day_that_a_question_names_comes_first(open_memory: OpenMemory, asked: str) -> None:
    memory = open_memory()
    for day in range(30):
        topic = ("the budget", "the garden", "a new printer")[day % 3]
        memory.add([MemoryDraft("turn", f"Let us talk about {topic}.", author="Ann")], HERE, on_day(day))
    now = on_day(14 if asked == "last Sunday" else 30)
    found = memory.search(MemoryQuery(f"What did Ann say {asked}?", HERE, now)).hits
    assert found[0].item.created_at == on_day(10).at


def test_a_time_in_which_everything_was_said_makes_nothing_bear_on_a_question(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add(
        [MemoryDraft("turn", f"The printer on floor {floor} is out of paper.") for floor in range(9)], HERE, on_day(3)
    )
    assert not memory.search(MemoryQuery("Who won the chess tournament in 2026?", HERE, on_day(9))).hits
