"""Nothing of a document outside the scope is told by any method."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    Filters,
    ParentsInput,
    PathsInput,
    Scope,
    SectionsForEntitiesInput,
)
from graphctx.model.results import GraphResults
from graphctx.retrieve.graph import GraphExplorer
from graphctx.retrieve.graph.edges import related
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.view import GraphView
from tests.retrieve.graph.conftest import FILES

OPEN = Filters(path_prefix="open/")
CLOSED = Scope(repositories=["closed"])


def test_what_only_documents_outside_name_is_unknown(graph: GraphExplorer) -> None:
    ids = [node.id for node in graph.describe(DescribeInput(node_ids=["Zacharias Quill", "closed/plan.md"])).items]
    for name in ("Zacharias Quill", "closed/plan.md", "plan.md", "Project Kestrel", *ids):
        with pytest.raises(InvalidArgument) as caught:
            graph.describe(DescribeInput(node_ids=[name], filters=OPEN))
        assert "plan" not in json.dumps(caught.value.details["near"])
    found = graph.describe(DescribeInput(node_ids=["Gannet", "Zacharia Quill"], filters=OPEN))
    assert found.unresolved[0].candidates == []


def test_counts_are_of_what_may_be_seen(graph: GraphExplorer) -> None:
    [within] = graph.describe(DescribeInput(node_ids=["Gannet"], filters=OPEN)).items
    text = "".join(text for name, text in FILES.items() if name.startswith("open/"))
    assert within.n_mentions == text.count("Gannet") - text.count("# Gannet")
    [whole] = graph.describe(DescribeInput(node_ids=["Gannet"])).items
    assert (whole.n_mentions or 0) > within.n_mentions
    sections = graph.sections_for_entities(SectionsForEntitiesInput(entity_ids=["Gannet"], filters=OPEN))
    assert within.n_units == len(sections.items)


def test_an_entity_is_called_as_documents_within_call_it(graph: GraphExplorer) -> None:
    [within] = graph.describe(DescribeInput(node_ids=["tide tables"], scope=CLOSED)).items
    assert (within.name, within.aliases) == ("tide tables", [])
    with pytest.raises(InvalidArgument):
        graph.describe(DescribeInput(node_ids=["tide table"], scope=CLOSED))
    [other] = graph.describe(DescribeInput(node_ids=["tide table"], filters=OPEN)).items
    assert (other.name, other.id, other.aliases) == ("tide table", within.id, [])


def test_a_name_is_ambiguous_only_among_what_may_be_seen(graph: GraphExplorer) -> None:
    [node] = graph.describe(DescribeInput(node_ids=["Halloran"], filters=Filters(path_prefix="open/anna"))).items
    assert node.name in ("Anna Halloran", "Halloran")


def test_no_path_leads_through_what_is_outside(graph: GraphExplorer) -> None:
    asked = {"start_ids": ["Kristoffer Lindqvist"], "end_ids": ["Kristofer Lindqvist"], "rel_types": ["RELATED"]}
    assert graph.paths(PathsInput(**asked)).items[0].length == 1
    both = Scope(repositories=["open", "closed"])
    assert graph.paths(PathsInput(**asked, scope=both)).items[0].length == 1
    through = {"start_ids": ["Lisbon"], "end_ids": ["Ingrid Vasslund"], "max_hops": 4, "max_paths": 50}
    for path in graph.paths(PathsInput(**through, filters=OPEN)).items:
        assert not {"Project Kestrel", "Zacharias Quill"} & {node.name for node in path.nodes}


def test_a_scope_tells_what_a_snapshot_of_it_alone_tells(
    graph: GraphExplorer, make_kb: Callable[..., KnowledgeBase]
) -> None:
    alone = make_kb({name: text for name, text in FILES.items() if name.startswith("open/")}).searcher().graph
    names = ["Gannet", "Ingrid Vasslund", "Winter Desk", "Lisbon", "tide table", "open/desk.md", "open/gannet.md"]

    def told(graph: GraphExplorer, name: str, **within: Any) -> str:
        found: list[Any] = [
            *graph.describe(DescribeInput(node_ids=[name], include_snippet=True, **within)).items,
            *graph.expand(ExpandInput(node_ids=[name], max_hops=2, include_snippet=True, **within)).items,
            *graph.paths(PathsInput(start_ids=[name], end_ids=names, max_hops=4, **within)).items,
        ]
        # A label is made of all mentions, and a file's time is its own.
        return json.dumps([item.model_dump(exclude={"label": True, "updated_at": True}) for item in found])

    for name in names:
        within, own = (_plain(json.loads(text)) for text in (told(graph, name, filters=OPEN), told(alone, name)))
        assert within == own


def _plain(value: Any) -> Any:
    """Without what no scope can make anew: labels, times and the order of aliases."""
    if isinstance(value, dict):
        kept = {name: _plain(inner) for name, inner in value.items() if name not in ("label", "updated_at")}
        return kept | (
            {"aliases": sorted([kept["name"], *kept.pop("aliases", [])]), "name": ""} if "name" in kept else {}
        )
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


class _Anew(GraphView):
    """Everything, as if it were a scope."""

    @property
    def whole(self) -> bool:
        return False


def test_weights_made_anew_of_everything_are_those_of_the_table(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    near, far, weight = related(_Anew(index, GraphTables(index)), np.arange(index.walk.n_entities), 1)
    made = dict(zip(zip(near.tolist(), far.tolist(), strict=True), weight.tolist(), strict=True))
    rows = index.snapshot.table("related").to_pylist()
    assert len(rows) > 1000
    told = {(row["source_row"], row["target_row"]): row["weight"] - row["similarity"] for row in rows}
    told |= {(target, source): value for (source, target), value in told.items()}
    assert made == pytest.approx({pair: value for pair, value in told.items() if value > 1e-6}, abs=1e-4)


def _calls(graph: GraphExplorer, names: Sequence[str], **within: Any) -> Iterator[GraphResults[Any]]:
    """Every method, about everything that may be seen."""
    last = ""
    for name in names:
        try:
            yield graph.describe(DescribeInput(node_ids=[name], include_snippet=True, **within))
        except InvalidArgument as error:
            yield GraphResults(items=error.details["near"], snapshot_id="")
            continue
        yield graph.expand(ExpandInput(node_ids=[name], max_hops=2, include_snippet=True, **within))
        yield graph.paths(
            PathsInput(start_ids=[name], end_ids=[last or name], max_hops=4, include_snippet=True, **within)
        )
        last = name
        for call in (
            lambda name=name: graph.parents(ParentsInput(section_ids=[name], include_snippet=True, **within)),
            lambda name=name: graph.children(ChildrenInput(parent_id=name, include_snippet=True, **within)),
            lambda name=name: graph.entities_for_sections(
                EntitiesForSectionsInput(section_ids=[name], include_snippet=True, **within)
            ),
            lambda name=name: graph.sections_for_entities(
                SectionsForEntitiesInput(entity_ids=[name], include_snippet=True, **within)
            ),
        ):
            with suppress(InvalidArgument):
                yield call()


def _dumped(found: GraphResults[Any]) -> Any:
    items = [item if isinstance(item, dict) else item.model_dump() for item in found.items]
    return {
        "items": items,
        "unresolved": [item.model_dump() for item in found.unresolved],
        "starts": list(found.starts),
    }


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner)


@settings(max_examples=8)
@given(uris=st.sets(st.sampled_from(sorted(FILES)), min_size=1, max_size=4))
def test_all_that_is_reported_is_within_a_random_scope(harbour: KnowledgeBase, uris: set[str]) -> None:
    index = harbour.searcher().index
    snapshot = index.snapshot
    visible = np.array([uri in uris for uri in index.documents["uri"].to_pylist()])
    graph = GraphExplorer(index.part(visible))
    units, sections = snapshot.table("units").to_pylist(), snapshot.table("sections").to_pylist()
    documents = {row["id"]: row["uri"] for row in snapshot.table("documents", ["id", "uri"]).to_pylist()}
    seen = {row["id"] for row in (*units, *sections) if documents[row["doc_id"]] in uris}
    seen |= {doc_id for doc_id, uri in documents.items() if uri in uris}
    words = " ".join(f"{uri} {FILES[uri]}" for uri in sorted(uris))
    folded = " ".join(words.split()).casefold()
    every = [row["id"] for row in (*units, *sections)] + list(documents)
    every += snapshot.table("entities", ["id"])["id"].to_pylist()
    every += ["Halloran", "tide tables", "Zacharias Quil", "plan.md"]
    for found in _calls(graph, every):
        for part in _parts(_dumped(found)):
            for field in ("id", "source", "target", "section_id"):
                told = part.get(field)
                assert told is None or told.startswith("e_") or told in seen
            assert part.get("doc_uri") is None or part["doc_uri"] in uris
            for name in [part.get("name") or "", *part.get("aliases", [])]:
                assert name.casefold() in folded
            for said in part.get("predicates", []):
                assert any(said.startswith(surface) for surface in _surfaces(words))
            text = part.get("text")
            assert text is None or FILES[part["doc_uri"]][part["start_char"] : part["end_char"]] == text


def _surfaces(words: str) -> list[str]:
    """The words of a text that a fact may begin with."""
    return [word.strip(".,()[]#") for word in words.split() if word.strip(".,()[]#")]


def test_answers_are_the_same_from_many_threads_at_once(harbour: KnowledgeBase) -> None:
    index = harbour.searcher().index
    names = ["Gannet", "Ingrid Vasslund", "Winter Desk", "open/gannet.md"]

    def told(graph: GraphExplorer) -> list[str]:
        found = [
            graph.expand(ExpandInput(node_ids=[name], max_hops=2, include_snippet=True, filters=filters))
            for name in names
            for filters in (Filters(), OPEN)
        ]
        return [item.model_dump_json() for part in found for item in part.items]

    alone = told(GraphExplorer(index))
    graph = GraphExplorer(index)  # so that the threads meet where tables are read
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(told, [graph] * 8)) == [alone] * 8
