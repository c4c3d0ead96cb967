"""The tools, resources and prompts of contexts on a real server: schemas, budgets, spans, isolation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio.from_thread
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError

from graphctx.knowledge_base import KnowledgeBase
from graphctx.memory import Memory, MemoryDraft, MemoryScope, Moment
from graphctx.nlp.tokens import encodable
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import OpenKnowledgeBase, Warmup
from graphctx.store.lock import IngestLock
from tests.conftest import EFFORT

from .conftest import fenced_kb
from .corpus import OPEN_QUESTION
from .examples import CONTEXT
from .protocol import Caller, in_memory, serving, weight
from .spec_table import ERROR_CODES
from .strategies import arguments_of

TEXT = "The tide gate shuts at four. The bell is old.\n\n```\nrun the bell\n```\n\nOda Brenn keeps the gate. " * 40


@pytest.fixture(scope="module")
def server(nasty: KnowledgeBase) -> Iterator[Caller]:
    with in_memory(nasty, toolsets=("context",)) as caller:
        yield caller


@pytest.fixture(scope="module")
def open_half(nasty_path: Any) -> Iterator[Caller]:
    """A server whose settings let it see the open half alone."""
    with fenced_kb(nasty_path, repositories=["open"]) as kb, in_memory(kb, toolsets=("context",)) as caller:
        yield caller


def check(kb: KnowledgeBase, reply: Any, schema: dict[str, Any], source: str) -> None:
    tokens, size = weight(reply)
    if reply.is_error:
        assert reply.error["code"] in ERROR_CODES - {"INTERNAL_ERROR", "BACKEND_UNAVAILABLE"}, reply.error
        return
    jsonschema.Draft202012Validator(schema).validate(reply.answer)
    assert tokens <= reply.answer["budget"]["tokens"] <= 8_000
    assert size <= reply.answer["budget"]["bytes"] <= 30_000
    for section in reply.answer.get("results", ()):
        place = section["metadata"]
        assert kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == section["content"]
    for span in reply.answer.get("kept", ()):
        length = span["end_char"] - span["start_char"]
        kept = reply.answer["text"][span["at"] : span["at"] + length]
        assert kept == source[span["start_char"] : span["end_char"]]


@pytest.mark.parametrize("tool", CONTEXT)
@settings(max_examples=max(10, int(100 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_whatever_is_asked_is_answered_or_refused(
    server: Caller, nasty: KnowledgeBase, data: st.DataObject, tool: str
) -> None:
    listed = server.tools()[tool]
    known = {"": st.sampled_from([OPEN_QUESTION, "tide", TEXT, "x " * 3000]), "session_id": st.just("x")}
    asked = data.draw(arguments_of(listed["inputSchema"], known))
    source = asked.get("current_context")
    # Half of a surrogate pair cannot be sent.
    sent = encodable(source) if isinstance(source, str) else ""
    check(nasty, server.call(tool, asked), listed["outputSchema"], sent)


def test_pages_of_a_search_hold_every_result_once(server: Caller) -> None:
    asked = {"query": OPEN_QUESTION, "max_results": 50, "min_relevance": 0.0}
    pages, cursor = [], None
    while True:
        answer = server.call("search_context", asked | ({"cursor": cursor} if cursor else {})).answer
        pages.append(answer["results"])
        cursor = answer.get("next_cursor")
        if cursor is None:
            break
    levels = [one["hierarchy_level"] for page in pages for one in page]
    assert len(pages) > 1
    assert levels == sorted(levels)
    spans = [
        (one["hierarchy_level"], one["metadata"]["doc_uri"], one["metadata"]["start_char"], one["metadata"]["end_char"])
        for page in pages
        for one in page
        if one["hierarchy_level"] > 1
    ]
    assert len(set(spans)) == len(spans)


def test_a_text_beyond_an_answer_is_shortened_to_it(server: Caller) -> None:
    text = " ".join(f"Sentence number {number} of the long text is here." for number in range(3000))
    reply = server.call("optimize_context", {"current_context": text})
    assert reply.answer["limit_reason"] in ("token_cap", "byte_cap")
    assert reply.answer["budget"]["bytes"] > 15_000


def test_a_composed_context_is_a_resource(server: Caller, nasty: KnowledgeBase) -> None:
    contents = server.read(f"context://query/{quote(OPEN_QUESTION)}?max_tokens=900").contents[0]
    context = json.loads(contents.text)
    assert context["tokens"]["total"] <= 900
    assert context["user_query"] == OPEN_QUESTION
    for section in context["retrieved_sections"]:
        place = section["metadata"]
        assert nasty.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]] == section["content"]


def test_a_context_resource_holds_the_memory_of_its_caller_if_that_is_asked_for(
    nasty: KnowledgeBase, tmp_path: Path
) -> None:
    tell = MemoryDraft("turn", "Oda Brenn keeps the tide gate."), MemoryDraft("turn", "Bob is the tide gate's keeper.")
    project, now = nasty.project_id, Moment(datetime(2026, 1, 1, tzinfo=UTC))
    with Memory(tmp_path) as memory:
        memory.add(tell[:1], MemoryScope("", project), now)
        memory.add(tell[1:], MemoryScope("bob", project), now)
        warmup = Warmup(
            lambda: OpenKnowledgeBase(nasty.searcher, nasty.warm, nasty.tokens.count, memory=lambda: memory)
        )
        with serving(build_server(warmup, ServerConfig(toolsets=("context",)))) as caller:
            uri = f"context://query/{quote('Who keeps the tide gate?')}?max_tokens=900"
            remembered = caller.read(f"{uri}&include_memory=true").contents[0].text
            plain = caller.read(uri).contents[0].text
    origins = [(one["origin"], one["content"]) for one in json.loads(remembered)["retrieved_sections"]]
    assert ("memory", "Oda Brenn keeps the tide gate.") in origins
    assert "Bob is" not in remembered
    assert '"memory"' not in plain


@pytest.mark.parametrize("level", ["1", "section", "3"])
def test_the_pages_of_a_level_lead_from_one_to_the_next(server: Caller, level: str) -> None:
    uri, seen = f"context://hierarchy/{level}", 0
    while uri:
        page = json.loads(server.read(uri).contents[0].text)
        seen += len(page["items"])
        uri = page["next"]
    assert seen == page["total"] > 0


@pytest.mark.parametrize(
    "uri",
    [
        "context://query/",
        "context://hierarchy/9",
        "context://nothing/1",
        "context://query/a?x=1",
        "context://query/a?include_memory=true",
    ],
)
def test_an_unknown_resource_is_refused_with_what_there_is(server: Caller, uri: str) -> None:
    with pytest.raises(MCPError, match=r"levels are|there are|no resource|no such argument|no memory is served"):
        server.read(uri)


def test_nothing_of_the_other_half_is_composed(open_half: Caller) -> None:
    context = json.loads(open_half.read(f"context://query/{quote(OPEN_QUESTION)}").contents[0].text)
    found = open_half.call("search_context", {"query": OPEN_QUESTION, "min_relevance": 0.0, "max_results": 50}).answer
    sections = [*context["retrieved_sections"], *found["results"]]
    assert sections
    assert all(one["metadata"]["doc_uri"].startswith("open/") for one in sections)
    for level in (2, 3):
        items = json.loads(open_half.read(f"context://hierarchy/{level}").contents[0].text)["items"]
        assert all(item["doc_uri"].startswith("open/") for item in items)


def test_the_prompts_of_contexts_name_tools_as_they_are_listed(server: Caller) -> None:
    names = {prompt.name for prompt in server.run(server.client.list_prompts).prompts}
    assert names == {"structured_query", "context_synthesis"}
    text = server.run(server.client.get_prompt, "structured_query").messages[0].content.text
    assert "search_context" in text


@pytest.fixture(scope="module")
def indexing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caller, Path]]:
    """A server that may read one folder, and that folder's parent."""
    home = tmp_path_factory.mktemp("indexing")
    (home / "allowed" / "deep").mkdir(parents=True)
    (home / "other").mkdir()
    (home / "allowed" / "bell.md").write_text("# The bell\n\nThe bell rings at noon.\n")
    (home / "allowed" / "deep" / "gate.py").write_text("# The gate opens at six.\n")
    (home / "allowed" / "left.txt").write_text("Not asked for.\n")
    (home / "other" / "secret.md").write_text("# Secret\n\nNobody may read this.\n")
    kb = KnowledgeBase.open(home / "kb", create=True, project_id="indexing")
    opened = Warmup(lambda: OpenKnowledgeBase(kb.searcher, lambda: None, kb.tokens.count, ingest=kb.ingest))
    config = ServerConfig(toolsets=("context",), index_roots=(str(home / "allowed"),))
    with kb, anyio.from_thread.start_blocking_portal() as portal:
        client = Client(build_server(opened, config), cache=None)
        with portal.wrap_async_context_manager(client):
            yield Caller(portal, client), home


