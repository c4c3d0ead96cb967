"""The resolution ladder: what becomes one entity, and what must not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_a_stated_acronym_is_its_long_form() -> None:
    group = mention(0, "Site Reliability Group", "organization", "ner")
    short = mention(1, "SRG", "term", "acronym", alias_of="Site Reliability Group")
    found = resolve_names([Extraction("d_0", (group, short), ())], n_units=1)
    assert names(found) == ["Site Reliability Group"] * 2


def test_an_acronym_with_two_meanings_is_resolved_document_by_document() -> None:
    def page(number: int, long: str | None) -> Extraction:
        if long is None:
            return Extraction(f"d_{number}", (mention(0, "EPA", "term", "acronym", unit=f"u_{number}"),), ())
        pair = (
            mention(0, long, "organization", "ner", unit=f"u_{number}"),
            mention(1, "EPA", "term", "acronym", alias_of=long, unit=f"u_{number}"),
        )
        return Extraction(f"d_{number}", pair, ())

    one, other = "Environmental Protection Agency", "Economic Partnership Agreement"
    found = resolve_names([page(0, one), page(1, other), page(2, None)], n_units=3)
    assert names(found) == [one, one, other, other, "EPA"]


def test_an_acronym_and_the_only_name_of_its_document_with_these_initials_are_one() -> None:
    specs: list[Spec] = [organisation("Site Reliability Group"), ("SRG", "term", "acronym")]
    assert resolved(specs) == ["Site Reliability Group"] * 2


def test_a_last_name_is_the_person_of_its_document() -> None:
    assert resolved([person("Noor Haddad"), person("Haddad")]) == ["Noor Haddad"] * 2


def test_a_first_name_of_two_people_is_neither() -> None:
    found = resolved([person("Noor Haddad"), person("Noor Salem"), person("Noor")])
    assert found == ["Noor Haddad", "Noor Salem", "Noor"]


def test_a_last_name_means_another_person_in_another_document() -> None:
    found = resolved([person("Bobby Jones"), person("Jones")], [person("Norah Jones"), person("Jones")])
    assert found == ["Bobby Jones", "Bobby Jones", "Norah Jones", "Norah Jones"]


def test_a_common_noun_is_not_a_person_of_that_name() -> None:
    found = resolved([person("Ada Snow"), person("Snow"), chunk("snow"), chunk("snow")])
    assert found[:2] == ["Ada Snow"] * 2
    assert found[2] == found[3] != "Ada Snow"


def test_people_with_similar_names_stay_apart() -> None:
    assert len(set(resolved([person("Jane Kowalski")] * 9 + [person("Jan Kowalski")]))) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [("Incident Report 2041", "Incident Report 2042"), ("Listing 1-2", "Listing 12"), ("Python 2", "Python 3")],
)
def test_names_that_differ_in_digits_stay_apart(one: str, other: str) -> None:
    specs: list[Spec] = [(one, "term", "proper")] * 9 + [(other, "term", "proper")]
    assert len(set(resolved(specs))) == 2


def test_the_kind_of_a_thing_is_no_part_of_its_name() -> None:
    drop, trait = mention(0, "Drop", "code", "code"), Mention("u_0", 0, "Drop trait", "term", "noun_chunk", 0, 10)
    assert names(resolve_names([Extraction("d_0", (drop, trait), ())], n_units=1)) == ["Drop"] * 2


def test_an_adjective_that_is_code_elsewhere_is_no_name() -> None:
    found = resolved([code("new"), chunk("new method"), chunk("new method")])
    assert found[0] != found[1]


def test_a_team_is_not_the_system_it_runs() -> None:
    relay = mention(0, "Harbour Relay", "term", "proper")
    team = Mention("u_0", 0, "Harbour Relay team", "term", "noun_chunk", 0, 18)
    again = Mention("u_0", 0, "Harbour Relay team", "term", "noun_chunk", 300, 318)
    found = names(resolve_names([Extraction("d_0", (relay, team, again), ())], n_units=1))
    assert found[0] != found[1]


def test_a_company_keeps_its_name_without_its_legal_form() -> None:
    assert resolved([organisation("Acme"), organisation("Acme, Inc.")]) == ["Acme"] * 2


def test_plurals_and_word_breaks_are_folded() -> None:
    assert len(set(resolved([chunk("smart pointer"), chunk("smart pointers")]))) == 1
    assert len(set(resolved([chunk("time series database"), chunk("timeseries database")]))) == 1


def test_the_plural_of_an_acronym_is_written_like_one() -> None:
    slo: Spec = ("SLO", "term", "acronym")
    assert len(set(resolved([slo, ("SLOs", "term", "acronym")]))) == 1
    crown: Spec = ("CROWN", "term", "acronym")
    assert len(set(resolved([crown, chunk("crowns"), chunk("crowns")]))) == 2


def test_identifiers_are_not_made_singular() -> None:
    assert len(set(resolved([code("read_line"), code("read_lines")]))) == 2


def test_a_rare_misspelling_of_a_frequent_name_is_that_name() -> None:
    specs = [organisation("Kubernetes Foundation")] * 5 + [organisation("Kubernetes Fundation")]
    assert set(resolved(specs)) == {"Kubernetes Foundation"}


def test_hubs_and_one_off_descriptions_are_pruned_and_names_are_kept() -> None:
    pages = [[chunk("user"), organisation("Acme")] for _ in range(HUB_MIN_UNITS + 1)]
    found = resolved([*pages[0], chunk("strange remark"), person("Ada Poe")], *pages[1:])
    assert "user" not in found
    assert "strange remark" not in found
    assert found.count("Acme") == HUB_MIN_UNITS + 1
    assert "Ada Poe" in found


def test_noise_becomes_no_entity() -> None:
    assert resolved([code("x"), ("42", "term", "proper"), ("...", "term", "code"), person("it")]) == [""] * 4


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


def test_an_empty_corpus_resolves_to_nothing() -> None:
    found = resolve_names([], n_units=0)
    assert (found.entities, found.facts, len(found.mention_entity)) == ([], [], 0)


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


def test_a_word_of_prose_is_no_mention_of_an_identifier_with_a_capital() -> None:
    assert resolved([code("Drop"), code("Drop"), chunk("drop")]) == ["Drop", "Drop", ""]
    assert resolved([code("drop"), code("drop"), chunk("drop")]) == ["drop"] * 3
    assert resolved([("Euro", "term", "proper"), ("Euro", "term", "proper"), chunk("euro")]) == ["Euro"] * 3


def test_a_name_that_stands_for_a_longer_one_goes_by_that_though_only_the_title_has_it() -> None:
    stated = mention(0, "Eskil", "location", "ner", alias_of="Eskil Brandt")
    found = resolve_names([Extraction("d_0", (stated,), ())], n_units=1)
    assert [(entity.name, entity.aliases) for entity in found.entities] == [("Eskil Brandt", ("Eskil",))]


def test_one_common_noun_that_is_said_once_is_no_entity() -> None:
    assert resolved([person("Ada Poe"), chunk("winch")]) == ["Ada Poe", ""]
    assert resolved([person("Ada Poe"), chunk("winch"), chunk("winch")]) == ["Ada Poe", "winch", "winch"]


def test_a_common_noun_is_an_entity_only_where_it_is_said_more_than_anywhere() -> None:
    padding = [person(f"Ada Poe {n}") for n in range(2_000)]
    assert resolved([*padding, *[chunk("office")] * 3])[-1] == ""
    assert resolved([*padding, *[chunk("propeller")] * 3])[-1] == "propeller"
    assert resolved([*padding, *[chunk("office")] * 40])[-1] == "office"


def test_a_capital_alone_makes_no_name_of_a_word_that_every_text_has() -> None:
    padding = [person(f"Ada Poe {n}") for n in range(2_000)]
    assert resolved([*padding, ("People", "term", "proper")])[-1] == ""
    assert resolved([*padding, ("People", "organization", "ner")])[-1] == "People"
    assert resolved([*padding, ("Gannet", "term", "proper")])[-1] == "Gannet"
