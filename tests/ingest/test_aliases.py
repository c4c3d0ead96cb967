from __future__ import annotations

from collections.abc import Callable

import pytest

from graphctx.ingest.aliases import link_aliases
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.link import link_corpus
from graphctx.ingest.link_targets import corpus_definitions
from graphctx.ingest.resolve import resolve_names
from graphctx.ingest.split import split_document
from graphctx.model.documents import Document
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.nlp.tokens import WordPieceCounter

Read = Callable[[str, str], Document]
EXTRACTOR = SpacyExtractor()
COUNTER = WordPieceCounter()


def aliases(read_text: Read, *texts: str) -> list[tuple[str, str, str, str]]:
    """Name of code, name of prose, reason, and the sentence that shows it."""
    documents = [read_text(f"{number}.md", text) for number, text in enumerate(texts)]
    corpus = Corpus.of([(document, split_document(document, COUNTER, unit_tokens=64)) for document in documents])
    found = [EXTRACTOR.extract(document, corpus.units_of(row)) for row, document in enumerate(corpus.documents)]
    definitions = corpus_definitions(corpus)
    resolution = resolve_names(found, definitions, n_units=len(corpus.units))
    linked = link_corpus(corpus, found, resolution, definitions)
    sentences = [
        document.text[sentence.start_char : sentence.end_char]
        for document, _, unit in corpus.placed_units()
        for sentence in unit.sentences
    ]
    return [
        (linked.entities[source].name, linked.entities[target].name, reason, sentences[sentence])
        for source, target, reason, sentence in zip(
            *link_aliases(corpus, linked, resolution, definitions).to_pydict().values(), strict=True
        )
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "# Sieve\n\nThe sieve reads `sieve.yaml` at night.\n\nEdit the `sieve.yaml` file. Keep the `sieve.yaml` file.",
            ("sieve.yaml", "sieve.yaml file", "apposition", "Edit the `sieve.yaml` file."),
            id="the kind of a name behind it",
        ),
        pytest.param(
            "# Sieve\n\nSet the drain interval (`drain_interval`) by hand. The drain interval is a number.",
            ("drain_interval", "drain interval", "brackets", "Set the drain interval (`drain_interval`) by hand."),
            id="the same words in brackets",
        ),
        pytest.param(
            "# Sieve\n\nIt writes to the standard error (`stderr`) at night. The standard error is read by Maren.",
            ("stderr", "standard error", "brackets", "It writes to the standard error (`stderr`) at night."),
            id="an abbreviation in brackets",
        ),
        pytest.param(
            "# Sieve\n\n## Default drain time\n\nThe parameter for it is `default_drain_time`.",
            ("default_drain_time", "Default drain time", "heading", "The parameter for it is `default_drain_time`."),
            id="the words of the heading",
        ),
        pytest.param(
            "# Sieve\n\nThe Harbour Gate, also called `gatectl`, opens at six. The Harbour Gate is old.",
            ("gatectl", "Harbour Gate", "stated", "The Harbour Gate, also called `gatectl`, opens at six."),
            id="the text says so",
        ),
    ],
)
def test_a_name_of_code_is_linked_with_what_prose_calls_it(
    read_text: Read, text: str, expected: tuple[str, str, str, str]
) -> None:
    assert expected in aliases(read_text, text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "# Sieve\n\nThe drain interval is short. The drain interval is a number. Set `drain_interval` by hand.",
            id="likeness alone",
        ),
        pytest.param(
            "# Sieve\n\nWrite it to the Harbour Gate (`report.csv`) at night. The Harbour Gate is old.",
            id="an example in brackets",
        ),
        pytest.param("# Sieve\n\nA gauge called `tide_gauge` is slow. Gauges are old.", id="the name of an instance"),
        pytest.param("# Sieve\n\n## Secrets\n\nSet `--secrets` by hand. Secrets are kept.", id="one common word"),
    ],
)
def test_names_that_no_text_equates_are_not_linked(read_text: Read, text: str) -> None:
    assert aliases(read_text, text) == []


def test_each_document_that_shows_an_alias_counts_once(read_text: Read) -> None:
    text = "# Sieve\n\nEdit the `sieve.yaml` file. Read the `sieve.yaml` file. The sieve reads `sieve.yaml`."
    assert [one[2] for one in aliases(read_text, text, text)] == ["apposition", "apposition"]
