"""Points and titles of communities within a scope."""

from __future__ import annotations

import numpy as np
import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.graph.communities import MAIN_DOCUMENTS, MAX_POINTS, CommunityIndex
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.view import GraphView
from graphctx.text.names import shown_heading
from tests.retrieve.graph.conftest import Anew

PARTS = ["decisions/", "people/", "incidents/2022", ""]


def within(kb: KnowledgeBase, prefix: str) -> CommunityIndex:
    """The communities of the documents below a folder; every other document where it is empty."""
    index = kb.searcher().index
    uris = index.documents["uri"].to_pylist()
    part = index.part(np.array([uri.startswith(prefix) if prefix else at % 2 == 0 for at, uri in enumerate(uris)]))
    tables = GraphTables(part)
    return CommunityIndex(GraphView(part, tables))


def said_below(communities: CommunityIndex, row: int) -> list[int]:
    """The points of all communities below one: first the best of each, the higher first, then the second, and so on."""
    index, child = communities.view.index, communities.hierarchy.child
    assert index.visible is not None
    waiting, ranked = child[row].tolist(), []
    for number, at in enumerate(waiting):
        waiting.extend(child[at].tolist())
        points = communities.hierarchy.points[at].tolist()
        shown = [one for one in points if index.visible[communities.view.unit_of_sentence(one)]]
        ranked += [(place, number, sentence) for place, sentence in enumerate(shown)]
    own = communities.hierarchy.points[row].tolist()
    return [
        *(one for one in own if index.visible[communities.view.unit_of_sentence(one)]),
        *(one for *_, one in sorted(ranked)),
    ]


@pytest.mark.parametrize("prefix", PARTS)
def test_points_within_a_scope_are_its_own_and_then_the_best_of_each_below(
    handbook_kb: KnowledgeBase, prefix: str
) -> None:
    communities = within(handbook_kb, prefix)
    for row in np.flatnonzero(communities.visible).tolist():
        every = list(dict.fromkeys(said_below(communities, row)))
        assert communities.points(row).tolist() == every[:MAX_POINTS]


def test_titles_made_anew_of_everything_are_the_same_headings_and_as_many_names(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    tables = GraphTables(index)
    communities = CommunityIndex(Anew(index, tables))
    rows = np.flatnonzero(communities.visible).tolist()
    assert len(rows) > 20
    paths = [part for path in index.units["heading"].to_pylist() for part in path.split(" › ")]
    headings = set(map(shown_heading, paths + index.documents["title"].to_pylist()))
    for row in rows:
        made, kept = communities.title(row), communities.hierarchy.titles[row]
        assert made == kept if kept in headings else made.count(", ") == kept.count(", ")
        assert not any(name.startswith(("the ", "The ")) for name in made.split(", "))


@pytest.mark.parametrize("prefix", ["", "decisions/"])
def test_the_main_documents_are_visible_and_name_members(handbook_kb: KnowledgeBase, prefix: str) -> None:
    communities = within(handbook_kb, prefix)
    index = communities.view.index
    rows = communities.roots().tolist()
    assert rows
    for row in rows:
        titles = communities.document_titles(row)
        assert 1 <= len(titles) <= MAIN_DOCUMENTS
        assert len(set(titles)) == len(titles)
        pairs = np.flatnonzero(np.isin(index.walk.pair_entity, communities.members(row)))
        naming = set(index.walk.unit_doc[index.walk.pair_unit[pairs]].tolist())
        assert set(titles) <= {index.documents["title"][at].as_py() for at in naming}
