"""Misspelt words of a question are read as the words of the documents, and the answer says so."""

from __future__ import annotations

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.spelling import corrected


def test_a_misspelt_question_finds_what_the_right_one_finds(handbook_kb: KnowledgeBase) -> None:
    wrong = handbook_kb.retrieve_evidence("Who aproves a relase?")
    right = handbook_kb.retrieve_evidence("Who approves a release?")
    assert wrong.quotes == right.quotes
    assert wrong.read_as == {"aproves": "approves", "relase": "release"}
    assert right.read_as == {}
    assert handbook_kb.search("Who aproves a relase?").read_as == wrong.read_as


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("What did Okelo-Reyes design?", {"Okelo": "Okello"}),
        ("What does neigbour_flag return?", {"neigbour": "neighbour"}),
        ("Explain the configuraton of the almanc", {"configuraton": "configuration", "almanc": "almanac"}),
        ("Who wrote Keel, and what is ERDDAP?", {}),  # rare, but right
        ("What failed at FW-99 in relase9?", {}),  # a digit is never a misspelling
        ("How does photosynthesis feed a zebra?", {}),  # English words that no document holds
        ("Who sings xqzvwj?", {}),  # like no word
        ("Wie releast man einen Loger und wer ist dabei?", {}),  # no English
    ],
)
def test_only_words_that_resemble_one_word_of_the_documents_change(
    handbook_kb: KnowledgeBase, typed: str, read: dict[str, str]
) -> None:
    assert dict(corrected(typed, handbook_kb.searcher().index)[1]) == read


def test_a_word_of_documents_out_of_scope_corrects_nothing(handbook_kb: KnowledgeBase) -> None:
    answer = handbook_kb.retrieve_evidence("What does keelctl rolback do?", scope={"repositories": ["people"]})
    assert answer.read_as == {}
