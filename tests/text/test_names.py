import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.names import (
    acronym_of,
    is_acronym_of,
    is_nameable,
    normalise_name,
    reads_as_clause,
    singular_of,
)


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ("The Harbour Relay", "harbour relay"),
        ("the  Harbour\nRelay's", "harbour relay"),
        ("José Müller", "jose muller"),
        ("`std::fs::File`", "std::fs::file"),
        ("drop()", "drop"),
        ("**Site-Reliability** Group", "site reliability group"),
        ("Option<T>", "option"),
        ("Result<T, E>", "result"),
        ("the U.S.", "united states"),
        ("US", "united states"),
        ("United States of America", "united states"),
        ("U.N.", "un"),
        ("U.S. Army", "us army"),
        ("J. R. R. Tolkien", "jrr tolkien"),
        ("J.R.R. Tolkien", "jrr tolkien"),
        ("Acme, Inc.", "acme inc"),
        ("AT&T", "at and t"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("--release", "--release"),
        ("snake_case_name", "snake_case_name"),
        ("_emphasis_", "emphasis"),
        ("__file__", "__file__"),
        ("_bucket", "_bucket"),
        ("another-secret", "another-secret"),
        ("INC-2041", "inc 2041"),
        ("The Who", "the who"),
        ("their new house", "new house"),
        ("workers’ rights", "workers rights"),
        ("...", ""),
        ("", ""),
    ],
)
def test_a_surface_is_folded_to_the_name_it_is_compared_by(surface: str, name: str) -> None:
    assert normalise_name(surface) == name


@given(st.text(max_size=40))
def test_folding_a_name_twice_changes_nothing(surface: str) -> None:
    once = normalise_name(surface)
    assert normalise_name(once) == once


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("SRG", "Site Reliability Group"),
        ("SLOs", "service level objectives"),
        ("PromQL", "Prometheus Query Language"),
        ("BMN", "Brigada de Melhoramentos do Norte"),
        ("NASA", "National Aeronautics and Space Administration"),
        ("AJAX", "Asynchronous JavaScript and XML"),
    ],
)
def test_an_acronym_is_known_by_the_words_it_shortens(short: str, long: str) -> None:
    assert is_acronym_of(short, long)
    assert not is_acronym_of(short, "Quiet Zebra Kennel")


def test_an_acronym_needs_every_large_word() -> None:
    assert not is_acronym_of("SG", "Site Reliability Group")
    assert not is_acronym_of("SRX", "Site Reliability Group")


def test_small_words_give_no_initial() -> None:
    assert acronym_of("Journal of Mathematical Physics") == "JMP"


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("smart pointers", "smart pointer"),
        ("policies", "policy"),
        ("boxes", "box"),
        ("class", "class"),
        ("status", "status"),
        ("physics", "physics"),
        ("gas", "gas"),
        ("by all means", "by all means"),
    ],
)
def test_the_last_word_is_made_singular(plural: str, singular: str) -> None:
    assert singular_of(plural) == singular


@pytest.mark.parametrize("name", ["", "x", "42", "3.11", "it", "the who", "this one"])
def test_noise_is_no_name(name: str) -> None:
    assert not is_nameable(name)


@pytest.mark.parametrize(
    "heading", ["What we found on the quay", "How it works", "See also", "Overview", "Why not?", "–"]
)
def test_a_heading_that_says_something_is_a_clause(heading: str) -> None:
    assert reads_as_clause(heading)


@pytest.mark.parametrize("heading", ["Neighbour test", "Storm mode", "Harbour Alerts", "`drop`", "Watch circles"])
def test_a_heading_that_names_something_is_none(heading: str) -> None:
    assert not reads_as_clause(heading)
