from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from graphctx.cli.app import app
from graphctx.cli.call import read_arguments
from graphctx.errors import InvalidArgument
from graphctx.server.tools import TOOLS

Make = Callable[..., object]

LAMP = {
    "lamp.md": "# The lamp\n\nThe lamp of Gull Point was lit by Ada Merriweather in 1871. It burns rape oil.\n",
    "ada.md": "# Ada Merriweather\n\nAda Merriweather was the first keeper. She was born in Thornby.\n",
    "log.md": "# The log\n\nThe keeper writes the weather into the log at noon, under the lamp.\n",
}


@pytest.fixture
def kb(make_kb: Make, tmp_path: Path) -> Path:
    made = make_kb(LAMP)
    return made.path  # type: ignore[attr-defined, no-any-return]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def answer(*words: object) -> dict[str, object]:
    shown = run("call", *words, "--json")
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.output)  # type: ignore[no-any-return]


def test_any_tool_is_called_by_name_with_arguments_as_words_or_as_json(kb: Path) -> None:
    words = answer("kb.search", "query=the lamp", "top_k=2", "filters.path_prefix=la", "--kb", kb)
    whole = answer("kb_search", '{"query": "the lamp", "top_k": 2, "filters": {"path_prefix": "la"}}', "--kb", kb)
    assert words == whole
    assert [result["doc_uri"] for result in words["results"]] == ["lamp.md"]  # type: ignore[index, attr-defined]


def test_the_text_is_that_of_the_tool(kb: Path) -> None:
    shown = run("call", "kb.retrieve_evidence", "question=Where was Ada Merriweather born?", "--kb", kb)
    assert shown.exit_code == 0
    assert "> " in shown.output
    assert "Thornby" in shown.output


def test_a_passage_of_one_call_is_understood_by_the_next(kb: Path) -> None:
    found = answer("kb.search", "query=Who lit the lamp?", "--kb", kb)
    passage = found["results"][0]["passage_id"]  # type: ignore[index]
    excerpt = answer("kb.read_excerpt", f"passage_id={passage}", "--kb", kb)
    assert str(excerpt["excerpt"]) in LAMP[str(excerpt["doc_uri"])]


def test_a_cursor_of_one_call_is_understood_by_the_next(kb: Path) -> None:
    asked = ("kb.search", "query=lamp keeper", "top_k=3", "page_size=1", "--kb", kb)
    first = answer(*asked)
    second = answer(*asked, f"cursor={first['next_cursor']}")
    assert first["results"] != second["results"]


def test_the_graph_is_asked_by_name(kb: Path) -> None:
    described = answer("graph.describe", 'node_ids=["Ada Merriweather"]', "--kb", kb)
    assert described["nodes"][0]["kind"] == "entity"  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("kb.serch", "query=x"), "Did you mean kb.search?"),
        (("kb.search",), "query"),
        (("kb.search", "query"), "name=value"),
        (("kb.search", "{query"), "no JSON"),
        (("kb.search", "query=x", "top_k=0"), "top_k"),
        (("kb.search", "query=x", "colour=red"), "colour"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(kb: Path, words: tuple[str, ...], said: str) -> None:
    shown = run("call", *words, "--kb", kb, "--json")
    assert shown.exit_code == 1
    error = json.loads(shown.stdout)["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert said in error["message"]


def test_words_that_name_the_same_place_twice_differently_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="options"):
        read_arguments(["options=1", "options.mode=auto"])


def test_tools_are_listed_and_one_is_shown_with_its_arguments() -> None:
    listed = run("tools").output
    assert all(tool.name in listed for tool in TOOLS)
    one = run("tools", "kb.search").output
    assert "options.max_snippet_chars" in one
    assert "Use when" in one
    document = json.loads(run("tools", "graph.paths", "--json").output)
    assert document["inputSchema"]["properties"]["max_hops"]["maximum"] == 4
