from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.relate import SYNONYM_COSINE, SYNONYMS_PER_ENTITY, near_synonyms, related_edges
from graphctx.store.schema import RELATED

NOTHING = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))
PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


def rows(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def edges(
    mentions: list[tuple[int, int]], facts: list[tuple[int, int]], synonyms=NOTHING
) -> dict[tuple[int, int], dict[str, float]]:  # type: ignore[no-untyped-def]
    table = related_edges(*rows(sorted(mentions)), *rows(facts), synonyms)
    assert table.schema == RELATED
    return {(row["source_row"], row["target_row"]): row for row in table.to_pylist()}


@given(PAIRS, PAIRS)
def test_edges_are_undirected_sorted_positive_and_without_loops(
    mentions: list[tuple[int, int]], facts: list[tuple[int, int]]
) -> None:
    found = edges(mentions, facts)
    assert list(found) == sorted(found)
    assert all(a < b for a, b in found)
    assert all(row["weight"] > 0 and np.isfinite(row["weight"]) for row in found.values())


@given(PAIRS, PAIRS, st.randoms())
def test_neither_the_direction_of_facts_nor_any_order_matters(mentions, facts, random) -> None:  # type: ignore[no-untyped-def]
    turned = [(b, a) if random.random() < 0.5 else (a, b) for a, b in facts]
    random.shuffle(turned)
    assert edges(mentions, facts) == edges(mentions, turned)


@given(PAIRS)
def test_the_weight_of_a_co_mention_is_a_share_of_its_count(mentions: list[tuple[int, int]]) -> None:
    for row in edges(mentions, []).values():
        assert row["weight"] <= np.log1p(row["n_units"]) + 1e-6  # npmi is at most 1
        together = {s for s, e in mentions if e == row["source_row"]} & {
            s for s, e in mentions if e == row["target_row"]
        }
        assert row["n_units"] == len(together)


def test_facts_count_each_time_and_loops_do_not() -> None:
    found = edges([], [(1, 2), (2, 1), (3, 3)])
    assert list(found) == [(1, 2)]
    assert found[1, 2]["n_facts"] == 2
    assert found[1, 2]["weight"] == np.float32(np.log(3))


def test_what_is_named_together_by_chance_alone_is_not_related() -> None:
    everywhere = [(sentence, 0) for sentence in range(8)]
    assert edges([*everywhere, (0, 1), (1, 1)], []) == {}
    assert (1, 2) in edges([*everywhere, (0, 1), (0, 2), (1, 1), (1, 2)], [])


def unit(*values: float) -> list[float]:
    return (np.array(values) / np.linalg.norm(values)).tolist()


def test_names_that_differ_in_their_digits_are_never_synonyms() -> None:
    vectors = np.array([unit(1, 0.01), unit(1, 0.02), unit(1, 0.03), unit(0, 1)], dtype=np.float32)
    a, b, cosines = near_synonyms(vectors, ["FW-17", "FW 17", "FW-18", "gate"], np.array([3, 2, 1, 1]))
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [(0, 1)]
    assert cosines[0] > 0.99


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_synonyms_are_sorted_pairs_above_the_threshold_and_do_not_depend_on_what_else_is_there(
    seed: int, n: int
) -> None:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(n, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    a, b, cosines = near_synonyms(vectors, ["x"] * n, np.ones(n, np.int64))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    for (left, right), cosine in zip(pairs, cosines, strict=True):
        assert left < right
        assert cosine >= SYNONYM_COSINE - 1e-4
        assert abs(float(vectors[left] @ vectors[right]) - cosine) < 1e-3


def test_many_names_alike_have_their_best_synonyms_in_little_memory() -> None:
    random = np.random.default_rng(0)
    n = 1_500
    vectors = (random.normal(size=64) + 0.3 * random.normal(size=(n, 64))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tracemalloc.start()
    a, b, _ = near_synonyms(vectors, ["x"] * n, np.ones(n, np.int64))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20
    cosines = np.round(vectors.astype(np.float64) @ vectors.T.astype(np.float64), 4)
    np.fill_diagonal(cosines, -1)
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :SYNONYMS_PER_ENTITY]
    wanted = {(min(x, y), max(x, y)) for x in range(n) for y in best[x].tolist() if cosines[x, y] >= SYNONYM_COSINE}
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == sorted(wanted)
