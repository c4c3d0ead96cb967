"""Proposals, decisions and promotion: state of the layers and of nothing else."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import (
    LayerContent,
    LayerFile,
    LayerStack,
    append,
    decide,
    hashed,
    promote,
    proposals,
    propose,
    write_context,
)
from graphctx.layers.format import MAX_U32

from .world import DIM, content, note, stack


def world(folder: Path) -> LayerStack:
    return stack(
        folder,
        base=content(note(1, "canonical")),
        delta=content(note(10, "Requests carry a header.", kind="invariant", author="mcp", confidence=0.8, sources=("a:1", 1))),
    )  # fmt: skip


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if not path.name.endswith(".lock")}


def test_a_proposal_is_an_event_in_the_delta_layer_that_refers_to_its_chunk(tmp_path: Path) -> None:
    made = world(tmp_path)
    proposal = propose(made, 10, at_unix_ms=77)
    with LayerFile.open(tmp_path / "AGENTS.delta.db") as layer:
        event = layer.chunk(1)
        assert not layer.vector(1).any()
    assert (event.id, event.kind, event.author, event.sources) == (proposal.id, "meta.proposal_event", "mcp", (10,))
    assert json.loads(event.content) == {
        "action": "propose",
        "context_id": 10,
        "from_path": "AGENTS.delta.db",
        "to_path": "AGENTS.user.db",
        "created_at_unix_ms": 77,
        "actor": "mcp",
        "content_sha256": hashlib.sha256(b"Requests carry a header.").hexdigest(),
    }
    assert files(tmp_path) == {"AGENTS.db", "AGENTS.delta.db"}
    assert proposals(LayerStack(tmp_path)) == [proposal]


@pytest.mark.parametrize("target", ["base", "delta", "local", "", "USER"])
def test_the_target_is_the_user_layer(tmp_path: Path, target: str) -> None:
    with pytest.raises(InvalidArgument, match="target is"):
        propose(world(tmp_path), 10, target)


@pytest.mark.parametrize("number", [0, 1, 99, -1, 1 << 40])
def test_only_a_chunk_of_the_delta_layer_can_be_proposed(tmp_path: Path, number: int) -> None:
    made = world(tmp_path)
    with pytest.raises(InvalidArgument, match=f"no chunk {number} to propose"):
        propose(made, number)
    assert proposals(made) == []


def test_a_pending_proposal_is_not_recorded_twice(tmp_path: Path) -> None:
    made = world(tmp_path)
    assert propose(made, 10) == propose(made, 10)
    assert len(proposals(made)) == 1


def test_a_proposal_alone_promotes_nothing(tmp_path: Path) -> None:
    propose(world(tmp_path), 10)
    assert not (tmp_path / "AGENTS.user.db").exists()


@pytest.mark.parametrize("approver", ["", "mcp", "agent"])
def test_nobody_but_a_person_or_ci_approves(tmp_path: Path, approver: str) -> None:
    made = world(tmp_path)
    proposal = propose(made, 10)
    with pytest.raises(InvalidArgument, match="approval of a person or of CI"):
        decide(made, proposal.id, "accept", approved_by=approver)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="approval of a person or of CI"):
        promote(made, [10], approved_by=approver)  # type: ignore[arg-type]
    assert not (tmp_path / "AGENTS.user.db").exists()


def test_an_accepted_proposal_is_in_the_user_layer_as_it_was_and_stays_in_the_delta_layer(tmp_path: Path) -> None:
    made = world(tmp_path)
    proposal = propose(made, 10)
    with LayerFile.open(tmp_path / "AGENTS.delta.db") as layer:
        chunk, vector = layer.chunk(0), layer.vector(0)
        _, done = decide(made, proposal.id, "accept", approved_by="human", reason="good")
        with LayerFile.open(tmp_path / "AGENTS.user.db") as user:
            assert list(user.chunks()) == [chunk]
            assert user.vector(0).tobytes() == vector.tobytes()
            assert user.profile == layer.profile
    assert [(p.id, p.user_id, p.already) for p in done] == [(10, 10, False)]
    told = proposals(made)[0]
    assert (told.status, told.decided_by, told.reason) == ("accepted", "human", "good")
    assert LayerFile.open(tmp_path / "AGENTS.delta.db").chunk(0) == chunk


def test_a_rejected_proposal_promotes_nothing_and_its_chunk_can_be_proposed_again(tmp_path: Path) -> None:
    made = world(tmp_path)
    first = propose(made, 10)
    decide(made, first.id, "reject", approved_by="ci", reason="not now")
    assert not (tmp_path / "AGENTS.user.db").exists()
    second = propose(made, 10)
    assert [(p.id, p.status) for p in proposals(made)] == [(first.id, "rejected"), (second.id, "pending")]
    assert [p.id for p in proposals(made, "pending")] == [second.id]


def test_a_decision_is_made_once(tmp_path: Path) -> None:
    made = world(tmp_path)
    proposal = propose(made, 10)
    decide(made, proposal.id, "accept", approved_by="ci")
    with pytest.raises(InvalidArgument, match="was already accepted"):
        decide(made, proposal.id, "reject", approved_by="ci")
    with pytest.raises(InvalidArgument, match="does not exist"):
        decide(made, 12345, "reject", approved_by="ci")


def test_accepting_again_after_a_crash_before_the_decision_was_recorded_promotes_once(tmp_path: Path) -> None:
    made = world(tmp_path)
    proposal = propose(made, 10)
    promote(made, [10], approved_by="human")  # and here it stopped
    _, done = decide(made, proposal.id, "accept", approved_by="human")
    assert [p.already for p in done] == [True]
    assert len(LayerFile.open(tmp_path / "AGENTS.user.db")) == 1


def test_an_id_of_another_chunk_is_not_taken_in_the_user_layer(tmp_path: Path) -> None:
    made = stack(tmp_path, user=content(note(10, "mine")), delta=content(note(10, "theirs"), note(11, "more")))
    done = promote(made, [10, 11], approved_by="human")
    assert [(p.id, p.user_id) for p in done] == [(10, 12), (11, 11)]
    contents = {entry.chunk.id: entry.chunk.content for entry in made.entries(["user"])}
    assert contents == {10: "mine", 11: "more", 12: "theirs"}


@pytest.mark.parametrize("others", [(5,), (4, 6, 8), (MAX_U32,), (5, MAX_U32), (MAX_U32 - 1,)])
def test_no_id_of_another_chunk_is_taken_however_many_are_promoted(tmp_path: Path, others: tuple[int, ...]) -> None:
    there = [note(i, f"user {i}") for i in (1, 2, 3, *others)]
    made = stack(tmp_path, user=content(*there), delta=content(*(note(i, f"delta {i}") for i in (1, 2, 3))))
    done = promote(made, [1, 2, 3], approved_by="human")
    assert len({item.user_id for item in done} | {chunk.id for chunk in there}) == 3 + len(there)
    entries = {entry.chunk.id: entry for entry in made.entries(["user"])}
    assert [entries[chunk.id].chunk.content for chunk in there] == [chunk.content for chunk in there]
    assert [entries[item.user_id].chunk.content for item in done] == [f"delta {item.id}" for item in done]
    assert {entry.revisions for entry in entries.values()} == {1}


def test_what_the_user_layer_took_back_is_live_again_when_it_is_promoted_again(tmp_path: Path) -> None:
    gone = note(11, "gone", kind="tombstone", sources=(10,))
    made = stack(tmp_path, user=content(note(10, "again"), gone), delta=content(note(10, "again")))
    (done,) = promote(made, [10], approved_by="human")
    assert not done.already
    assert ("user", done.user_id) in {(hit.layer, hit.chunk.id) for hit in made.search("again", live=True).hits}
    (again,) = promote(made, [10], approved_by="human")
    assert (again.already, again.user_id) == (True, done.user_id)


def test_a_promotion_may_be_a_revision(tmp_path: Path) -> None:
    made = stack(tmp_path, user=content(note(10, "old")), delta=content(note(10, "new")))
    promote(made, [10], approved_by="human", revise=True)
    assert [e.chunk.content for e in made.entries(["user"])] == ["new"]
    assert [c.content for c in LayerFile.open(tmp_path / "AGENTS.user.db").chunks()] == ["old", "new"]


def test_a_vector_is_made_anew_where_the_layers_have_other_profiles(tmp_path: Path) -> None:
    bare = LayerContent((note(1, "mine"),), np.ones((1, DIM), np.float32))
    made = stack(tmp_path, user=bare, delta=content(note(2, "alpha beta")))
    promote(made, [2], approved_by="ci")
    with LayerFile.open(tmp_path / "AGENTS.user.db") as layer:
        assert layer.vector(1).tobytes() == hashed(DIM).embed(["alpha beta"])[0].tobytes()


def test_nothing_is_promoted_from_base_or_from_where_it_is_not(tmp_path: Path) -> None:
    made = world(tmp_path)
    with pytest.raises(InvalidArgument, match="promoted from delta or local"):
        promote(made, [1], approved_by="human", origin="base")
    with pytest.raises(InvalidArgument, match="no local layer"):
        promote(made, [1], approved_by="human", origin="local")
    with pytest.raises(InvalidArgument, match="no chunk 1"):
        promote(made, [1], approved_by="human")


def test_events_of_another_implementation_are_understood_and_damaged_ones_ignored(tmp_path: Path) -> None:
    made = world(tmp_path)
    told = [
        '{"action":"propose","context_id":10,"from_path":"/a/AGENTS.delta.db","title":"t","why":"because","actor":"mcp"}',
        '{"context_id":10}',
        '{"action":"accept","proposal_id":20,"context_id":10,"actor":"human","outcome":"promoted"}',
        "no json",
        "[" * 50_000,
        '{"action":"reject","proposal_id":"x"}',
        '{"action":"accept","proposal_id":999,"context_id":10}',
        '{"action":["reject"],"context_id":10}',
        '{"action":{},"context_id":10}',
        '{"action":"propose","context_id":true}',
    ]
    events = [note(20 + i, text, kind="meta.proposal_event") for i, text in enumerate(told)]
    append(tmp_path / "AGENTS.delta.db", lambda _: content(*events))
    assert [(p.id, p.status) for p in proposals(made)] == [(20, "accepted"), (21, "pending")]


def test_an_agent_cannot_forge_a_decision(tmp_path: Path) -> None:
    made = world(tmp_path)
    for scope in ("local", "delta"):
        with pytest.raises(InvalidArgument, match="kept for tools"):
            write_context(made, content="{}", kind="meta.proposal_event", confidence=1.0, scope=scope)


@pytest.mark.parametrize("field", ["content", "kind", "confidence", "sources"])
def test_what_was_edited_after_it_was_proposed_is_not_accepted_until_it_is_proposed_anew(
    tmp_path: Path, field: str
) -> None:
    made = world(tmp_path)
    first = propose(made, 10)
    told: dict[str, Any] = {"content": "Requests carry a header.", "kind": "invariant", "confidence": 0.8}
    told["sources"] = ["a:1", 1]
    other: dict[str, Any] = {"content": "EVIL", "kind": "rule", "confidence": 1.0, "sources": []}
    write_context(made, **{**told, field: other[field]}, scope="delta", edit=10)
    assert [(p.id, p.changed) for p in proposals(made)] == [(first.id, True)]
    with pytest.raises(InvalidArgument, match="was edited after proposal") as caught:
        decide(made, first.id, "accept", approved_by="human")
    assert caught.value.details == {"id": first.id, "context_id": 10}
    assert not (tmp_path / "AGENTS.user.db").exists()
    assert [p.status for p in proposals(made)] == ["pending"]

    second = propose(made, 10)
    assert second.id != first.id
    decide(made, first.id, "reject", approved_by="human")
    decide(made, second.id, "accept", approved_by="human")
    assert [(p.id, p.status) for p in proposals(made)] == [(first.id, "rejected"), (second.id, "accepted")]
    (entry,) = made.entries(["user"])
    assert getattr(entry.chunk, field) == (other[field] if field != "sources" else ())
