from __future__ import annotations

import threading
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded, TimedOut
from graphctx.model.budgets import CapReason, Limits, Weight, fit, weigh
from graphctx.model.interrupt import stoppable
from graphctx.nlp.tokens import AnswerCounter


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


MANY = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 200)), min_size=2, max_size=30)


@given(MANY, st.integers(60, 400), st.integers(210, 2000))
@example([(1, 60), (1, 60), (1, 60), (90, 1), (90, 1)], 100, 230)
def test_with_more_of_the_limit_that_is_named_more_fits(items: list[tuple[int, int]], tokens: int, size: int) -> None:
    def weight_with(n: int, reason: CapReason | None) -> Weight:
        return Weight(5 + sum(t for t, _ in items[:n]), 5 + sum(b for _, b in items[:n]))

    fitted = fit(len(items), weight_with, Limits(tokens, size))
    if fitted.reason is None:
        return
    more = weight_with(fitted.n_items + 1, fitted.reason)
    if more.tokens <= tokens or more.bytes <= size:  # else it takes more of both
        wider = Limits(10**6, size) if fitted.reason == "token_cap" else Limits(tokens, 10**6)
        assert fit(len(items), weight_with, wider).n_items > fitted.n_items


@given(MANY, st.integers(60, 400), st.integers(210, 2000), st.integers(0, 9), st.integers(0, 9))
def test_a_response_that_says_its_reason_keeps_its_limits_with_that_reason(
    items: list[tuple[int, int]], tokens: int, size: int, of_tokens: int, of_bytes: int
) -> None:
    def weight_with(n: int, reason: CapReason | None) -> Weight:
        said = {"token_cap": of_tokens, "byte_cap": of_bytes}.get(reason or "", 0)
        return Weight(said + sum(t for t, _ in items[:n]), said + sum(b for _, b in items[:n]))

    fitted = fit(len(items), weight_with, Limits(tokens, size))
    assert fitted.n_items > 0
    assert fitted.weight == weight_with(fitted.n_items, fitted.reason)
    assert Limits(tokens, size).exceeded_by(fitted.weight) is None


def test_fitting_stops_when_nobody_waits_for_it_any_more() -> None:
    gone, weighed = threading.Event(), []

    def weight_with(n: int, reason: CapReason | None) -> Weight:
        weighed.append(n)
        gone.set()
        return Weight(n, n)

    with stoppable(gone), pytest.raises(TimedOut):
        fit(1_000, weight_with, Limits(10, 10))
    assert weighed == [1_000]


def test_a_row_of_emoji_in_quotation_marks_weighs_each_of_them() -> None:
    count = AnswerCounter().count
    assert weigh(['{"quote":"' + "\U0001f600" * 80 + '"}'], count).tokens > 160
    assert weigh(['{"quote":"' + "\u17c4\u17c6" * 80 + '"}'], count).tokens > 160


def test_weight_counts_utf8_bytes_and_the_estimators_tokens() -> None:
    assert weigh(["añ", "☕"], len) == Weight(tokens=3, bytes=6)


def test_a_long_row_of_marks_is_weighed_in_linear_time() -> None:
    def seconds(n: int) -> float:
        began = time.thread_time()
        weigh(["a" + "\u0301" * n], len)
        return time.thread_time() - began

    seconds(1_000)
    assert seconds(400_000) < 2  # two minutes, where each mark looks through those after it


def test_a_word_without_end_weighs_as_much_as_its_parts() -> None:
    assert weigh(["QmFzZTY0" * 4_000], AnswerCounter().count).tokens > 8_000
