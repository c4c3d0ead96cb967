"""Facts that the rules read from real sentences, on the real model."""

from __future__ import annotations

import pytest

from graphctx.model.documents import Block, Document, Heading, Sentence, TextUnit
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.text.sentences import split_sentences

EXTRACTOR = SpacyExtractor()


def facts(text: str, *headings: str) -> set[tuple[str, str, str]]:
    page = Document(
        "d_x",
        "page.md",
        "Page",
        text,
        "",
        "text/markdown",
        blocks=(Block("prose", 0, len(text)),),
        headings=tuple(Heading(2, title, None, 0, 0) for title in headings),
    )
    sentences = tuple(Sentence(*span) for span in split_sentences(text))
    unit = TextUnit("u_x", "d_x", "s_x", 0, "prose", 0, len(text), 9, sentences)
    return {(fact.subject, fact.predicate, fact.object) for fact in EXTRACTOR.extract(page, [unit]).facts}


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("Maria Noor joined Acme in 2019.", ("Maria Noor", "join", "Acme")),
        ("FastAPI was created by Sebastián Ramírez.", ("Sebastián Ramírez", "create", "FastAPI")),
        ("FastAPI is based on Starlette and Pydantic.", ("FastAPI", "be based on", "Pydantic")),
        ("Rust automatically called `drop` for us.", ("Rust", "call", "drop")),
        ("Greece is a member of the World Trade Organization.", ("Greece", "be member of", "World Trade Organization")),
        ("The capital of France is Paris.", ("Paris", "be capital of", "France")),
        ("Maria Noor moved to Berlin, Germany.", ("Berlin", "be in", "Germany")),
        ("Acme's CEO John Smith resigned.", ("John Smith", "be CEO of", "Acme")),
        ("John Smith plans to move to Oslo.", ("John Smith", "plan to move to", "Oslo")),
        ("Prometheus does not support Windows XP.", ("Prometheus", "not support", "Windows XP")),
        ("Acme, founded in 1990 by Ada Poe, sells boats.", ("Ada Poe", "found", "Acme")),
        ("Maria Noor bought Acme and sold Globex.", ("Maria Noor", "sell", "Globex")),
        ("Midway is a small town located in Arkansas.", ("Midway", "be located in", "Arkansas")),
        ("Paul Tibbets, the pilot of the plane, lived in Ohio.", ("Paul Tibbets", "be", "pilot")),
    ],
)
def test_a_sentence_states_a_fact(sentence: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(sentence)


def test_a_pronoun_stands_for_the_last_subject_it_agrees_with() -> None:
    found = facts("Maria Noor leads the Harbour Team. She joined Acme in 2019. It builds boats.")
    assert ("Maria Noor", "join", "Acme") in found
    assert not any(subject in ("She", "It") for subject, _, _ in found)


def test_a_pronoun_without_antecedent_states_nothing() -> None:
    assert facts("She joined Acme in 2019.") == set()


@pytest.mark.parametrize(
    "sentence",
    ["Does Acme sell boats?", "If Acme sells Globex, Ada Poe leaves Acme.", "Stop the engine.", "They said so."],
)
def test_questions_conditions_and_orders_state_nothing(sentence: str) -> None:
    assert facts(sentence) == set()


def test_a_date_is_no_object() -> None:
    assert not any(
        "1990" in thing for _, _, thing in facts("The founding of Acme was in May 1990. Acme is 30 years old.")
    )


def test_a_fact_needs_a_name_or_a_term_of_the_headings() -> None:
    sentence = "Ownership prevents memory leaks."
    assert facts(sentence) == set()
    assert ("Ownership", "prevent", "memory leaks") in facts(sentence, "Ownership and Borrowing")
