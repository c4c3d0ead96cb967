"""Files that another implementation wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from graphctx.layers import (
    HashEmbedder,
    LayerFile,
    LayerStack,
    append,
    content_of,
    to_bytes,
    validate,
)
from graphctx.text.sentences import split_sentences

from .world import COUNTS, REAL, content, needs_real, note

pytestmark = needs_real
every_file = pytest.mark.parametrize("name", sorted(COUNTS))


@every_file
def test_it_opens_without_a_finding_and_lists_its_chunks(name: str) -> None:
    assert validate(REAL / name) == []
    with LayerFile.open(REAL / name) as layer:
        made = list(layer.chunks())
    assert len(made) == COUNTS[name]
    assert all(chunk.author in ("human", "mcp") and 0 <= chunk.confidence <= 1 and chunk.content for chunk in made)


def test_sources_are_places_and_chunks() -> None:
    with LayerFile.open(REAL / "AGENTS.db") as layer:
        assert layer.chunk(1).sources == ("docs/WORKFLOW.md:1",)
        assert layer.chunk(11).sources == (1589018952,)
        assert layer.chunk(0).sources == ()


@every_file
def test_a_copy_through_our_writer_is_the_same_file(name: str) -> None:
    with LayerFile.open(REAL / name) as layer:
        assert to_bytes(content_of(layer)) == (REAL / name).read_bytes()


@every_file
def test_an_append_to_a_copy_leaves_each_old_record_as_it_was(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "AGENTS.local.db"
    shutil.copyfile(REAL / name, copy)
    with LayerFile.open(copy) as old:
        append(copy, lambda _: content(note(old.chunk(1).id, "edited"), note(7, "é" * 9, sources=(1, "a:1")), dim=384))
        with LayerFile.open(copy) as new:
            count = len(old)
            assert len(new) == count + 2
            assert list(new.chunks())[:count] == list(old.chunks())
            assert new.layout.records[:count].tobytes() == old.layout.records.tobytes()
            assert new.matrix[:count].tobytes() == old.matrix.tobytes()
            assert new.layout.relations[: len(old.layout.relations)].tobytes() == old.layout.relations.tobytes()
            assert new.layout.entries[: len(old.layout.entries)].tobytes() == old.layout.entries.tobytes()
            assert new.layout.metadata_blob == old.layout.metadata_blob
            assert new.record_of(old.chunk(1).id) == count


@every_file
def test_every_sentence_finds_a_chunk_that_holds_it_first(name: str) -> None:
    stack = LayerStack({"delta": REAL / name})
    view = stack.view("delta")
    assert view is not None
    asked = 0
    for record in range(len(view.file)):
        whole = view.file.content(record)
        sentences = [
            whole[s.start : s.end] if hasattr(s, "start") else whole[slice(*s)] for s in split_sentences(whole)
        ]
        for sentence in [s for s in sentences if len(s.split()) > 3][::7] or [whole]:
            hit = stack.search(sentence, 1).hits[0]
            assert sentence in hit.chunk.content, (hit.chunk.id, sentence)
            asked += 1
    assert asked >= COUNTS[name]


def test_words_are_hashed_as_the_other_implementation_does() -> None:
    embedder = HashEmbedder(384)
    with LayerFile.open(REAL / "AGENTS.db") as layer:
        for record in range(1, 9):
            assert embedder.embed([layer.content(record)])[0].tobytes() == layer.vector(record).tobytes()


def test_the_shipped_model_gives_nearly_the_vectors_of_the_other_implementation() -> None:
    from graphctx.layers import built_in

    with LayerFile.open(REAL / "AGENTS.delta.db") as layer:
        ours = built_in().embed([layer.content(record) for record in range(len(layer))])
        theirs = np.stack([layer.vector(record) for record in range(len(layer))])
    cosines = np.einsum("ij,ij->i", ours, theirs) / np.linalg.norm(theirs, axis=1)
    assert cosines.min() > 0.99


def test_a_tombstone_marks_what_it_takes_back_and_hides_it_on_request() -> None:
    stack = LayerStack(REAL)
    marked = {(entry.layer, entry.chunk.id): entry.retracted_by for entry in stack.entries() if entry.retracted_by}
    assert marked == {("delta", 18): (("delta", 648907830),), ("base", 1589018952): (("base", 1589018953),)}
    shown = {hit.chunk.id for hit in stack.search("test", 30).hits}
    live = {hit.chunk.id for hit in stack.search("test", 30, live=True).hits}
    assert {18, 648907830} <= shown
    assert not {18, 648907830, 1589018952, 1589018953} & live
