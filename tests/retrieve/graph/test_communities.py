"""CommunityIndex listed and described, and nothing in them of what may not be seen."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nlp.llm_stub import Stub, stub

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.graph import CommunityNode
from graphctx.model.requests import CommunitiesInput, DescribeInput, Filters
from graphctx.retrieve.graph import GraphExplorer
from graphctx.retrieve.graph.communities import CommunityIndex, title_of
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.store.communities import read_phrased
from tests.retrieve.graph.conftest import FILES, Anew

__all__ = ["stub"]

HOUSE = {
    "ovens.md": "# Copper Oven\n\nThe Copper Oven bakes the rye bread of Hanne Bruun. Hanne Bruun lights the Copper Oven "
    "at four. The Copper Oven was built in Aarfjord for the rye bread.\n",
    "bread.md": "# Rye bread\n\nHanne Bruun sells rye bread on the Aarfjord market. The Copper Oven gives the rye bread "
    "its crust. Hanne Bruun learned of rye bread in Aarfjord.\n",
    "signal.md": "# Signal box\n\nOtto Lindqvist works the Signal box of the Velden Line. The Signal box sets the points "
    "of the Velden Line. Otto Lindqvist painted the Signal box.\n",
    "line.md": "# Velden Line\n\nThe Velden Line runs past the Signal box to the Brakke tunnel. Otto Lindqvist closes the "
    "Brakke tunnel when the Velden Line floods.\n",
}


def graph_of(kb: KnowledgeBase) -> GraphExplorer:
    return kb.searcher().graph


@pytest.fixture
def handbook(handbook_kb: KnowledgeBase) -> GraphExplorer:
    return graph_of(handbook_kb)


def ask(graph: GraphExplorer, **arguments: Any) -> list[CommunityNode]:
    return list(graph.communities(CommunitiesInput(**arguments)).items)


def every(graph: GraphExplorer, **within: Any) -> list[CommunityNode]:
    """All communities of all levels."""
    found, level = [], 0
    while here := ask(graph, level=level, **within):
        found += here
        level += 1
    return found


# Listing


def test_the_roots_come_by_default_and_the_largest_first(handbook: GraphExplorer) -> None:
    roots = ask(handbook)
    assert len(roots) > 5
    assert {root.level for root in roots} == {0}
    assert roots == sorted(roots, key=lambda one: (-one.n_entities, one.id))
    assert roots == ask(handbook, level=0)


def test_children_are_told_of_their_parent_and_hold_all_of_it(handbook: GraphExplorer) -> None:
    parents = [root for root in ask(handbook) if root.n_children]
    assert parents
    for parent in parents:
        children = ask(handbook, parent_id=parent.id)
        assert len(children) == parent.n_children
        assert {child.parent_id for child in children} == {parent.id}
        assert sum(child.n_entities for child in children) == parent.n_entities
        assert ask(handbook, parent_id=parent.id, level=1) == children
        assert ask(handbook, parent_id=parent.id, level=0) == []
        assert ask(handbook, parent_id=parent.title) == children


def test_an_entity_leads_from_the_broadest_of_its_communities_down(handbook: GraphExplorer) -> None:
    chain = ask(handbook, entity_id="Gannet")
    assert [one.level for one in chain] == list(range(len(chain)))
    assert len(chain) > 1
    assert all(finer.parent_id == broader.id for broader, finer in pairwise(chain))
    assert ask(handbook, entity_id="Gannet", level=1) == chain[1:2]
    assert ask(handbook, entity_id="Gannet", parent_id=chain[0].id) == chain[1:2]
    other = next(root for root in ask(handbook) if root.id != chain[0].id and root.n_children)
    assert ask(handbook, entity_id="Gannet", parent_id=other.id) == []
    found = handbook.communities(CommunitiesInput(entity_id="Gannet", parent_id=other.id))
    assert found.empty_reason == "no_match"


def test_a_list_is_short_and_one_that_is_named_is_whole(handbook: GraphExplorer) -> None:
    listed = max(ask(handbook, include_snippet=True), key=lambda one: one.n_units)
    [whole] = ask(handbook, community_ids=[listed.id], include_snippet=True)
    assert (len(listed.key_entities), len(listed.summary), listed.key_facts) == (5, 1, [])
    assert whole.key_entities[:5] == listed.key_entities
    assert whole.summary[:1] == listed.summary
    assert len(whole.summary) > 1
    assert whole.key_facts
    assert (whole.title, whole.n_entities, whole.n_units) == (listed.title, listed.n_entities, listed.n_units)
    [bare] = ask(handbook, community_ids=[listed.id])
    assert bare == whole.model_copy(update={"summary": []})


# Names


def test_a_title_means_its_community_in_any_case_and_a_part_of_several_is_no_title(handbook: GraphExplorer) -> None:
    root = ask(handbook)[0]
    assert [one.id for one in ask(handbook, community_ids=[f" {root.title.upper()}  "])] == [root.id]
    titles = {one.id: one.title for level in range(4) for one in ask(handbook, level=level)}
    parts = Counter(word for title in titles.values() for word in set(re.findall(r"\w{5,}", title)))
    begun = Counter(re.findall(r"\w+", title.casefold())[0] for title in titles.values())
    whole = {title.casefold() for title in titles.values()}
    several = sorted(w for w, n in parts.items() if n > 1 and begun[w.casefold()] != 1 and w.casefold() not in whole)
    assert several
    for part in several:
        with pytest.raises(InvalidArgument, match="Near it") as caught:
            ask(handbook, community_ids=[part])
        near = [one["id"] for one in caught.value.details["near"]]
        assert all(part.casefold() in titles[one].casefold() for one in near[:2]), part
    misspelt = next(title for title in titles.values() if len(title) > 12 and list(titles.values()).count(title) == 1)
    with pytest.raises(InvalidArgument) as caught:
        ask(handbook, community_ids=[misspelt[:6] + misspelt[7:]])
    assert titles[caught.value.details["near"][0]["id"]] == misspelt


def test_the_beginning_of_one_title_or_its_words_are_enough(handbook: GraphExplorer) -> None:
    every = [one for level in range(4) for one in ask(handbook, level=level)]
    leads = [one.title.partition(",")[0] for one in every]
    words_of = [set(re.findall(r"[^\W_]+", other.title.casefold())) for other in every]
    once = [lead for lead in leads if " " in lead and sum(set(lead.casefold().split()) <= own for own in words_of) == 1]
    one, lead = every[leads.index(once[0])], once[0]
    for words in (lead, f" {lead.upper()}", " ".join(reversed(lead.split()))):
        assert [found.id for found in ask(handbook, community_ids=[words])] == [one.id]
    with pytest.raises(InvalidArgument):
        ask(handbook, community_ids=[lead[:-1]])


def test_what_is_unknown_is_listed_beside_what_is_known(handbook: GraphExplorer) -> None:
    root = ask(handbook)[0]
    found = handbook.communities(CommunitiesInput(community_ids=["c_aaaaaaaaaaaaaaaa", root.id, root.id]))
    assert [one.id for one in found.items] == [root.id]
    assert [(one.asked, one.reason) for one in found.unresolved] == [("c_aaaaaaaaaaaaaaaa", "unknown")]
    for arguments in (
        {"community_ids": ["c_aaaaaaaaaaaaaaaa"]},
        {"parent_id": "c_aaaaaaaaaaaaaaaa"},
        {"entity_id": "no such entity at all"},
        {"community_ids": [root.id], "level": 0},
        {"community_ids": [root.id], "entity_id": "Gannet"},
    ):
        with pytest.raises(InvalidArgument):
            ask(handbook, **arguments)


def test_titles_join_names_of_which_none_is_part_of_another() -> None:
    assert title_of(["Gannet", "gannets", "the Gannet gateway", "Keel", "Sieve", "Bench"]) == "Gannet, Keel, Sieve"
    assert title_of(["Name of forty characters, more or less xyz", "another of some more", "one too many"]) == (
        "Name of forty characters, more or less xyz, another of some more"
    )
    assert title_of(["The Keel", "tokio::spawn()", "spawn"]) == "Keel, tokio::spawn"  # as at ingest
    assert title_of(["Keel"]) == "Keel"
    assert title_of(["…"]) == "…"
    assert title_of([]) == ""


def test_a_former_id_leads_to_the_community_that_goes_on(make_kb: Callable[..., KnowledgeBase], tmp_path: Path) -> None:
    kb = make_kb(HOUSE)
    before = every(graph_of(kb))
    more = tmp_path / "kb-docs" / "zz.md"
    told = " ".join(
        f"Aarfjord and the Brakke tunnel and Magda Steen meet in year {year}." for year in range(1900, 1912)
    )
    more.write_text(f"# Magda Steen\n\n{told}\n\nMagda Steen knows the rye bread. Magda Steen knows Hanne Bruun.\n")
    kb.ingest(tmp_path / "kb-docs", processes=1)
    graph = graph_of(kb)
    now = {one.id for one in every(graph)}
    gone = [one.id for one in before if one.id not in now]
    [whole] = [one for one in ask(graph, community_ids=sorted(now)) if one.formerly]
    assert set(whole.formerly) <= set(gone)
    assert [one.id for one in ask(graph, community_ids=[whole.formerly[0]])] == [whole.id]
    assert ask(graph, parent_id=whole.formerly[0]) == ask(graph, parent_id=whole.id)


# Where there are none


def test_documents_that_are_too_few_have_none_and_that_is_no_error(make_kb: Callable[..., KnowledgeBase]) -> None:
    graph = graph_of(make_kb({"a.md": "# A\n\nNothing much is said here.\n"}))
    for arguments in ({}, {"level": 3}, {"community_ids": ["c_aaaaaaaaaaaaaaaa"]}, {"parent_id": "x"}):
        found = graph.communities(CommunitiesInput(**arguments))
        assert (list(found.items), found.empty_reason) == ([], "no_communities")
    none = graph.communities(CommunitiesInput(filters=Filters(path_prefix="nowhere")))
    assert (none.empty_reason, list(none.filtered_by)) == ("filtered_out", ["filters.path_prefix"])


# Within a scope


def test_counts_made_anew_of_everything_are_those_of_the_table(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    tables = GraphTables(index)
    anew = CommunityIndex(Anew(index, tables))
    rows = index.snapshot.table("communities").to_pylist()
    assert len(rows) > 20
    assert [anew.n_units(at) for at in range(len(rows))] == [row["n_units"] for row in rows]
    named = set(index.snapshot.table("mentions", ["entity_row"])["entity_row"].to_pylist())
    ids = index.snapshot.table("entities", ["id"])["id"].to_pylist()
    mentioned = {ids[at] for at in named}
    for at, row in enumerate(rows):
        assert len(mentioned.intersection(row["entity_ids"])) <= anew.n_entities[at] <= row["n_entities"]
        assert anew.points(at)[: len(row["point_rows"])].tolist() == row["point_rows"]
        assert anew.summary(at).tolist()[: len(row["summary_rows"])] == row["point_rows"][: len(row["summary_rows"])]


def check_within(graph: GraphExplorer, folded: str, uris: set[str], read: Callable[[str], str], **within: Any) -> int:
    """Hold every community of a scope against the words of the scope's documents."""
    found = every(graph, **within)
    known = {one.id for one in found}
    for one in found:
        assert one.parent_id is None or one.parent_id in known
        assert one.n_entities > 0
        assert one.n_children == sum(other.parent_id == one.id for other in found)
        [whole] = ask(graph, community_ids=[one.id], include_snippet=True, **within)
        for name in [key.name for key in whole.key_entities]:
            assert name.casefold() in folded
        assert all(part.casefold() in folded for part in whole.title.split(", "))
        assert len(whole.key_entities) == min(10, whole.n_entities)
        for key in whole.key_entities[:3]:
            [entity] = graph.describe(DescribeInput(node_ids=[key.id], **within)).items
            assert entity.name == key.name
            assert entity.n_units
        for fact in whole.key_facts:
            assert all(word in folded for word in re.findall(r"\w+", fact.casefold())[:1])
        for sentence in whole.summary:
            assert sentence.doc_uri in uris
            assert read(sentence.doc_uri)[sentence.start_char : sentence.end_char] == sentence.text
        assert whole.phrased is None
    return len(found)


