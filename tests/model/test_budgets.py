from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.model.budgets import CapReason, Limits, Weight, fit, weigh
from graphctx.nlp.tokens import WordPieceCounter


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(1, 200)), max_size=30),
    st.integers(10, 400),
    st.integers(10, 2000),
)
def test_as_many_items_are_kept_as_fit_and_no_more(items: list[tuple[int, int]], tokens: int, size: int) -> None:
    limits = Limits(tokens, size)

    def weight_with(n: int, reason: CapReason | None) -> Weight:
        return Weight(5 + sum(t for t, _ in items[:n]), 5 + sum(b for _, b in items[:n]))

    most = max((n for n in range(len(items) + 1) if limits.exceeded_by(weight_with(n, None)) is None), default=0)
    if items and most == 0:
        with pytest.raises(BudgetExceeded):
            fit(len(items), weight_with, limits)
        return
    fitted = fit(len(items), weight_with, limits)
    assert fitted.n_items == most
    assert fitted.weight == weight_with(most, None)
    assert limits.exceeded_by(fitted.weight) is None
    assert (fitted.reason is None) == (most == len(items))


def test_weight_counts_utf8_bytes_and_the_estimators_tokens() -> None:
    assert weigh(["añ", "☕"], len) == Weight(tokens=3, bytes=6)


def test_a_long_row_of_marks_is_weighed_in_linear_time() -> None:
    def seconds(n: int) -> float:
        began = time.perf_counter()
        weigh(["a" + "\u0301" * n], len)
        return time.perf_counter() - began

    seconds(1_000)
    assert seconds(400_000) < 2  # two minutes, where each mark looks through those after it


def test_a_word_without_end_weighs_as_much_as_its_parts() -> None:
    count = WordPieceCounter().count
    assert count("QmFzZTY0" * 4_000) == 1
    assert weigh(["QmFzZTY0" * 4_000], count).tokens > 8_000
