"""The tools of the layers, and layers beside documents."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr

from graphctx.errors import BackendUnavailable, BudgetExceeded, InvalidArgument, ScopeViolation
from graphctx.layers import FILES, LayerFile, LayerStack, hashed, proposals, write_layer
from graphctx.model.budgets import Limits, weigh
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.layered.source import LayerSource
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.http import Door, http_app
from graphctx.server.tools.layers.recorded import FILES as WRITABLE_FILES
from graphctx.server.warmup import Engine, Warmup
from tests.layers.world import DIM, content, contents, note, stack

from .calls import call, desk_over
from .conftest import Connect
from .library import Library, count_tokens
from .results import error_of, text_of

COUNTER = WordPieceCounter()
QUESTION = "Who is the duty officer for the ledger?"
OFFICER = "The duty officer for the ledger is Tove Lund since April."
LONG = "# Tides\n\n" + "".join(f"Station {n} reports the tide of basin {n} each hour.\n\n" for n in range(400))
EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
TOKEN = "ana-0123456789-abcdefgh"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three layers. Base and delta disagree about chunk 2; delta corrects the documents."""
    made = tmp_path / "repository"
    stack(
        made,
        base=content(note(1, "The vault key is kept in the red safe.", kind="invariant"), note(2, "Gulls are fed.")),
        user=content(note(11, "Restores are rehearsed in May.", sources=("docs/restore.md:3", 1))),
        delta=content(
            note(2, "Gulls are not fed.", author="mcp", confidence=0.5),
            note(12, OFFICER, kind="correction", author="mcp", confidence=0.75, sources=("people/duty.md:3",)),
            note(13, LONG, kind="reference"),
        ),
    )
    return made


def source(folder: Path) -> LayerSource:
    return LayerSource(LayerStack(folder, hashed(DIM)), COUNTER)


@pytest.fixture
def desk(library: Library, folder: Path) -> Desk:
    return desk_over(library, layers=source(folder))


@pytest.fixture
def layered(connect: Connect, library: Library, folder: Path) -> Any:
    """Makes clients of a server with layers."""

    def make(**config: Any) -> Client:
        warmup = Warmup(lambda: Engine(library, count_tokens, source(folder)))
        toolsets = ("kb", "graph", "layers")
        return connect(server=build_server(warmup, ServerConfig(toolsets=toolsets, layers=folder, **config)))

    return make


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db")}


# agents_search


def test_a_chunk_is_found_with_who_says_so_and_from_where(desk: Desk) -> None:
    answer, text = call(desk, "agents_search", query=OFFICER)
    first = answer["chunks"][0]
    assert (first["layer"], first["id"], first["content"]) == ("delta", 12, OFFICER)
    assert (first["author"], first["confidence"], first["sources"]) == ("mcp", 0.75, ["people/duty.md:3"])
    assert answer["layers_searched"] == ["user", "delta", "base"]
    assert answer["layers_absent"] == ["local"]
    for said in (OFFICER, "AGENTS.delta.db#12", "by mcp, confidence 0.75", "people/duty.md:3", "Without a file: local"):
        assert said in text


def test_only_chunks_of_the_kinds_asked_for_are_given(desk: Desk) -> None:
    answer, _ = call(desk, "agents_search", query="ledger gulls vault", filters={"kind": ["invariant", "correction"]})
    assert {chunk["kind"] for chunk in answer["chunks"]} == {"invariant", "correction"}
    nothing, text = call(desk, "agents_search", query="ledger", filters={"kind": ["dream"]})
    assert (nothing["empty_reason"], nothing["filtered_by"]) == ("filtered_out", ["filters.kind"])
    assert "filters.kind leaves no chunk" in text


