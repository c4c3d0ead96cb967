"""Which questions ask for everything."""

from __future__ import annotations

import pytest

from graphctx.retrieve.global_search.introductions import asks_for_everything


@pytest.mark.parametrize(
    ("question", "everything"),
    [
        ("What are the main themes?", True),
        ("Give me an overview of the documentation.", True),
        ("Summarise everything.", True),
        ("What is this corpus about?", True),
        ("What are the main themes of the incident reports?", False),
        ("Who leads the team?", False),
        ("Tell me about the documents.", True),
        ("What topics are covered?", True),
        ("What is this?", False),
        ("Give me an overview of Prometheus", False),
    ],
)
def test_a_question_that_names_nothing_asks_for_everything(question: str, everything: bool) -> None:
    assert asks_for_everything(question) is everything
