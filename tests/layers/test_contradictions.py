"""Contradictions between sentences, on pairs made up for it."""

from __future__ import annotations

import pytest

from eval.contradictions import pairs, rates
from graphctx.layers.conflicts import contradiction


def test_four_of_five_contradictions_are_found_and_hardly_a_pair_that_agrees_is_taken_for_one() -> None:
    held_out = pairs("held_out")
    assert sum(pair.contradict for pair in held_out) == 50
    told = rates(held_out)
    assert told["found"] >= 0.8
    assert told["false"] <= 0.05


@pytest.mark.parametrize(
    ("one", "other", "why", "differs"),
    [
        ("Requests carry the header Bar.", "Requests must NOT carry header Bar.", "negation", ("carry", "not carry")),
        ("Webhooks are signed.", "Webhooks are unsigned.", "negation", ("signed", "unsigned")),
        ("The token is required.", "The token is optional.", "", ()),
        ("A token is required for reads.", "A token is optional for reads.", "modality", ("must", "optional")),
        ("Force pushes are allowed here.", "Force pushes are forbidden here.", "modality", ("allowed", "forbidden")),
        ("The limit is 50 MB.", "The limit is 80 MB.", "number", ("50 MB", "80 MB")),
        ("Calls time out after a minute.", "Calls time out after 30 s.", "number", ("a minute", "30 s")),
        ("Logs go to stdout.", "Logs go to stderr.", "value", ("stdout", "stderr")),
        ("The owner of billing is Dana.", "The owner of billing is Priya.", "value", ("Dana", "Priya")),
        ("The cache holds 1 GB.", "The cache holds 1024 MB.", "", ()),
        ("A batch holds at most 100 rows.", "A batch holds 40 rows.", "", ()),
        ("Cached for internal users.", "Not cached for external users.", "", ()),
        ("The API returns JSON.", "The API returns JSON, never XML.", "", ()),
        ("# The limits", "# Not the limits", "", ()),
        ("", "The limit is 50 MB.", "", ()),
    ],
)
def test_a_contradiction_says_what_differs(one: str, other: str, why: str, differs: tuple[str, ...]) -> None:
    found = contradiction(one, other)
    assert (found.why, found.differs) == (why, differs) if found else (why, differs) == ("", ())
    mirrored = contradiction(other, one)
    assert (mirrored.why if mirrored else "") == why


def test_one_sentence_of_many_is_enough_and_is_the_one_that_is_quoted() -> None:
    one = "# Uploads\n\nFiles are scanned. The upload limit is 50 MB. Nothing else is checked."
    other = "Uploads are slow on Mondays.\n\n- The upload limit is 80 MB.\n- Files are kept."
    found = contradiction(one, other)
    assert found is not None
    assert (found.one, found.other) == ("The upload limit is 50 MB.", "The upload limit is 80 MB.")


@pytest.mark.parametrize("text", ["not " * 20_000, "1" * 50_000, "a-" * 50_000, "is 5 s: " * 10_000, "=" * 100_000])
def test_a_hostile_text_is_read_in_linear_time(text: str) -> None:
    assert contradiction(text, f"x {text}") is None or text
