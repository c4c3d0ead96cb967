from __future__ import annotations

import xml.etree.ElementTree as Xml
from pathlib import Path

import igraph
from hypothesis import given
from hypothesis import strategies as st

from graphctx.export.graphml import xml_text
from graphctx.knowledge_base import KnowledgeBase
from tests.export.conftest import GENERIC, IMAGE, Export


def row_of(graph: igraph.Graph, name: str) -> int:
    return graph.vs["name"].index(name)  # type: ignore[no-any-return]


def test_igraph_reads_every_entity_and_every_edge(export: Export, kb_path: Path, tmp_path: Path) -> None:
    export(tmp_path / "x.graphml", "graphml")
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "x.graphml"))
    with KnowledgeBase.open(kb_path) as kb:
        counts = kb.status().counts
    assert graph.vcount() == counts["entities"] > 0
    assert graph.ecount() == counts["related"] > 0
    assert not graph.is_directed()


def test_names_come_back_as_they_are_except_for_what_xml_cannot_hold(graph: igraph.Graph) -> None:
    assert {GENERIC, f"{IMAGE}.md", "Ada Merriweather", "ctl_ \ufffdx"} <= set(graph.vs["name"])


def test_an_entity_has_its_community_of_each_level(graph: igraph.Graph) -> None:
    of = dict(zip(graph.vs["name"], graph.vs["community_0"], strict=True))
    titles = dict(zip(graph.vs["name"], graph.vs["community_0_title"], strict=True))
    assert of["Dorothea Vance"] == of["Hollow Rock"] != of["Ada Merriweather"]
    assert "Operation Nightjar" in titles["Hollow Rock"]


def test_an_edge_has_its_weight_and_the_predicates_of_facts_with_their_direction(graph: igraph.Graph) -> None:
    source = row_of(graph, "Dorothea Vance")
    edge = graph.es[graph.get_eid(source, graph.vs["name"].index("Operation Nightjar"))]
    assert edge["weight"] > 0
    assert edge["n_facts"] == 1
    assert edge["predicates"] == f"{'→' if edge.source == source else '←'} run"


def test_documents_are_nodes_with_their_mentions_if_asked_for(graph: igraph.Graph) -> None:
    assert graph.vs["kind"].count("document") == 4
    edge = graph.es[graph.get_eid(graph.vs["uri"].index("closed/secret.md"), row_of(graph, "Dorothea Vance"))]
    assert (edge["type"], edge["weight"]) == ("MENTIONS", 2.0)


def test_equal_content_gives_equal_bytes(export: Export, graph_file: Path, tmp_path: Path) -> None:
    export(tmp_path / "again", "graphml", documents=True)
    assert (tmp_path / "again").read_bytes() == graph_file.read_bytes()


@given(st.text())
def test_any_text_is_read_back_from_xml(text: str) -> None:
    read = Xml.fromstring(f"<t>{xml_text(text)}</t>".encode()).text or ""
    assert len(read) == len(text)
    assert all(one == other or one == "\ufffd" for one, other in zip(read, text, strict=True))


def test_what_xml_can_hold_is_never_replaced() -> None:
    text = "\t\n\r ~\x85\u2028\ud7ff\ue000\ufffd\U00010000\U0010ffff<&>\"'"
    assert Xml.fromstring(f"<t>{xml_text(text)}</t>".encode()).text == text
