"""Layers of one folder, searched together."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.layers import (
    FILES,
    PRECEDENCE,
    LayerContent,
    LayerStack,
    Profile,
    hashed,
    metadata_for,
    write_context,
    write_layer,
)

from .world import DIM, content, note, stack


def test_the_four_layers_have_their_files_and_precedence() -> None:
    names = ["AGENTS.db", "AGENTS.user.db", "AGENTS.delta.db", "AGENTS.local.db"]
    assert [FILES[name] for name in ("base", "user", "delta", "local")] == names
    assert PRECEDENCE == ("local", "user", "delta", "base")


def test_the_union_of_layers_is_searched_and_each_hit_says_where_it_is(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "the cache holds pages", sources=("docs/a.md:3",))),
        user=content(note(2, "the cache holds blocks and pages")),
        delta=content(note(3, "nothing of this kind", author="mcp", confidence=0.25)),
        local=content(note(4, "the cache is empty at night")),
    )
    answer = made.search("the cache holds pages", 10)
    assert [(hit.layer, hit.chunk.id) for hit in answer.hits][:2] == [("base", 1), ("user", 2)]
    assert {hit.layer for hit in answer.hits} == {"base", "user", "delta", "local"}
    assert answer.hits[0].chunk.sources == ("docs/a.md:3",)
    assert answer.searched == ("local", "user", "delta", "base")


def test_equal_hits_come_by_precedence_and_then_by_id(tmp_path: Path) -> None:
    same = "one and the same sentence"
    layers = {name: content(note(9, same), note(4, same)) for name in ("base", "user", "delta", "local")}
    answer = stack(tmp_path, **layers).search(same)
    order = [(name, number) for name in ("local", "user", "delta", "base") for number in (4, 9)]
    assert [(hit.layer, hit.chunk.id) for hit in answer.hits] == order


def test_a_higher_layer_hides_and_changes_nothing_of_a_lower_one(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "limit is five")), local=content(note(2, "other")))
    before = (tmp_path / "AGENTS.db").read_bytes()
    write_context(made, content="limit is six", kind="note", confidence=0.5, scope="local")
    assert (tmp_path / "AGENTS.db").read_bytes() == before
    found = {(hit.layer, hit.chunk.content) for hit in made.search("limit is").hits}
    assert {("base", "limit is five"), ("local", "limit is six")} <= found


def test_only_kinds_asked_for_are_returned(tmp_path: Path) -> None:
    chunks = [note(i, f"the same words {i}", kind=kind) for i, kind in enumerate(["a", "b", "c", "a"], 1)]
    made = stack(tmp_path, base=content(*chunks[:2]), user=content(*chunks[2:]))
    assert {hit.chunk.id for hit in made.search("the same words", kinds=["a", "c"]).hits} == {1, 3, 4}
    assert made.search("the same words", kinds=["z"]).hits == ()


def test_only_layers_asked_for_are_searched_and_absent_ones_are_reported(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "words")), delta=content(note(2, "words")))
    assert {hit.layer for hit in made.search("words", layers=["delta"]).hits} == {"delta"}
    assert made.search("words", layers=[]).hits == ()
    answer = made.search("words")
    assert answer.absent == ("local", "user")
    with pytest.raises(InvalidArgument, match="no layer 'top'"):
        made.search("words", layers=["top"])


@pytest.mark.parametrize("k", [0, -1, True, 1.5])
def test_k_is_a_positive_whole_number(tmp_path: Path, k: object) -> None:
    with pytest.raises(InvalidArgument, match="k is"):
        LayerStack(tmp_path).search("x", k)  # type: ignore[arg-type]


def test_layers_of_other_dimensions_are_not_searched_together(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "x"), dim=DIM), user=content(note(1, "x"), dim=DIM + 1))
    with pytest.raises(InvalidArgument, match="schemas differ") as caught:
        made.search("x")
    assert sorted(caught.value.details["files"]) == ["AGENTS.db", "AGENTS.user.db"]
    assert made.search("x", layers=["user"]).hits


def test_layers_of_other_models_are_not_searched_together(tmp_path: Path) -> None:
    other = metadata_for(Profile("openai", "text-embedding-3-small", "", DIM, "l2"))
    foreign = LayerContent((note(1, "x"),), np.ones((1, DIM), np.float32), metadata=other)
    made = stack(tmp_path, base=content(note(1, "x")), user=foreign)
    with pytest.raises(InvalidArgument, match="openai text-embedding-3-small") as caught:
        made.search("x")
    json.dumps(caught.value.details)


def test_f32_and_i8_of_one_model_are_searched_together(tmp_path: Path) -> None:
    texts = ["alpha beta gamma", "delta epsilon zeta"]
    vectors = hashed(DIM).embed(texts)
    i8 = LayerContent((note(2, texts[1]),), np.rint(vectors[1:] * 127).astype(np.int8), 1 / 127, hashed(DIM).metadata)
    made = stack(tmp_path, base=content(note(1, texts[0])), user=i8)
    for text, expected in zip(texts, (("base", 1), ("user", 2)), strict=True):
        hit = made.search(text).hits[0]
        assert (hit.layer, hit.chunk.id) == expected
        assert hit.similarity == pytest.approx(1, abs=0.01)


def test_a_layer_without_a_profile_is_compared_by_words_whatever_its_vectors_are(tmp_path: Path) -> None:
    chunks = (note(1, "alpha beta gamma"), note(2, "delta epsilon zeta"))
    noise = np.random.default_rng(1).normal(size=(2, DIM)).astype(np.float32)
    made = stack(tmp_path, user=LayerContent(chunks, noise))
    answer = made.search("delta epsilon")
    assert answer.hits[0].chunk.id == 2
    assert answer.notes == ("AGENTS.user.db carries no embedding profile: its chunks are compared by their words.",)


def test_the_newest_record_of_an_id_is_the_one_that_counts(tmp_path: Path) -> None:
    made = stack(tmp_path, local=content(note(1, "old wording"), note(2, "other"), note(1, "fresh wording")))
    assert [(e.chunk.id, e.chunk.content, e.revisions) for e in made.entries()] == [
        (1, "fresh wording", 2),
        (2, "other", 1),
    ]
    contents = [hit.chunk.content for hit in made.search("old wording", 10).hits]
    assert "fresh wording" in contents
    assert "old wording" not in contents


def test_a_chunk_is_seen_as_soon_as_it_is_written(tmp_path: Path) -> None:
    made = stack(tmp_path, local=content(note(1, "first")))
    other = LayerStack(tmp_path, hashed(DIM))
    assert len(list(made.entries())) == 1
    write_context(other, content="second", kind="note", confidence=1.0, scope="local")
    assert [entry.chunk.content for entry in made.entries()] == ["first", "second"]


def test_the_same_id_with_other_content_is_reported_with_both_sides(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(7, "Retries: five times")),
        user=content(note(7, "Retries: nine times")),
        local=content(note(8, "Retries: nine times")),
    )
    hit = next(h for h in made.search("Retries: nine times").hits if h.layer == "user")
    conflict = next(c for c in hit.conflicts if c.reason == "id")
    assert [(m.layer, m.id, m.content) for m in conflict.members] == [
        ("user", 7, "Retries: nine times"),
        ("base", 7, "Retries: five times"),
    ]
    assert (conflict.first, conflict.canonical) == ("user", "base")
    assert conflict in made.search("Retries").conflicts
    assert conflict in made.conflicts()


def test_the_same_subject_with_other_content_is_reported(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "# Release schedule\n\nEvery second Tuesday, after the freeze of Monday.")),
        delta=content(note(2, "## release  schedule:\n\nWhenever the tests are green, all days but Friday.")),
        local=content(note(3, "# Release notes\n\nWritten by hand.")),
    )
    conflict = made.conflicts()[0]
    assert (conflict.reason, conflict.about) == ("subject", "release schedule")
    assert [(m.layer, m.id) for m in conflict.members] == [("delta", 2), ("base", 1)]
    told = made.search("tests are green").hits[0].conflicts
    assert [c.reason for c in told] == ["subject"]


def test_a_number_that_differs_is_reported_with_both_sentences(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "The upload limit is 50 megabytes for each file.")),
        user=content(note(2, "The upload limit is 80 megabytes for each file."), note(3, "Uploads are scanned.")),
    )
    conflicts = made.search("upload limit").conflicts
    assert [(c.reason, [(m.layer, m.id) for m in c.members]) for c in conflicts] == [
        ("number", [("user", 2), ("base", 1)])
    ] * len(conflicts)
    assert conflicts[0].about == "80 megabytes against 50 megabytes"
    assert conflicts[0].members[1].claim == "The upload limit is 50 megabytes for each file."


def test_a_contradiction_is_reported_within_a_layer_and_with_layers_that_were_left_out(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        user=content(note(1, "Requests to /foo must NOT carry the header Bar.")),
        delta=content(note(2, "Requests to /foo carry the header Bar."), note(3, "Requests to /foo do not carry Bar.")),
        local=content(note(4, "Requests to /foo must NOT carry the header Bar.", kind="rumour")),
    )
    found = made.search("header Bar", k=1, layers=["user"]).conflicts
    assert [(c.reason, c.about, [(m.layer, m.id) for m in c.members]) for c in found] == [
        ("negation", "not carry against carry", [("user", 1), ("delta", 2)])
    ]
    within, notes = made.conflicts_of("delta", 3)
    assert [(m.layer, m.id) for c in within for m in c.members] == [("delta", 2), ("delta", 3)]
    assert notes == ()


def test_what_was_retracted_contradicts_nothing(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "The limit is 5 MB for all."), note(2, "gone", kind="tombstone", sources=(1,))),
        user=content(note(3, "The limit is 9 MB for all.")),
    )
    assert made.conflicts_of("user", 3) == ((), ())


def test_a_layer_that_was_left_out_and_is_damaged_is_named_and_hinders_nothing(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "words")))
    (tmp_path / "AGENTS.user.db").write_bytes(b"AGDB")
    answer = made.search("words", layers=["base"])
    assert len(answer.hits) == 1
    assert answer.notes[0].startswith(
        "Conflicts with the user layer are not known: AGENTS.user.db is not a valid layer"
    )


def test_what_holds_the_query_to_the_letter_comes_first(tmp_path: Path) -> None:
    long = " ".join(f"filler{i}" for i in range(3000))
    made = stack(tmp_path, base=content(note(1, f"{long} the quick\nbrown fox {long}"), note(2, "quick fox brown the")))
    for query in ("the quick\nbrown fox", "the quick brown fox", "The Quick Brown Fox"):
        hit = made.search(query).hits[0]
        assert (hit.chunk.id, hit.verbatim) == (1, True), query


def test_a_search_is_the_same_each_time_and_in_threads(tmp_path: Path) -> None:
    chunks = [note(i, f"word{i % 7} word{i % 5} common") for i in range(1, 400)]
    stack(tmp_path, base=content(*chunks[:200]), user=content(*chunks[200:]))
    expected = LayerStack(tmp_path, hashed(DIM)).search("word3 common word1", 20)
    shared = LayerStack(tmp_path, hashed(DIM))
    found = []
    threads = [threading.Thread(target=lambda: found.append(shared.search("word3 common word1", 20))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


def test_a_stack_of_named_files_has_only_those(tmp_path: Path) -> None:
    write_layer(tmp_path / "anything.db", content(note(1, "words")))
    made = LayerStack({"delta": tmp_path / "anything.db"}, hashed(DIM))
    assert made.search("words").hits[0].layer == "delta"
    with pytest.raises(InvalidArgument, match="No file is given for the local layer"):
        write_context(made, content="x", kind="note", confidence=1.0, scope="local")


def test_layers_below_what_is_not_a_folder_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    with pytest.raises(BackendUnavailable, match=r"AGENTS\.local\.db cannot be read: Not a directory"):
        LayerStack(tmp_path / "file", hashed(DIM)).search("words")


def test_a_tombstone_of_a_person_takes_back_what_lower_layers_say_and_one_of_an_agent_what_its_own_does(
    tmp_path: Path,
) -> None:
    for author, hidden in (("human", {("local", 7), ("base", 1)}), ("mcp", {("local", 7)})):
        gone = note(8, "gone", kind="tombstone", author=author, sources=(1, 7))
        made = stack(tmp_path / author, base=content(note(1, "never push")), local=content(note(7, "push"), gone))
        live = {(hit.layer, hit.chunk.id) for hit in made.search("push", live=True).hits}
        assert live == {("base", 1), ("local", 7)} - hidden
        marked = {(entry.layer, entry.chunk.id) for entry in made.entries() if entry.retracted_by}
        assert marked == hidden


def test_a_search_of_what_is_live_says_what_it_left_out(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        base=content(note(1, "never push to main"), note(2, "push to a branch"), note(3, "something else")),
        user=content(note(8, "gone", kind="tombstone", sources=(1, 3))),
    )
    answer = made.search("push to main", k=1, live=True)
    assert [hit.chunk.id for hit in answer.hits] == [2]
    assert [(hit.layer, hit.chunk.id, hit.retracted_by) for hit in answer.left_out] == [("base", 1, (("user", 8),))]
    assert answer.notes == ("Left out, because tombstones take them back: base 1 (by user 8).",)
    assert {hit.chunk.id for hit in made.search("push", k=9, live=True).left_out} == {1, 3}
    assert made.search("push to main", k=1).notes == ()
    assert made.search("push to main", k=1).left_out == ()
    assert made.search("push to main", kinds=["invariant"], live=True).left_out == ()
