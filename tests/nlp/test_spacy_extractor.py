"""Mentions that the extractor finds, on the real model."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.model.documents import Block, BlockKind, Document, Heading, Sentence, TextUnit
from graphctx.model.ids import content_id
from graphctx.model.knowledge import Extraction, Mention
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.text.sentences import split_sentences

EXTRACTOR = SpacyExtractor()


def document(
    text: str, title: str = "Page", *, blocks: tuple[Block, ...] = (), headings: tuple[Heading, ...] = ()
) -> Document:
    blocks = blocks or (Block("prose", 0, len(text)),)
    return Document("d_x", "page.md", title, text, "", "text/markdown", blocks=blocks, headings=headings)


def units_of(page: Document, *, kind: BlockKind | None = None) -> list[TextUnit]:
    """One unit over the whole text, with the sentences of its blocks."""
    sentences = tuple(
        Sentence(block.start_char + start, block.start_char + end)
        for block in page.blocks
        for start, end in split_sentences(page.text[block.start_char : block.end_char], block.kind)
    )
    if not sentences:
        return []
    kinds = {block.kind for block in page.blocks}
    unit_kind = kind or (kinds.pop() if len(kinds) == 1 else "prose")
    start, end = sentences[0].start_char, sentences[-1].end_char
    return [TextUnit(content_id("u", page.text), page.id, "s_x", 0, unit_kind, start, end, 9, sentences)]


def extract(text: str, title: str = "Page") -> Extraction:
    page = document(text, title)
    return EXTRACTOR.extract(page, units_of(page))


def found(text: str, title: str = "Page") -> dict[str, Mention]:
    return {mention.surface: mention for mention in extract(text, title).mentions}


def test_people_places_and_organisations_are_labelled() -> None:
    mentions = found("Angela Merkel visited Paris with a delegation of the United Nations.")
    assert mentions["Angela Merkel"].label == "person"
    assert mentions["Paris"].label == "location"
    assert mentions["United Nations"].label == "organization"


def test_a_noun_chunk_loses_its_determiner_and_owner() -> None:
    mentions = found("The quick release procedure replaced their old manual process.")
    assert mentions["quick release procedure"].kind == "noun_chunk"
    assert "manual process" in mentions


def test_code_spans_and_identifiers_are_taken_as_written() -> None:
    mentions = found("Call `Vec::push` or `let x = 5` in read_line(), then HashMap and std::fs::File.")
    assert mentions["Vec::push"].kind == "code"
    assert mentions["read_line()"].kind == "identifier"
    assert mentions["HashMap"].kind == "identifier"
    assert mentions["std::fs::File"].kind == "identifier"


def test_markup_does_not_spoil_a_name() -> None:
    text = "Read [the **Harbour Relay** guide](https://x.org/a_b) by _Maria Noor_ and <b>Acme Corp</b> today."
    mentions = found(text)
    assert {"Maria Noor", "Acme Corp", "Harbour Relay"} <= set(mentions)
    assert not any("*" in surface or "<" in surface or "x.org" in surface for surface in mentions)


def test_an_acronym_knows_its_long_form_in_either_order() -> None:
    text = "The Site Reliability Group (SRG) met. Its SLO (service level objective) was missed."
    mentions = found(text)
    assert mentions["SRG"].alias_of == "Site Reliability Group"
    assert mentions["SLO"].alias_of == "service level objective"
    assert "Site Reliability Group" in mentions


def test_a_name_also_known_as_another_is_its_alias() -> None:
    assert found("Mackay Hall, also known as Denny Hall, burned down.")["Denny Hall"].alias_of == "Mackay Hall"


def test_the_title_is_found_as_one_name() -> None:
    mention = found("In 1999 The Long Way Home was filmed in Oslo.", "The Long Way Home (film)")["The Long Way Home"]
    assert mention.kind == "title"


def test_a_heading_inside_a_unit_is_a_mention() -> None:
    text = "## Watch circles\nA buoy leaves its circle."
    headings = (Heading(2, "Watch circles", None, 0, 16),)
    page = document(text, headings=headings)
    mentions = EXTRACTOR.extract(page, units_of(page)).mentions
    assert [m.surface for m in mentions if m.kind == "heading"] == ["Watch circles"]


def test_code_is_not_parsed_but_gives_its_identifiers() -> None:
    prose, code = "Run the server.\n", "```python\ndef drain_queue(x):\n    return JobQueue.drain(x)\n```"
    page = document(
        prose + code,
        blocks=(Block("prose", 0, len(prose)), Block("code", len(prose), len(prose + code))),
    )
    mentions = {m.surface: m.kind for m in EXTRACTOR.extract(page, units_of(page)).mentions}
    assert mentions == {"server": "noun_chunk", "drain_queue": "identifier", "JobQueue.drain": "identifier"}


def test_a_column_of_plain_text_ends_a_name() -> None:
    text = "Crew:\n\n  Master           Josephine Clarke\n  Mate             Ansel Whitcombe\n  Bosun            Finn Poe\n"
    assert {"Josephine Clarke", "Ansel Whitcombe", "Finn Poe"} <= set(found(text))


def test_what_follows_a_name_and_of_is_another_name() -> None:
    mentions = found("Pacific Marine Inc. of Houston paid Analyst Scott Hinton of Elders Futures Inc. in May.")
    assert {"Pacific Marine Inc.", "Houston", "Scott Hinton", "Elders Futures Inc."} <= set(mentions)


def test_a_date_is_no_name() -> None:
    mentions = found("Report of 4 June 2024. It was signed on Monday 14 Feb 2023.")
    assert not any("2024" in surface or "Feb" in surface for surface in mentions)


def test_the_words_of_any_text_are_no_terms_unless_the_document_is_about_them() -> None:
    text = "The version was a mistake, and the long while did it no good. The winch has a motor."
    assert not {"version", "mistake", "long while"} & set(found(text))
    assert "winch" in found(text)
    assert "version" in found(text, "Versions")


def test_the_label_of_a_link_in_restructuredtext_is_prose() -> None:
    mentions = found("Then run `the long replay <../systems/almanac.md#replay>`_ with `replay --all`.")
    assert "long replay" in mentions
    assert [surface for surface, m in mentions.items() if m.kind == "code"] == ["replay --all"]


@pytest.mark.parametrize(
    ("text", "names", "others"),
    [
        pytest.param(
            "Call :meth:`~celery.app.Task.delay` or :option:`-E <celery worker -E>`, see :ref:`the guide <guide-app>`.",
            {"delay", "-E", "guide"},
            {"~celery.app.Task.delay", "-E <celery worker -E>", "the guide <guide-app>"},
            id="roles of reStructuredText",
        ),
        pytest.param("Fix JSON Schema of the winch.", {"JSON Schema"}, {"Fix JSON Schema"}, id="verbs of changelogs"),
        pytest.param(
            "Fixed deadlock of the winch. - **Hull**: Added winch support.",
            {"deadlock", "winch support"},
            {"Fixed deadlock", "Added winch support"},
            id="verbs of changelogs behind a label",
        ),
        pytest.param(
            "Specifies the load of the winch. Enables the winch.", {"winch"}, {"Specifies", "Enables"}, id="verbs"
        ),
        pytest.param("Listing 4-1 shows the winch. See Listing 4-2.", {"winch"}, {"Listing"}, id="captions"),
        pytest.param(
            "Match the `Some` variant and the `Winch` variant.", {"Winch variant"}, {"Some variant"}, id="any"
        ),
        pytest.param("A {string} **Flags:** `r`. A {number} **Flags:** `w`.", set(), {"Flags"}, id="labels in bold"),
        pytest.param("The docs and the documentation of the winch.", {"winch"}, {"docs", "documentation"}, id="docs"),
    ],
)
def test_what_only_introduces_or_marks_a_name_is_none(text: str, names: set[str], others: set[str]) -> None:
    mentioned = set(found(text))
    assert names <= mentioned
    assert not others & mentioned


def test_a_page_about_a_person_means_her_by_her_first_name() -> None:
    text = "Eskil leads the workshop. He came in 2019 and says that his first winter was hard. They asked Eskil twice."
    assert {m.alias_of for m in extract(text, "Eskil Brandt").mentions if m.surface == "Eskil"} == {"Eskil Brandt"}


def test_a_page_about_a_team_does_not_mean_it_by_its_town() -> None:
    text = "The team plays in Boston. Boston drew against Acme, and it lost the cup. They blamed the weather."
    assert {m.alias_of for m in extract(text, "Boston Celtics").mentions} == {None}


_PIECES = st.lists(
    st.sampled_from(
        ["Maria Noor", "`drop`", "**Acme**", "[the link](a.md)", "leads", "the", "(SRG)", "Site Reliability Group", ".",
         "It", "is", "a", "read_line", "||", "_x_", "`", "*", "\n", "\n\n", "“", "é", "😀", "<b>", "who", "and", ","]
    ),
    max_size=25,
)  # fmt: skip


@settings(max_examples=int(60 * float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1"))), deadline=None)
@given(_PIECES)
def test_every_span_lies_in_its_sentence_and_holds_the_name(pieces: list[str]) -> None:
    text = " ".join(pieces)
    page = document(text)
    units = units_of(page)
    extraction = EXTRACTOR.extract(page, units)
    assert EXTRACTOR.extract(page, units) == extraction
    for mention in extraction.mentions:
        sentence = units[0].sentences[mention.sentence]
        assert sentence.start_char <= mention.start_char < mention.end_char <= sentence.end_char
        written = text[mention.start_char : mention.end_char]
        assert mention.surface.split()[0][0] == written[0]
        assert mention.surface.split()[-1][-1] == written[-1]
    assert list(extraction.mentions) == sorted(extraction.mentions, key=lambda m: (m.start_char, m.end_char, m.kind))
    for fact in extraction.facts:
        sentence = units[0].sentences[fact.sentence]
        assert (fact.start_char, fact.end_char) == (sentence.start_char, sentence.end_char)
        for start, end in ((fact.subject_start, fact.subject_end), (fact.object_start, fact.object_end)):
            assert sentence.start_char <= start < end <= sentence.end_char
        surfaces = {mention.surface for mention in extraction.mentions}
        assert {fact.subject, fact.object} <= surfaces


def test_a_missing_model_is_reported_with_what_to_do() -> None:
    page = document("Hello there.")
    extractor = SpacyExtractor("en_core_web_absent")
    with pytest.raises(BackendUnavailable, match="pip install"):
        extractor.extract(page, units_of(page))
    with pytest.raises(BackendUnavailable, match="en_core_web_absent"):
        assert extractor.fingerprint


def test_importing_the_extractor_loads_no_model() -> None:
    program = "import sys, graphctx.nlp.spacy_extractor; sys.exit('spacy' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
