"""``graphctx layers`` list, search, inspect, diff and validate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from graphctx.layers import write_context
from tests.layers.world import REAL, content, entry_of, needs_real, note, patched, stack

from .runner import layers


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with three layers; the base layer and the delta layer disagree about chunk 2."""
    made = stack(
        tmp_path,
        base=content(note(1, "# Harbour\n\nThe lights are lit at dusk."), note(2, "Ships pay by length.", kind="rule")),
        user=content(note(11, "Gulls are not fed.", kind="rule", sources=("docs/gulls.md:3", 1))),
        delta=content(note(2, "Ships pay by weight.", kind="rule", author="mcp", confidence=0.5)),
    )
    write_context(made, content="Ships pay by draught.", kind="rule", confidence=0.5, scope="delta", edit=2)
    (tmp_path / ".git").mkdir()
    (tmp_path / "docs").mkdir()
    return tmp_path


def test_the_layers_of_a_repository_are_found_from_within_it(repository: Path) -> None:
    done = layers(repository / "docs", "list")
    assert done.code == 0
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [row[:2] for row in rows[1:]] == [["user", "11"], ["delta", "2"], ["base", "1"], ["base", "2"]]
    assert rows[2][7:] == ["edited 1×", "Ships pay by draught."]
    assert rows[3][8] == "Harbour"


def test_layers_above_the_repository_are_not_taken_for_its_own(repository: Path) -> None:
    inner = repository / "docs" / "other"
    (inner / ".git").mkdir(parents=True)
    assert "no AGENTS.db" in layers(inner, "list", "--json").error["message"]


def test_a_list_as_json_has_layers_and_chunks(repository: Path) -> None:
    told = layers(repository, "list", "--kind", "rule", "--json").json
    assert [(c["layer"], c["id"], c["revisions"]) for c in told["chunks"]] == [
        ("user", 11, 1),
        ("delta", 2, 2),
        ("base", 2, 1),
    ]
    assert [(layer["layer"], layer["records"], layer["chunks"]) for layer in told["layers"]] == [
        ("user", 1, 1),
        ("delta", 2, 1),
        ("base", 2, 2),
    ]
    assert told["chunks"][0]["sources"] == ["docs/gulls.md:3", 1]


def test_a_search_tells_where_layers_disagree_and_settles_nothing(repository: Path) -> None:
    told = layers(repository, "search", "ships pay by", "-k", "2", "--json").json
    assert {(hit["layer"], hit["id"]) for hit in told["chunks"]} == {("delta", 2), ("base", 2)}
    value, same_id = told["conflicts"]
    assert (value["reason"], value["about"]) == ("value", "draught against length")
    assert (same_id["reason"], same_id["first"], same_id["canonical"]) == ("id", "delta", "base")
    shown = layers(repository, "search", "ships pay by", "-k", "2")
    assert shown.out.count("conflict: delta 2, base 2 disagree (id: 2); base is canonical") == 1


def test_a_search_keeps_to_the_layers_and_kinds_that_were_named(repository: Path) -> None:
    one = layers(repository, "search", "lights", "--layer", "base", "--json").json
    assert one["layers_searched"] == ["base"]
    assert one["chunks"][0]["content"].endswith("lit at dusk.")
    none = layers(repository, "search", "lights", "--kind", "recipe")
    assert none.code == 0
    assert "no chunks of kind recipe in user, delta, base" in none.out


def test_a_chunk_is_shown_whole_with_its_history(repository: Path) -> None:
    told = layers(repository, "inspect", "--id", "2", "--json").json
    delta, base = told["chunks"]
    assert (delta["layer"], delta["content"]) == ("delta", "Ships pay by draught.")
    assert [chunk["content"] for chunk in delta["older"]] == ["Ships pay by weight."]
    assert (base["layer"], base["older"]) == ("base", [])
    assert [conflict["about"] for conflict in told["conflicts"]] == ["draught against length", "2"]
    shown = layers(repository, "inspect", "--id", "2").out
    assert "Ships pay by weight." in shown
    assert "no longer in effect" in shown


def test_a_chunk_that_is_nowhere_is_an_error_that_says_how_to_find_one(repository: Path) -> None:
    error = layers(repository, "inspect", "--id", "77", "--json").error
    assert "no chunk 77 in AGENTS.user.db, AGENTS.delta.db, AGENTS.db" in error["message"]
    assert "layers list" in error["message"]


def test_layers_are_described_with_their_figures_and_conflicts(repository: Path) -> None:
    told = layers(repository, "inspect", "--json").json
    delta = next(layer for layer in told["layers"] if layer["layer"] == "delta")
    assert (delta["records"], delta["chunks"], delta["kinds"], delta["authors"]) == (2, 1, {"rule": 1}, {"mcp": 1})
    assert delta["profile"]["backend"] == "hash"
    assert delta["bytes"] == (repository / "AGENTS.delta.db").stat().st_size
    assert len(told["conflicts"]) == 1
    assert "1 conflict" in layers(repository, "inspect").out