def test_only_the_layers_asked_for_are_searched_and_no_layer_is_one_way_to_ask(desk: Desk) -> None:
    answer, _ = call(desk, "agents_search", query="gulls", layers=["base"])
    assert {chunk["layer"] for chunk in answer["chunks"]} == {"base"}
    for layers in ([], ["local"]):
        answer, text = call(desk, "agents_search", query="gulls", layers=layers)
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
def test_a_search_that_makes_no_sense_is_refused_by_name(desk: Desk, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        call(desk, "agents_search", **arguments)
    assert refused.value.details["field"] == field
    assert refused.value.details["allowed"]


def test_where_layers_disagree_the_answer_says_so_and_shows_both_sides(desk: Desk) -> None:
    answer, text = call(desk, "agents_search", query="Are gulls fed?", k=2)
    (conflict,) = answer["conflicts"]
    assert [(side["layer"], side["id"]) for side in conflict["members"]] == [("delta", 2), ("base", 2)]
    assert (conflict["first"], conflict["canonical"]) == ("delta", "base")
    assert {chunk["content"] for chunk in answer["chunks"]} == {"Gulls are fed.", "Gulls are not fed."}
    assert "Layers disagree" in text
    assert "base 2: Gulls are fed." in text


def test_of_a_long_chunk_the_piece_that_fits_is_shown_and_the_rest_can_be_read(desk: Desk) -> None:
    answer, text = call(desk, "agents_search", query="tide of basin 333", k=1, max_content_chars=300)
    chunk = answer["chunks"][0]
    assert chunk["truncated"]
    assert "basin 333" in chunk["content"]
    assert len(chunk["content"]) <= 300
    assert LONG[chunk["start_char"] : chunk["end_char"]] == chunk["content"]
    assert chunk["content_chars"] == len(LONG)
    assert "kb.read_excerpt with a chunk's section_id" in text
    read, _ = call(desk, "kb.read_excerpt", passage_id=chunk["section_id"], start_char=chunk["start_char"])
    assert read["excerpt"].startswith(chunk["content"])
    assert read["doc_uri"] == chunk["doc_uri"] == "AGENTS.delta.db#13"


def test_a_budget_cuts_chunks_and_a_cursor_goes_on_until_a_layer_is_written(desk: Desk) -> None:
    asked = {"query": "gulls ledger vault tide restores", "k": 10}
    whole, _ = call(desk, "agents_search", **asked)
    seen, cursor = [], None
    while cursor or not seen:
        page, text = call(desk, "agents_search", **asked, max_tokens=700, cursor=cursor)
        assert page["budget"]["tokens"] <= 700
        assert (page["next_cursor"] or "") in text
        seen += [(chunk["layer"], chunk["id"]) for chunk in page["chunks"]]
        first, cursor = cursor or page["next_cursor"], page["next_cursor"]
    assert seen == [(chunk["layer"], chunk["id"]) for chunk in whole["chunks"]]
    assert first is not None
    call(desk, "agents_context_write", content="More.", kind="note", confidence=1, scope="delta")
    with pytest.raises(InvalidArgument, match="cursor does not continue this call"):
        call(desk, "agents_search", **asked, max_tokens=700, cursor=first)


def test_layers_that_cannot_be_compared_are_refused_with_both_named(library: Library, folder: Path) -> None:
    write_layer(folder / FILES["local"], content(note(5, "Of another size."), dim=8))
    desk = desk_over(library, layers=source(folder))
    with pytest.raises(
        InvalidArgument, match=r"AGENTS\.local\.db.*AGENTS\.user\.db|AGENTS\.user\.db.*AGENTS\.local\.db"
    ):
        call(desk, "agents_search", query="size")
    with pytest.raises(InvalidArgument, match="cannot be searched together"):
        call(desk, "kb.search", query="size", options={"layers": ["local", "base"]})
    assert call(desk, "agents_search", query="size", layers=["local"])[0]["chunks"][0]["id"] == 5


def test_a_damaged_layer_is_told_of_and_never_half_read(library: Library, folder: Path) -> None:
    (folder / FILES["local"]).write_bytes(b"AGDB and nothing more")
    with pytest.raises(InvalidArgument, match=r"AGENTS\.local\.db"):
        call(desk_over(library, layers=source(folder)), "agents_search", query="x")


def test_without_layers_the_tools_say_how_to_have_some(library: Library) -> None:
    desk = desk_over(library)
    for tool, arguments in (
        ("agents_search", {"query": "x"}),
        ("agents_context_write", {"content": "x", "kind": "n", "confidence": 1, "scope": "local"}),
        ("agents_context_propose", {"context_id": 1}),
    ):
        with pytest.raises(BackendUnavailable, match=r"\[layers\] folder, --layers"):
            call(desk, tool, **arguments)
    with pytest.raises(InvalidArgument, match=r"options\.layers") as refused:
        call(desk, "kb.search", query="x", options={"layers": ["base"]})
    assert refused.value.details["field"] == "options.layers"
    with pytest.raises(InvalidArgument):
        call(desk, "kb.read_excerpt", passage_id="layer:base:1")


# agents_context_write


def test_what_is_written_is_on_the_disk_when_the_answer_comes(desk: Desk, folder: Path) -> None:
    before = digests(folder)
    answer, text = call(
        desk,
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
    found, _ = call(desk, "agents_search", query="The bell rings twice.", k=1)
    assert found["chunks"][0]["id"] == answer["id"]


def test_writing_appends_and_leaves_every_older_record_as_it_was(desk: Desk, folder: Path) -> None:
    path = folder / FILES["delta"]
    with LayerFile.open(path) as file:
        old = [(chunk, file.vector(i).tobytes()) for i, chunk in enumerate(file.chunks())]
    again = [
        call(desk, "agents_context_write", content="The same.", kind="note", confidence=1, scope="delta")[0]
        for _ in range(2)
    ]
    assert again[0]["id"] != again[1]["id"]
    with LayerFile.open(path) as file:
        assert [(chunk, file.vector(i).tobytes()) for i, chunk in enumerate(file.chunks())][: len(old)] == old
        assert len(file) == len(old) + 2


@pytest.mark.parametrize("scope", ["base", "user", "Local", "", None, {"layer": "local"}])
def test_other_layers_are_refused_and_untouched(desk: Desk, folder: Path, scope: Any) -> None:
    before = digests(folder)
    with pytest.raises(InvalidArgument) as refused:
        call(desk, "agents_context_write", content="x", kind="note", confidence=1, scope=scope)
    assert refused.value.details["field"] == "scope"
    assert "'local', 'delta'" in refused.value.details["allowed"]
    assert digests(folder) == before


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"author": "human"}, "author"),
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
    desk: Desk, folder: Path, changed: dict[str, Any], field: str
) -> None:
    before = digests(folder)
    with pytest.raises(InvalidArgument) as refused:
        call(
            desk,
            "agents_context_write",
            **{"content": "x", "kind": "note", "confidence": 1, "scope": "delta", **changed},
        )
    assert refused.value.details["field"] == field
    assert digests(folder) == before


