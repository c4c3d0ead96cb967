from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphctx.layer_source.fuse import fused

ranking = st.lists(st.integers(), max_size=8)


def test_of_two_that_tie_the_layers_chunk_comes_first() -> None:
    both = fused(["chunk 1", "chunk 2"], ["document 1", "document 2", "document 3"], 10)
    assert [item for item, _ in both] == ["chunk 1", "document 1", "chunk 2", "document 2", "document 3"]
    assert both[0][1] == both[1][1] == round(1 / 61, 6)


@given(ranking, ranking, st.integers(1, 20))
def test_each_ranking_keeps_its_order_and_nothing_is_lost_or_said_twice(
    chunks: list[int], documents: list[int], limit: int
) -> None:
    one, other = [("chunk", n) for n in chunks], [("document", n) for n in documents]
    both = [item for item, _ in fused(one, other, limit)]
    assert len(both) == min(limit, len(one) + len(other))
    assert [item for item in both if item[0] == "chunk"] == one[: sum(item[0] == "chunk" for item in both)]
    assert [item for item in both if item[0] == "document"] == other[: sum(item[0] == "document" for item in both)]
    scores = [score for _, score in fused(one, other, limit)]
    assert scores == sorted(scores, reverse=True)
