from __future__ import annotations

import subprocess
import sys

import pytest

from graphctx.errors import InvalidArgument
from graphctx.model.answers import ListAnswer, SearchResult
from graphctx.model.arguments import parse_arguments
from graphctx.model.budgets import Limits
from graphctx.model.requests import ExtractEvidenceInput, ReadExcerptInput, RetrieveInput, Scope, SearchInput


def test_defaults_are_those_of_the_tool_contract() -> None:
    search = SearchInput(query="x")
    assert (search.top_k, search.page_size, search.cursor) == (5, 5, None)
    assert (search.options.max_snippet_chars, search.options.max_per_doc, search.options.mode) == (
        280,
        1,
        "auto",
    )
    assert not search.options.include_scores
    assert not search.options.include_debug
    for quotes in (RetrieveInput(question="x"), ExtractEvidenceInput(question="x", passage_ids=["p"])):
        assert (quotes.max_quotes, quotes.max_quote_tokens, quotes.include_context_tokens) == (6, 80, 20)
    read = ReadExcerptInput(passage_id="p")
    assert (read.max_tokens, read.start_char, read.options.format) == (300, 0, "text")
    assert read.options.include_citation


def test_null_stands_for_an_argument_that_is_left_out() -> None:
    assert SearchInput.model_validate({"query": "x", "cursor": None, "filters": {"path_prefix": None}}) == SearchInput(
        query="x"
    )


@pytest.mark.parametrize(
    ("arguments", "field", "allowed"),
    [
        ({"query": "x", "top_k": 0}, "top_k", "from 1 to 50"),
        ({"query": "x", "top_k": 51}, "top_k", "from 1 to 50"),
        ({"query": "x", "tok_k": 1}, "tok_k", "top_k"),
        ({"query": "x", "options": {"snippet": 1}}, "options.snippet", "max_snippet_chars"),
        ({"query": "x", "options": {"mode": "graph"}}, "options.mode", "hybrid_local"),
        ({"query": "x", "filters": {"updated_after": "spring"}}, "filters.updated_after", "ISO 8601"),
    ],
)
def test_a_refusal_names_field_value_and_what_is_allowed(
    arguments: dict[str, object], field: str, allowed: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(SearchInput, arguments)
    details = caught.value.details
    assert details["field"] == field
    assert allowed in details["allowed"]
    assert field in caught.value.message
    assert details["value"] in caught.value.message


def test_all_wrong_arguments_are_named_at_once() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(SearchInput, {"top_k": 99, "page_size": 0})
    assert [p["field"] for p in caught.value.details["problems"]] == ["query", "top_k", "page_size"]


def test_fields_that_were_not_asked_for_are_not_sent() -> None:
    result = SearchResult(
        section_id="u_1",
        doc_uri="a.md",
        doc_id="d_1",
        title="A",
        rank=1,
        score=0.5,
        source="vector",
        preview="x",
        start_char=0,
        end_char=1,
        line=1,
        size_bytes=1,
    )
    sent = result.model_dump(mode="json")
    assert "scores" not in sent
    assert "debug" not in sent
    assert sent["anchor"] is None
    assert "scores" in result.model_copy(update={"scores": {"bm25": 1.0}}).model_dump()


def test_a_scope_is_reported_by_what_narrows_it() -> None:
    budget = Limits().placeholder()
    told = {}
    for scope in (Scope(project_id="p", environment="dev"), Scope(project_id="p", doc_tags=["ops"])):
        answer = ListAnswer(partial=False, truncated=False, limit_reason="none", scope=scope, budget=budget)
        told = answer.model_dump(mode="json")["scope"]
        assert "repositories" not in told
        assert ListAnswer.model_validate(answer.model_dump(mode="json")) == answer
    assert told == {"project_id": "p", "doc_tags": ["ops"]}


def test_the_models_import_nothing_heavy() -> None:
    code = (
        "import sys, graphctx.model.answers, graphctx.model.arguments, graphctx.model.budgets, graphctx.model.cursors;"
        "print([m for m in ('mcp', 'numpy', 'pyarrow', 'lancedb', 'spacy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
