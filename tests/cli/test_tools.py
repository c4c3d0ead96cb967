from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphctx.cli.tools import read_arguments
from graphctx.errors import InvalidArgument
from graphctx.server.tools import TOOLS

from .conftest import DOCUMENTS
from .runner import run


def answer(kb: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = run("call", *words, "--kb", kb, "--json").json
    return found


def test_any_tool_is_called_by_name_with_arguments_as_words_or_as_json(lighthouse: Path) -> None:
    words = answer(lighthouse, "kb.search", "query=the lamp", "top_k=2", "filters.path_prefix=la")
    whole = answer(lighthouse, "kb_search", '{"query": "the lamp", "top_k": 2, "filters": {"path_prefix": "la"}}')
    assert words == whole
    assert [result["doc_uri"] for result in words["results"]] == ["lamp.md"]


def test_the_text_is_that_of_the_tool(lighthouse: Path) -> None:
    shown = run("call", "kb.retrieve_evidence", "question=Where was Ada Merriweather born?", "--kb", lighthouse)
    assert shown.code == 0
    assert "> " in shown.out
    assert "Thornby" in shown.out


def test_a_passage_and_a_cursor_of_one_call_are_understood_by_the_next(lighthouse: Path) -> None:
    asked = ("kb.search", "query=Who lit the lamp?", "top_k=3", "page_size=1")
    first = answer(lighthouse, *asked)
    second = answer(lighthouse, *asked, f"cursor={first['next_cursor']}")
    assert first["results"] != second["results"]
    excerpt = answer(lighthouse, "kb.read_excerpt", f"passage_id={first['results'][0]['passage_id']}")
    assert excerpt["excerpt"] in DOCUMENTS[f"docs/{excerpt['doc_uri']}"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kb.serch", "query=x"), "Did you mean kb.search?"),
        (("kb.search",), "query"),
        (("kb.search", "query"), "name=value"),
        (("kb.search", "{query"), "not JSON"),
        (("kb.search", '{"query": ' + "[" * 10_000), "not JSON"),
        (("kb.search", "query=x", "scope=" + "[" * 10_000), "scope"),
        (("kb.search", "query=x", "top_k=0"), "top_k"),
        (("kb.search", "query=x", "colour=red"), "colour"),
    ],
)
def test_a_wrong_call_is_refused_with_what_to_do(lighthouse: Path, words: tuple[str, ...], message: str) -> None:
    error = run("call", *words, "--kb", lighthouse, "--json").error
    assert error["code"] == "INVALID_ARGUMENT"
    assert message in error["message"]


def test_words_that_set_the_same_field_twice_differently_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="options"):
        read_arguments(["options=1", "options.mode=auto"])


def test_tools_are_listed_and_one_is_shown_with_its_arguments() -> None:
    listed = run("tools").out
    assert all(tool.name in listed for tool in TOOLS)
    one = run("tools", "kb.search").out
    assert "options.max_snippet_chars" in one
    assert "Use when" in one
    document = json.loads(run("tools", "graph.paths", "--json").out)
    assert document["inputSchema"]["properties"]["max_hops"]["maximum"] == 4
