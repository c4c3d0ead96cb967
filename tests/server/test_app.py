from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult

from graphctx.model.answers import EvidenceAnswer, ExcerptAnswer, SearchAnswer
from graphctx.model.budgets import Limits
from graphctx.model.found import Found
from graphctx.model.requests import SearchInput
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import Engine, Warmup

from .conftest import Connect
from .library import Library, count_tokens

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


def text_of(result: CallToolResult) -> str:
    assert len(result.content) == 1
    assert result.content[0].type == "text"
    return result.content[0].text


def error_of(result: CallToolResult) -> dict[str, Any]:
    """The error envelope, which must be whole in both places."""
    assert result.is_error
    assert json.loads(text_of(result)) == result.structured_content
    assert result.structured_content.keys() == {"error"}
    assert result.structured_content["error"].keys() == {"code", "message", "details"}
    return result.structured_content["error"]


async def test_every_tool_is_listed_once_by_its_dotted_name(connect: Connect) -> None:
    async with connect() as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]


@pytest.mark.parametrize(
    "name", ["claude-ai", "claude-ai (via mcp-remote 0.1.37)", "cursor-vscode", "GitHub Copilot CLI"]
)
async def test_a_client_that_refuses_dots_is_listed_underscores_on_stdio(connect: Connect, name: str) -> None:
    async with connect(client=name) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name.replace(".", "_") for tool in TOOLS]
        assert not any("kb." in (tool.description or "") for tool in tools)
        result = await client.call_tool("kb_search", {"query": "ledger"})
    assert "kb_extract_evidence" in text_of(result)


@pytest.mark.parametrize("name", ["claude-ai", "cursor-vscode"])
async def test_over_http_the_list_does_not_depend_on_the_client(connect: Connect, name: str) -> None:
    async with connect(ServerConfig(transport="http"), client=name) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in TOOLS]


async def test_both_forms_of_a_name_can_be_called_whatever_is_listed(connect: Connect) -> None:
    for names in ("dotted", "underscore"):
        async with connect(ServerConfig(tool_names=names)) as client:
            for called in ("kb.search", "kb_search"):
                assert not (await client.call_tool(called, {"query": "ledger"})).is_error


async def test_an_unknown_tool_is_a_protocol_error(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("kb.serach", {"query": "ledger"})
    assert caught.value.error.code == INVALID_PARAMS
    assert "kb.search" in caught.value.error.message


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
        assert quote["passage_id"] in text
    assert "kb.read_excerpt" in text


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
    assert answer.excerpt.endswith(unit.text)
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


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("kb.search", {}, "query"),
        ("kb.search", {"query": "  "}, "query"),
        ("kb.search", {"query": "x", "top_k": 51}, "top_k"),
        ("kb.search", {"query": "x", "topk": 5}, "topk"),
        ("kb.search", {"query": "x", "options": {"max_snippet_chars": 1001}}, "options.max_snippet_chars"),
        ("kb.search", {"query": "x", "options": {"mode": "fast"}}, "options.mode"),
        ("kb.search", {"query": "x", "filters": {"updated_after": "soon"}}, "filters.updated_after"),
        ("kb.search", {"query": "x", "scope": {"project": "y"}}, "scope.project"),
        ("kb.retrieve_evidence", {"question": "x", "max_quotes": 0}, "max_quotes"),
        ("kb.extract_evidence", {"question": "x", "passage_ids": []}, "passage_ids"),
        ("kb.read_excerpt", {"passage_id": "p_aaaaaaaaaaaaaaaa", "max_tokens": 801}, "max_tokens"),
        ("kb.read_excerpt", {"passage_id": "p_aaaaaaaaaaaaaaaa"}, "passage_id"),
    ],
)
async def test_a_bad_argument_is_refused_by_name(
    connect: Connect, tool: str, arguments: dict[str, Any], field: str
) -> None:
    async with connect() as client:
        error = error_of(await client.call_tool(tool, arguments))
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["field"] == field
    assert field in error["message"]
    assert error["details"]["allowed"]


async def test_reading_past_the_end_says_how_long_the_passage_is(connect: Connect, library: Library) -> None:
    unit = next(iter(library.units.values()))
    async with connect() as client:
        error = error_of(await client.call_tool("kb.read_excerpt", {"passage_id": unit.section_id, "start_char": 9999}))
    assert str(len(unit.text)) in error["message"]


