from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.relate import related_edges
from graphctx.store.schema import RELATED

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


def rows(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def edges(mentions: list[tuple[int, int]], facts: list[tuple[int, int]]) -> dict[tuple[int, int], dict[str, float]]:
    table = related_edges(*rows(sorted(mentions)), *rows(facts))
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
