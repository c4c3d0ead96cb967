"""A new base layer made of several, and the old files kept."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.layers import (
    FILES,
    LAYERS,
    Chunk,
    LayerContent,
    LayerFile,
    LayerStack,
    Source,
    compact,
    hashed,
    layer_named,
)
from tests.conftest import EFFORT

from .world import DIM, content, note, stack


def base(folder: Path) -> dict[int, str]:
    with LayerFile.open(folder / "AGENTS.db") as layer:
        return {chunk.id: chunk.content for chunk in layer.chunks()}


def records(folder: Path) -> dict[int, tuple[str, tuple[Source, ...]]]:
    with LayerFile.open(folder / "AGENTS.db") as layer:
        return {chunk.id: (chunk.content, chunk.sources) for chunk in layer.chunks()}


def shown(made: LayerStack) -> tuple[set[str], set[str]]:
    """What the layers say, and what they retract."""
    told = [(entry.chunk.content, bool(entry.retracted_by)) for entry in made.entries(kinds=["note"])]
    return {text for text, gone in told if not gone}, {text for text, gone in told if gone}


def test_the_newest_records_of_base_and_user_become_the_new_base(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "one"), note(2, "two")),
        user=content(note(5, "five, first"), note(5, "five"), note(6, "six", sources=(5, "a:1"))),
        delta=content(note(9, "proposed")),
    )
    done = compact(made)
    assert base(tmp_path) == {1: "one", 2: "two", 5: "five", 6: "six"}
    assert (done.chunks, done.folded, done.dropped_revisions, done.renumbered) == (4, {"user": 2}, 1, ())
    assert not (tmp_path / "AGENTS.user.db").exists()
    assert (tmp_path / "AGENTS.delta.db").exists()
    assert made.search("five").hits[0].layer == "base"


def test_what_was_folded_is_archived_as_it_was(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "one")), user=content(note(2, "two")))
    before = {FILES[layer_named(name)]: made.path(layer_named(name)).read_bytes() for name in ("base", "user")}
    done = compact(made)
    archived = {Path(place).name: tmp_path / place for place in done.archived}
    assert {name: path.read_bytes() for name, path in archived.items()} == before
    for name, path in archived.items():
        assert path.parent.name == hashlib.sha256(before[name]).hexdigest()[:16]


def test_chunks_whose_id_is_taken_get_another_and_what_refers_to_them_follows(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "one"), note(2, "two", sources=(1,))),
        user=content(note(1, "other one"), note(7, "seven", sources=(1, "a:1", 2))),
    )
    done = compact(made)
    assert base(tmp_path) == {1: "one", 2: "two", 8: "other one", 7: "seven"}
    assert done.renumbered == (("user", 1, 8),)
    with LayerFile.open(tmp_path / "AGENTS.db") as layer:
        sources = {chunk.id: chunk.sources for chunk in layer.chunks()}
    assert sources[7] == (8, "a:1", 2)
    assert sources[2] == (1,)


def test_a_chunk_that_was_retracted_folds_into_one_that_was_too_and_not_into_a_live_one(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "a"), note(2, "gone", kind="tombstone", sources=(1,)), note(3, "b")),
        user=content(note(7, "a"), note(8, "b"), note(9, "gone", kind="tombstone", sources=(7, 8))),
    )
    compact(made)
    assert records(tmp_path) == {1: ("a", ()), 2: ("gone", (1,)), 3: ("b", ()), 8: ("b", ()), 9: ("gone", (1, 8))}
    assert {hit.chunk.id for hit in made.search("a b", live=True).hits} == {3}


def test_a_tombstone_takes_back_afterwards_what_it_took_back_before_and_nothing_else(tmp_path: Path) -> None:
    gone = [
        note(20, "by an agent", kind="tombstone", author="mcp", sources=(1, 6, 99)),
        note(21, "by a person", kind="tombstone", sources=("a:1", 2, 3, 98)),
    ]
    made = stack(
        tmp_path,
        base=content(note(1, "one"), note(2, "two"), note(3, "three")),
        user=content(note(3, "other three"), note(6, "six"), *gone),
    )
    compact(made)
    told = records(tmp_path)
    assert told[20] == ("by an agent", (6, 99))
    assert told[21] == ("by a person", ("a:1", 2, 100, 98))
    assert told[100] == ("other three", ())
    assert {hit.chunk.id for hit in made.search("one two three six", live=True).hits} == {1, 3}


def test_what_a_layer_that_is_not_merged_takes_back_does_not_change(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "one")),
        user=content(note(1, "other one")),
        local=content(note(9, "gone", kind="tombstone", sources=(1,))),
    )
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.db")}
    with pytest.raises(
        InvalidArgument, match=r"AGENTS\.local\.db holds a tombstone for id 1, .*Compact the local layer"
    ):
        compact(made)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.db")} == before
    assert not (tmp_path / "agents-archive").exists()
    compact(made, ["user", "local"])
    assert made.search("one", live=True).hits == ()


def test_a_tombstone_that_retracts_a_chunk_of_a_layer_that_is_not_merged_is_not_lost(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "one")),
        delta=content(note(2, "two")),
        user=content(note(3, "wrong", kind="tombstone", sources=(2,))),
    )
    with pytest.raises(InvalidArgument, match=r"AGENTS\.user\.db holds a tombstone for id 2 .*Compact the delta layer"):
        compact(made)
    compact(made, ["base", "user", "delta"])
    assert shown(made) == ({"one"}, {"two"})


written = st.builds(
    lambda number, text, kind, author, sources: note(number, text, kind=kind, author=author, sources=tuple(sources)),
    st.integers(1, 6),
    st.sampled_from("abc"),
    st.sampled_from(["note", "tombstone", "meta.proposal_event"]),
    st.sampled_from(["human", "mcp"]),
    st.lists(st.integers(1, 7), max_size=2),
)
layered = st.dictionaries(st.sampled_from(LAYERS), st.lists(written, min_size=1, max_size=5), min_size=1)


@settings(max_examples=max(20, int(50 * EFFORT)), deadline=None)
@given(layered, st.sets(st.sampled_from(["delta", "local"])))
def test_what_is_live_stays_live_and_what_was_retracted_stays_so(told: dict[str, list[Chunk]], more: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = stack(Path(folder), **{name: content(*chunks) for name, chunks in told.items()})
        before, files = shown(made), {path: path.read_bytes() for path in Path(folder).glob("*.db")}
        try:
            compact(made, ["base", "user", *more])
        except InvalidArgument:
            assert {path: path.read_bytes() for path in Path(folder).glob("*.db")} == files
            return
        assert shown(made) == before
        for path, data in files.items():
            if not path.exists():
                path.write_bytes(data)
        assert shown(made) == before
        compact(made, ["base", "user", *more])
        assert shown(made) == before


def test_vectors_go_along_bit_for_bit_and_into_the_bases_storage(tmp_path: Path) -> None:
    vectors = hashed(DIM).embed(["alpha beta", "gamma"])
    i8 = LayerContent((note(1, "one"),), np.ones((1, DIM), np.int8), 1 / 64, hashed(DIM).metadata)
    plain = LayerContent((note(2, "alpha beta"), note(3, "gamma")), vectors, metadata=hashed(DIM).metadata)
    compact(stack(tmp_path / "a", base=content(note(1, "one")), user=plain))
    with LayerFile.open(tmp_path / "a" / "AGENTS.db") as layer:
        assert layer.matrix[1:].tobytes() == vectors.tobytes()
    compact(stack(tmp_path / "b", base=i8, user=plain))
    with LayerFile.open(tmp_path / "b" / "AGENTS.db") as layer:
        assert layer.element_type == "i8"
        assert layer.vector(1) == pytest.approx(vectors[0], abs=1 / 128)


def test_nothing_cannot_be_compacted(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"no AGENTS\.db and no AGENTS\.user\.db"):
        compact(LayerStack(tmp_path))


def test_a_damaged_layer_stops_it_before_anything_changes(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "one")), user=content(note(2, "two")))
    path = tmp_path / "AGENTS.user.db"
    path.write_bytes(path.read_bytes()[:-1])
    before = {p.name: p.read_bytes() for p in tmp_path.glob("*.db")}
    with pytest.raises(InvalidArgument, match=r"AGENTS\.user\.db"):
        compact(made)
    assert {p.name: p.read_bytes() for p in tmp_path.glob("*.db")} == before
    assert not (tmp_path / "agents-archive").exists()
