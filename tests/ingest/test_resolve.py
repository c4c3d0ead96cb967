"""The resolution ladder: what becomes one entity, and what must not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.definitions import Definition
from graphctx.ingest.resolve import HUB_MIN_UNITS, Resolution, resolve_names
from graphctx.model.knowledge import EntityLabel, Extraction, Mention, MentionKind, RawFact

Spec = tuple[str, EntityLabel, MentionKind]


def mention(
    at: int, surface: str, label: EntityLabel, kind: MentionKind, alias_of: str | None = None, unit: str = "u_0"
) -> Mention:
    return Mention(unit, 0, surface, label, kind, at * 100, at * 100 + len(surface), alias_of)


def person(name: str) -> Spec:
    return name, "person", "ner"


def organisation(name: str) -> Spec:
    return name, "organization", "ner"


def chunk(name: str) -> Spec:
    return name, "term", "noun_chunk"


def code(name: str) -> Spec:
    return name, "code", "code"


def corpus(*documents: list[Spec]) -> list[Extraction]:
    """One unit for each document."""
    return [
        Extraction(f"d_{n}", tuple(mention(at, *spec, unit=f"u_{n}") for at, spec in enumerate(specs)), ())
        for n, specs in enumerate(documents)
    ]


def names(resolution: Resolution) -> list[str]:
    """The entity of each mention, by name; an empty string where it was pruned."""
    return [resolution.entities[at].name if at >= 0 else "" for at in resolution.mention_entity]


def resolved(*documents: list[Spec]) -> list[str]:
    return names(resolve_names(corpus(*documents), n_units=len(documents)))


def test_case_accents_and_articles_make_no_difference() -> None:
    found = resolve_names(corpus([person("José Müller"), person("Jose Muller"), person("José Müller")]), n_units=1)
    assert names(found) == ["José Müller"] * 3
    assert found.entities[0].aliases == ("Jose Muller",)


def acronym(short: str) -> Spec:
    return short, "term", "acronym"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([organisation("Site Reliability Group"), acronym("SRG")], ["Site Reliability Group"] * 2),
        ([person("Noor Haddad"), person("Haddad")], ["Noor Haddad"] * 2),
        ([person("Noor Haddad"), person("Noor Salem"), person("Noor")], ["Noor Haddad", "Noor Salem", "Noor"]),
        ([person("Ada Snow"), person("Snow"), chunk("snow"), chunk("snow")], ["Ada Snow", "Ada Snow", "", ""]),
        ([chunk("smart pointer"), chunk("smart pointers")], ["smart pointer"] * 2),
        ([chunk("time series database"), chunk("timeseries database")], ["time series database"] * 2),
        ([acronym("SLO"), acronym("SLOs")], ["SLO"] * 2),
        ([acronym("API"), acronym("APIs")], ["API"] * 2),
        ([("True", "term", "proper"), code("true"), code("foo")], [""] * 3),
        ([acronym("CROWN"), chunk("crowns"), chunk("crowns")], ["CROWN", "", ""]),
        ([code("read_line"), code("read_lines")], ["read_line", "read_lines"]),
        ([acronym("HTTP"), acronym("HTTPS")], ["HTTP", "HTTPS"]),
        ([code("Drop"), code("Drop"), chunk("drop"), code("drop")], ["Drop", "Drop", "", "drop"]),
        (
            [code("--shackles"), chunk("shackles"), chunk("shackle"), chunk("shackles")],
            ["--shackles", *["shackles"] * 3],
        ),
        ([code("FastAPI"), ("FastAPI", "term", "identifier"), code("fast_api")], ["FastAPI", "FastAPI", "fast_api"]),
        ([code("__file__"), code("'a'"), code("aGVsbG8gd29ybGQx")], ["__file__", "", ""]),
        ([person("Tomas Okello-Reyes"), person("T. Okello-Reyes")], ["Tomas Okello-Reyes"] * 2),
        (
            [person("Tomas Reyes"), person("Tilda Reyes"), person("T. Reyes")],
            ["Tomas Reyes", "Tilda Reyes", "T. Reyes"],
        ),
        ([("Euro", "term", "proper"), ("Euro", "term", "proper"), chunk("euro")], ["Euro"] * 3),
        ([person("Ada Poe"), chunk("winch")], ["Ada Poe", ""]),
        ([person("Ada Poe"), chunk("winch"), chunk("winch")], ["Ada Poe", "winch", "winch"]),
        ([code("x"), ("42", "term", "proper"), ("...", "term", "code"), person("it")], [""] * 4),
    ],
)
def test_the_names_of_a_document_become_entities(document: list[Spec], expected: list[str]) -> None:
    assert resolved(document) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Incident Report 2041", "Incident Report 2042"),
        ("Listing 1-2", "Listing 12"),
        ("Python 2", "Python 3"),
        ("Jane Kowalski", "Jan Kowalski"),
    ],
)
def test_similar_names_stay_apart(one: str, other: str) -> None:
    specs: list[Spec] = [(one, "term", "proper")] * 9 + [(other, "term", "proper")]
    assert len(set(resolved(specs))) == 2


def test_an_acronym_with_two_meanings_is_resolved_document_by_document() -> None:
    def page(number: int, long: str | None) -> Extraction:
        short = mention(1, "EPA", "term", "acronym", alias_of=long, unit=f"u_{number}")
        full = (mention(0, long, "organization", "ner", unit=f"u_{number}"),) if long else ()
        return Extraction(f"d_{number}", (*full, short), ())

    one, other = "Environmental Protection Agency", "Economic Partnership Agreement"
    found = resolve_names([page(0, one), page(1, other), page(2, None)], n_units=3)
    assert names(found) == [one, one, other, other, "EPA"]


def test_a_last_name_means_another_person_in_another_document() -> None:
    found = resolved([person("Bobby Jones"), person("Jones")], [person("Norah Jones"), person("Jones")])
    assert found == ["Bobby Jones", "Bobby Jones", "Norah Jones", "Norah Jones"]


def test_hubs_and_one_off_descriptions_are_pruned_and_names_are_kept() -> None:
    pages = [[chunk("user"), organisation("Acme")] for _ in range(HUB_MIN_UNITS + 1)]
    found = resolved([*pages[0], chunk("strange remark"), person("Ada Poe")], *pages[1:])
    assert "user" not in found
    assert "strange remark" not in found
    assert found.count("Acme") == HUB_MIN_UNITS + 1
    assert "Ada Poe" in found


def fact(subject: str, thing: str) -> RawFact:
    return RawFact("u_0", 0, subject, "lead", thing, 0, 1, 2, 3, 0, 50)


def test_a_fact_joins_the_entities_of_its_ends_once() -> None:
    mentions = (
        mention(0, "Ada Poe", "person", "ner"),
        mention(1, "mooring board", "term", "noun_chunk"),
        mention(2, "Poe", "person", "ner"),
    )
    facts = (fact("Ada Poe", "mooring board"), fact("Poe", "mooring board"), fact("Ada Poe", "nobody known"))
    found = resolve_names([Extraction("d_0", mentions, facts)], n_units=1)
    (only,) = found.facts
    ends = {entity.id: entity.name for entity in found.entities}
    assert (ends[only.subject_id], only.predicate, ends[only.object_id]) == ("Ada Poe", "lead", "mooring board")
    assert (only.start_char, only.end_char) == (0, 50)


_SURFACES = st.sampled_from(
    [
        "Noor",
        "Noor Haddad",
        "Haddad",
        "Noor Salem",
        "SRG",
        "Site Reliability Group",
        "drop",
        "Drop trait",
        "boxes",
        "box",
        "x",
    ]
)
_MENTION = st.tuples(
    _SURFACES,
    st.sampled_from(["person", "organization", "term"]),
    st.sampled_from(["ner", "noun_chunk", "code", "acronym"]),
)


@given(st.lists(st.lists(_MENTION, max_size=8), max_size=5))
def test_every_mention_counts_for_exactly_one_entity_and_the_order_of_entities_is_fixed(
    documents: list[list[Spec]],
) -> None:
    found = resolve_names(corpus(*documents), n_units=len(documents))
    assert [entity.id for entity in found.entities] == sorted({entity.id for entity in found.entities})
    counts = np.bincount(found.mention_entity[found.mention_entity >= 0], minlength=len(found.entities))
    assert [entity.n_mentions for entity in found.entities] == counts.tolist()
    assert resolve_names(corpus(*documents), n_units=len(documents)).entities == found.entities


@given(st.lists(st.lists(_MENTION, min_size=1, max_size=6), min_size=2, max_size=5))
def test_the_order_of_documents_changes_no_entity(documents: list[list[Spec]]) -> None:
    pages = corpus(*documents)
    assert resolve_names(pages, n_units=9).entities == resolve_names(pages[::-1], n_units=9).entities


def test_a_name_that_stands_for_a_longer_one_goes_by_that_though_only_the_title_has_it() -> None:
    stated = mention(0, "Eskil", "location", "ner", alias_of="Eskil Brandt")
    found = resolve_names([Extraction("d_0", (stated,), ())], n_units=1)
    assert [(entity.name, entity.aliases) for entity in found.entities] == [("Eskil Brandt", ("Eskil",))]


def test_a_common_noun_is_an_entity_only_where_it_is_said_more_than_anywhere() -> None:
    padding = [person(f"Ada Poe {n}") for n in range(2_000)]
    assert resolved([*padding, *[chunk("office")] * 3])[-1] == ""
    assert resolved([*padding, *[chunk("propeller")] * 3])[-1] == "propeller"
    assert resolved([*padding, *[chunk("office")] * 60])[-1] == "office"


def test_a_capital_alone_makes_no_name_of_a_word_that_every_text_has() -> None:
    padding = [person(f"Ada Poe {n}") for n in range(2_000)]
    assert resolved([*padding, ("People", "term", "proper")])[-1] == ""
    assert resolved([*padding, ("People", "organization", "ner")])[-1] == "People"
    assert resolved([*padding, ("Gannet", "term", "proper")])[-1] == "Gannet"


def test_what_documents_define_is_an_entity_however_common_its_word() -> None:
    pages = corpus([person(f"Ada Poe {n}") for n in range(2_000)] + [chunk("offices")] * 3)
    title = Definition("office", "The Office", 0, 1.0)
    heading = Definition("door", "Door", 0, 0.5)
    found = resolve_names(pages, [title, heading], n_units=1)
    assert names(found)[-1] == "offices"
    assert found.entity_of["office"] == found.mention_entity[-1]
    assert "door" not in found.entity_of


@pytest.mark.parametrize(
    ("document", "label"),
    [
        ([person("Ada Poe")], "person"),
        ([person("Ada Poe"), person("Ada")], "person"),
        ([person("Grafana")], "term"),
        ([organisation("Harbour Guild")], "organization"),
        (
            [organisation("Harbour Guild"), ("Harbour Guild", "term", "proper"), ("Harbour Guild", "person", "ner")],
            "term",
        ),
        ([("Averil", "location", "ner")], "location"),
        ([("Averil", "location", "ner"), code("averil run")], "term"),
        ([organisation("TLS"), code("max_wave")], "term"),
        ([code("max_wave")], "code"),
        ([code("almanac.toml")], "code"),
        ([("Almanac.js", "code", "identifier")], "term"),
        ([("UTF-8", "code", "identifier")] * 20 + [code("UTF-8")], "term"),
    ],
)
def test_a_label_rests_on_more_than_the_tagger(document: list[Spec], label: str) -> None:
    found = resolve_names(corpus(document), n_units=1)
    assert found.entities[found.mention_entity[0]].label == label