def test_a_write_that_contradicts_another_layer_says_so(desk: Desk) -> None:
    answer, text = call(
        desk,
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


def test_nothing_is_written_where_the_answer_would_not_fit(library: Library, folder: Path) -> None:
    desk = desk_over(library, Limits(60, 1000), layers=source(folder))
    before = digests(folder)
    for tool, arguments in (
        ("agents_context_write", {"content": "x", "kind": "note", "confidence": 1, "scope": "delta"}),
        ("agents_context_propose", {"context_id": 12}),
    ):
        with pytest.raises(BudgetExceeded, match="nothing was written"):
            call(desk, tool, **arguments)
    assert digests(folder) == before


def test_a_write_is_told_of_though_the_layers_cannot_be_compared(library: Library, folder: Path) -> None:
    write_layer(folder / FILES["local"], content(note(5, "Of another size."), dim=8))
    desk = desk_over(library, layers=source(folder))
    answer, text = call(desk, "agents_context_write", content="x", kind="note", confidence=1, scope="delta")
    assert "could not be told" in answer["notes"][0]
    assert "could not be told" in text
    with LayerFile.open(folder / FILES["delta"]) as file:
        assert file.chunk(file.record_of(answer["id"])).content == "x"


def test_layers_may_be_for_reading_alone(library: Library, folder: Path) -> None:
    desk = desk_over(library, layers=source(folder))
    desk = dataclasses.replace(desk, config=dataclasses.replace(desk.config, layers_writable=False))
    before = digests(folder)
    for tool, arguments in (
        ("agents_context_write", {"content": "x", "kind": "note", "confidence": 1, "scope": "delta"}),
        ("agents_context_propose", {"context_id": 12}),
    ):
        with pytest.raises(ScopeViolation, match="writable"):
            call(desk, tool, **arguments)
    assert digests(folder) == before
    assert call(desk, "agents_search", query="gulls")[0]["chunks"]


# agents_context_propose


def test_a_proposal_is_a_record_of_the_delta_layer_and_nothing_else(desk: Desk, folder: Path) -> None:
    before, entries = digests(folder), {path.name for path in folder.iterdir()}
    answer, text = call(desk, "agents_context_propose", context_id=12, reason="Confirmed by the rota.")
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


def test_proposing_again_gives_the_proposal_that_is_pending(desk: Desk, folder: Path) -> None:
    first, _ = call(desk, "agents_context_propose", context_id=12)
    before = digests(folder)
    again, _ = call(desk, "agents_context_propose", context_id=12, target="user")
    assert again["proposal_id"] == first["proposal_id"]
    assert digests(folder) == before


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
    desk: Desk, folder: Path, arguments: dict[str, Any], field: str
) -> None:
    before = digests(folder)
    with pytest.raises(InvalidArgument) as refused:
        call(desk, "agents_context_propose", **arguments)
    assert refused.value.details["field"] == field
    assert digests(folder) == before


