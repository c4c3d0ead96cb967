"""What is read out of a question."""

from __future__ import annotations

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.question import answer_type, parse_question


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the pier burn down?", "date"),
        ("Who built the pier, and when was it opened?", "person"),
        ("In which year was the pier opened?", "date"),
        ("How many berths does the harbour have?", "number"),
        ("Which version added the flag?", "number"),
        ("With whom did Ada sail?", "person"),
        ("Where does the ferry leave?", "place"),
        ("Which town has the oldest pier?", "place"),
    ],
)
def test_a_question_tells_what_sort_of_answer_it_asks_for(question: str, kind: str) -> None:
    assert answer_type(question) == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many lived in the town when the pier burned down?", "number"),
        ("What is the population of the town where Ada was born?", ""),
        ("What is the job of the man who read the numbers out?", ""),
        ("What happens when the main thread finishes?", ""),
        ("When should I restart the gateway?", ""),
        ("When do you call the duty phone?", ""),
        ("", ""),
    ],
)
def test_a_word_that_opens_a_clause_asks_for_nothing(question: str, kind: str) -> None:
    assert answer_type(question) == kind


def test_a_date_that_the_question_names_is_not_the_date_that_it_asks_for(handbook_kb: KnowledgeBase) -> None:
    question = parse_question("In what year did the lease of 1911 end?", handbook_kb.searcher().index)
    wanted = question.answer_pattern()
    assert wanted is not None
    assert wanted("It ended in 1934.")
    assert not wanted("It was read aloud in 1911.")
    assert wanted("That of 1911 ended in 1934.")
