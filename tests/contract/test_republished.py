"""Passages that a session holds while the index is published anew: told as they stand now, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.tools import TOOLSETS

from .conftest import fenced_kb
from .examples import COMPAT, EVERY_TOOL
from .naming import naming
from .protocol import Caller, Reply, in_memory

STAYS = "# Lamps\n\nThe harbour lamps are lit by Ada Quist at dusk. Every lamp has a number of its own.\n"
KEEPER = "# Keeper\n\nThe lamp keeper of Marrow Bay was Bo Ling until the storm. Bo Ling kept the lamp oil.\n"
FILES = {
    "public/kept.md": f"---\ntags: [public]\n---\n{STAYS}",
    "public/edited.md": f"---\ntags: [public]\n---\n{KEEPER}",
    "public/removed.md": "---\ntags: [public]\n---\n# Oil\n\nThe lamp oil of Marrow Bay is stored in the red shed.\n",
    "public/renamed.md": "---\ntags: [public]\n---\n# Mast\n\nA lamp mast is nine metres high.\n",
    "public/retagged.md": "---\ntags: [public]\n---\n# Wick\n\nThe lamp wick of Marrow Bay is cut by Cy Daal.\n",
}
GONE = ("edited", "removed")
INPUTS = {tool.name: tool.input for tools in TOOLSETS.values() for tool in tools}
LISTS_OF_PASSAGES = ("passage_ids", "section_ids")
NOT_OF_PASSAGES = ("fetch",)
"""Their form has no session_id, which the era without sessions needs for a passage id."""


@dataclass
class World:
    """A client that found passages before the index was published anew.

    Attributes:
        kb: published anew: one document moved within its file, one edited, one removed, one renamed, one with other tags.
        caller: the client.
        held: what it found, by the names of the documents.
        was: the excerpt of the one that moved.
        pages: first pages of lists, by the calls that they answer.
    """

    kb: KnowledgeBase
    caller: Caller
    held: dict[str, dict[str, Any]]
    was: dict[str, Any]
    pages: list[tuple[str, dict[str, Any], dict[str, Any]]]

    @classmethod
    def before(cls, kb: KnowledgeBase, caller: Caller) -> World:
        asked = {"query": "lamp oil wick keeper of Marrow Bay", "top_k": 10, "page_size": 10}
        held = {Path(found["doc_uri"]).stem: found for found in caller.call("kb.search", asked).answer["results"]}
        assert set(held) == {"kept", "edited", "removed", "renamed", "retagged"}
        was = caller.call("kb.read_excerpt", {"passage_id": held["kept"]["passage_id"]}).answer
        node_ids = ["public/kept.md", "public/retagged.md"]
        calls = [("kb.search", {**asked, "page_size": 1}), ("graph.describe", {"node_ids": node_ids, "page_size": 1})]
        return cls(kb, caller, held, was, [(tool, given, caller.call(tool, given).answer) for tool, given in calls])


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, World]]:
    """A client of a server whose settings let everything be seen, and one of a server that shows what is public."""
    home = tmp_path_factory.mktemp("republished")
    public = home / "docs" / "public"
    public.mkdir(parents=True)
    for name, text in FILES.items():
        (home / "docs" / name).write_text(text)
    with KnowledgeBase.open(home / "kb", create=True, project_id="test") as kb:
        kb.ingest(home / "docs", processes=1)
        with (
            fenced_kb(home / "kb", doc_tags=["public"]) as fenced,
            in_memory(kb, "legacy") as whole,
            in_memory(fenced, "legacy") as narrow,
        ):
            made = {"everything": World.before(kb, whole), "boundary": World.before(fenced, narrow)}
            (public / "kept.md").write_text(f"---\ntags: [public, night]\n---\n# Before\n\nSomething new.\n\n{STAYS}")
            (public / "edited.md").write_text(FILES["public/edited.md"].replace("Bo Ling", "Di Marsh"))
            (public / "retagged.md").write_text(FILES["public/retagged.md"].replace("[public]", "[sealed]"))
            (public / "renamed.md").rename(public / "mast.md")
            kb.ingest(home / "docs", processes=1)
            assert kb.remove("public/removed.md").kept_out == ["public/removed.md"]
            kb.ingest(home / "docs", processes=1)
            yield made


@pytest.fixture(params=["everything", "boundary"])
def world(request: pytest.FixtureRequest, worlds: dict[str, World]) -> World:
    return worlds[request.param]


def check_refused(tool: str, reply: Reply, passage: str, preview: str) -> None:
    """It says that the passage is no longer what it was, what to call again, and nothing of the old text."""
    error = reply.error
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["value"] == passage
    assert error["details"]["allowed"]
    repeat = ["search_sections"] if tool in COMPAT else ["kb_search", "kb_retrieve_evidence"]
    assert error["details"]["repeat"] == repeat
    assert "has changed since it was found, or is gone" in error["message"]
    assert preview not in reply.text


def test_before_the_first_ingest_no_id_is_blamed(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb, in_memory(kb) as caller:
        for tool, arguments in naming("u_aaaaaaaaaaaaaaaa"):
            if tool == "graph.communities":  # where there are none, nothing is a fault
                continue
            error = caller.call(tool, arguments).error
            assert error["code"] == "BACKEND_UNAVAILABLE"
            assert "graphctx ingest" in error["message"]


@pytest.mark.parametrize("name", GONE)
def test_what_was_edited_or_removed_is_reported_by_no_tool(world: World, name: str) -> None:
    caller = world.caller
    held = world.held[name]
    for tool, arguments in naming(held["passage_id"]):
        reply = caller.call(tool, arguments)
        if "community_ids" in arguments:  # no passage can stand for one, and so few documents have none
            assert reply.answer["empty_reason"] == "no_communities"
            assert held["preview"] not in reply.text
            continue
        check_refused(tool, reply, held["passage_id"], held["preview"])
        assert arguments[reply.error["details"]["field"]] in (held["passage_id"], [held["passage_id"]])
    with pytest.raises(MCPError) as caught:
        caller.read(held["scratch_uri"])
    assert "is gone" in caught.value.error.message
    assert held["preview"] not in json.dumps(caught.value.error.model_dump(mode="json"))
    assert held["scratch_uri"] not in {resource.uri for resource in caller.resources()}


@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_a_removed_document_is_gone_from_every_tool(world: World, tool: str) -> None:
    question = "Where is the lamp oil of Marrow Bay stored?"
    held = world.held["kept"]["section_id"]
    values = {"query": question, "question": question, "passage_id": held, "id": held, "doc_uri": "public/removed.md"}
    for reference in ("public/removed.md", "Marrow Bay", "red shed"):
        required = [name for name, field in INPUTS[tool].model_fields.items() if field.is_required()]
        arguments = {name: values.get(name, [held] if name in LISTS_OF_PASSAGES else [reference]) for name in required}
        assert "stored in the red shed" not in world.caller.call(tool, arguments).text


def test_a_removed_document_is_gone_from_contexts_and_communities(world: World) -> None:
    question = "Where is the lamp oil of Marrow Bay stored?"
    told = [world.kb.compose_context(question).text, str([*world.kb.search_context(question, min_relevance=0.0)])]
    told.append(world.kb.global_search(question).model_dump_json())
    assert not [text for text in told if "stored in the red shed" in text]


def test_what_only_moved_is_reported_where_it_stands_now(world: World) -> None:
    caller, was = world.caller, world.was
    passage = world.held["kept"]["passage_id"]
    document = world.kb.document("public/kept.md").text
    now = caller.call("kb.read_excerpt", {"passage_id": passage}).answer
    assert now["excerpt"] == was["excerpt"]
    assert now["start_char"] > was["start_char"]
    assert now["line"] > was["line"]
    assert now["citation"]["doc_tag"] == "night,public"
    assert document[now["start_char"] : now["end_char"]] == now["excerpt"]
    around = caller.call("kb.expand_excerpt", {"passage_id": passage}).answer
    assert "Something new." in around["excerpt"]
    assert document[around["start_char"] : around["end_char"]] == around["excerpt"]
    read = caller.call("get_section_text", {"section_ids": [passage]}).answer
    (section,) = read["sections"]
    assert read["snapshot_id"] == world.kb.searcher().snapshot_id
    assert document[section["start_char"] : section["end_char"]] == section["text"]
    quotes = caller.call("kb.extract_evidence", {"passage_ids": [passage], "question": "Who lights the lamps?"}).answer
    assert quotes["quotes"]
    for quote in quotes["quotes"]:
        assert document[quote["start_char"] : quote["end_char"]] == quote["quote"]
    fetched = caller.call("fetch", {"id": passage}).answer
    place = fetched["metadata"]
    assert document[place["start_char"] : place["end_char"]] == fetched["text"]
    contents = caller.read(world.held["kept"]["scratch_uri"]).contents[0]
    place = contents.meta["graphctx/resource"]
    assert document[place["start_char"] : place["end_char"]] == contents.text
    assert world.held["kept"]["scratch_uri"] in {resource.uri for resource in caller.resources()}


def test_what_is_renamed_is_read_by_its_former_ids(world: World) -> None:
    held = world.held["renamed"]
    for name in (held["passage_id"], held["section_id"]):
        read = world.caller.call("kb.read_excerpt", {"passage_id": name}).answer
        assert (read["doc_uri"], "nine metres" in read["excerpt"]) == ("public/mast.md", True)
        assert world.caller.call("fetch", {"id": name}).answer["metadata"]["doc_uri"] == "public/mast.md"
    for node in ("public/renamed.md", held["doc_id"], held["section_id"]):
        (found,) = world.caller.call("graph.describe", {"node_ids": [node]}).answer["nodes"]
        assert found["doc_uri"] == "public/mast.md"


def test_what_left_the_scope_is_no_longer_read(world: World) -> None:
    caller = world.caller
    held = world.held["retagged"]
    for tool, arguments in naming(held["passage_id"]):
        if tool in NOT_OF_PASSAGES:
            continue
        reply = caller.call(tool, {**arguments, "scope": {"doc_tags": ["public"]}})
        assert held["preview"] not in reply.text
        assert held["doc_uri"] not in reply.text
    refused = caller.call("kb.read_excerpt", {"passage_id": held["passage_id"], "scope": {"doc_tags": ["public"]}})
    assert refused.error["code"] in ("SCOPE_VIOLATION", "INVALID_ARGUMENT")
    if world.kb.settings.server.doc_tags:
        check_refused("fetch", caller.call("fetch", {"id": held["passage_id"]}), held["passage_id"], held["preview"])
        with pytest.raises(MCPError, match="is gone"):
            caller.read(held["scratch_uri"])
        assert held["scratch_uri"] not in {resource.uri for resource in caller.resources()}
    else:
        assert caller.call("fetch", {"id": held["passage_id"]}).answer["metadata"]["tags"] == ["sealed"]


def test_a_snapshot_that_is_published_meanwhile_makes_a_cursor_stale(worlds: dict[str, World]) -> None:
    world = worlds["everything"]
    for tool, arguments, page in world.pages:
        error = world.caller.call(tool, {**arguments, "cursor": page["next_cursor"]}).error
        assert error["code"] == "INVALID_ARGUMENT"
        assert "published anew" in error["message"]
        assert world.caller.call(tool, arguments).answer["partial"], "without the cursor it is answered"