def test_proposals_are_found_by_their_kind_and_by_nothing_else(desk: Desk) -> None:
    call(desk, "agents_context_propose", context_id=12)
    assert not [c for c in call(desk, "agents_search", query="propose")[0]["chunks"] if c["kind"].startswith("meta.")]
    asked, _ = call(desk, "agents_search", query="propose", filters={"kind": ["meta.proposal_event"]})
    assert [chunk["kind"] for chunk in asked["chunks"]] == ["meta.proposal_event"]


# Beside documents


def slices_back(library: Library, folder: Path, spans: list[dict[str, Any]], name: str) -> None:
    for span in spans:
        if "layer" in span:
            with LayerFile.open(folder / span["doc_uri"].split("#")[0]) as file:
                text = file.content(file.record_of(int(span["doc_uri"].split("#")[1])))
        else:
            text = library.text_of(span["doc_uri"])
        assert text[span["start_char"] : span["end_char"]] == span[name]
        assert span["line"] == text.count("\n", 0, span["start_char"]) + 1


def test_quotes_of_layers_stand_beside_those_of_documents_with_their_marks(
    desk: Desk, library: Library, folder: Path
) -> None:
    options = {"layers": ["base", "user", "delta", "local"]}
    answer, text = call(desk, "kb.retrieve_evidence", question=QUESTION, options=options)
    slices_back(library, folder, answer["quotes"], "quote")
    first, second = answer["quotes"][:2]
    assert first["quote"] == OFFICER
    assert first["layer"] == {
        "name": "delta",
        "chunk_id": 12,
        "kind": "correction",
        "author": "mcp",
        "confidence": 0.75,
        "sources": ["people/duty.md:3"],
    }
    assert "Ines Halvorsen" in second["quote"]
    assert "layer" not in second
    assert "delta layer, by mcp, who gives it confidence 0.75; sources people/duty.md:3" in text
    assert "There is no local layer here." in answer["layer_notes"]
    assert "There is no local layer here." in text


def test_results_of_layers_stand_beside_those_of_documents(desk: Desk, library: Library, folder: Path) -> None:
    options = {"layers": ["delta"], "include_scores": True}
    answer, text = call(desk, "kb.search", query=QUESTION, options=options)
    slices_back(library, folder, answer["results"], "preview")
    assert [result["rank"] for result in answer["results"]] == list(range(1, len(answer["results"]) + 1))
    assert answer["results"][0]["doc_uri"] == "AGENTS.delta.db#12"
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert "delta layer, by mcp" in text


def test_without_the_option_no_layer_is_asked(desk: Desk, library: Library) -> None:
    plain = desk_over(library)
    for tool, argument in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
        answer = call(desk, tool, **{argument: QUESTION})[0]
        assert "layer_notes" not in answer
        names = ("doc_uri", "start_char", "end_char")
        items = answer.get("quotes") or answer["results"]
        without = call(plain, tool, **{argument: QUESTION})[0]
        assert [[i[n] for n in names] for i in items] == [
            [i[n] for n in names] for i in without.get("quotes") or without["results"]
        ]


def test_a_chunk_that_says_nothing_to_the_question_takes_no_place(desk: Desk) -> None:
    answer, _ = call(
        desk, "kb.retrieve_evidence", question="How long is the backup kept?", options={"layers": ["base", "user"]}
    )
    assert answer["quotes"]
    assert not [quote for quote in answer["quotes"] if "layer" in quote]


