from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.definitions import MAX_SUBJECT_WORDS, find_definitions, lead_subjects, title_names, usable
from graphctx.ingest.split import split_document
from graphctx.model.documents import Document
from graphctx.nlp.tokens import WordPieceCounter

Read = Callable[[str, str], Document]


def definitions(document: Document) -> dict[tuple[str, int], float]:
    split = split_document(document, WordPieceCounter())
    return {(h.key, h.unit_row): round(h.value, 3) for h in find_definitions(document, split.sections, split.units, 0)}


def test_a_title_is_at_home_in_the_first_unit(read_text: Read) -> None:
    found = definitions(read_text("a.md", "# Harbour Gate\n\nIt opens.\n\n## Keys\n\nThere are two."))
    assert found["harbour gate", 0] == 1.0
    assert found["keys", 1] == 0.5
    assert ("harbour gate", 1) not in found


def test_a_title_gives_its_name_without_parenthesis_and_before_the_comma() -> None:
    assert list(title_names("Mercury (planet)")) == [("Mercury (planet)", 1.0), ("Mercury", 1.0)]
    assert list(title_names("Averil, Port of")) == [("Averil, Port of", 1.0), ("Averil", 0.7)]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("27.2.5. Streaming replication", "Streaming replication"),
        ("Chapter 3. Indexes", "Indexes"),
        ("A.1. Codes", "Codes"),
        ("1. FC Union", "1. FC Union"),
        ("J. R. Reed", "J. R. Reed"),
        ("3.1.4", "3.1.4"),
    ],
)
def test_the_number_of_a_section_is_no_part_of_its_name(title: str, name: str) -> None:
    assert next(iter(title_names(title)))[0] == name


@pytest.mark.parametrize(
    "title", ["", "Gate", "Gate)", "Gate (", "Gate (a (b))", "Gate (a) b", "Gate (a))", "(planet)"]
)
def test_a_title_with_no_name_before_a_last_parenthesis_is_one_name(title: str) -> None:
    assert list(title_names(title)) == [(title, 1.0)]


def test_a_long_run_of_white_space_in_a_title_costs_no_more_than_its_length() -> None:
    run = " " * 300_000  # minutes, if it were looked at once for each of its characters
    assert list(title_names(f"a{run}b")) == [(f"a{run}b", 1.0)]
    assert list(title_names(f"a{run}(b){run}"))[1] == ("a", 1.0)


def test_the_subject_of_a_definition_is_at_home_where_it_is_defined(read_text: Read) -> None:
    found = definitions(
        read_text(
            "a.md",
            "# Notes\n\n## One\n\nThe **Old Margaret** (FW-03), a buoy, is a station.\n\n## Two\n\nIt was a gate.",
        )
    )
    assert found["old margaret", 0] == 0.7
    assert not [key for key, _ in found if key == "it"]


def test_an_untitled_document_is_at_home_in_its_lead_subject(read_text: Read) -> None:
    found = definitions(read_text("a.txt", "Brannoch was a fishing village on the north shore. It had nine houses.\n"))
    assert found["brannoch", 0] == 0.9
    assert set(found) == {("brannoch", 0)}


def test_a_file_name_is_no_title(read_text: Read) -> None:
    assert (
        definitions(read_text("harbour-gate.txt", "opens at noon, closes at six, and nobody minds that much.\n")) == {}
    )


def test_a_heading_that_is_code_is_a_better_home_than_one_in_plain_words(read_text: Read) -> None:
    found = definitions(read_text("a.md", "# T\n\nx\n\n## `max_wave`\n\nA number.\n\n## Calm weather\n\nNone."))
    assert found["`max_wave", 1] == 0.9
    assert found["calm weather", 2] == 0.5


def test_a_definition_in_source_code_is_at_home_in_its_name(read_text: Read) -> None:
    found = definitions(read_text("gate.py", "LIMIT = 4\n\n\ndef open_gate(name):\n    return name\n"))
    assert found["`open_gate", 1] == 0.9


def test_code_in_a_heading_is_at_home_below_it(read_text: Read) -> None:
    found = definitions(read_text("a.md", "# T\n\nx\n\n## The `max_wave` setting\n\nIt is a number."))
    assert found["`max_wave", 1] == 0.7