def test_two_layers_are_compared(repository: Path) -> None:
    told = layers(repository, "diff", "--json").json
    assert [change["fields"] for change in told["changed"]] == [
        ["content", "author", "confidence", "created_at_unix_ms"]
    ]
    assert [chunk["id"] for chunk in told["removed"]] == [1]
    shown = layers(repository, "diff", "base", "delta").out
    assert "-Ships pay by length." in shown
    assert "+Ships pay by draught." in shown
    assert "1 removed, 1 changed" in shown


def test_valid_layers_pass_and_say_so(repository: Path) -> None:
    told = layers(repository, "validate", "--json")
    assert told.code == 0
    assert told.json["valid"]
    assert told.json["together"] is None
    assert len(told.json["files"]) == 3


def test_a_damaged_file_fails_with_every_finding(repository: Path) -> None:
    path = repository / "AGENTS.db"
    data = path.read_bytes()
    data = patched(data, entry_of(data, 1) + 4, "I", 7)  # a reserved field
    path.write_bytes(patched(data, 32, "Q", 1))  # the flags
    done = layers(repository, "validate", "--json")
    assert done.code == 1
    files = json.loads(done.out)["files"]
    file = next(file for file in files if file["layer"] == "base")
    assert {finding["rule"] for finding in file["findings"] if finding["severity"] == "error"} == {
        "header.flags",
        "sections.reserved",
    }
    assert all(file["valid"] for file in files if file["layer"] != "base")
    shown = layers(repository, "validate")
    assert shown.code == 1
    assert "AGENTS.db: 2 errors" in shown.out
    assert "error at byte 32: " in shown.out


@pytest.mark.parametrize("data", [b"", b"AGDB", b"# Notes\n" * 20, b"SQLite format 3\x00" + bytes(100)])
def test_a_file_that_is_no_layer_is_found_out(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "notes.db").write_bytes(data)
    done = layers(tmp_path, "validate", "notes.db", "--json")
    assert done.code == 1
    assert json.loads(done.out)["files"][0]["findings"][0]["rule"].startswith("header.")
    assert ("is not a layer" in layers(tmp_path, "validate", "notes.db").err) == (data != b"AGDB")
    assert layers(tmp_path, "list", "notes.db", "--json").error["code"] == "INVALID_ARGUMENT"


def test_layers_of_different_vectors_are_reported(tmp_path: Path) -> None:
    stack(tmp_path, base=content(note(1, "a"), dim=16), user=content(note(1, "b"), dim=8))
    told = layers(tmp_path, "validate", "--json")
    assert told.code == 0
    assert "schemas differ" in told.json["together"]
    assert "schemas differ" in layers(tmp_path, "search", "a", "--json").error["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "AGENTS.local.db"], "In {} there is AGENTS.db, AGENTS.user.db, AGENTS.delta.db."),
        (["list", "local"], "There is no file"),
        (["inspect", "11"], "graphctx layers inspect --id 11"),
        (["list", "--dir", "nowhere"], "There is no folder nowhere"),
        (["search", "  "], "query is empty"),
        (["search", "x", "--layer", "bas"], "There is no file bas"),
        (["search", "x", "--metric", "l1"], "give cosine or dot"),
        (["diff", "base", "docs"], "no AGENTS.db"),
    ],
)
def test_a_slip_is_answered_with_what_to_do(repository: Path, arguments: list[str], said: str) -> None:
    error = layers(repository, *arguments, "--json").error
    assert error["code"] == "INVALID_ARGUMENT"
    assert said.format(repository) in error["message"]


def test_a_file_of_another_name_is_searched_as_the_layer_that_is_said(repository: Path) -> None:
    shutil.copyfile(repository / "AGENTS.user.db", repository / "old.db")
    assert layers(repository, "search", "gulls", "--layer", "old.db", "--json").json["layers_searched"] == ["base"]
    both = layers(repository, "search", "gulls", "--layer", "user", "--layer", "delta=old.db", "--json").json
    assert [hit["layer"] for hit in both["chunks"]] == ["user", "delta"]
    error = layers(repository, "search", "gulls", "--layer", "user", "--layer", "old.db", "--json").error
    assert "base=old.db" in error["message"]


@needs_real
def test_what_was_retracted_in_another_implementations_files_is_marked_and_can_be_left_out() -> None:
    marked = layers(REAL, "list").out
    assert "retracted by delta 648907830" in marked
    live = {(c["layer"], c["id"]) for c in layers(REAL, "list", "--live", "--json").json["chunks"]}
    assert len(live) == 12 + 8 + 4 - 2 - 2 * 2  # two options chunks, and two tombstones with what they retract
    hit = layers(REAL, "search", "hybrid search combines lexical filtering", "-k", "1", "--json").json["chunks"][0]
    assert (hit["layer"], hit["id"]) == ("delta", 648907829)