def test_a_text_that_several_layers_hold_is_quoted_once_from_the_one_that_goes_first(
    library: Library, tmp_path: Path
) -> None:
    one = content(note(1, OFFICER))
    stack(tmp_path / "r", base=one, user=content(note(9, OFFICER)))
    desk = desk_over(library, layers=source(tmp_path / "r"))
    answer, _ = call(desk, "kb.retrieve_evidence", question=QUESTION, options={"layers": ["base", "user"]})
    assert [q["doc_uri"] for q in answer["quotes"] if "layer" in q] == ["AGENTS.user.db#9"]


def test_conflicts_are_told_beside_documents_too(desk: Desk) -> None:
    answer, text = call(desk, "kb.search", query="Gulls are not fed", options={"layers": ["base", "delta"]})
    marks = {r["doc_uri"]: r["layer"] for r in answer["results"] if "layer" in r}
    assert marks["AGENTS.delta.db#2"]["conflicts"] == ["AGENTS.db#2"]
    assert any("disagree" in note for note in answer["layer_notes"])
    assert "at odds with AGENTS.db#2" in text


def test_passages_of_layers_are_read_widened_and_quoted_like_others(desk: Desk) -> None:
    found, _ = call(desk, "kb.search", query=QUESTION, top_k=4, options={"layers": ["delta"]})
    chunk = next(result for result in found["results"] if "layer" in result)
    other = next(result for result in found["results"] if "layer" not in result)
    for tool in ("kb.read_excerpt", "kb.expand_excerpt"):
        read, _ = call(desk, tool, passage_id=chunk["passage_id"])
        assert (read["excerpt"], read["doc_uri"]) == (OFFICER, "AGENTS.delta.db#12")
    both = [chunk["passage_id"], other["passage_id"]]
    quoted, _ = call(desk, "kb.extract_evidence", question=QUESTION, passage_ids=both)
    assert {quote["section_id"] for quote in quoted["quotes"]} == {chunk["section_id"], other["section_id"]}
    alone, _ = call(desk, "kb.extract_evidence", question=QUESTION, passage_ids=["layer:delta:12"])
    assert [quote["quote"] for quote in alone["quotes"]] == [OFFICER]


def test_a_passage_is_refused_once_its_chunk_was_edited_and_the_section_id_follows_the_edit(
    desk: Desk, folder: Path
) -> None:
    from graphctx.layers import write_context

    found, _ = call(desk, "kb.search", query=QUESTION, options={"layers": ["delta"]})
    passage = found["results"][0]["passage_id"]
    stack_of = LayerStack(folder, hashed(DIM))
    write_context(stack_of, content="It is Ada Moe.", kind="correction", confidence=1, scope="delta", edit=12)
    with pytest.raises(InvalidArgument, match="has changed since it was found"):
        call(desk, "kb.read_excerpt", passage_id=passage)
    assert call(desk, "kb.read_excerpt", passage_id="layer:delta:12")[0]["excerpt"] == "It is Ada Moe."
    found, _ = call(desk, "kb.search", query="It is Ada Moe.", options={"layers": ["delta"]})
    assert found["results"][0]["preview"] == "It is Ada Moe."
    assert call(desk, "kb.read_excerpt", passage_id=found["results"][0]["passage_id"])[0]["excerpt"] == "It is Ada Moe."


@pytest.mark.parametrize(
    "name", ["layer:delta:99", "layer:delta:", "layer:delta:-1", "layer:cloud:1", "layer:", "layer:base:¹"]
)
def test_a_chunk_that_is_not_there_is_refused(desk: Desk, name: str) -> None:
    with pytest.raises(InvalidArgument):
        call(desk, "kb.read_excerpt", passage_id=name)


def test_the_scope_narrows_documents_and_no_layers(desk: Desk) -> None:
    scope = {"doc_tags": ["ops"], "repositories": ["ops"]}
    answer, _ = call(desk, "kb.search", query=QUESTION, scope=scope, options={"layers": ["delta"]})
    assert {r["doc_uri"] for r in answer["results"] if "layer" not in r} <= {"ops/backup.md"}
    chunk = next(r for r in answer["results"] if "layer" in r)
    assert call(desk, "kb.read_excerpt", passage_id=chunk["passage_id"], scope=scope)[0]["excerpt"] == OFFICER


# Whatever comes


