"""``graphctx layers write`` and ``tombstone``: what a person adds and takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.layers import LayerFile, LayerStack, hashed, validate
from tests.cli.layers_world import layers
from tests.layers.world import content, note, stack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    stack(
        tmp_path,
        base=content(note(1, "Requests to /foo carry the header Bar.", kind="invariant"), note(2, "Lamps burn oil.")),
        local=content(note(7, "A note of the moment.")),
    )
    return tmp_path


def test_a_person_writes_into_the_user_layer_and_is_shown_what_contradicts_it(folder: Path) -> None:
    arguments = ("write", "--kind", "invariant", "--text", "Requests to /foo must NOT carry the header Bar.")
    told = layers(folder, *arguments, "--source", "docs/a.md:12", "--source", "1", "--confidence", "0.5", "--json").json
    assert (told["layer"], told["revised"], told["notes"]) == ("user", False, [])
    assert told["chunk"]["id"] == 8
    assert (told["chunk"]["author"], told["chunk"]["confidence"]) == ("human", 0.5)
    assert told["chunk"]["sources"] == ["docs/a.md:12", 1]
    (conflict,) = told["conflicts"]
    assert (conflict["reason"], conflict["about"]) == ("negation", "not carry against carry")
    assert [(side["layer"], side["id"]) for side in conflict["members"]] == [("user", 8), ("base", 1)]
    assert validate(folder / "AGENTS.user.db") == []
    with LayerFile.open(folder / "AGENTS.user.db") as file:
        assert file.chunk(0).content.endswith("must NOT carry the header Bar.")
    shown = layers(folder, *arguments).out
    assert "conflict: user 9, base 1 disagree (negation: not carry against carry); base is canonical" in shown
    assert "base 1: Requests to /foo carry the header Bar." in shown


def test_the_text_comes_from_standard_input_and_a_chunk_is_revised_by_its_id(folder: Path) -> None:
    first = layers(folder, "write", "--kind", "note", "--json", stdin="Ünï\ncode\n".encode()).json
    assert first["chunk"]["content"] == "Ünï\ncode"
    again = layers(folder, "write", "--kind", "note", "--edit", "8", "--json", stdin=b"anew").json
    assert (again["revised"], again["chunk"]["id"]) == (True, 8)


@pytest.mark.parametrize(
    ("arguments", "stdin", "named"),
    [
        (["--kind", "note", "--text", "x", "--layer", "base"], b"", "user or delta or local"),
        (["--kind", "tombstone", "--text", "x"], b"", "kept for tools"),
        (["--kind", " ", "--text", "x"], b"", "kind is empty"),
        (["--kind", "note", "--text", "x", "--confidence", "1.5"], b"", "confidence is 1.5"),
        (["--kind", "note", "--text", "x", "--source", "docs/a.md"], b"", "sources holds"),
        (["--kind", "note", "--text", "x", "--edit", "99"], b"", "no user layer yet"),
        (["--kind", "note"], b"", "content is empty"),
        (["--kind", "note"], b"\xff", "not UTF-8 at byte 0"),
    ],
)
def test_what_the_format_does_not_allow_is_refused_and_nothing_is_written(
    folder: Path, arguments: list[str], stdin: bytes, named: str
) -> None:
    assert named in layers(folder, "write", *arguments, "--json", stdin=stdin).error["message"]
    assert not (folder / "AGENTS.user.db").exists()


def test_a_tombstone_takes_back_chunks_of_layers_below_and_says_which(folder: Path) -> None:
    told = layers(folder, "tombstone", "2", "1", "--reason", "We have no lamps.", "--json").json
    assert (told["layer"], told["chunk"]["kind"], told["chunk"]["content"]) == (
        "user",
        "tombstone",
        "We have no lamps.",
    )
    assert (told["chunk"]["author"], told["chunk"]["sources"]) == ("human", [2, 1])
    assert told["taken_back"] == [{"layer": "base", "id": 1}, {"layer": "base", "id": 2}]
    live = LayerStack(folder, hashed(16)).search("lamps", live=True)
    assert [hit.chunk.id for hit in live.hits] == [7]
    assert validate(folder / "AGENTS.user.db") == []
    assert "was taken back before" in layers(folder, "tombstone", "2", "--reason", "x", "--json").error["message"]


def test_a_tombstone_of_no_chunk_or_of_a_higher_layer_is_refused(folder: Path) -> None:
    for number in ("99", "7"):
        error = layers(folder, "tombstone", number, "--reason", "x", "--json").error
        assert f"goes after it has a chunk {number}" in error["message"]
    assert not (folder / "AGENTS.user.db").exists()
    own = layers(folder, "tombstone", "7", "--layer", "local", "--reason", "x")
    assert "tombstone 8 takes back local 7" in own.out