def words_of(texts: dict[str, str]) -> str:
    return " ".join(" ".join(f"{uri} {text}" for uri, text in sorted(texts.items())).split()).casefold()


@settings(max_examples=10)
@given(uris=st.sets(st.sampled_from(sorted(FILES)), min_size=1, max_size=4))
def test_all_that_is_reported_is_within_a_random_scope(harbour: KnowledgeBase, uris: set[str]) -> None:
    index = harbour.searcher().index
    visible = np.array([uri in uris for uri in index.documents["uri"].to_pylist()])
    texts = {uri: FILES[uri] for uri in uris}
    check_within(GraphExplorer(index.part(visible)), words_of(texts), uris, FILES.__getitem__)


@pytest.mark.parametrize("prefix", ["decisions/", "people/", "incidents/2022"])
def test_a_part_of_the_handbook_tells_of_itself_alone(handbook_kb: KnowledgeBase, prefix: str) -> None:
    index = handbook_kb.searcher().index
    uris = {uri for uri in index.documents["uri"].to_pylist() if uri.startswith(prefix)}
    texts = {uri: f"{handbook_kb.document(uri).title} {handbook_kb.document(uri).text}" for uri in uris}
    graph, filters = graph_of(handbook_kb), Filters(path_prefix=prefix)
    n = check_within(graph, words_of(texts), uris, lambda uri: handbook_kb.document(uri).text, filters=filters)
    assert 0 < n <= len(every(graph))


