from __future__ import annotations

import io
import xml.etree.ElementTree as Xml
from pathlib import Path

import igraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.export.graphml import xml_text
from graphctx.export.options import no_progress
from graphctx.knowledge_base import KnowledgeBase
from tests.export.conftest import IMAGE, SCRIPT, Export


@pytest.fixture
def graph(export: Export, tmp_path: Path) -> igraph.Graph:
    export(tmp_path / "x.graphml", "graphml")
    return igraph.Graph.Read_GraphML(str(tmp_path / "x.graphml"))


def test_igraph_reads_every_entity_and_every_edge(graph: igraph.Graph, kb_path: Path) -> None:
    with KnowledgeBase.open(kb_path) as kb:
        counts = kb.status().counts
    assert graph.vcount() == counts["entities"] > 0
    assert graph.ecount() == counts["related"] > 0
    assert not graph.is_directed()


def test_names_come_back_as_they_are_whatever_they_hold(graph: igraph.Graph) -> None:
    assert {SCRIPT, IMAGE, "Ada Merriweather"} <= set(graph.vs["name"])


def test_a_character_that_xml_cannot_hold_is_replaced(graph: igraph.Graph) -> None:
    assert "ctl \ufffdx" in graph.vs["name"]


def test_a_community_of_each_level_stands_at_its_entities(graph: igraph.Graph) -> None:
    of = dict(zip(graph.vs["name"], graph.vs["community_0"], strict=True))
    titles = dict(zip(graph.vs["name"], graph.vs["community_0_title"], strict=True))
    assert of["Dorothea Vance"] == of["Hollow Rock"] != of["Ada Merriweather"]
    assert "Operation Nightjar" in titles["Hollow Rock"]


def test_an_edge_tells_its_weight_and_what_facts_say_and_which_way(graph: igraph.Graph) -> None:
    row = {name: at for at, name in enumerate(graph.vs["name"])}
    edge = graph.es[graph.get_eid(row["Dorothea Vance"], row["Operation Nightjar"])]
    assert edge["weight"] > 0
    assert edge["n_facts"] == 1
    outward = edge.source == row["Dorothea Vance"]
    assert edge["predicates"] == f"{'→' if outward else '←'} run"


def test_documents_are_nodes_with_what_they_mention_if_asked_for(export: Export, tmp_path: Path) -> None:
    report = export(tmp_path / "x.graphml", "graphml", documents=True)
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "x.graphml"))
    row = {name: at for at, name in enumerate(graph.vs["name"])}
    assert sum(kind == "document" for kind in graph.vs["kind"]) == report.counts["documents"] == 4
    secret = next(at for at, uri in enumerate(graph.vs["uri"]) if uri == "closed/secret.md")
    edge = graph.es[graph.get_eid(secret, row["Dorothea Vance"])]
    assert (edge["type"], edge["weight"]) == ("MENTIONS", 2.0)


def test_equal_content_gives_equal_bytes(export: Export, tmp_path: Path) -> None:
    export(tmp_path / "a", "graphml", documents=True)
    export(tmp_path / "b", "graphml", documents=True)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_graph_is_written_piece_by_piece(kb_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphctx.export import graphml
    from graphctx.retrieve.graph.view import GraphView

    class Pieces(io.BytesIO):
        longest = 0

        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            self.longest = max(self.longest, data.count(b"\n"))
            return super().write(data)

    monkeypatch.setattr(graphml, "_BATCH", 2)
    with KnowledgeBase.open(kb_path) as kb:
        searcher = kb.searcher()
        file = Pieces()
        view = GraphView(searcher.index, searcher.graph.tables)
        graphml.write_graphml(view, file, documents=True, on_progress=no_progress)
    assert file.longest == 2
    assert Xml.fromstring(file.getvalue()).tag.endswith("graphml")


@given(st.text())
def test_any_text_is_read_back_from_xml(text: str) -> None:
    read = Xml.fromstring(f"<t>{xml_text(text)}</t>".encode()).text or ""
    assert len(read) == len(text)
    assert all(one == other or one == "\ufffd" for one, other in zip(read, text, strict=True))


def test_what_xml_can_hold_is_never_replaced() -> None:
    text = "\t\n\r ~\x85\u2028\ud7ff\ue000\ufffd\U00010000\U0010ffff<&>\"'"
    assert Xml.fromstring(f"<t>{xml_text(text)}</t>".encode()).text == text
