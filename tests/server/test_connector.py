"""``search`` and ``fetch`` in the exact form that connectors ask for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from graphctx.errors import InvalidArgument
from graphctx.model.budgets import Limits, weigh
from graphctx.server.tools.connector import N_RESULTS, address

from .calls import call, desk_over, unit_at
from .library import Library, count_tokens

LIBRARY = Library()
DUTY = unit_at(LIBRARY, "people/duty.md", "Ines Halvorsen")
LONG = Library({"a.md": ("A", "", "The ledger " + "is long and heavy, ☕ " * 900 + "indeed.\n")})


def test_search_gives_exactly_id_title_and_url_and_the_text_is_that_object() -> None:
    answer, text = call(desk_over(LIBRARY), "search", query="duty officer of the ledger")
    assert json.loads(text) == answer
    assert answer.keys() == {"results"}
    for result in answer["results"]:
        assert result.keys() == {"id", "title", "url"}
        assert all(isinstance(value, str) and value for value in result.values())
    unit = LIBRARY.units[DUTY]
    url = f"graphctx://document/{unit.doc_id}#duty-officer"
    assert answer["results"][0] == {"id": DUTY, "title": "Duty rota › Duty officer", "url": url}


def test_search_without_results_is_an_empty_list() -> None:
    assert call(desk_over(LIBRARY), "search", query="zeppelin") == ({"results": []}, '{"results":[]}')


def test_search_gives_no_more_than_it_says_and_keeps_the_response_limit() -> None:
    library = Library({f"{n:02}.md": (f"Note {n}", "", f"The lamp number {n} burns.\n") for n in range(30)})
    answer, _ = call(desk_over(library), "search", query="lamp")
    assert len(answer["results"]) == N_RESULTS
    answer, text = call(desk_over(library, Limits(300, 900)), "search", query="lamp")
    assert 0 < len(answer["results"]) < N_RESULTS
    assert 2 * len(text.encode()) <= 900
    assert 2 * count_tokens(text) <= 300


def test_fetch_gives_the_text_of_a_result_in_any_session() -> None:
    found, _ = call(desk_over(LIBRARY), "search", query="duty officer of the ledger")
    chosen = found["results"][0]
    answer, text = call(desk_over(LIBRARY, session="x_" + "b" * 16), "fetch", id=chosen["id"])
    assert json.loads(text) == answer
    assert answer.keys() == {"id", "title", "text", "url", "metadata"}
    assert {name: answer[name] for name in chosen} == chosen
    place = answer["metadata"]
    assert LIBRARY.text_of(place["doc_uri"])[place["start_char"] : place["end_char"]] == answer["text"]
    assert answer["text"] == LIBRARY.units[DUTY].text
    assert not place["truncated"]
    assert place["scope"]["project_id"] == "handbook"


def test_fetch_of_a_document_starts_at_its_start() -> None:
    doc_id = LIBRARY.units[DUTY].doc_id
    answer, _ = call(desk_over(LIBRARY), "fetch", id=doc_id)
    assert answer["text"] == LIBRARY.texts[doc_id]
    assert answer["title"] == "Duty rota"
    assert answer["metadata"]["tags"] == ["people", "ops"]


@pytest.mark.parametrize("whole", [False, True], ids=["passage", "document"])
def test_a_text_beyond_the_response_limit_is_cut_and_says_so(whole: bool) -> None:
    unit = next(iter(LONG.units.values()))
    limits = Limits(2000, 12_000)
    answer, text = call(desk_over(LONG, limits), "fetch", id=unit.doc_id if whole else unit.section_id)
    place = answer["metadata"]
    assert place["truncated"]
    assert place["limit_reason"] in ("token_cap", "byte_cap")
    assert LONG.text_of("a.md")[place["start_char"] : place["end_char"]] == answer["text"] != ""
    assert 2 * len(text.encode()) <= 12_000
    assert 2 * weigh([text], count_tokens).tokens <= 2000


def test_the_servers_own_scope_bounds_both() -> None:
    desk = desk_over(LIBRARY)
    desk = replace(desk, config=replace(desk.config, doc_tags=("ops",)))
    answer, _ = call(desk, "search", query="ledger book of accounts")
    assert "Glossary" not in {result["title"] for result in answer["results"]}
    glossary = next(unit for unit in LIBRARY.units.values() if unit.doc_uri == "glossary.txt")
    for outside in (glossary.section_id, glossary.doc_id):
        with pytest.raises(InvalidArgument) as caught:
            call(desk, "fetch", id=outside)
        assert (caught.value.details["field"], caught.value.details["value"]) == ("id", outside)
        with pytest.raises(InvalidArgument) as never:
            call(desk, "fetch", id=outside[:2] + "a" * 16)
        assert caught.value.message.replace(outside, outside[:2] + "a" * 16) == never.value.message


def test_an_unknown_id_and_any_other_argument_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="u_nowhere"):
        call(desk_over(LIBRARY), "fetch", id="u_nowhere")
    with pytest.raises(InvalidArgument, match="there is no such argument; known here: query"):
        call(desk_over(LIBRARY), "search", query="ledger", top_k=3)


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
