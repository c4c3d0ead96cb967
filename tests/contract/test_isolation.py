"""What is somebody else's cannot be reached: passages of another session, and documents outside of the scope."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from pydantic import SecretStr

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.server.http import http_app

from .conftest import fenced_kb
from .corpus import OPEN_QUESTION, SEALED_WORDS
from .examples import COMPAT, EVERY_TOOL, GRAPH, ITEMS, KB, Examples
from .protocol import EVERY_TOOLSET, Caller, Reply, engine, in_memory, reply_of
from .test_contract_stdio import over_pipes
from .truth import Truth, nodes, uris_in

TOKENS = {name: SecretStr(f"{name}-0123456789-abcdefgh") for name in ("ana", "ben")}
Sealed = Callable[[str], bool]


# Two sessions


def naming(passage: str) -> list[tuple[str, dict[str, Any]]]:
    """A call of every tool that takes a passage id."""
    other = {"node_ids": [passage], "section_ids": [passage]}
    return [
        ("kb.read_excerpt", {"passage_id": passage}),
        ("kb.expand_excerpt", {"passage_id": passage}),
        ("kb.extract_evidence", {"passage_ids": [passage], "question": OPEN_QUESTION}),
        ("graph.describe", {"node_ids": [passage]}),
        ("graph.expand", {"node_ids": [passage]}),
        ("graph.paths", {"start_ids": [passage], "end_ids": ["Oda Brenn"]}),
        ("graph.paths", {"start_ids": ["Oda Brenn"], "end_ids": [passage]}),
        ("graph.parents", {"section_ids": [passage]}),
        ("graph.children", {"parent_id": passage}),
        ("graph.entities_for_sections", {"section_ids": [passage]}),
        ("graph.sections_for_entities", {"entity_ids": [passage]}),
        ("graph.communities", {"community_ids": [passage]}),
        ("graph.communities", {"parent_id": passage}),
        ("graph.communities", {"entity_id": passage}),
        *(
            (tool, {name: other[name]})
            for tool, name in (("describe_nodes", "node_ids"), ("expand_neighbors", "node_ids"))
        ),
        ("get_section_text", {"section_ids": [passage]}),
        ("get_paths_between", {"start_ids": [passage], "end_ids": ["Oda Brenn"]}),
        ("list_children", {"parent_id": passage}),
        ("list_parents", {"section_ids": [passage]}),
        ("get_entities_for_sections", {"section_ids": [passage]}),
        ("get_sections_for_entities", {"entity_ids": [passage]}),
        ("fetch", {"id": passage}),
    ]


QUESTIONED = {
    "kb.search": "query",
    "kb.retrieve_evidence": "question",
    "kb.global_search": "question",
    "search_sections": "query",
    "search": "query",
}
"""The tools that take a question, and as which argument."""


async def ask(client: Client, tool: str, **arguments: Any) -> Reply:
    return reply_of(await client.call_tool(tool, arguments))


async def check_strangers(owner: Client, other: Client, *, exclusive: bool = True) -> None:
    """What one client holds, the other reaches by no tool, by no resource and in no list.

    Args:
        owner: searches.
        other: tries to get at what was found, with the session id too.
        exclusive: whether the owner's connection has a session of its own.
    """
    answer = (await ask(owner, "kb.search", query=OPEN_QUESTION)).answer
    found = answer["results"][0]
    handle = {} if exclusive else {"session_id": answer["session_id"]}
    own = await ask(owner, "kb.read_excerpt", passage_id=found["passage_id"], **handle)
    assert found["preview"] in own.answer["excerpt"]
    assert (await owner.read_resource(found["scratch_uri"])).contents
    others = (await ask(other, "kb.search", query=OPEN_QUESTION)).answer
    assert others["session_id"] != answer["session_id"]
    assert {r["passage_id"] for r in others["results"]}.isdisjoint(r["passage_id"] for r in answer["results"])
    unknown = "p_aaaaaaaaaaaaaaaa"
    for tool, arguments in naming(found["passage_id"]):
        for session in ({}, {"session_id": answer["session_id"]}, {"session_id": others["session_id"]}):
            if session and tool == "fetch":
                continue
            refused = await ask(other, tool, **arguments, **session)
            assert refused.error["code"] in ("INVALID_ARGUMENT", "SCOPE_VIOLATION")
            assert found["preview"] not in refused.text
            assert found["doc_uri"] not in refused.text
            like = json.loads(json.dumps(arguments).replace(found["passage_id"], unknown))
            never = await ask(other, tool, **like, **session)
            assert refused.text == never.text.replace(unknown, found["passage_id"]), "held or not must look the same"
    for uri in (found["scratch_uri"], found["scratch_uri"].replace(answer["session_id"], others["session_id"])):
        with pytest.raises(MCPError) as caught:
            await other.read_resource(uri)
        assert found["preview"] not in str(caught.value.error)
    listed = {resource.uri for resource in (await other.list_resources()).resources}
    assert not any(result["scratch_uri"] in listed for result in answer["results"])


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_two_processes_do_not_read_each_others_passages(nasty_path: Path, mode: str) -> None:
    async with over_pipes(nasty_path, mode) as first, over_pipes(nasty_path, mode) as second:
        await check_strangers(first, second)


@asynccontextmanager
async def serving(kb: KnowledgeBase, **config: Any) -> AsyncIterator[str]:
    """A real HTTP server on a free port."""
    app = http_app(engine(kb), ServerConfig(toolsets=EVERY_TOOLSET, transport="http", **config))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def as_owner(url: str, name: str, mode: str) -> AsyncIterator[Client]:
    """A client with the token of one owner."""
    headers = {"Authorization": f"Bearer {TOKENS[name].get_secret_value()}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=30) as client,
    ):
        yield client


@pytest.mark.anyio
async def test_two_protocol_sessions_do_not_read_each_others_passages(nasty: KnowledgeBase) -> None:
    async with serving(nasty) as url, Client(url, mode="legacy") as first, Client(url, mode="legacy") as second:
        await check_strangers(first, second)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_two_principals_do_not_read_each_others_passages(nasty: KnowledgeBase, mode: str) -> None:
    async with (
        serving(nasty, tokens=TOKENS) as url,
        as_owner(url, "ana", mode) as ana,
        as_owner(url, "ben", mode) as ben,
    ):
        await check_strangers(ana, ben, exclusive=mode == "legacy")


@pytest.mark.anyio
async def test_without_sessions_a_passage_needs_the_handle_that_it_came_with(nasty: KnowledgeBase) -> None:
    async with serving(nasty) as url, Client(url, mode="auto") as first, Client(url, mode="auto") as second:
        answer = (await ask(first, "kb.search", query=OPEN_QUESTION)).answer
        passage, preview = answer["results"][0]["passage_id"], answer["results"][0]["preview"]
        others = (await ask(second, "kb.search", query=OPEN_QUESTION)).answer["session_id"]
        for tool, arguments in naming(passage):
            for session in ({}, {"session_id": others}, {"session_id": "x_aaaaaaaaaaaaaaaa"}):
                if session and tool == "fetch":
                    continue
                refused = await ask(second, tool, **arguments, **session)
                assert refused.error["code"] == "INVALID_ARGUMENT"
                assert preview not in refused.text
        assert (await first.list_resources()).resources == []
        own = await ask(first, "kb.read_excerpt", passage_id=passage, session_id=answer["session_id"])
        assert preview in own.answer["excerpt"]


# Outside of the boundary, and outside of the scope of a call


def is_sealed(uri: str) -> bool:
    return uri.startswith("sealed/")


def is_open(uri: str) -> bool:
    return not is_sealed(uri)


def check_nothing_sealed(truth: Truth, reply: Reply, asked: Any = "", within: Sealed = is_open) -> None:
    """Nothing in an answer or a refusal is of a document that may not be seen, but for what the caller said itself."""
    said = json.dumps(asked, ensure_ascii=False)
    whole = reply.text + json.dumps(reply.structure, ensure_ascii=False)
    assert all(map(within, uris_in(reply.structure)))
    assert not truth.strangers(whole, within, said)
    for word in SEALED_WORDS:
        assert word in said or word.casefold() not in whole.casefold()
    assert not set(re.findall(r"sealed/[\w./-]+", whole)) - set(re.findall(r"sealed/[\w./-]+", said))


def sealed_names(truth: Truth) -> list[str]:
    """Every id that only sealed documents have, and their URIs and names."""
    ids = [identifier for identifier, uris in truth.homes.items() if uris and all(map(is_sealed, uris))]
    return sorted(ids) + sorted(filter(is_sealed, truth.uris)) + ["Quillfeather", "Obsidian Ledger"]


BOUNDARIES: list[dict[str, list[str]]] = [
    {"repositories": ["open"]},
    {"doc_tags": ["public", "people", "science", "week"]},
]


@pytest.fixture(scope="module", params=BOUNDARIES, ids=lambda boundary: next(iter(boundary)))
def bounded(request: pytest.FixtureRequest, nasty_path: Path) -> Iterator[tuple[Caller, dict[str, list[str]]]]:
    """A server whose settings draw a boundary, and which one."""
    boundary = request.param
    with fenced_kb(nasty_path, **boundary) as kb:
        config = {name: tuple(values) for name, values in boundary.items()}
        with in_memory(kb, **config) as caller:
            yield caller, boundary


def visible_in(truth: Truth, boundary: dict[str, list[str]]) -> Sealed:
    """Whether a document lies within a boundary."""
    if "repositories" in boundary:
        return is_open
    wanted = set(boundary["doc_tags"])
    return lambda uri: not wanted.isdisjoint(truth.kb.document(uri).tags)


def test_nothing_outside_the_settings_boundary_is_reached_by_any_name(
    bounded: tuple[Caller, dict[str, list[str]]], truth: Truth
) -> None:
    caller, boundary = bounded
    within = visible_in(truth, boundary)
    outside = [i for i, uris in truth.homes.items() if uris and not any(map(within, uris)) and i[0] != "e"]
    names = sorted(outside)[::20] + [uri for uri in sorted(truth.uris) if not within(uri)]
    for name in names:
        for tool, arguments in naming(name):
            reply = caller.call(tool, arguments)
            if not reply.is_error:
                assert not reply.answer.get(ITEMS.get(tool, "none")), (tool, name)
            else:
                assert reply.error["code"] in ("INVALID_ARGUMENT", "SCOPE_VIOLATION")
            for uri in uris_in(reply.structure):
                assert within(uri)


def test_outside_the_boundary_looks_like_nowhere(fenced: Caller, truth: Truth) -> None:
    for name in sealed_names(truth):
        if re.fullmatch(r"[dsue]_[a-z2-7]{16}", name):
            nowhere = name[:2] + "a" * 16
            for tool, arguments in naming(name):
                reply = fenced.call(tool, arguments)
                like = fenced.call(tool, json.loads(json.dumps(arguments).replace(name, nowhere)))
                assert reply.text.replace(name, nowhere) == like.text, (tool, name)


def test_whatever_is_asked_about_it_nothing_sealed_is_told(fenced: Caller, truth: Truth) -> None:
    for question in ("Who is Quillfeather?", "What does the Obsidian Ledger list?", "vantablack", "code name secretly"):
        for tool, name in QUESTIONED.items():
            arguments = {name: question}
            check_nothing_sealed(truth, fenced.call(tool, arguments), arguments)
    for name in sealed_names(truth):
        for tool, arguments in naming(name):
            check_nothing_sealed(truth, fenced.call(tool, arguments), arguments)


def everywhere(truth: Truth) -> list[dict[str, Any]]:
    """Expansions from every entity that an open document names."""
    starts = truth.ids("e", is_open)
    return [{"node_ids": starts[i : i + 10], "max_hops": 2, "page_size": 100} for i in range(0, len(starts), 10)]


PER_CALL: list[dict[str, Any]] = [
    {"scope": {"repositories": ["open"]}},
    {"filters": {"path_prefix": "open/"}},
]


@pytest.mark.parametrize("narrowed", PER_CALL, ids=["scope", "filters"])
def test_the_graph_never_passes_through_what_is_outside(caller: Caller, truth: Truth, narrowed: dict[str, Any]) -> None:
    reached = set()
    for arguments in everywhere(truth):
        asked = {**arguments, **narrowed, "include_snippet": True}
        reply = caller.call("graph.expand", asked)
        check_nothing_sealed(truth, reply, asked)
        if not reply.is_error:
            reached |= {node["id"] for node in reply.answer["nodes"]}
    assert len(reached) > 30
    for end in ("Oda Brenn", "Halvard Works", "Mercury"):
        asked = {"start_ids": ["Harbour Office", "Marrow Bay"], "end_ids": [end], "max_hops": 4, "max_paths": 50}
        asked |= {**narrowed, "include_snippet": True}
        reply = caller.call("graph.paths", asked)
        check_nothing_sealed(truth, reply, asked)
        assert reply.answer["paths"]


@pytest.mark.parametrize("narrowed", PER_CALL, ids=["scope", "filters"])
@pytest.mark.parametrize("tool", [*KB, *GRAPH, *COMPAT])
def test_a_call_that_is_narrowed_speaks_of_nothing_else(
    caller: Caller, truth: Truth, examples: Examples, tool: str, narrowed: dict[str, Any]
) -> None:
    properties = caller.tools()[tool]["inputSchema"]["properties"]
    if not narrowed.keys() <= properties.keys():
        pytest.skip("it does not take that")
    arguments = {**examples.plain[tool], **narrowed}
    for limit in ("top_k", "page_size"):
        if limit in properties:
            arguments[limit] = properties[limit]["maximum"]
    check_nothing_sealed(truth, caller.call(tool, arguments), arguments)
    for name in sealed_names(truth):
        for other, hidden in naming(name):
            if other == tool:
                check_nothing_sealed(truth, caller.call(tool, {**hidden, **narrowed}), hidden)


def test_counts_are_of_the_scope(caller: Caller) -> None:
    for name in ("Oda Brenn", "Halvard Works", "Marrow Bay"):
        whole, opened, sealed = (
            caller.call("graph.describe", {"node_ids": [name], "scope": {"repositories": folders}}).answer["nodes"][0]
            for folders in ([], ["open"], ["sealed"])
        )
        for count in ("n_mentions", "n_units"):
            assert whole[count] == opened[count] + sealed[count]
            assert sealed[count] > 0


def test_within_a_scope_it_is_answered_as_if_nothing_else_were_there(
    nasty_path: Path, nasty: KnowledgeBase, tmp_path: Path
) -> None:
    documents = nasty_path.parent / "documents"
    # From the folder above, so that URIs are the same; what is sealed is not among them.
    shutil.copytree(documents / "open", tmp_path / "documents" / "open")
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="marrow") as kb:
        kb.ingest(tmp_path / "documents", processes=1)
        with in_memory(kb) as alone, in_memory(nasty) as caller:
            for question in (OPEN_QUESTION, "Mercury Doyle", "Halvard Works bell", "tide gate storm", "ferry times"):
                for tool, name in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
                    here = caller.call(tool, {name: question, "scope": {"repositories": ["open"]}}).answer
                    there = alone.call(tool, {name: question}).answer
                    items = ITEMS[tool]
                    assert [item["section_id"] for item in here[items]] == [item["section_id"] for item in there[items]]
                    for mine, other in zip(here[items], there[items], strict=True):
                        for field in ("score", "confidence", "preview", "quote"):
                            assert mine.get(field) == other.get(field), (question, field)


def test_resources_outside_the_boundary_are_unknown(fenced: Caller, truth: Truth) -> None:
    for kind, prefix in (("document", "d"), ("entity", "e")):
        hidden = [i for i in sealed_names(truth) if i.startswith(f"{prefix}_")]
        hidden += ["sealed%2Ftide-gate.md"] if kind == "document" else ["Quillfeather", "Obsidian%20Ledger"]
        assert len(hidden) > 2
        messages = set()
        for name in [*hidden, f"{prefix}_aaaaaaaaaaaaaaaa"]:
            with pytest.raises(MCPError) as caught:
                fenced.read(f"graphctx://{kind}/{name}")
            shown = name.replace("%2F", "/").replace("%20", " ")
            messages.add(json.dumps(caught.value.error.model_dump(mode="json")).replace(shown, "…"))
        assert len(messages) == 1, "one that is sealed looks like one that never was"
    seen = fenced.read("graphctx://document/open%2Ftide-gate.md").contents[0]
    assert "Dr. Oda Brenn every spring" in seen.text
    entity = fenced.read("graphctx://entity/Oda%20Brenn").contents[0]
    check_nothing_sealed(truth, Reply(json.loads(entity.text), entity.text, False))


def test_the_whole_seen_from_above_ends_at_the_boundary(fenced: Caller, caller: Caller, truth: Truth) -> None:
    for level in ("concept", "section", "unit"):
        text = fenced.read(f"graphctx://hierarchy/{level}").contents[0].text
        assert text.count("\n- ") > 1
        check_nothing_sealed(truth, Reply({}, text, False))
    known, messages = 0, set()
    every = [caller.call("graph.communities", {"level": level, "page_size": 100}).answer for level in range(3)]
    ids = [community["id"] for answer in every for community in answer["communities"]]
    for community in [*ids, "c_aaaaaaaaaaaaaaaa", "Quillfeather", "Obsidian Ledger"]:
        try:
            text = fenced.read(f"graphctx://community/{community}").contents[0].text
        except MCPError as error:
            shown = json.dumps(error.error.model_dump(mode="json"))
            messages.add(shown.replace(community, "…"))
            continue
        known += 1
        check_nothing_sealed(truth, Reply({}, text, False))
    assert known
    assert len(messages) == 1, "one that is sealed looks like one that never was"
    narrowed = [{"community_ids": [community], "include_snippet": True} for community in ids]
    for asked in [{"include_snippet": True}, {"level": 1}, *narrowed]:
        check_nothing_sealed(truth, fenced.call("graph.communities", asked), asked)


def test_completion_and_prompts_know_nothing_sealed(fenced: Caller, truth: Truth) -> None:
    entity = ResourceTemplateReference(uri="graphctx://entity/{entity_id}")
    document = ResourceTemplateReference(uri="graphctx://document/{doc_id}")
    community = ResourceTemplateReference(uri="graphctx://community/{community_id}")
    prompt = PromptReference(name="explore_entity")
    for ref, argument in (
        (entity, "entity_id"),
        (document, "doc_id"),
        (community, "community_id"),
        (prompt, "entity"),
    ):
        for typed in ("", "Quill", "Obsidian", "seal", "sealed/", "Oda", "d_", "e_", "c_", "The"):
            result = fenced.run(fenced.client.complete, ref, {"name": argument, "value": typed})
            for value in result.completion.values:
                check_nothing_sealed(truth, Reply({}, value, False))
            if typed in ("Quill", "Obsidian") or (typed == "sealed/" and argument == "doc_id"):
                assert result.completion.values == []
                assert not result.completion.total
    for listed in fenced.run(fenced.client.list_prompts).prompts:
        arguments = {argument.name: "Oda Brenn" for argument in listed.arguments}
        shown = fenced.run(fenced.client.get_prompt, listed.name, arguments)
        check_nothing_sealed(truth, Reply({}, shown.model_dump_json(), False))


def test_no_listed_resource_is_sealed(fenced: Caller, truth: Truth) -> None:
    fenced.call("kb.search", {"query": OPEN_QUESTION, "top_k": 50, "page_size": 50})
    listed = fenced.resources()
    assert listed
    for resource in listed:
        assert is_open(resource.description)
        text = fenced.read(resource.uri).contents[0].text
        check_nothing_sealed(truth, Reply({}, text, False))


def test_a_passage_of_a_wide_call_is_not_read_in_a_narrow_one(caller: Caller) -> None:
    found = caller.call("kb.search", {"query": "Obsidian Ledger vantablack"}).answer["results"][0]
    assert is_sealed(found["doc_uri"])
    for tool, arguments in naming(found["passage_id"]):
        if tool == "fetch":
            continue
        reply = caller.call(tool, {**arguments, "scope": {"repositories": ["open"]}})
        if reply.is_error:
            assert found["preview"] not in reply.text
        else:
            assert not reply.answer[ITEMS[tool]] or not [
                n for n in nodes(reply.answer) if is_sealed(n.get("doc_uri") or "")
            ]


def test_every_tool_is_tried_here() -> None:
    tried = {tool for tool, _ in naming("x")} | QUESTIONED.keys()
    assert tried == set(EVERY_TOOL)