@pytest.mark.parametrize(
    ("key", "good"),
    [
        ("", False),
        ("a", False),
        ("it", False),
        ("gate", True),
        ("a b", True),
        ("x " * 11, False),
        ("and the", False),
        ("`max_wave", True),
        ("`'a'", False),
    ],
)
def test_a_name_must_be_specific(key: str, good: bool) -> None:
    assert usable(key.strip()) is good


def test_a_defined_term_is_a_weaker_home_than_a_title(read_text: Read) -> None:
    found = definitions(read_text("a.md", "# Words\n\n- **Drift**: how far she may go.\n- `max_slack`: spare rope."))
    assert 0 < found["`max_slack", 0] < found["drift", 0] < found["words", 0]


def test_a_file_of_documentation_is_at_home_in_its_name(read_text: Read) -> None:
    found = definitions(read_text("guide/storm-ledger.md", "# How we write it\n\nBy hand."))
    assert 0 < found["storm ledger", 0] < found["storm ledger.md", 0] < 1
    assert ("index", 0) not in definitions(read_text("guide/index.md", "# How we write it\n\nBy hand."))


def test_only_titles_headings_and_subjects_are_a_units_own_names(read_text: Read) -> None:
    document = read_text("storm-ledger.md", "# Words\n\nThe Ledger is a book.\n\n- **Drift**: how far she may go.")
    split = split_document(document, WordPieceCounter())
    own = {
        definition.key for definition in find_definitions(document, split.sections, split.units, 0) if definition.own
    }
    assert own == {"words", "ledger"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Port Averil is a town on the Outer Hestra.", "Port Averil"),
        ('"Evening Linnet" was the first ferry of the line.', "Evening Linnet"),
        ("What's Left of Autumn? is a play in two acts.", "What's Left of Autumn?"),
        ("His Last Ferry is an early silent film.", "His Last Ferry"),
        ("Knots: A Manual is the oldest book in the loft.", "Knots: A Manual"),
        ("Linnets (Linaria, formerly Carduelis) are often called the poor man's canary.", "Linnets"),
        ("Vasslund [pronounced VAHS-lund (roughly)] is a village.", "Vasslund"),
        ("Wenna Tregear, born in Port Averil, is a pilot.", "Wenna Tregear"),
        ("The lock gate is an obstacle.", "The lock gate"),
        ("7 is a number.", "7"),
    ],
)
def test_the_subject_of_a_defining_sentence_is_what_the_text_is_about(text: str, name: str) -> None:
    assert lead_subjects(text)[name] == 1.0


def test_a_person_is_known_by_shorter_names_too() -> None:
    found = lead_subjects('Sir Tomas Arvid "Tam" Okello (4 May 1931 – 2 June 1999), also known as Oak, was a pilot.')
    assert found["Tomas Arvid Okello"] == found["Tam Okello"] == 1.0
    assert found["Tomas Okello"] == 0.7


def test_an_apposition_is_no_part_of_the_name() -> None:
    assert set(lead_subjects("Skua, a fast boat with two masts, is the pride of the yard.")) == {"Skua"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "In 2014 a new pier was the talk of the town.",
        "It is a town.",
        "There was a storm.",
        "During the night the mast was a danger to all.",
        "He is one of us.",
        "The board met on Friday. Nobody was a member yet.",
        "Boats leave at seven. Linnet is a bird.",
        "and then there is a pause",
        "Averil competed in the regatta.",
        "Most of the old houses that stand along the upper harbour road are a sorry sight.",
    ],
)
def test_a_sentence_that_defines_nothing_gives_no_name(text: str) -> None:
    assert lead_subjects(text) == {}


@given(st.text(alphabet=st.sampled_from("AZaz1 ,.;:\"()[]iswa\n'’–é"), max_size=200) | st.text(max_size=200))
def test_any_text_gives_short_names_of_its_own_words(text: str) -> None:
    for name, value in lead_subjects(text + " is a").items():
        assert 0 < value <= 1
        assert 0 < len(name.split()) <= MAX_SUBJECT_WORDS
