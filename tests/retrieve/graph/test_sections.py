"""What sections name, and where entities are named."""

from __future__ import annotations

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import ChildrenInput, EntitiesForSectionsInput, SectionsForEntitiesInput
from graphctx.retrieve.graph import GraphExplorer


def test_a_section_names_what_its_units_and_those_below_it_name(graph: GraphExplorer) -> None:
    [top] = graph.children(ChildrenInput(parent_id="open/gannet.md")).items
    unit = graph.children(ChildrenInput(parent_id=top.id)).items[0]
    found = graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[unit.id, top.id]))
    of_unit = [item.name for item in found.items if item.section_id == unit.id]
    of_top = [item.name for item in found.items if item.section_id == top.id]
    assert {"Gannet", "Marstrand Harbour", "Peter Halloran", "Lisbon"} <= set(of_unit)
    assert "Ingrid Vasslund" not in of_unit
    assert set(of_unit) | {"Ingrid Vasslund", "Winter Desk"} <= set(of_top)
    assert [item.section_id for item in found.items] == [unit.id] * len(of_unit) + [top.id] * len(of_top)


def test_the_most_specific_come_first_and_the_cap_cuts_the_end(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    unit = searcher.index.unit(40).id
    whole = searcher.graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[unit], max_per_section=100))
    cut = searcher.graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[unit], max_per_section=3))
    assert len(whole.items) > 3
    assert list(cut.items) == list(whole.items[:3])
    assert (cut.capped, whole.capped) == ("node_cap", "none")
    names = [item.name for item in whole.items]
    common = max(whole.items, key=lambda item: item.n_units or 0).name
    rare = [item.name for item in whole.items if item.n_units == 1]
    assert all(names.index(name) < names.index(common) for name in rare)


def test_labels_choose_and_an_unknown_one_is_refused(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    unit = searcher.index.unit(40).id
    every = searcher.graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[unit], max_per_section=100))
    labels = {item.label for item in every.items}
    for label in labels:
        request = EntitiesForSectionsInput(section_ids=[unit], labels=[label], max_per_section=100)
        some = searcher.graph.entities_for_sections(request)
        assert list(some.items) == [item for item in every.items if item.label == label]
    with pytest.raises(InvalidArgument, match="person") as caught:
        searcher.graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[unit], labels=["human"]))
    assert caught.value.details["value"] == "human"


def test_homes_come_first_among_the_sections_of_an_entity(graph: GraphExplorer) -> None:
    found = graph.sections_for_entities(SectionsForEntitiesInput(entity_ids=["Gannet", "Lisbon"]))
    of_gannet = [item for item in found.items if item.entity_id == found.starts[0]]
    assert (of_gannet[0].doc_uri, of_gannet[0].line) == ("open/gannet.md", 3)
    assert all(item.section_id == item.id and item.kind == "unit" for item in found.items)
    assert [item.doc_uri for item in found.items[len(of_gannet) :]] == [
        "closed/more.md",
        "closed/plan.md",
        "open/gannet.md",
    ]
    cut = graph.sections_for_entities(SectionsForEntitiesInput(entity_ids=["Gannet", "Lisbon"], max_per_entity=1))
    assert [item.entity_id for item in cut.items] == list(found.starts)
    assert cut.items[0] == of_gannet[0]
    assert (cut.capped, found.capped) == ("node_cap", "none")