@pytest.mark.parametrize("tool", [t for t in TOOLS if "scope" in t.input.model_fields], ids=lambda tool: tool.name)
async def test_another_project_is_a_scope_violation_in_every_tool(
    connect: Connect, library: Library, tool: Any
) -> None:
    section = next(iter(library.units))
    required = {
        **dict.fromkeys(("query", "question"), "x"),
        **dict.fromkeys(("passage_id", "parent_id"), section),
        **dict.fromkeys(("passage_ids", "node_ids", "start_ids", "end_ids", "section_ids"), [section]),
        "entity_ids": ["ledger"],
    }
    arguments = {name: value for name, value in required.items() if name in tool.input.model_fields}
    async with connect() as client:
        for scope in ({"project_id": "another"}, {"environment": "prod"}):
            error = error_of(await client.call_tool(tool.name, arguments | {"scope": scope}))
            assert error["code"] == "SCOPE_VIOLATION"
        assert not (await client.call_tool(tool.name, arguments | {"scope": {"project_id": "handbook"}})).is_error


async def test_tags_of_the_scope_hold_for_searching_and_for_reading(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = await client.call_tool("kb.search", {"query": "ledger vault key", "scope": {"doc_tags": ["people"]}})
        assert {r["doc_uri"] for r in found.structured_content["results"]} == {"people/duty.md"}
        glossary = next(u for u in library.units.values() if u.doc_uri == "glossary.txt")
        result = await client.call_tool(
            "kb.read_excerpt", {"passage_id": glossary.section_id, "scope": {"doc_tags": ["people"]}}
        )
    assert error_of(result)["code"] == "SCOPE_VIOLATION"


async def test_a_passage_outside_the_scope_is_neither_held_nor_named(connect: Connect, library: Library) -> None:
    glossary = next(u for u in library.units.values() if u.doc_uri == "glossary.txt")
    async with connect(ServerConfig(doc_tags=("people",))) as client:
        result = await client.call_tool("kb.read_excerpt", {"passage_id": glossary.section_id})
        assert error_of(result)["code"] == "SCOPE_VIOLATION"
        assert "glossary" not in text_of(result)
        assert not (await client.list_resources()).resources


async def test_a_call_cannot_leave_the_configured_tags_and_repositories(connect: Connect) -> None:
    async with connect(ServerConfig(doc_tags=("people",), repositories=("people/",))) as client:
        for scope in ({}, {"doc_tags": ["people"]}, {"repositories": ["people"]}):
            found = await client.call_tool("kb.search", {"query": "ledger vault key", "scope": scope})
            assert {r["doc_uri"] for r in found.structured_content["results"]} == {"people/duty.md"}
        for scope in ({"doc_tags": ["ops"]}, {"doc_tags": ["people", "ops"]}, {"repositories": ["ops"]}):
            error = error_of(await client.call_tool("kb.search", {"query": "ledger", "scope": scope}))
            assert error["code"] == "SCOPE_VIOLATION"
            assert "'people" in error["message"]


async def test_an_empty_answer_says_why(connect: Connect) -> None:
    async with connect() as client:
        for arguments, reason in (
            ({"query": "zeppelin"}, "no_match"),
            ({"query": "ledger", "filters": {"path_prefix": "nowhere/"}}, "nothing_in_scope"),
        ):
            result = await client.call_tool("kb.search", arguments)
            assert result.structured_content["empty_reason"] == reason
            assert text_of(result).startswith("No results.")


async def test_the_budget_drops_from_the_end_and_says_so(connect: Connect) -> None:
    asked = {"question": "ledger duty officer backup night watch vault key"}
    async with connect() as client:
        everything = EvidenceAnswer.model_validate(
            (await client.call_tool("kb.retrieve_evidence", asked)).structured_content
        )
    limits = Limits(max_tokens=everything.budget.tokens * 2 // 3)
    async with connect(ServerConfig(limits=limits)) as client:
        result = await client.call_tool("kb.retrieve_evidence", asked)
        first = EvidenceAnswer.model_validate(result.structured_content)
        assert first.truncated
        assert first.partial
        assert first.limit_reason == "token_cap"
        assert first.next_cursor in text_of(result)
        assert first.budget.tokens <= limits.max_tokens
        rest = EvidenceAnswer.model_validate(
            (await client.call_tool("kb.retrieve_evidence", asked | {"cursor": first.next_cursor})).structured_content
        )
    quotes = [quote.quote for quote in first.quotes + rest.quotes]
    assert quotes == [quote.quote for quote in everything.quotes][: len(quotes)]
    assert len(quotes) > len(first.quotes)


async def test_a_budget_that_holds_nothing_is_an_error(connect: Connect) -> None:
    async with connect(ServerConfig(limits=Limits(max_bytes=300))) as client:
        assert error_of(await client.call_tool("kb.search", {"query": "ledger"}))["code"] == "BUDGET_EXCEEDED"


async def test_the_same_call_gives_the_same_answer(connect: Connect) -> None:
    async with connect() as client:
        first = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
        second = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
    assert first.structured_content == second.structured_content
    assert text_of(first) == text_of(second)


async def test_budgets_do_not_depend_on_random_ids(connect: Connect) -> None:
    budgets = []
    for _ in range(3):
        async with connect() as client:
            result = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
            budgets.append(result.structured_content["budget"])
    assert budgets[0] == budgets[1] == budgets[2]


async def test_scratch_passages_are_resources(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"]
        template = (await client.list_resource_templates()).resource_templates[0]
        assert template.uri_template == "graphctx://scratch/{session_id}/{passage_id}"
        assert template.annotations is not None
        assert template.annotations.audience == ["assistant"]
        listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
        for result in found:
            resource = listed[result["scratch_uri"]]
            assert resource.size == result["size_bytes"]
            assert resource.mime_type == "text/plain"
            assert resource.annotations is not None
            assert resource.annotations.last_modified
            contents = (await client.read_resource(result["scratch_uri"])).contents[0]
            assert contents.text == library.units[result["section_id"]].text  # type: ignore[union-attr]


async def test_a_resource_of_another_session_or_of_no_session_cannot_be_read(connect: Connect) -> None:
    async with connect() as client:
        uri = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]["scratch_uri"]
    async with connect() as client:
        for wrong in (
            uri,
            "graphctx://scratch/x_aaaaaaaaaaaaaaaa/../p",
            "file:///etc/passwd",
            "graphctx://scratch/",
        ):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(wrong)
            assert caught.value.error.code == INVALID_PARAMS
            assert caught.value.error.data["error"]["code"] in ("SCOPE_VIOLATION", "INVALID_ARGUMENT")


async def test_a_passage_of_another_session_is_unknown(connect: Connect) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]
    async with connect() as client:
        error = error_of(await client.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]}))
        assert error["code"] == "INVALID_ARGUMENT"
        assert "kb.search" in error["message"]
        again = await client.call_tool("kb.read_excerpt", {"passage_id": found["section_id"]})
    assert not again.is_error