def test_a_folder_below_a_root_is_indexed_and_found_by_the_next_call(indexing: tuple[Caller, Path]) -> None:
    caller, home = indexing
    first = caller.call("index_directory", {"path": str(home / "allowed")}).answer
    assert (first["indexed"], first["documents"]) == (2, 2)
    found = caller.call("search_context", {"query": "When does the bell ring?", "min_relevance": 0.0}).answer["results"]
    assert "The bell rings at noon." in found[0]["content"]
    again = caller.call("index_directory", {"path": str(home / "allowed"), "file_patterns": ["*.txt"]}).answer
    assert (again["indexed"], again["documents"]) == (1, 3)


@pytest.mark.parametrize("path", ["other", "allowed/../other", ".", "allowed-not"])
def test_nothing_outside_the_roots_is_read(indexing: tuple[Caller, Path], path: str) -> None:
    caller, home = indexing
    error = caller.call("index_directory", {"path": str(home / path)}).error
    assert error["code"] == "SCOPE_VIOLATION"
    assert "index_roots" in error["message"]


@pytest.mark.parametrize("path", ["{}/nul\0", "{}/" + "n" * 3000, "{}/~nosuchuser/x", "{}/bell.md", "\0"])
def test_a_path_that_is_no_folder_is_refused(indexing: tuple[Caller, Path], path: str) -> None:
    caller, home = indexing
    error = caller.call("index_directory", {"path": path.format(home / "allowed")}).error
    assert (error["code"], error["details"]["field"]) == ("INVALID_ARGUMENT", "path")


