"""Passages that a session holds while the index is published anew: told as they stand now, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from graphctx.knowledge_base import KnowledgeBase

from .conftest import fenced_kb
from .naming import naming
from .protocol import Caller, Reply, in_memory

STAYS = "# Lamps\n\nThe harbour lamps are lit by Ada Quist at dusk. Every lamp has a number of its own.\n"
KEEPER = "# Keeper\n\nThe lamp keeper of Marrow Bay was Bo Ling until the storm. Bo Ling kept the lamp oil.\n"
FILES = {
    "public/kept.md": f"---\ntags: [public]\n---\n{STAYS}",
    "public/edited.md": f"---\ntags: [public]\n---\n{KEEPER}",
    "public/deleted.md": "---\ntags: [public]\n---\n# Oil\n\nThe lamp oil of Marrow Bay is stored in the red shed.\n",
    "public/retagged.md": "---\ntags: [public]\n---\n# Wick\n\nThe lamp wick of Marrow Bay is cut by Cy Daal.\n",
}
GONE = ("edited", "deleted")
NOT_OF_PASSAGES = ("fetch",)
"""Their form has no session_id, which the era without sessions needs for a passage id."""


@dataclass
class World:
    """A knowledge base, its sources, and how the index is published anew."""

    kb: KnowledgeBase
    documents: Path
    held: dict[str, dict[str, Any]] = field(default_factory=dict)

    def search(self, caller: Caller) -> dict[str, Any]:
        """Search, and keep what was found by the names of its documents."""
        asked = {"query": "lamp oil wick keeper of Marrow Bay", "top_k": 10, "page_size": 10}
        answer = caller.call("kb.search", asked).answer
        self.held = {Path(result["doc_uri"]).stem: result for result in answer["results"]}
        assert set(self.held) == {"kept", "edited", "deleted", "retagged"}
        return {"session_id": answer["session_id"]}

    def publish(self) -> None:
        """Move, edit, delete and retag, each one document."""
        public = self.documents / "public"
        (public / "kept.md").write_text(f"---\ntags: [public, night]\n---\n# Before\n\nSomething new.\n\n{STAYS}")
        (public / "edited.md").write_text(FILES["public/edited.md"].replace("Bo Ling", "Di Marsh"))
        (public / "deleted.md").unlink()
        (public / "retagged.md").write_text(FILES["public/retagged.md"].replace("[public]", "[sealed]"))
        self.kb.ingest(self.documents, prune=True, processes=1)


@pytest.fixture(params=["everything", "boundary"])
def world(request: pytest.FixtureRequest, make_kb: Callable[..., KnowledgeBase], tmp_path: Path) -> Iterator[World]:
    """A knowledge base whose settings let everything be seen, or only what is public."""
    kb = make_kb(FILES)
    if request.param == "everything":
        yield World(kb, tmp_path / "kb-docs")
        return
    kb.close()
    with fenced_kb(tmp_path / "kb", doc_tags=["public"]) as fenced:
        yield World(fenced, tmp_path / "kb-docs")


@pytest.fixture
def caller(world: World) -> Iterator[Caller]:
    with in_memory(world.kb, "legacy") as caller:
        yield caller


def check_refused(reply: Reply, passage: str, preview: str) -> None:
    """It says that the passage is no longer what it was, what to call again, and nothing of the old text."""
    error = reply.error
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["value"] == passage
    assert error["details"]["allowed"]
    advised = error["details"]["repeat"]  # by names that the caller's toolset has
    assert advised in (["kb_search", "kb_retrieve_evidence"], ["search_sections"])
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
def test_what_was_edited_or_deleted_is_told_by_no_tool(world: World, caller: Caller, name: str) -> None:
    world.search(caller)
    world.publish()
    held = world.held[name]
    for tool, arguments in naming(held["passage_id"]):
        reply = caller.call(tool, arguments)
        if "community_ids" in arguments:  # no passage can stand for one
            assert reply.error["code"] == "INVALID_ARGUMENT"
            continue
        check_refused(reply, held["passage_id"], held["preview"])
        assert arguments[reply.error["details"]["field"]] in (held["passage_id"], [held["passage_id"]])
    with pytest.raises(MCPError) as caught:
        caller.read(held["scratch_uri"])
    assert "is gone" in caught.value.error.message
    assert held["preview"] not in json.dumps(caught.value.error.model_dump(mode="json"))
    assert held["scratch_uri"] not in {resource.uri for resource in caller.resources()}


def test_what_only_moved_is_told_where_it_stands_now(world: World, caller: Caller) -> None:
    world.search(caller)
    was = caller.call("kb.read_excerpt", {"passage_id": world.held["kept"]["passage_id"]}).answer
    world.publish()
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


def test_what_left_the_scope_is_no_longer_read(world: World, caller: Caller) -> None:
    world.search(caller)
    world.publish()
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
        check_refused(caller.call("fetch", {"id": held["passage_id"]}), held["passage_id"], held["preview"])
        with pytest.raises(MCPError, match="is gone"):
            caller.read(held["scratch_uri"])
        assert held["scratch_uri"] not in {resource.uri for resource in caller.resources()}
    else:
        assert caller.call("fetch", {"id": held["passage_id"]}).answer["metadata"]["tags"] == ["sealed"]
