"""Nothing of a document outside the scope is told by any method."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import (
    DescribeInput,
    ExpandInput,
    Filters,
    PathsInput,
    Scope,
)
from graphctx.retrieve.graph import GraphExplorer
from graphctx.retrieve.graph.edges import related
from graphctx.retrieve.graph.tables import GraphTables
from tests.retrieve.graph.conftest import FILES, Anew

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


def test_weights_made_anew_of_everything_are_those_of_the_table(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    near, far, weight = related(Anew(index, GraphTables(index)), np.arange(index.walk.n_entities), 1)
    made = dict(zip(zip(near.tolist(), far.tolist(), strict=True), weight.tolist(), strict=True))
    rows = index.snapshot.table("related").to_pylist()
    assert len(rows) > 1000
    told = {(row["source_row"], row["target_row"]): row["weight"] for row in rows}
    told |= {(target, source): value for (source, target), value in told.items()}
    assert made == pytest.approx({pair: value for pair, value in told.items() if value > 1e-6}, abs=1e-4)


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
