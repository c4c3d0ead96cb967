from __future__ import annotations

import threading
from typing import Any

import pytest

from graphctx.model.answers import EvidenceAnswer
from graphctx.model.budgets import Limits
from graphctx.model.found import Found
from graphctx.model.requests import SearchInput
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.tools import TOOLS, TOOLSETS
from graphctx.server.warmup import Engine, Warmup

from .conftest import Connect
from .library import Library, count_tokens
from .results import error_of, text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


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


@pytest.mark.parametrize(
    "tool", [t for t in TOOLS if "scope" in t.input.model_fields and t.toolset != "layers"], ids=lambda tool: tool.name
)
async def test_another_project_is_a_scope_violation_in_every_tool(
    connect: Connect, library: Library, tool: Any
) -> None:
    section = next(iter(library.units))
    required = {
        **dict.fromkeys(("query", "question"), "x"),
        **dict.fromkeys(("passage_id", "parent_id"), section),
        **{name: [section] for name in ("passage_ids", "node_ids", "start_ids", "end_ids", "section_ids")},
        "entity_ids": ["ledger"],
    }
    named = tool.input.model_fields.keys() if tool.name != "graph.communities" else ()  # it requires nothing
    arguments = {name: value for name, value in required.items() if name in named}
    async with connect(ServerConfig(toolsets=tuple(TOOLSETS))) as client:
        for scope in ({"project_id": "another"}, {"environment": "prod"}):
            error = error_of(await client.call_tool(tool.name, arguments | {"scope": scope}))
            assert error["code"] == "SCOPE_VIOLATION"
        assert not (await client.call_tool(tool.name, arguments | {"scope": {"project_id": "handbook"}})).is_error


async def test_tags_of_the_scope_hold_for_searching_and_for_reading(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = await client.call_tool("kb.search", {"query": "ledger vault key", "scope": {"doc_tags": ["people"]}})
        assert {r["doc_uri"] for r in found.structured_content["results"]} == {"people/duty.md"}
        glossary = next(u for u in library.units.values() if u.doc_uri == "glossary.txt")
        narrow = {"scope": {"doc_tags": ["people"]}}
        unknown = await client.call_tool("kb.read_excerpt", {"passage_id": glossary.section_id, **narrow})
        never = await client.call_tool("kb.read_excerpt", {"passage_id": "u_aaaaaaaaaaaaaaaa", **narrow})
        shown = (await client.call_tool("kb.search", {"query": "vault key"})).structured_content["results"]
        held = next(result["passage_id"] for result in shown if result["doc_uri"] == "glossary.txt")
        outside = await client.call_tool("kb.read_excerpt", {"passage_id": held, **narrow})
    assert error_of(unknown)["code"] == "INVALID_ARGUMENT"
    assert text_of(unknown).replace(glossary.section_id, "u_aaaaaaaaaaaaaaaa") == text_of(never)
    assert error_of(outside)["code"] == "SCOPE_VIOLATION", "what it was shown, it may be told of"


async def test_a_passage_outside_the_scope_is_neither_held_nor_named(connect: Connect, library: Library) -> None:
    glossary = next(u for u in library.units.values() if u.doc_uri == "glossary.txt")
    async with connect(ServerConfig(doc_tags=("people",))) as client:
        result = await client.call_tool("kb.read_excerpt", {"passage_id": glossary.section_id})
        assert error_of(result)["code"] == "INVALID_ARGUMENT"
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
            assert text_of(result).startswith("No results from project handbook.")


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


async def test_a_passage_of_another_session_is_unknown(connect: Connect) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]
    async with connect() as client:
        error = error_of(await client.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]}))
        assert error["code"] == "INVALID_ARGUMENT"
        assert "kb_search" in error["message"]
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


async def test_a_session_that_is_not_the_connections_own_is_ignored_with_a_note(connect: Connect) -> None:
    async with connect() as client:
        own = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["session_id"]
        assert not (await client.call_tool("kb.search", {"query": "ledger", "session_id": own})).is_error
        foreign = {"session_id": "x_" + "a" * 16}
        searched = await client.call_tool("kb.search", {"query": "ledger", **foreign})
        passage = searched.structured_content["results"][0]
        read = [
            await client.call_tool("kb.read_excerpt", {"passage_id": passage[name], **foreign})
            for name in ("passage_id", "section_id")
        ]
        graph = await client.call_tool("graph.parents", {"section_ids": [passage["section_id"]], **foreign})
    for result in (searched, *read, graph):
        assert not result.is_error
        assert result.structured_content["session_id"] == own
        assert foreign["session_id"] in result.structured_content["session_note"]
        assert result.content[0].text.startswith(result.structured_content["session_note"])
        assert len(result.content[0].text) < result.structured_content["budget"]["bytes"]
