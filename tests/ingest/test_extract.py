"""The extract step on one and on several processes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.ingest.extract import EXTRACTIONS, Extractions, extract_step
from graphctx.ingest.workers import Refused
from graphctx.model.documents import Block, Document, Sentence, TextUnit
from graphctx.model.ids import content_id
from graphctx.model.knowledge import Extraction, Mention, RawFact
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import IngestSettings
from graphctx.text.sentences import split_sentences

TEXTS = [
    "Maria Noor leads the Site Reliability Group (SRG). She joined Acme in 2019.",
    "The `Drop` trait is part of the Rust prelude. Rust calls `drop` for every value.",
    "Harbour Relay forwards events to the Ledger service. Acme built Harbour Relay in Oslo, Norway.",
    "Nothing here.",
    "",
]


def item(number: int, text: str) -> tuple[Document, list[TextUnit]]:
    doc_id = content_id("d", number)
    document = Document(
        doc_id, f"{number}.md", f"Page {number}", text, "", "text/markdown", blocks=(Block("prose", 0, len(text)),)
    )
    sentences = tuple(Sentence(*span) for span in split_sentences(text))
    if not sentences:
        return document, []
    unit_id = content_id("u", doc_id, text)
    return document, [TextUnit(unit_id, doc_id, "s_x", 0, "prose", 0, len(text), 10, sentences)]


class FailingExtractor:
    """Fails as an extractor without its model does."""

    fingerprint = "failing"

    def load(self) -> None:
        pass

    def extract(self, document: Document, units: Sequence[TextUnit]) -> Extraction:
        raise BackendUnavailable("no model", model="none")


def extract(*items: tuple[Document, list[TextUnit]], processes: int = 1) -> list[Extraction]:
    work = [(SpacyExtractor, *one) for one in items]
    found = extract_step().of_all(work, [1] * len(work), IngestSettings(processes=processes))
    return list(Extractions([one for one in found if not isinstance(one, Refused)]))


def test_a_document_gives_the_same_whatever_stands_beside_it() -> None:
    assert extract() == []
    first = item(0, TEXTS[0])
    assert extract(first)[0] == extract(item(1, TEXTS[1]), first)[1]


def test_an_error_of_the_extractor_is_raised_here() -> None:
    with pytest.raises(BackendUnavailable, match="no model") as caught:
        extract_step(FailingExtractor).of_all([(FailingExtractor, *item(0, TEXTS[0]))], [1], IngestSettings())
    assert caught.value.details == {"model": "none"}


_offsets = st.integers(0, 10**6)
_mentions = st.builds(
    Mention,
    st.sampled_from(["u_a", "u_b"]),
    st.integers(0, 9),
    st.text(max_size=12),
    st.sampled_from(["person", "term"]),
    st.sampled_from(["ner", "code"]),
    _offsets,
    _offsets,
    st.none() | st.text(max_size=5),
)
_facts = st.builds(
    RawFact,
    st.sampled_from(["u_a", "u_c"]),
    st.integers(0, 9),
    st.text(max_size=5),
    st.text(max_size=5),
    st.text(max_size=5),
    *[_offsets] * 6,
)


@given(st.lists(_mentions, max_size=5), st.lists(_facts, max_size=5))
def test_an_extraction_survives_its_bytes(mentions: list[Mention], facts: list[RawFact]) -> None:
    extraction = Extraction("d_x", tuple(mentions), tuple(facts))
    assert EXTRACTIONS.from_bytes(EXTRACTIONS.to_bytes(extraction)) == extraction