def test_what_has_nothing_within_does_not_exist_there(graph: GraphExplorer) -> None:
    closed = Filters(path_prefix="closed/more"), Filters(path_prefix="open/anna")
    seen = [{one.id for one in every(graph, filters=filters)} for filters in closed]
    hidden = next(one for one in every(graph) if one.id not in seen[1])
    assert hidden.id in seen[0] | {one.id for one in every(graph)}
    for name in (hidden.id, hidden.title):
        found = graph.communities(CommunitiesInput(filters=closed[1]))
        if found.empty_reason == "no_communities":
            again = graph.communities(CommunitiesInput(community_ids=[name], filters=closed[1]))
            assert (list(again.items), again.empty_reason) == ([], "no_communities")
        else:
            with pytest.raises(InvalidArgument) as caught:
                ask(graph, community_ids=[name], filters=closed[1])
            assert hidden.title not in json.dumps(caught.value.details["near"])


# A language model's words


def test_phrased_words_cite_the_summary_and_are_reported_only_where_all_they_are_made_of_is_seen(
    make_kb: Callable[..., KnowledgeBase], stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_LLM__BASE_URL", stub.url)
    monkeypatch.setenv("GRAPHCTX_LLM__MODEL", "stub")
    kb = make_kb(HOUSE)
    graph = graph_of(kb)
    rows = {row["id"]: row for row in kb.searcher().index.snapshot.table("communities").to_pylist()}
    told = ask(graph, community_ids=sorted(rows), include_snippet=True)
    assert told
    made_of = {one.id: {sentence.doc_uri for sentence in one.summary} for one in told}
    assert any(len(uris) > 1 for uris in made_of.values())
    for one in told:
        [said] = read_phrased(rows[one.id]["phrased"])
        assert one.phrased == f"{said.text} [1]"
        assert said.text in one.summary[0].text
        [bare] = ask(graph, community_ids=[one.id])
        assert bare.phrased is None
        for uri in HOUSE:
            for narrow in every(graph, filters=Filters(path_prefix=uri)):
                [part] = ask(graph, community_ids=[narrow.id], include_snippet=True, filters=Filters(path_prefix=uri))
                assert part.phrased is None or made_of[narrow.id] == {uri}, "its words were made of two documents"
    both = Filters(path_prefix="")
    assert [one.phrased for one in ask(graph, community_ids=sorted(rows), include_snippet=True, filters=both)] == [
        one.phrased for one in told
    ]
