"""What tools write: to the local and the delta layer, as chunks of their own or as edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, LayerStack, built_in, hashed, write_context, write_layer
from graphctx.layers.format import MAX_U32

from .world import DIM, content, note, stack

GOOD: dict[str, Any] = {
    "content": "The entrypoint is Z.",
    "kind": "derived-summary",
    "confidence": 0.7,
    "scope": "local",
}


def test_a_chunk_is_appended_with_its_fields_and_mcp_as_its_author(tmp_path: Path) -> None:
    made = stack(tmp_path, local=content(note(3, "there before")))
    written = write_context(made, **GOOD, sources=["docs/ARCHITECTURE.md:12", 3, "a.py:4-9"], at_unix_ms=5)
    with LayerFile.open(tmp_path / "AGENTS.local.db") as layer:
        chunk = layer.chunk(1)
    assert chunk == written.chunk
    assert (chunk.author, chunk.kind, chunk.created_at_unix_ms) == ("mcp", "derived-summary", 5)
    assert chunk.confidence == pytest.approx(0.7)
    assert chunk.sources == ("docs/ARCHITECTURE.md:12", 3, "a.py:4-9")


@pytest.mark.parametrize("scope", ["base", "user", "", "Local", "meta"])
def test_only_local_and_delta_can_be_written_to(tmp_path: Path, scope: str) -> None:
    made = stack(tmp_path, base=content(note(1, "x")), user=content(note(1, "x")))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InvalidArgument, match="scope is") as caught:
        write_context(made, **{**GOOD, "scope": scope})
    assert caught.value.details["allowed"] == ["local", "delta"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", ""),
        ("content", " \n"),
        ("content", "half \ud800"),
        ("kind", ""),
        ("kind", "meta.proposal_event"),
        ("kind", "options"),
        ("kind", "tombstone"),
        ("confidence", -0.1),
        ("confidence", 1.1),
        ("confidence", float("nan")),
        ("confidence", None),
        ("confidence", True),
        ("sources", ["docs/a.md"]),
        ("sources", [":12"]),
        ("sources", ["a.md:x"]),
        ("sources", [0]),
        ("sources", [MAX_U32 + 1]),
        ("sources", [1.5]),
    ],
)
def test_what_a_record_cannot_hold_is_refused_by_name(tmp_path: Path, field: str, value: object) -> None:
    made = LayerStack(tmp_path, hashed(DIM))
    with pytest.raises(InvalidArgument) as caught:
        write_context(made, **{**GOOD, field: value})
    assert caught.value.details["field"] == field
    assert not (tmp_path / "AGENTS.local.db").exists()


def test_ids_are_free_in_every_layer(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(90, "x")), delta=content(note(7, "x")))
    assert write_context(made, **GOOD).chunk.id == 91
    assert write_context(made, **{**GOOD, "scope": "delta"}).chunk.id == 92


def test_an_edit_appends_a_record_with_the_same_id_and_keeps_the_old_one(tmp_path: Path) -> None:
    made = stack(tmp_path, local=content(note(5, "old")))
    written = write_context(made, **{**GOOD, "content": "new"}, edit=5)
    assert written.revised
    with LayerFile.open(tmp_path / "AGENTS.local.db") as layer:
        assert [(chunk.id, chunk.content) for chunk in layer.chunks()] == [(5, "old"), (5, "new")]
    assert [entry.chunk.content for entry in made.entries()] == ["new"]


@pytest.mark.parametrize("kind", ["meta.proposal_event", "meta.other", "tombstone", "options"])
def test_what_tools_keep_for_themselves_is_never_edited(tmp_path: Path, kind: str) -> None:
    made = stack(tmp_path, delta=content(note(5, "{}", kind=kind)))
    before = (tmp_path / "AGENTS.delta.db").read_bytes()
    with pytest.raises(InvalidArgument, match=f"Chunk 5 is a {kind}") as caught:
        write_context(made, **{**GOOD, "scope": "delta"}, edit=5)
    assert caught.value.details["field"] == "edit"
    assert (tmp_path / "AGENTS.delta.db").read_bytes() == before


def test_a_new_layer_is_made_like_those_that_are_there(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "x")))
    write_context(LayerStack(tmp_path), **GOOD)
    view = made.view("local")
    assert view is not None
    assert view.file.profile == hashed(DIM).profile
    assert made.search("entrypoint").hits[0].layer == "local"


def test_a_new_layer_beside_one_without_a_profile_has_its_dimension(tmp_path: Path) -> None:
    bare = LayerContent((note(1, "the exit is A"),), np.ones((1, 7), np.float32))
    write_layer(tmp_path / "AGENTS.db", bare)
    made = LayerStack(tmp_path)
    write_context(made, **GOOD)
    assert {hit.layer for hit in made.search("entrypoint exit").hits} == {"base", "local"}


def test_the_first_layer_of_a_folder_is_embedded_by_the_shipped_model(tmp_path: Path) -> None:
    made = LayerStack(tmp_path)
    write_context(made, **{**GOOD, "content": "Money is returned within two weeks."})
    write_context(made, **{**GOOD, "content": "The door opens at nine."})
    view = made.view("local")
    assert view is not None
    assert view.file.profile == built_in().profile
    assert (view.file.dim, view.file.element_type) == (384, "f32")
    assert "embedder_metadata" in view.file.metadata
    assert made.search("refunds").hits[0].chunk.content.startswith("Money")