@pytest.mark.parametrize(("patterns", "said"), [(["*.rst"], "leave no file of the folder"), (["k*"], "can be read")])
def test_patterns_that_match_nothing_to_read_are_refused(
    indexing: tuple[Caller, Path], patterns: list[str], said: str
) -> None:
    caller, home = indexing
    (home / "allowed" / "keys.bin").write_bytes(b"\0")
    error = caller.call("index_directory", {"path": str(home / "allowed"), "file_patterns": patterns}).error
    assert error["code"] == "INVALID_ARGUMENT"
    assert said in error["message"]
    assert str(home) not in error["message"]


@pytest.mark.parametrize("path", ["~nosuchuser/x", "~"])
def test_no_home_folder_is_read_into_a_path(indexing: tuple[Caller, Path], path: str) -> None:
    assert indexing[0].call("index_directory", {"path": path}).error["code"] == "SCOPE_VIOLATION"


def test_an_ingest_that_is_running_is_named(indexing: tuple[Caller, Path]) -> None:
    caller, home = indexing
    with IngestLock(home / "kb"):
        error = caller.call("index_directory", {"path": str(home / "allowed")}).error
    assert error["code"] == "BACKEND_UNAVAILABLE"


def test_no_folder_is_read_unless_the_operator_names_one(server: Caller, tmp_path: Path) -> None:
    assert server.call("index_directory", {"path": str(tmp_path)}).error["code"] == "SCOPE_VIOLATION"
