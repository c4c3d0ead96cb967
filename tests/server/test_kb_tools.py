from __future__ import annotations

import pytest

from graphctx.model.answers import EvidenceAnswer, ExcerptAnswer, SearchAnswer

from .conftest import Connect
from .library import Library, count_tokens
from .results import error_of, text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_a_question_is_answered_with_quotes_that_slice_back(connect: Connect, library: Library) -> None:
    async with connect() as client:
        result = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
    answer = EvidenceAnswer.model_validate(result.structured_content)
    assert any("Ines Halvorsen" in quote.quote for quote in answer.quotes)
    for quote in answer.quotes:
        assert library.text_of(quote.doc_uri)[quote.start_char : quote.end_char] == quote.quote
        assert quote.uri == f"graphctx://scratch/{answer.session_id}/{quote.passage_id}"


async def test_the_text_stands_alone(connect: Connect) -> None:
    async with connect() as client:
        result = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
    text = text_of(result)
    for quote in result.structured_content["quotes"]:
        assert quote["quote"] in text.replace("> ", "")
        place = f"{quote['title']} › {quote['heading']}" if quote.get("heading") else quote["title"]
        assert f"{place} — {quote['doc_uri']}:{quote['line']}" in text
        assert f"section {quote['section_id']}, " in text
    assert "kb_read_excerpt" in text


async def test_a_search_shows_previews_that_slice_back_and_never_the_section(
    connect: Connect, library: Library
) -> None:
    async with connect() as client:
        result = await client.call_tool(
            "kb.search", {"query": "restore the ledger", "options": {"max_snippet_chars": 40}}
        )
    answer = SearchAnswer.model_validate(result.structured_content)
    assert answer.results
    assert len({found.doc_id for found in answer.results}) == len(answer.results)
    for found in answer.results:
        assert library.texts[found.doc_id][found.start_char : found.end_char] == found.preview
        assert len(found.preview) <= 40
        assert found.scores is None
        assert "scores" not in result.structured_content["results"][0]
    assert library.units[answer.results[0].section_id].text not in text_of(result)


async def test_pages_of_a_search_join_to_the_whole_list(connect: Connect) -> None:
    asked = {"query": "ledger backups duty officer", "top_k": 6, "options": {"max_per_doc": 5}}
    async with connect() as client:
        whole = SearchAnswer.model_validate(
            (await client.call_tool("kb.search", asked | {"page_size": 50})).structured_content
        )
        pages, cursor = [], None
        while True:
            result = await client.call_tool("kb.search", asked | {"page_size": 2, "cursor": cursor})
            page = SearchAnswer.model_validate(result.structured_content)
            pages += page.results
            cursor = page.next_cursor
            assert page.partial == (cursor is not None)
            assert page.limit_reason == ("page_size" if page.partial else "none")
            if cursor is None:
                break
            assert cursor in text_of(result)
    assert pages == list(whole.results)
    assert len(pages) > 2


async def test_a_cursor_of_another_query_is_refused(connect: Connect) -> None:
    asked = {"top_k": 4, "page_size": 1, "options": {"max_per_doc": 5}}
    async with connect() as client:
        first = await client.call_tool("kb.search", asked | {"query": "ledger backups"})
        cursor = first.structured_content["next_cursor"]
        result = await client.call_tool("kb.search", asked | {"query": "duty officer", "cursor": cursor})
        assert error_of(result)["code"] == "INVALID_ARGUMENT"
        result = await client.call_tool("kb.search", asked | {"query": "duty officer", "cursor": "nonsense"})
        assert error_of(result)["details"]["field"] == "cursor"


async def test_passages_of_a_search_can_be_quoted_and_read(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = await client.call_tool("kb.search", {"query": "vault key restore"})
        ids = [result["passage_id"] for result in found.structured_content["results"]]
        quoted = await client.call_tool(
            "kb.extract_evidence", {"question": "Who may unseal the vault key?", "passage_ids": ids}
        )
        best = EvidenceAnswer.model_validate(quoted.structured_content).quotes[0]
        assert best.quote == "Only the duty officer may unseal the vault key."
        assert best.passage_id in ids
        read = await client.call_tool("kb.read_excerpt", {"passage_id": best.passage_id})
    excerpt = ExcerptAnswer.model_validate(read.structured_content)
    assert excerpt.excerpt == library.units[best.section_id].text
    assert not excerpt.truncated
    assert excerpt.next_start_char is None


async def test_excerpts_read_on_to_the_whole_passage(connect: Connect, library: Library) -> None:
    unit = max(library.units.values(), key=lambda unit: len(unit.text))
    pieces, start = [], 0
    async with connect() as client:
        while start is not None:
            result = await client.call_tool(
                "kb.read_excerpt", {"passage_id": unit.section_id, "max_tokens": 5, "start_char": start}
            )
            answer = ExcerptAnswer.model_validate(result.structured_content)
            assert count_tokens(answer.excerpt) <= 5
            assert library.texts[unit.doc_id][answer.start_char : answer.end_char] == answer.excerpt
            assert answer.truncated == (answer.next_start_char is not None)
            pieces.append(answer.excerpt)
            start = answer.next_start_char
    assert "".join(pieces) == unit.text


async def test_an_expanded_excerpt_is_one_span_around_the_passage(connect: Connect, library: Library) -> None:
    unit = next(u for u in library.units.values() if u.text.startswith("A restore"))
    async with connect() as client:
        result = await client.call_tool(
            "kb.expand_excerpt", {"passage_id": unit.section_id, "before_tokens": 6, "after_tokens": 0}
        )
    answer = ExcerptAnswer.model_validate(result.structured_content)
    document = library.texts[unit.doc_id]
    assert document[answer.start_char : answer.end_char] == answer.excerpt
    assert answer.excerpt.rstrip().endswith(unit.text)
    assert answer.excerpt.startswith("the night watch.\n\n# Restore")
    assert answer.citation is not None
    assert answer.citation.line == 1 + document.count("\n", 0, answer.start_char)


async def test_bullets_change_the_text_and_not_the_excerpt(connect: Connect, library: Library) -> None:
    unit = next(u for u in library.units.values() if u.text.startswith("A restore"))
    async with connect() as client:
        result = await client.call_tool(
            "kb.read_excerpt",
            {"passage_id": unit.section_id, "options": {"format": "bullets", "include_citation": False}},
        )
    assert text_of(result).count("\n- ") == 2
    assert result.structured_content["excerpt"] == unit.text
    assert result.structured_content["citation"] is None


async def test_reading_past_the_end_says_how_long_the_passage_is(connect: Connect, library: Library) -> None:
    unit = next(iter(library.units.values()))
    async with connect() as client:
        error = error_of(await client.call_tool("kb.read_excerpt", {"passage_id": unit.section_id, "start_char": 9999}))
    assert str(len(unit.text)) in error["message"]
