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
        ("FastAPI was created by Sebastián Ramírez.", ("FastAPI", "be created by", "Sebastián Ramírez")),
        ("FastAPI is based on Starlette and Pydantic.", ("FastAPI", "be based on", "Pydantic")),
        ("Helm depends on Kubernetes.", ("Helm", "depend on", "Kubernetes")),
        ("Helm is compatible with Kubernetes.", ("Helm", "be compatible with", "Kubernetes")),
        ("Greece is a member of the World Trade Organization.", ("Greece", "be member of", "World Trade Organization")),
        ("John Smith plans to move to Oslo.", ("John Smith", "plan to move to", "Oslo")),
        ("Acme, founded in 1990 by Ada Poe, sells boats.", ("Acme", "be founded by", "Ada Poe")),
        ("Maria Noor bought Acme and sold Globex.", ("Maria Noor", "sell", "Globex")),
        ("Midway is a small town located in Arkansas.", ("Midway", "be located in", "Arkansas")),
        ("Ada Poe, the founder of Acme, lived in Ohio.", ("Ada Poe", "be founder of", "Acme")),
        ("Note that the `lookup` function queries Kubernetes.", ("lookup function", "query", "Kubernetes")),
    ],
)
def test_a_sentence_states_a_fact(sentence: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(sentence)


@pytest.mark.parametrize(
    ("sentence", "fact"),
    [
        ("Prometheus does not support Windows XP.", ("Prometheus", "not support", "Windows XP")),
        ("Helm has no support for Windows XP.", ("Helm", "not have support for", "Windows XP")),
        ("Helm never reads Tiller.", ("Helm", "never read", "Tiller")),
        ("Prometheus can't read the Acme file.", ("Prometheus", "can not read", "Acme file")),
        ("Helm may replace Tiller.", ("Helm", "may replace", "Tiller")),
        ("Helm should be installed by Acme.", ("Helm", "should be installed by", "Acme")),
    ],
)
def test_a_fact_keeps_its_negation_and_modality(sentence: str, fact: tuple[str, str, str]) -> None:
    assert facts(sentence) == {fact}


@pytest.mark.parametrize(
    "sentence",
    [
        "Does Acme sell boats?",
        "Stop the Acme engine.",
        "If Acme sells Globex, Ada Poe leaves Acme.",
        "Helm depends on Tiller unless Kubernetes is new.",
        "When Acme sells Globex, Ada Poe leaves Acme.",
        "With Acme in Oslo, Ada Poe leads Globex.",
        "Acme would buy Globex.",
        "Acme often buys Globex.",
        "Acme does not always support Globex.",
        "Acme is Globex or Initech.",
        "Ada Poe says that Acme sells Globex.",
        "Acme tells Globex to sell Initech.",
        "In our example Acme uses Globex.",
    ],
)
def test_what_is_not_asserted_is_no_fact(sentence: str) -> None:
    assert facts(sentence) == set()


@pytest.mark.parametrize(
    "sentence",
    [
        "Acme supports Globex instead of Initech.",
        "Acme supports Globex rather than Initech.",
        "Acme supports Globex, except for Initech.",
        "Acme supports Globex but not Initech.",
    ],
)
def test_what_is_ruled_out_is_no_object(sentence: str) -> None:
    assert {object_ for _, _, object_ in facts(sentence)} <= {"Globex"}


@pytest.mark.parametrize(
    "sentence",
    [
        "She joined Acme in 2019.",
        "This server supports Acme.",
        "Servers that run in Oslo support Acme.",
        "The ship belongs to Acme.",
        "Chapter 6 covers Acme.",
        "The `p2` variable holds an Acme.",
    ],
)
def test_a_subject_that_means_nothing_alone_states_nothing(sentence: str) -> None:
    assert facts(sentence) == set()


@pytest.mark.parametrize(
    "sentence", ["Acme has the engine.", "Acme is a useful tool.", "Acme sells similar boats.", "Acme knows them."]
)
def test_an_object_that_means_nothing_alone_states_nothing(sentence: str) -> None:
    assert facts(sentence) == set()


def test_a_date_is_no_object() -> None:
    assert not any(
        "1990" in thing for _, _, thing in facts("The founding of Acme was in May 1990. Acme is 30 years old.")
    )


def test_a_fact_needs_a_name_or_a_term_of_the_headings() -> None:
    sentence = "Ownership prevents memory leaks."
    assert facts(sentence) == set()
    assert ("Ownership", "prevent", "memory leaks") in facts(sentence, "Ownership and Borrowing")
