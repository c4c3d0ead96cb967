from __future__ import annotations

from itertools import pairwise

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import CommunitiesInput, Scope
from graphctx.model.results import NameResults
from graphctx.retrieve.catalog import Catalog

ALL = Scope()


@pytest.fixture(scope="module")
def catalog(handbook_kb: KnowledgeBase) -> Catalog:
    return handbook_kb.searcher().catalog


def test_every_document_is_named_and_reads_as_it_is(catalog: Catalog, handbook_kb: KnowledgeBase) -> None:
    names = catalog.documents("", ALL, 1000)
    assert len(names.values) == names.total == handbook_kb.status().counts["documents"]
    for uri in names.values:
        whole = catalog.document(uri, ALL)
        assert whole.uri == uri
        assert whole.text == handbook_kb.document(uri).text
        assert catalog.document(whole.doc_id, ALL) == whole
        edges = [(entry.start_char, entry.end_char) for entry in whole.outline]
        assert edges[0][0] == 0
        assert edges[-1][1] == len(whole.text)
        assert all(end == start for (_, end), (start, _) in pairwise(edges))


def test_names_that_begin_with_a_text_come_before_names_that_hold_it(catalog: Catalog) -> None:
    names = [name.lower() for name in catalog.entities("desk", ALL, 1000).values]
    exact = [name for name in names if "desk" in name]
    assert exact
    grades = [0 if name.startswith("desk") else 1 if " desk" in name else 2 for name in exact]
    assert grades == sorted(grades)
    assert names[: len(exact)] == exact


def test_a_slip_of_the_pen_finds_the_name_all_the_same(catalog: Catalog) -> None:
    whole = next(name for name in catalog.entities("", ALL, 1000).values if len(name) > 9)
    slip = whole[:4] + whole[5:]
    assert whole in catalog.entities(slip, ALL, 100).values


def test_a_text_that_starts_like_an_id_is_completed_to_ids(catalog: Catalog) -> None:
    for of, prefix in ((catalog.entities, "e_"), (catalog.documents, "d_")):
        ids = of(prefix, ALL, 10).values
        assert ids
        assert of(ids[0][:-1], ALL, 10).values == (ids[0],)


@pytest.mark.parametrize("text", ["(", ".*", "\\", "[", "\0", "é👩‍👩‍👧", "%", "'", "x" * 300])
def test_any_text_can_be_completed(catalog: Catalog, text: str) -> None:
    for names in (catalog.entities(text, ALL, 5), catalog.documents(text, ALL, 5)):
        assert len(names.values) <= 5
        assert names.total >= len(names.values)


def test_communities_are_completed_to_titles_and_ids_the_largest_first(
    catalog: Catalog, handbook_kb: KnowledgeBase
) -> None:
    every = catalog.communities("", ALL, 1000)
    assert len(every.values) == every.total > 20
    named = catalog.communities("gannet", ALL, 1000).values
    assert named
    assert all("gannet" in title.lower() for title in named[:2])
    assert set(catalog.communities("ganet", ALL, 1000).values) >= set(named[:1]), "one letter may be wrong"
    for title in every.values:
        found = handbook_kb.searcher().graph.communities(CommunitiesInput(community_ids=[title]))
        assert found.items or found.empty_reason == "ambiguous"
    ids = catalog.communities("c_", ALL, 1000).values
    assert len(ids) >= every.total
    assert catalog.communities(ids[0], ALL, 10) == NameResults((ids[0],), 1)


def test_titles_are_completed_only_to_what_the_scope_calls_them(catalog: Catalog, handbook_kb: KnowledgeBase) -> None:
    people = Scope(repositories=["people"])
    text = " ".join(catalog.document(uri, people).text for uri in catalog.documents("", people, 100).values)
    folded = " ".join(text.split()).casefold()
    names = catalog.communities("", people, 1000)
    assert 0 < names.total <= catalog.communities("", ALL, 1000).total
    for title in names.values:
        assert all(part.casefold() in folded for part in title.split(", "))
        assert (
            handbook_kb.searcher().graph.communities(CommunitiesInput(community_ids=[title], scope=people)).snapshot_id
        )


def test_an_outline_has_the_first_documents_with_their_headings_and_units(
    catalog: Catalog, handbook_kb: KnowledgeBase
) -> None:
    whole = catalog.outline(ALL, 1000)
    assert [one.uri for one in whole.documents] == sorted(one.uri for one in whole.documents)
    assert whole.total == len(whole.documents) == catalog.documents("", ALL, 1).total
    for one in whole.documents:
        assert one.sections == catalog.document(one.uri, ALL).outline
        places = [handbook_kb.searcher().unit(unit.section_id) for unit in one.units]
        assert {place.doc_uri for place in places} == {one.uri}
        assert [place.start_char for place in places] == sorted(place.start_char for place in places)
        assert [place.heading for place in places] == [unit.heading for unit in one.units]
    few = catalog.outline(ALL, 3)
    assert (few.documents, few.total) == (whole.documents[:3], whole.total)
    people = catalog.outline(Scope(repositories=["people"]), 1000)
    assert {one.uri for one in people.documents} == {
        one.uri for one in whole.documents if one.uri.startswith("people/")
    }
