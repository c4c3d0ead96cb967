"""``search`` and ``fetch`` in the exact form that connectors ask for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits, weigh
from graphctx.server.tools.connector import address

from .calls import call, context_over, unit_with, units_of


def test_search_gives_exactly_id_title_and_url_and_the_text_is_that_object(kb: KnowledgeBase) -> None:
    answer, text = call(context_over(kb), "search", query="duty officer of the ledger")
    assert json.loads(text) == answer
    assert answer.keys() == {"results"}
    for result in answer["results"]:
        assert result.keys() == {"id", "title", "url"}
        assert all(isinstance(value, str) and value for value in result.values())
    unit = unit_with(kb, "people/duty.md", "Ines Halvorsen until")
    url = f"graphctx://document/{unit.doc_id}#{unit.anchor}"
    assert answer["results"][0] == {"id": unit.section_id, "title": "Duty rota › Duty officer", "url": url}


def test_search_without_results_is_an_empty_list(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        assert call(context_over(kb), "search", query="zeppelin") == ({"results": []}, '{"results":[]}')


def test_search_keeps_the_response_limit(kb: KnowledgeBase) -> None:
    whole, _ = call(context_over(kb), "search", query="ledger backups night watch")
    context = context_over(kb, Limits(600, 900))
    answer, text = call(context, "search", query="ledger backups night watch")
    assert 0 < len(answer["results"]) < len(whole["results"])
    assert 2 * len(text.encode()) <= 900
    assert 2 * context.count(text) <= 600


def test_fetch_gives_the_text_of_a_result_in_any_session(kb: KnowledgeBase) -> None:
    found, _ = call(context_over(kb), "search", query="duty officer of the ledger")
    chosen = found["results"][0]
    answer, text = call(context_over(kb, session="x_" + "b" * 16), "fetch", id=chosen["id"])
    assert json.loads(text) == answer
    assert answer.keys() == {"id", "title", "text", "url", "metadata"}
    assert {name: answer[name] for name in chosen} == chosen
    place = answer["metadata"]
    assert kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == answer["text"]
    assert answer["text"] == unit_with(kb, "people/duty.md", "Ines Halvorsen until").text
    assert not place["truncated"]
    assert place["scope"]["project_id"] == "handbook"


def test_fetch_of_a_document_starts_at_its_start(kb: KnowledgeBase) -> None:
    document = kb.document("people/duty.md")
    answer, _ = call(context_over(kb), "fetch", id=document.id)
    assert answer["text"] == document.text
    assert answer["title"] == "Duty rota"
    assert answer["metadata"]["tags"] == ["ops", "people"]


@pytest.mark.parametrize("whole", [False, True], ids=["passage", "document"])
def test_a_text_beyond_the_response_limit_is_cut_and_says_so(kb: KnowledgeBase, whole: bool) -> None:
    unit, limits = units_of(kb, "odd/line.txt")[3], Limits(1000, 3_000)
    context = context_over(kb, limits)
    answer, text = call(context, "fetch", id=unit.doc_id if whole else unit.section_id)
    place = answer["metadata"]
    assert place["truncated"]
    assert place["limit_reason"] in ("token_cap", "byte_cap")
    assert kb.document("odd/line.txt").text[place["start_char"] : place["end_char"]] == answer["text"] != ""
    assert 2 * len(text.encode()) <= limits.max_bytes
    assert 2 * weigh([text], context.count).tokens <= limits.max_tokens


@pytest.mark.parametrize(
    ("doc_uri", "anchor", "url"),
    [
        ("notes/a.md", None, "graphctx://document/d_1"),
        ("notes/a.md", "größe & co", "graphctx://document/d_1#gr%C3%B6%C3%9Fe%20&%20co"),
        ("notes/a.pdf", "page=2", "graphctx://document/d_1#page=2"),
        ("https://example.org/a", "b", "https://example.org/a#b"),
        ("https://example.org/a#c", "b", "https://example.org/a#c"),
    ],
)
def test_an_address_can_be_cited(doc_uri: str, anchor: str | None, url: str) -> None:
    assert address(doc_uri, "d_1", anchor) == url
