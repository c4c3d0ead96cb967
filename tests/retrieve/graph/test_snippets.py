"""Every sentence that is shown is in its document, character for character."""

from __future__ import annotations

from collections.abc import Callable

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.graph import Snippet
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)
from graphctx.retrieve.graph import GraphExplorer


def _check(kb: KnowledgeBase, snippet: Snippet | None) -> None:
    assert snippet is not None
    document = kb.document(snippet.doc_uri)
    assert document.text[snippet.start_char : snippet.end_char] == snippet.text
    assert 0 < len(snippet.text) <= 280
    assert snippet.text == snippet.text.strip()
    assert document.text[: snippet.start_char].count("\n") + 1 == snippet.line
    index = kb.searcher().index
    unit = index.unit(index.unit_row(snippet.section_id))
    assert unit.start_char <= snippet.start_char < snippet.end_char <= unit.end_char
    assert (unit.anchor, document.page(snippet.start_char)) == (snippet.anchor, snippet.page)


def test_every_snippet_of_the_handbook_is_exact(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    graph, snapshot = searcher.graph, searcher.index.snapshot
    for table in ("documents", "units", "entities"):
        ids = snapshot.table(table, ["id"])["id"].to_pylist()
        for at in range(0, len(ids), 20):
            for node in graph.describe(DescribeInput(node_ids=ids[at : at + 20], include_snippet=True)).items:
                _check(handbook_kb, node.snippet)
    for item in graph.expand(ExpandInput(node_ids=["Gannet"], max_hops=2, include_snippet=True)).items:
        if item.kind != "section" or item.n_units:
            _check(handbook_kb, item.snippet)
        if item.via[0].snippet is not None:
            _check(handbook_kb, item.via[0].snippet)
    for path in graph.paths(PathsInput(start_ids=["Gannet"], end_ids=["Sieve"], include_snippet=True)).items:
        for relation in path.relations:
            if relation.n_facts or relation.type == "MENTIONS":
                _check(handbook_kb, relation.snippet)


def test_snippets_show_what_they_are_for(graph: GraphExplorer) -> None:
    def described(name: str) -> str:
        [node] = graph.describe(DescribeInput(node_ids=[name], include_snippet=True)).items
        assert node.snippet is not None
        return node.snippet.text

    assert described("Gannet") == "Gannet is the gateway of Marstrand Harbour."
    assert described("Winter Desk") == "The Winter Desk watches Marstrand Harbour at night."
    assert described("open/anna.md") == "Anna Halloran paints the lighthouse."
    found = graph.expand(ExpandInput(node_ids=["Winter Desk"], rel_types=["RELATED"], include_snippet=True))
    said = {item.name: item.via[0].snippet.text for item in found.items if item.via[0].snippet}
    assert said["Ingrid Vasslund"] == "Ingrid Vasslund leads the Winter Desk."
    assert said["Peter Halloran"] == "Halloran restarts Gannet from the Winter Desk."
    sections = graph.sections_for_entities(SectionsForEntitiesInput(entity_ids=["Lisbon"], include_snippet=True))
    assert [item.snippet.text for item in sections.items if item.snippet] == [
        "Gannet pays Lisbon.",
        "Kristoffer Lindqvist pays Lisbon.",
        "Peter Halloran wrote Gannet in Lisbon.",
    ]


def test_all_tools_show_sentences_where_they_are_asked_to(graph: GraphExplorer) -> None:
    [top] = graph.children(ChildrenInput(parent_id="open/gannet.md", include_snippet=True)).items
    assert top.snippet is not None
    [above] = graph.parents(ParentsInput(section_ids=[top.id], include_snippet=True)).items
    assert above.parents[0].snippet == top.snippet
    named = graph.entities_for_sections(EntitiesForSectionsInput(section_ids=[top.id], include_snippet=True))
    assert all(item.snippet is not None for item in named.items)


def test_a_long_sentence_is_cut_between_words_and_holds_the_name(make_kb: Callable[..., KnowledgeBase]) -> None:
    words = " ".join(f"word{number}" for number in range(80))
    kb = make_kb({"a.md": f"# Ledger\n\nHere {words} Zacharias Quill {words} and 👩‍👩‍👧‍👦👩‍👩‍👧‍👦 ends.\n"})
    graph = kb.searcher().graph
    found = graph.describe(DescribeInput(node_ids=["Zacharias Quill", "a.md"], include_snippet=True))
    for node in found.items:
        _check(kb, node.snippet)
    entity, document = (node.snippet for node in found.items)
    assert entity is not None
    assert document is not None
    assert "Zacharias Quill" in entity.text
    assert document.text.startswith("Here word0 ")
    text = kb.document("a.md").text
    assert text[entity.end_char].isspace()
    assert text[document.end_char].isspace()
