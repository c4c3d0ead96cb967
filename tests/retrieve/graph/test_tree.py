"""Up and down the outline."""

from __future__ import annotations

from collections.abc import Callable

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import ChildrenInput, DescribeInput, ParentsInput
from graphctx.retrieve.graph import GraphExplorer


def test_children_are_units_and_sections_in_reading_order(graph: GraphExplorer) -> None:
    [top] = graph.children(ChildrenInput(parent_id="open/gannet.md")).items
    assert (top.kind, top.name, top.n_units, top.n_children) == ("section", "Gannet", 4, 2)
    unit, restart = graph.children(ChildrenInput(parent_id=top.id)).items
    assert (unit.kind, restart.kind, restart.name) == ("unit", "section", "Restart")
    below = graph.children(ChildrenInput(parent_id=restart.id)).items
    assert [(node.kind, node.name, node.heading) for node in below] == [
        ("unit", "Restart", "Restart"),
        ("section", "Before", "Restart › Before"),
        ("section", "After", "Restart › After"),
    ]


def test_parents_are_the_sections_and_then_the_document(graph: GraphExplorer) -> None:
    [top] = graph.children(ChildrenInput(parent_id="open/gannet.md")).items
    restart = graph.children(ChildrenInput(parent_id=top.id)).items[1]
    before = graph.children(ChildrenInput(parent_id=restart.id)).items[1]
    [unit] = graph.children(ChildrenInput(parent_id=before.id)).items
    of_unit, of_section = graph.parents(ParentsInput(section_ids=[unit.id, before.id])).items
    assert [node.name for node in of_unit.parents] == ["Before", "Restart", "Gannet", "Gannet"]
    assert [node.kind for node in of_unit.parents] == ["section", "section", "section", "document"]
    assert of_section.parents == of_unit.parents[1:]
    assert (of_unit.section_id, of_section.section_id) == (unit.id, before.id)


def test_text_without_a_heading_is_directly_below_its_document(make_kb: Callable[..., KnowledgeBase]) -> None:
    kb = make_kb({"a.md": "A first word.\n\n# Title\n\nA second word.\n", "b.txt": "Plain words."})
    graph = kb.searcher().graph
    unit, section = graph.children(ChildrenInput(parent_id="a.md")).items
    assert (unit.kind, section.kind, section.name) == ("unit", "section", "Title")
    [plain] = graph.children(ChildrenInput(parent_id="b.txt")).items
    [parents] = graph.parents(ParentsInput(section_ids=[plain.id])).items
    assert [node.doc_uri for node in parents.parents] == ["b.txt"]


def test_down_and_up_again_leads_back_everywhere(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    graph, units = searcher.graph, set(searcher.index.snapshot.table("units", ["id"])["id"].to_pylist())
    documents = searcher.index.snapshot.table("documents", ["id"])["id"].to_pylist()
    waiting, met = list(documents), set()
    while waiting:
        parent = waiting.pop()
        found = graph.children(ChildrenInput(parent_id=parent))
        [node] = graph.describe(DescribeInput(node_ids=[parent])).items
        assert node.n_children == len(found.items)
        assert found.empty_reason == (None if found.items else "no_match")
        for child in found.items:
            [above] = graph.parents(ParentsInput(section_ids=[child.id])).items
            assert above.parents[0].id == parent
            met.add(child.id)
            if child.kind == "section":
                waiting.append(child.id)
    assert units <= met
