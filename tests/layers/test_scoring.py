"""Cosine and dot, f32 and i8, the same numbers whatever the storage; and what holds a query letter for letter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, LayerStack, scoring, to_bytes, write_layer
from graphctx.layers import format as f
from graphctx.layers.scoring import cosines, coverage, holders, norms, products

from .world import content, note, patched, section

RNG = np.random.default_rng(20260801)


def layer_of(matrix: np.ndarray, scale: float = 1.0, pad: int = 0) -> LayerFile:
    chunks = tuple(note(i + 1, "x" * (pad + 1) if i == 0 else f"{i}") for i in range(len(matrix)))
    return LayerFile.parse(to_bytes(LayerContent(chunks, matrix, scale)), "AGENTS.local.db")


def test_cosine_and_dot_are_those_of_their_definitions() -> None:
    matrix = RNG.normal(size=(500, 24)).astype(np.float32)
    query = RNG.normal(size=24).astype(np.float32)
    layer = layer_of(matrix)
    exact = matrix.astype(np.float64) @ query.astype(np.float64)
    assert products(layer, query) == pytest.approx(exact, rel=1e-4, abs=1e-5)
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1) * np.linalg.norm(query.astype(np.float64))
    assert cosines(layer, query, norms(layer)) == pytest.approx(exact / lengths, abs=1e-5)


@pytest.mark.parametrize("scale", [0.02, -0.5, 3.0])
def test_i8_is_compared_after_the_scale_was_applied(scale: float) -> None:
    matrix = RNG.integers(-127, 128, size=(300, 16)).astype(np.int8)
    query = RNG.normal(size=16).astype(np.float32)
    stored, plain = layer_of(matrix, scale), layer_of(matrix.astype(np.float32) * np.float32(scale))
    assert products(stored, query).tobytes() == products(plain, query).tobytes()
    one, other = cosines(stored, query, norms(stored)), cosines(plain, query, norms(plain))
    assert one.tobytes() == other.tobytes()


def test_where_the_matrix_lies_in_the_file_moves_no_bit() -> None:
    matrix = RNG.normal(size=(64, 100)).astype(np.float32)
    query = RNG.normal(size=100).astype(np.float32)
    made = {products(layer_of(matrix, pad=pad), query).tobytes() for pad in range(8)}
    assert len(made) == 1


def test_a_matrix_larger_than_a_block_is_compared_whole() -> None:
    matrix = RNG.normal(size=(3000, 1024)).astype(np.float32)
    layer = layer_of(matrix)
    query = matrix[2999]
    found = cosines(layer, query, norms(layer))
    assert int(found.argmax()) == 2999
    assert found[2999] == pytest.approx(1, abs=1e-5)


@given(st.binary(min_size=16, max_size=160), st.sampled_from([1, 4]))
def test_any_bits_give_a_cosine_from_minus_one_to_one(raw: bytes, dim: int) -> None:
    matrix = np.frombuffer(raw[: len(raw) // (4 * dim) * 4 * dim], "<f4").reshape(-1, dim)
    layer = layer_of(matrix)
    for query in (np.ones(dim, np.float32), matrix[0], np.zeros(dim, np.float32)):
        found = cosines(layer, query, norms(layer))
        assert np.isfinite(found).all()
        assert (np.abs(found) <= 1).all()
        assert np.isfinite(products(layer, np.nan_to_num(query))).all()


def test_a_vector_may_be_asked_with_either_metric(tmp_path: Path) -> None:
    matrix = np.array([[10, 10], [1, 0], [0, 1]], np.float32)
    write_layer(tmp_path / "AGENTS.local.db", LayerContent(tuple(note(i, f"{i}") for i in (1, 2, 3)), matrix))
    stack = LayerStack(tmp_path)
    query = np.array([1, 0], np.float32)
    assert [hit.chunk.id for hit in stack.search(vector=query).hits] == [2, 1, 3]
    dot = stack.search(vector=query, metric="dot").hits
    assert [(hit.chunk.id, hit.similarity) for hit in dot] == [(1, 10), (2, 1), (3, 0)]
    with pytest.raises(InvalidArgument, match="2 numbers"):
        stack.search(vector=np.ones(3, np.float32))


words = st.text("ab é", min_size=1, max_size=6)


@given(st.lists(st.tuples(words, words), max_size=12), words, st.integers(1, 9))
def test_holders_are_the_records_whose_content_has_the_query(
    told: list[tuple[str, str]], query: str, window: int
) -> None:
    chunks = [note(i, text, sources=(source,)) for i, (text, source) in enumerate(told, 1)]
    layer = LayerFile.parse(to_bytes(content(*chunks, dim=2)), "a.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "_WINDOW", window)  # so that a small text has many windows
        found = holders(layer, query).tolist()
    assert found == [i for i, (text, _) in enumerate(told) if query.strip() and query.strip() in text]


def test_an_empty_content_at_the_place_of_another_hides_it_from_no_query() -> None:
    data = to_bytes(content(note(1, "The gulls are fed."), note(2, ""), dim=2))
    layer = LayerFile.parse(data, "a.db")
    whole, empty = (int(number) - 1 for number in layer.layout.records["content_str_id"])
    entries = section(data, f.STRINGS) + f.STRINGS_HEADER.size
    moved = patched(data, entries + empty * f.STRING_ENTRY.itemsize, "Q", int(layer.layout.entries["offset"][whole]))
    assert holders(LayerFile.parse(moved, "a.db"), "gulls").tolist() == [0]


def test_rare_words_cover_more_and_all_words_cover_all() -> None:
    texts = ["common rare", "common", "common other", ""]
    found = coverage("Common RARE", texts).tolist()
    assert found[0] == pytest.approx(1)
    assert 0 < found[1] < 0.5
    assert found[1] == found[2]
    assert found[3] == 0
