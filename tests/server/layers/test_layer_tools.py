"""The tools of the layers: searching, writing, proposing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import BackendUnavailable, BudgetExceeded, InvalidArgument, ScopeViolation
from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import FILES, LayerFile, LayerStack, proposals, write_layer
from graphctx.model.budgets import Limits
from graphctx.server.call_context import CallContext
from tests.layers.world import content, note

from ..calls import call, context_over, within
from .world import LONG, OFFICER, context_with, digests

# agents_search


def test_a_chunk_is_found_with_who_says_so_and_from_where(context: CallContext) -> None:
    answer, text = call(context, "agents_search", query=OFFICER)
    first = answer["chunks"][0]
    assert (first["layer"], first["id"], first["content"]) == ("delta", 12, OFFICER)
    assert (first["author"], first["confidence"], first["sources"]) == ("mcp", 0.75, ["people/duty.md:3"])
    assert answer["layers_searched"] == ["user", "delta", "base"]
    assert answer["layers_absent"] == ["local"]
    for said in (OFFICER, "AGENTS.delta.db#12", "by mcp, confidence 0.75", "people/duty.md:3", "Without a file: local"):
        assert said in text


def test_only_chunks_of_the_kinds_asked_for_are_given(context: CallContext) -> None:
    answer, _ = call(
        context, "agents_search", query="ledger gulls vault", filters={"kind": ["invariant", "correction"]}
    )
    assert {chunk["kind"] for chunk in answer["chunks"]} == {"invariant", "correction"}
    nothing, text = call(context, "agents_search", query="ledger", filters={"kind": ["dream"]})
    assert (nothing["empty_reason"], nothing["filtered_by"]) == ("filtered_out", ["filters.kind"])
    assert "filters.kind leaves no chunk" in text


def test_only_the_layers_asked_for_are_searched_and_no_layer_is_one_way_to_ask(context: CallContext) -> None:
    answer, _ = call(context, "agents_search", query="gulls", layers=["base"])
    assert {chunk["layer"] for chunk in answer["chunks"]} == {"base"}
    for layers in ([], ["local"]):
        answer, text = call(context, "agents_search", query="gulls", layers=layers)
        assert answer["empty_reason"] == "no_layers"
        assert "no chunk yet" in text


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \t"}, "query"),
        ({"query": "x", "k": 0}, "k"),
        ({"query": "x", "k": 51}, "k"),
        ({"query": "x", "k": True}, "k"),
        ({"query": "x", "layers": ["delta", "cloud"]}, "layers.1"),
        ({"query": "x", "filters": {"author": ["mcp"]}}, "filters.author"),
        ({"query": "x", "scope": {"doc_tags": ["ops"]}}, "scope.doc_tags"),
        ({"query": "x", "scope": {"repositories": ["ops"]}}, "scope.repositories"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused_by_name(
    context: CallContext, arguments: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        call(context, "agents_search", **arguments)
    assert refused.value.details["field"] == field
    assert refused.value.details["allowed"]


def test_where_layers_disagree_the_answer_says_so_and_shows_both_sides(context: CallContext) -> None:
    answer, text = call(context, "agents_search", query="Are gulls fed?", k=2)
    conflict, same_id = answer["conflicts"]
    assert (conflict["reason"], conflict["about"]) == ("negation", "not fed against fed")
    assert same_id["reason"] == "id"
    assert [(side["layer"], side["id"]) for side in conflict["members"]] == [("delta", 2), ("base", 2)]
    assert (conflict["first"], conflict["canonical"]) == ("delta", "base")
    assert {chunk["content"] for chunk in answer["chunks"]} == {"Gulls are fed.", "Gulls are not fed."}
    assert "Chunks disagree" in text
    assert "base 2: Gulls are fed." in text


def test_of_a_long_chunk_the_piece_that_fits_is_shown_and_the_rest_can_be_read(context: CallContext) -> None:
    answer, text = call(context, "agents_search", query="tide of basin 333", k=1, max_content_chars=300)
    chunk = answer["chunks"][0]
    assert chunk["truncated"]
    assert "basin 333" in chunk["content"]
    assert len(chunk["content"]) <= 300
    assert LONG[chunk["start_char"] : chunk["end_char"]] == chunk["content"]
    assert chunk["content_chars"] == len(LONG)
    assert "kb.read_excerpt with a chunk's section_id" in text
    read, _ = call(context, "kb.read_excerpt", passage_id=chunk["section_id"], start_char=chunk["start_char"])
    assert read["excerpt"].startswith(chunk["content"])
    assert read["doc_uri"] == chunk["doc_uri"] == "AGENTS.delta.db#13"


def test_a_budget_cuts_chunks_and_a_cursor_goes_on_until_a_layer_is_written(context: CallContext) -> None:
    asked = {"query": "gulls ledger vault tide restores", "k": 10}
    whole, _ = call(context, "agents_search", **asked)
    seen, cursor = [], None
    while cursor or not seen:
        page, text = call(context, "agents_search", **asked, max_tokens=700, cursor=cursor)
        assert page["budget"]["tokens"] <= 700
        assert (page["next_cursor"] or "") in text
        seen += [(chunk["layer"], chunk["id"]) for chunk in page["chunks"]]
        first, cursor = cursor or page["next_cursor"], page["next_cursor"]
    assert seen == [(chunk["layer"], chunk["id"]) for chunk in whole["chunks"]]
    assert first is not None
    call(context, "agents_context_write", content="More.", kind="note", confidence=1, scope="delta")
    with pytest.raises(InvalidArgument, match="cursor does not continue this call"):
        call(context, "agents_search", **asked, max_tokens=700, cursor=first)


def test_layers_that_cannot_be_compared_are_refused_with_both_named(kb: KnowledgeBase, folder: Path) -> None:
    write_layer(folder / FILES["local"], content(note(5, "Of another size."), dim=8))
    context = context_with(kb, folder)
    with pytest.raises(
        InvalidArgument, match=r"AGENTS\.local\.db.*AGENTS\.user\.db|AGENTS\.user\.db.*AGENTS\.local\.db"
    ):
        call(context, "agents_search", query="size")
    with pytest.raises(InvalidArgument, match="cannot be searched together"):
        call(context, "kb.search", query="size", options={"layers": ["local", "base"]})
    assert call(context, "agents_search", query="size", layers=["local"])[0]["chunks"][0]["id"] == 5


def test_without_layers_the_tools_say_how_to_have_some(kb: KnowledgeBase) -> None:
    context = context_over(kb)
    for tool, arguments in (
        ("agents_search", {"query": "x"}),
        ("agents_context_write", {"content": "x", "kind": "n", "confidence": 1, "scope": "local"}),
        ("agents_context_propose", {"context_id": 1}),
    ):
        with pytest.raises(BackendUnavailable, match=r"\[layers\] folder .* --layers"):
            call(context, tool, **arguments)
    with pytest.raises(InvalidArgument, match=r"options\.layers") as refused:
        call(context, "kb.search", query="x", options={"layers": ["base"]})
    assert refused.value.details["field"] == "options.layers"
    with pytest.raises(InvalidArgument):
        call(context, "kb.read_excerpt", passage_id="layer:base:1")


# agents_context_write


def test_what_is_written_is_on_the_disk_when_the_answer_comes(context: CallContext, folder: Path) -> None:
    before = digests(folder)
    answer, text = call(
        context,
        "agents_context_write",
        content="The bell rings twice. 🔔",
        kind="derived-summary",
        confidence=0.7,
        scope="local",
        sources=["docs/bell.md:12", 11, "2"],
    )
    with LayerFile.open(folder / FILES["local"]) as file:
        (chunk,) = file.chunks()
    assert (chunk.id, chunk.content, chunk.kind) == (answer["id"], "The bell rings twice. 🔔", "derived-summary")
    assert (chunk.author, chunk.sources) == ("mcp", ("docs/bell.md:12", 11, 2))
    assert chunk.confidence == pytest.approx(0.7, abs=1e-6)
    assert (answer["author"], answer["confidence"], answer["layer"]) == ("mcp", 0.7, "local")
    assert f"chunk {answer['id']}" in text
    assert {name: digest for name, digest in digests(folder).items() if name != FILES["local"]} == before
    found, _ = call(context, "agents_search", query="The bell rings twice.", k=1)
    assert found["chunks"][0]["id"] == answer["id"]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"author": "human"}, "author"),
        ({"scope": "user"}, "scope"),
        ({"scope": "Local"}, "scope"),
        ({"content": " \n"}, "content"),
        ({"content": "x" * 100_001}, "content"),
        ({"kind": ""}, "kind"),
        ({"kind": "meta.proposal_event"}, "kind"),
        ({"kind": "options"}, "kind"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": -0.1}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"sources": ["somewhere"]}, "sources.0"),
        ({"sources": ["docs/a.md:x"]}, "sources.0"),
        ({"sources": [0]}, "sources"),
        ({"sources": [2**32]}, "sources"),
        ({"id": 7}, "id"),
    ],
)
def test_a_record_that_no_layer_takes_is_refused_by_name(
    context: CallContext, folder: Path, changed: dict[str, Any], field: str
) -> None:
    before = digests(folder)
    with pytest.raises(InvalidArgument) as refused:
        call(
            context,
            "agents_context_write",
            **{"content": "x", "kind": "note", "confidence": 1, "scope": "delta", **changed},
        )
    assert refused.value.details["field"] == field
    assert digests(folder) == before


def test_a_write_that_contradicts_another_layer_says_so(context: CallContext) -> None:
    answer, text = call(
        context,
        "agents_context_write",
        content="The vault key is kept in the blue safe.",
        kind="invariant",
        confidence=0.6,
        scope="delta",
    )
    members = [(side["layer"], side["id"]) for conflict in answer["conflicts"] for side in conflict["members"]]
    assert ("base", 1) in members
    assert ("delta", answer["id"]) in members
    assert "red safe" in text
    assert f"agents_context_propose with context_id={answer['id']}" in text


def test_nothing_is_written_where_the_answer_would_not_fit(kb: KnowledgeBase, folder: Path) -> None:
    context = context_with(kb, folder, Limits(60, 1000))
    before = digests(folder)
    for tool, arguments in (
        ("agents_context_write", {"content": "x", "kind": "note", "confidence": 1, "scope": "delta"}),
        ("agents_context_propose", {"context_id": 12}),
    ):
        with pytest.raises(BudgetExceeded, match="nothing was written"):
            call(context, tool, **arguments)
    assert digests(folder) == before


def test_a_write_is_compared_with_layers_that_cannot_be_searched_together(kb: KnowledgeBase, folder: Path) -> None:
    write_layer(folder / FILES["local"], content(note(5, "Nets may be 5 m long."), dim=8))
    context = context_with(kb, folder)
    answer, text = call(
        context, "agents_context_write", content="Nets may be 9 m long.", kind="note", confidence=1, scope="delta"
    )
    (conflict,) = answer["conflicts"]
    assert [(side["layer"], side["excerpt"]) for side in conflict["members"]] == [
        ("local", "Nets may be 5 m long."),
        ("delta", "Nets may be 9 m long."),
    ]
    assert "number: 5 against 9" in text


def test_layers_may_be_for_reading_alone(kb: KnowledgeBase, folder: Path) -> None:
    context = context_with(kb, folder)
    context = within(context, layers_writable=False)
    before = digests(folder)
    for tool, arguments in (
        ("agents_context_write", {"content": "x", "kind": "note", "confidence": 1, "scope": "delta"}),
        ("agents_context_propose", {"context_id": 12}),
    ):
        with pytest.raises(ScopeViolation, match="writable"):
            call(context, tool, **arguments)
    assert digests(folder) == before
    assert call(context, "agents_search", query="gulls")[0]["chunks"]


# agents_context_propose


def test_a_proposal_is_a_record_of_the_delta_layer_and_nothing_else(context: CallContext, folder: Path) -> None:
    before, entries = digests(folder), {path.name for path in folder.iterdir()}
    answer, text = call(context, "agents_context_propose", context_id=12, reason="Confirmed by the rota.")
    assert (answer["status"], answer["target"]) == ("pending", "user")
    assert "A person or CI decides" in text
    after = digests(folder)
    assert {name for name in after if after[name] != before.get(name)} == {FILES["delta"]}
    assert {path.name for path in folder.iterdir()} - entries <= {".AGENTS.delta.db.lock"}
    with LayerFile.open(folder / FILES["delta"]) as file:
        record = file.chunk(file.record_of(answer["proposal_id"]))
    assert (record.kind, record.author, record.sources) == ("meta.proposal_event", "mcp", (12,))
    (proposal,) = proposals(LayerStack(folder))
    assert (proposal.id, proposal.status, proposal.reason) == (
        answer["proposal_id"],
        "pending",
        "Confirmed by the rota.",
    )


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"context_id": 12, "target": "base"}, "target"),
        ({"context_id": 12, "target": "delta"}, "target"),
        ({"context_id": 0}, "context_id"),
        ({"context_id": 2**32}, "context_id"),
        ({"context_id": 99}, "context_id"),
        ({"context_id": 11}, "context_id"),
        ({}, "context_id"),
        ({"context_id": 12, "approved_by": "human"}, "approved_by"),
    ],
)
def test_a_proposal_that_makes_no_sense_is_refused_by_name(
    context: CallContext, folder: Path, arguments: dict[str, Any], field: str
) -> None:
    before = digests(folder)
    with pytest.raises(InvalidArgument) as refused:
        call(context, "agents_context_propose", **arguments)
    assert refused.value.details["field"] == field
    assert digests(folder) == before


def test_proposals_are_found_by_their_kind_and_by_nothing_else(context: CallContext) -> None:
    call(context, "agents_context_propose", context_id=12)
    assert not [
        c for c in call(context, "agents_search", query="propose")[0]["chunks"] if c["kind"].startswith("meta.")
    ]
    asked, _ = call(context, "agents_search", query="propose", filters={"kind": ["meta.proposal_event"]})
    assert [chunk["kind"] for chunk in asked["chunks"]] == ["meta.proposal_event"]