anything = st.text(max_size=40) | st.sampled_from(
    ["tide\x00gate", "\ud800", "‮x‬", "9" * 300, "e" + "\u0301" * 60, "👩‍👩‍👧‍👦"]
)


@settings(max_examples=int(60 * EFFORT), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    made=st.dictionaries(st.sampled_from(sorted(FILES)), contents(), max_size=3),
    query=anything,
    k=st.integers(1, 50),
    chars=st.integers(40, 20_000),
    limits=st.builds(Limits, st.integers(60, 8000), st.integers(400, 30_000)),
    tool=st.sampled_from(["agents_search", "kb.search", "kb.retrieve_evidence"]),
)
def test_any_layers_and_any_query_give_an_answer_that_fits_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, made: Any, query: str, k: int, chars: int, limits: Limits, tool: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name, told in made.items():
        write_layer(folder / FILES[name], told)
    desk = desk_over(Library(), limits, layers=source(folder))
    asked: dict[str, Any] = {"query": query, "k": k, "max_content_chars": chars}
    if tool != "agents_search":
        asked = {"query" if tool == "kb.search" else "question": query, "top_k": k, "options": {"layers": list(FILES)}}
    try:
        answer, text = call(desk, tool, **asked)
    except (InvalidArgument, BudgetExceeded):
        return
    assert answer["budget"]["tokens"] <= limits.max_tokens
    assert answer["budget"]["bytes"] <= limits.max_bytes
    assert weigh([text], count_tokens).bytes <= limits.max_bytes
    for span in answer.get("chunks") or answer.get("results") or answer.get("quotes") or ():
        if span["doc_uri"].startswith("AGENTS"):
            with LayerFile.open(folder / span["doc_uri"].split("#")[0]) as file:
                whole = file.content(file.record_of(int(span["doc_uri"].split("#")[1])))
            said = span.get("content", span.get("preview", span.get("quote")))
            assert whole[span["start_char"] : span["end_char"]] == said


# Over the protocol


@pytest.mark.anyio
async def test_the_tools_are_listed_with_underscores_and_called_with_dots_too(layered: Any) -> None:
    async with layered() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        own = [name for name in listed if name.startswith("agents")]
        assert own == ["agents_search", "agents_context_write", "agents_context_propose"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", name) for name in own)
        hints = {name: listed[name].annotations for name in own}
        assert [hints[name].read_only_hint for name in own] == [True, False, False]
        assert [hints[name].idempotent_hint for name in own] == [True, False, True]
        assert not any(hints[name].destructive_hint or hints[name].open_world_hint for name in own)
        found = await client.call_tool("agents.search", {"query": OFFICER})
        assert (
            found.structured_content["chunks"]
            == ((await client.call_tool("agents_search", {"query": OFFICER})).structured_content["chunks"])
        )
        note = {"content": "Dots do.", "kind": "note", "confidence": 1, "scope": "delta"}
        written = (await client.call_tool("agents.context.write", note)).structured_content
        proposed = await client.call_tool("agents.context.propose", {"context_id": written["id"]})
        assert proposed.structured_content["context_id"] == written["id"]
        assert str(written["id"]) in text_of(proposed)


@pytest.mark.anyio
async def test_refusals_have_the_envelope_and_leave_no_path(layered: Any, folder: Path) -> None:
    async with layered() as client:
        note = {"content": "x", "kind": "note", "confidence": 1, "scope": "user"}
        error = error_of(await client.call_tool("agents_context_write", note))
        assert error["code"] == "INVALID_ARGUMENT"
        (folder / FILES["base"]).write_bytes(b"nothing")
        result = await client.call_tool("agents_search", {"query": "x"})
        assert error_of(result)["code"] == "INVALID_ARGUMENT"
        assert str(folder) not in text_of(result)


@pytest.mark.anyio
async def test_a_chunk_is_a_resource(layered: Any) -> None:
    async with layered() as client:
        found = (
            await client.call_tool("kb.search", {"query": QUESTION, "options": {"layers": ["delta"]}})
        ).structured_content["results"][0]
        for uri in (found["scratch_uri"], f"graphctx://document/{found['doc_id']}"):
            assert (await client.read_resource(uri)).contents[0].text == OFFICER


@asynccontextmanager
async def over_http(folder: Path, door: Door, **config: Any) -> AsyncIterator[str]:
    """A real HTTP server with layers, on a free port."""
    settings = ServerConfig(toolsets=("kb", "layers"), layers=folder, **config)
    app = http_app(Warmup(lambda: Engine(Library(), count_tokens, source(folder))), settings, door)
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


NOTE = {"content": "Over the wire.", "kind": "note", "confidence": 1, "scope": "local"}


@pytest.mark.anyio
async def test_over_http_whoever_is_unknown_may_search_and_not_write(folder: Path, era: str) -> None:
    before = digests(folder)
    async with over_http(folder, Door()) as url, Client(url, mode=era, read_timeout_seconds=30) as client:
        assert not (await client.call_tool("agents_search", {"query": "gulls"})).is_error
        for tool, arguments in (("agents_context_write", NOTE), ("agents_context_propose", {"context_id": 12})):
            error = error_of(await client.call_tool(tool, arguments))
            assert error["code"] == "SCOPE_VIOLATION"
            assert "bearer token" in error["message"]
    assert digests(folder) == before


@pytest.mark.anyio
async def test_over_http_the_owner_of_a_token_writes(folder: Path, era: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        over_http(folder, Door(), tokens={"ana": SecretStr(TOKEN)}) as url,
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=era, read_timeout_seconds=30) as client,
    ):
        assert not (await client.call_tool("agents_context_write", NOTE)).is_error
    assert (folder / FILES["local"]).exists()


