from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.model.results import UnitText
from graphctx.server.scratch import ScratchStore, new_id

from .conftest import Clock

NOW = datetime(2025, 3, 31, 12, 0, tzinfo=UTC)


def unit(name: str, text: str = "some words") -> UnitText:
    return UnitText(f"u_{name}", "d_1", "a.md", "", "A", "", None, text, 0, len(text), 1)


@pytest.fixture
def store(clock: Clock) -> ScratchStore:
    return ScratchStore(max_bytes=3000, ttl=60, clock=clock, now=lambda: NOW)


def test_a_passage_is_held_under_an_id_that_says_nothing_about_it(store: ScratchStore) -> None:
    first = store.put("x_a", "s", unit("1"))
    second = store.put("x_b", "s", unit("1"))
    assert store.get("x_a", first.passage_id).unit.text == "some words"
    assert first.passage_id != second.passage_id
    assert first.uri == f"graphctx://scratch/x_a/{first.passage_id}"
    assert len({new_id("p") for _ in range(1000)}) == 1000


def test_the_same_unit_keeps_its_id_within_a_session(store: ScratchStore) -> None:
    assert store.put("x_a", "s", unit("1")) == store.put("x_a", "s", unit("1"))
    assert store.put("x_a", "s", unit("1")) != store.put("x_a", "s2", unit("1"))


def test_another_session_cannot_tell_a_foreign_id_from_none(store: ScratchStore) -> None:
    passage = store.put("x_a", "s", unit("1"))
    with pytest.raises(InvalidArgument) as foreign:
        store.get("x_b", passage.passage_id)
    with pytest.raises(InvalidArgument) as unknown:
        store.get("x_b", "p_aaaaaaaaaaaaaaaa")
    assert foreign.value.message.replace(passage.passage_id, "") == unknown.value.message.replace(
        "p_aaaaaaaaaaaaaaaa", ""
    )
    assert store.passages("x_b") == []


def test_a_passage_expires_a_while_after_its_last_use(store: ScratchStore, clock: Clock) -> None:
    passage = store.put("x_a", "s", unit("1"))
    clock.seconds = 59
    store.get("x_a", passage.passage_id)
    clock.seconds = 118
    store.get("x_a", passage.passage_id)
    clock.seconds = 179
    with pytest.raises(InvalidArgument, match=r"kb\.search"):
        store.get("x_a", passage.passage_id)
    stats = store.stats()
    assert (stats.expired, stats.passages, stats.bytes) == (1, 0, 0)


def test_memory_pushes_out_the_least_recently_used(store: ScratchStore) -> None:
    held = [store.put("x_a", "s", unit(str(number))) for number in range(5)]
    store.get("x_a", held[0].passage_id)
    store.put("x_a", "s", unit("5"))
    store.get("x_a", held[0].passage_id)
    with pytest.raises(InvalidArgument):
        store.get("x_a", held[1].passage_id)
    assert store.stats().evicted_by_memory == 1


def test_a_passage_larger_than_the_store_is_refused(store: ScratchStore) -> None:
    with pytest.raises(BudgetExceeded):
        store.put("x_a", "s", unit("1", "x" * 3000))
    assert store.stats().passages == 0


def test_frequent_eviction_is_warned_about(store: ScratchStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for number in range(250):
            store.put("x_a", "s", unit(str(number)))
    assert len([record for record in caplog.records if "scratch memory" in record.message]) == 2


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 400), st.integers(0, 20))))
def test_memory_and_isolation_hold_whatever_is_put(steps: list[tuple[int, int, int, int]]) -> None:
    clock = Clock()
    store = ScratchStore(max_bytes=6000, ttl=60, clock=clock)
    for session, name, size, seconds in steps:
        clock.seconds += seconds
        passage = store.put(f"x_{session}", "s", unit(f"{name}_{size}", "y" * size))
        assert store.get(f"x_{session}", passage.passage_id) is not None
        stats = store.stats()
        assert stats.bytes <= 6000
        assert stats.passages == sum(len(store.passages(f"x_{s}")) for s in range(3))
        assert all(p.session_id == f"x_{session}" for p in store.passages(f"x_{session}"))


def test_threads_do_not_mix_up_sessions() -> None:
    store = ScratchStore(max_bytes=40_000, ttl=60)
    wrong: list[str] = []

    def work(session: str) -> None:
        for number in range(400):
            passage = store.put(session, "s", unit(f"{number % 30}", f"{session} {number % 30}"))
            try:
                got = store.get(session, passage.passage_id)
            except InvalidArgument:
                continue  # pushed out by the others in between
            if not got.unit.text.startswith(session):
                wrong.append(got.unit.text)

    threads = [threading.Thread(target=work, args=(f"x_{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.stats().bytes <= 40_000


def test_the_sessions_of_a_principal_share_memory_as_one() -> None:
    store = ScratchStore(max_bytes=6000, ttl=60)
    modest = store.put("x_ben", "s", unit("only"))
    for number in range(50):
        store.put(f"x_{number}", "s", unit("same"), principal="ana")
    assert store.get("x_ben", modest.passage_id) == modest


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(1, 300)), max_size=150))
def test_nobody_within_an_equal_share_is_ever_pushed_out(steps: list[tuple[int, int, int]]) -> None:
    store = ScratchStore(max_bytes=12_000, ttl=60)
    mine = store.put("x_me", "s", unit("mine", "z" * 100))  # less than a seventh of the memory
    for session, name, size in steps:
        passage = store.put(f"x_{session}", "s", unit(f"{name}_{size}", "y" * size))
        assert store.get(f"x_{session}", passage.passage_id) == passage
    assert store.get("x_me", mine.passage_id) == mine