async def test_a_call_reads_one_snapshot_even_if_another_is_published_meanwhile(connect: Connect) -> None:
    class Changing(Library):
        """Publishes a successor without the document, as soon as it has been searched."""

        def find(self, request: SearchInput) -> Found:
            shelf.now = Library({"new.md": ("New", "", "Nothing of old is left.\n")}, snapshot_id="snap-2")
            return super().find(request)

    class Shelf:
        now: Library = Changing()

        def pinned(self) -> Library:
            return self.now

        def warm(self) -> None:
            """Nothing to load."""

    shelf = Shelf()
    async with connect(server=build_server(Warmup(lambda: Engine(shelf, count_tokens)))) as client:
        first = await client.call_tool("kb.search", {"query": "ledger"})
        assert first.structured_content["snapshot_id"] == "snap-1"
        assert first.structured_content["results"]
        second = await client.call_tool("kb.search", {"query": "nothing"})
        assert second.structured_content["snapshot_id"] == "snap-2"


async def test_a_fault_inside_is_reported_without_its_insides(connect: Connect, library: Library) -> None:
    library.texts.clear()  # the library is damaged: finding quotes will raise KeyError
    async with connect() as client:
        result = await client.call_tool("kb.search", {"query": "ledger"})
    error = error_of(result)
    assert error["code"] == "INTERNAL_ERROR"
    assert "KeyError" not in text_of(result)


async def test_a_call_that_takes_too_long_is_given_up(connect: Connect, library: Library) -> None:
    released = threading.Event()

    def open_slowly() -> Engine:
        released.wait(30)
        return Engine(library, count_tokens)

    server = build_server(Warmup(open_slowly), ServerConfig(call_timeout=0.05))
    async with connect(server=server) as client:
        try:
            assert error_of(await client.call_tool("kb.search", {"query": "ledger"}))["code"] == "TIMEOUT"
        finally:
            released.set()


async def test_an_index_that_comes_later_is_found_by_the_next_call(connect: Connect, library: Library) -> None:
    from graphctx.errors import BackendUnavailable

    published: list[Library] = []

    def open_engine() -> Engine:
        if not published:
            raise BackendUnavailable("Nothing has been published here yet. Run graphctx ingest.")
        return Engine(published[0], count_tokens)

    async with connect(server=build_server(Warmup(open_engine))) as client:
        assert error_of(await client.call_tool("kb.search", {"query": "ledger"}))["code"] == "BACKEND_UNAVAILABLE"
        published.append(library)
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error