@pytest.mark.anyio
async def test_over_http_everybody_writes_where_a_proxy_authenticates(folder: Path) -> None:
    async with (
        over_http(folder, Door(allow_anonymous=True)) as url,
        Client(url, mode="auto", read_timeout_seconds=30) as client,
    ):
        assert not (await client.call_tool("agents_context_write", NOTE)).is_error
    assert (folder / FILES["local"]).exists()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
async def test_one_process_writes_and_the_next_one_finds_it(handbook_path: Path, tmp_path: Path, mode: str) -> None:
    from mcp.client.stdio import stdio_client

    command = ["-m", "graphctx.cli", "serve", "--kb", str(handbook_path), "--layers", str(tmp_path)]
    root = Path(__file__).parents[2]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHCTX_")}
    parameters = StdioServerParameters(command=sys.executable, args=command, env={**kept, "PYTHONPATH": str(root)})
    note = {"content": "Buoy 7 was replaced in the spring.", "kind": "note", "confidence": 0.9, "scope": "delta"}
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=60) as client:
        assert "agents_search" in {tool.name for tool in (await client.list_tools()).tools}
        written = (await client.call_tool("agents_context_write", note)).structured_content
        assert not (await client.call_tool("agents_context_propose", {"context_id": written["id"]})).is_error
    assert [path.name for path in tmp_path.glob("*.db")] == ["AGENTS.delta.db"]
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=60) as client:
        found = (await client.call_tool("agents_search", {"query": "When was buoy 7 replaced?"})).structured_content
        assert [chunk["id"] for chunk in found["chunks"]] == [written["id"]]
        asked = {"question": "When was buoy 7 replaced?", "options": {"layers": ["delta"]}}
        quotes = (await client.call_tool("kb.retrieve_evidence", asked)).structured_content["quotes"]
        assert quotes[0]["quote"] == note["content"]


def test_the_facade_asks_layers_too(handbook_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(handbook_path) as kb, pytest.raises(InvalidArgument, match=r"\[layers\] folder"):
        kb.search("gulls", layers=["base"])
    monkeypatch.setenv("GRAPHCTX_LAYERS__FOLDER", str(folder))
    with KnowledgeBase.open(handbook_path) as kb:
        first = kb.search("Gulls are fed", layers=["base", "delta"]).results[0]
        assert first.layer is not None
        quotes = kb.retrieve_evidence("Where is the vault key kept?", layers=["base"]).quotes
        assert quotes[0].quote == "The vault key is kept in the red safe."


def test_what_lists_tools_loads_no_layers() -> None:
    program = (
        "import sys, graphctx.server.tools, graphctx.server.listing\n"
        "print([name for name in ('numpy', 'graphctx.layers', 'graphctx.retrieve') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_files_of_layers_are_named_alike() -> None:
    assert {**FILES, **WRITABLE_FILES} == FILES
