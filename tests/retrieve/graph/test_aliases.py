"""Names of code and of prose that are one thing."""

from __future__ import annotations

from graphctx.model.requests import DescribeInput, ExpandInput, Filters, PathsInput
from graphctx.retrieve.graph import GraphExplorer

OPEN = Filters(path_prefix="open/")


def test_an_entity_is_described_with_what_is_the_same_thing_and_why(graph: GraphExplorer) -> None:
    [clock] = graph.describe(DescribeInput(node_ids=["tide clock"])).items
    assert {(one.name, one.reason) for one in clock.linked_aliases} == {
        ("tide_clock", "brackets"),
        ("old-clock.py", "stated"),
    }


def test_an_alias_bears_its_reason_and_the_sentence_that_shows_it(graph: GraphExplorer) -> None:
    found = graph.expand(ExpandInput(node_ids=["gannet.toml"], rel_types=["ALIAS_OF"], include_snippet=True))
    [file] = found.items
    [relation] = file.via
    assert (file.name, relation.reason) == ("gannet.toml file", "apposition")
    assert (relation.source, relation.target) == (found.starts[0], file.id)
    assert relation.snippet is not None
    assert relation.snippet.text == "The `gannet.toml` file names the desk."


def test_an_alias_that_only_documents_outside_the_scope_show_is_not_there(graph: GraphExplorer) -> None:
    [clock] = graph.describe(DescribeInput(node_ids=["tide clock"], filters=OPEN)).items
    assert [one.name for one in clock.linked_aliases] == ["tide_clock"]
    asked = PathsInput(start_ids=["tide_clock"], end_ids=["tide clock"], rel_types=["ALIAS_OF"])
    assert graph.paths(asked).items[0].length == 1
    closed = asked.model_copy(update={"filters": Filters(path_prefix="closed/")})
    assert not graph.paths(closed).items
