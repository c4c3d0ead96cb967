from __future__ import annotations

import pytest

from graphctx.text.prose import leads_on, refers_back, stands_alone

GOOD = "Keel is the program in the logger of every buoy."


@pytest.mark.parametrize(
    "text",
    [
        "## The logger of every buoy in the fleet.",
        "The logger of every buoy\n------------------------",
        "Who wrote the program in the logger of every buoy?",
        "The program in the logger has three parts:",
        "the harbour, the bosun",
        "Signed by Keel.",
        "Work Wave Wind Lifting a hull 1.8 m 20 knots Towing a buoy 3.0 m 28 knots Small boats 1.2 m 15 knots.",
        "| Keel | the program in the logger of every buoy. |",
        "```\nkeel = the program in the logger of every buoy.\n```",
        "keel --run=1 /dev/tty0 && echo $? > /tmp/x; {a: [1, 2]} << 3.",
        "The program " + "in the logger of every buoy " * 20 + "ends.",
        "",
    ],
)
def test_what_is_no_sentence_of_prose_is_never_chosen(text: str) -> None:
    assert stands_alone(text, "prose") == 0.0


@pytest.mark.parametrize("kind", ["code", "table"])
def test_a_sentence_of_code_or_of_a_table_is_never_chosen(kind: str) -> None:
    assert stands_alone(GOOD, kind) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "- Keel is the program in the logger of every buoy.",
        "3. Keel is the program in the logger of every buoy.",
        "**Keel** is the program in the [logger](a.md) of every buoy.",
        "“Keel is the program in the logger of every buoy.”",
        "After the storm Keel asked its logger for the readings of the night.",
    ],
)
def test_marks_of_lists_and_of_emphasis_do_not_matter(text: str) -> None:
    assert stands_alone(text, "list") == stands_alone(GOOD, "prose") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "It is the program in the logger of every buoy.",
        "In other words, Keel is the program in the logger of every buoy.",
        "Since July 2024 it is the program in the logger of every buoy.",
        "(The program of Keel is in the logger of every buoy.",
        "Our program in the logger of every buoy is Keel.",
        "✨ Keel is the program in the logger of every buoy.",
        "... Keel is the program in the logger of every buoy.",
        "However, Keel is the program in the logger of every buoy.",
        "Since the summer it is the program in every buoy.",
        "The program is described in the section below.",
        "You will find the program in the logger of every buoy.",
        "program and logger of every buoy in the fleet.",
        "Owner: the keeper of the program in the logger.",
        "**Keel.** The program in the logger of every buoy.",
        "Keel is the best program in the logger of every buoy!",
    ],
)
def test_what_needs_its_neighbours_is_worth_less(text: str) -> None:
    assert 0.0 < stands_alone(text, "prose") < 1.0


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("They run on every node.", True),
        ("- *It* keeps the logs.", True),
        ("This feature was added later.", True),
        ("Its lamp burned oil.", True),
        ("It is possible to run two of them.", False),
        ("This guide explains how lamps are lit.", False),
        ("Items are sorted by name.", False),
    ],
)
def test_a_sentence_that_opens_with_a_pronoun_refers_back(text: str, back: bool) -> None:
    assert refers_back(text) is back


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("The parts of a lamp are:", True),
        ("- **Lamps**:", True),
        ("See the [list of lamps](lamps.md).", True),
        ("For more about lamps, see [their page](lamps.md).", True),
        ("See that the lamp is lit.", False),
        ("The [list of lamps](lamps.md) is read aloud at 12:30.", False),
    ],
)
def test_a_sentence_that_only_says_where_something_is_leads_on(text: str, on: bool) -> None:
    assert leads_on(text) is on
