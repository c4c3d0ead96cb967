from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from graphctx.errors import BackendUnavailable, TimedOut
from graphctx.model.interrupt import checkpoint
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server import workers
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Engine, Warmup
from graphctx.server.workers import Job, Workers

from .conftest import Connect
from .library import Library, count_tokens
from .results import error_of
from .slow import SlowLibrary

pytestmark = pytest.mark.anyio


@pytest.fixture
def slow() -> Iterator[SlowLibrary]:
    library = SlowLibrary()
    yield library
    library.released.set()


@pytest.fixture
def over(connect: Connect, slow: SlowLibrary):  # type: ignore[no-untyped-def]
    """Make a client of a server over the slow library."""

    def make(**settings):  # type: ignore[no-untyped-def]
        return connect(server=build_server(Warmup(lambda: Engine(slow, count_tokens)), ServerConfig(**settings)))

    return make


async def happened(event: threading.Event) -> bool:
    """Wait in a thread, so that the event loop goes on."""
    return await anyio.to_thread.run_sync(event.wait, 10)


@asynccontextmanager
async def calling(
    client: Client, query: str = "", tool: str = "kb.search", arguments: dict[str, str] | None = None
) -> AsyncIterator[anyio.CancelScope]:
    """A call that goes on while the block runs, by default a search; give its scope, by which the client cancels it."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, tool, arguments or {"query": query})
            yield scope
            scope.cancel()


async def test_a_cancelled_call_is_stopped_at_its_next_checkpoint(over, slow: SlowLibrary) -> None:  # type: ignore[no-untyped-def]
    async with over() as client:
        async with calling(client, "slow") as scope:
            assert await happened(slow.began)
            cancelled_at = time.perf_counter()
            scope.cancel()
        assert await happened(slow.stopped)
        assert slow.stopped_at >= cancelled_at
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_call_that_cannot_be_stopped_gives_its_slot_back_all_the_same(over, slow: SlowLibrary) -> None:  # type: ignore[no-untyped-def]
    async with over(workers=1) as client:
        async with calling(client, "deaf") as scope:
            assert await happened(slow.began)
            scope.cancel()
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_call_past_its_time_is_answered_and_stopped(over, slow: SlowLibrary) -> None:  # type: ignore[no-untyped-def]
    async with over(call_timeout=0.1) as client:
        error = error_of(await client.call_tool("kb.search", {"query": "slow"}))
        assert error["code"] == "TIMEOUT"
        assert error["details"]["timeout_seconds"] == 0.1
        assert await happened(slow.stopped)


class PausingCounter:
    """The real counter, which waits at the first long text until it is released, and tells how much it counted."""

    def __init__(self) -> None:
        self.began, self.released = threading.Event(), threading.Event()
        self.sizes: list[int] = []
        self._counter = AnswerCounter()

    def __call__(self, text: str) -> int:
        if len(text) < 1_000:  # what warms it up
            return self._counter.count(text)
        self.sizes.append(len(text))
        self.began.set()
        assert self.released.wait(30)
        return self._counter.count(text)


LINE = "lorem ipsum \u1797\u17b6\u179f\u17b6 \U0001f600 " * 40_000
"""A line of a million characters."""


@pytest.mark.parametrize(
    ("tool", "argument", "doc_id"),
    [("fetch", "id", True), ("fetch", "id", False), ("kb.expand_excerpt", "passage_id", False)],
)
@pytest.mark.parametrize("given_up", ["cancelled", "timed out"])
async def test_work_on_a_large_document_ends_when_its_call_is_given_up(
    connect: Connect, tool: str, argument: str, doc_id: bool, given_up: str
) -> None:
    library, counter = Library({"big.txt": ("Big", "", LINE)}), PausingCounter()
    unit = next(iter(library.units.values()))
    arguments = {argument: unit.doc_id if doc_id else unit.section_id}
    config = ServerConfig(toolsets=("kb", "connector"), call_timeout=0.5 if given_up == "timed out" else 60)
    opened = Engine(library, counter)
    async with connect(server=build_server(Warmup(lambda: opened), config)) as client:
        if given_up == "cancelled":
            async with calling(client, tool=tool, arguments=arguments) as scope:
                assert await happened(counter.began)
                scope.cancel()
        else:
            assert error_of(await client.call_tool(tool, arguments))["code"] == "TIMEOUT"
        assert counter.began.is_set()
        counter.released.set()
        with anyio.fail_after(30):
            while (await calls_of(client))["running"] > 1:  # the one that reads this
                pass
    assert len(counter.sizes) <= 2  # a text and a structure were being weighed; no further try
    assert max(counter.sizes) < len(LINE) / 8  # and of neither more than could fit


async def calls_of(client: Client) -> dict[str, int]:
    """How calls ended so far, and how many run now."""
    return json.loads((await client.read_resource("graphctx://status")).contents[0].text)["calls"]


async def test_a_call_that_waits_for_a_worker_says_so() -> None:
    pool, gate, second = Workers(1, 10), threading.Event(), Job()
    async with anyio.create_task_group() as group:
        group.start_soon(pool.run, lambda _: gate.wait(10))
        while not pool.counts()["running"]:
            await anyio.sleep(0)
        with anyio.move_on_after(0.05):
            await pool.run(lambda _: pytest.fail("there is one worker, and it is busy"), second)
        assert second.doing == "waiting for a free worker"
        gate.set()
    assert pool.counts() == {"finished": 1, "failed": 0, "timed_out": 0, "cancelled": 1, "running": 0}


async def test_progress_is_told_of_a_call_that_takes_longer(
    over,  # type: ignore[no-untyped-def]
    slow: SlowLibrary,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0.05)
    monkeypatch.setattr(workers, "PROGRESS_SECONDS", 0.05)
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))
        if len(told) == 3:
            slow.released.set()

    async with over() as client:
        result = await client.call_tool("kb.search", {"query": "slow"}, progress_callback=hear)
        assert not result.is_error
        assert len(told) >= 3
        assert [at for at, _ in told] == sorted(at for at, _ in told)
        assert "kb_search" in (told[-1][1] or "")
        count = len(told)
        await client.call_tool("kb.search", {"query": "ledger"}, progress_callback=hear)
        assert len(told) == count


async def test_progress_says_that_the_knowledge_base_is_being_opened(
    connect: Connect, slow: SlowLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0.02)
    told: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        slow.released.set()

    def open_slowly() -> Engine:
        assert slow.released.wait(10)
        return Engine(slow, count_tokens)

    async with connect(server=build_server(Warmup(open_slowly))) as client:
        await client.call_tool("kb.search", {"query": "ledger"}, progress_callback=hear)
    assert "opening the knowledge base" in (told[0] or "")


async def test_a_resource_or_a_completion_past_its_time_is_given_up_too(over, slow: SlowLibrary) -> None:  # type: ignore[no-untyped-def]
    slow.patience = slow.released  # reading waits until it is released
    async with over(call_timeout=0.05) as client:
        for asked in (
            lambda: client.read_resource("graphctx://document/ops%2Fbackup.md"),
            lambda: client.complete(PromptReference(name="compare"), {"name": "first", "value": "led"}),
        ):
            with pytest.raises(MCPError) as caught:
                await asked()
            assert caught.value.error.data["error"]["code"] == "TIMEOUT"


async def test_an_opening_that_its_first_caller_gave_up_serves_the_next() -> None:
    gate, opened = threading.Event(), []

    def open_slowly() -> Engine:
        assert gate.wait(10)
        checkpoint()  # the first caller has gone, which must not stop what others wait for
        opened.append(1)
        return Engine(SlowLibrary(), count_tokens)

    warmup = Warmup(open_slowly)
    with pytest.raises(TimedOut):
        await Workers(2, 0.05).run(lambda _: warmup.get())
    gate.set()
    assert await Workers(2, 10).run(lambda _: warmup.get())
    assert opened == [1]


async def test_a_flood_of_calls_that_never_stop_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_LEFT_BEHIND", 2)
    pool, gate = Workers(1, 0.02), threading.Event()

    def deaf(job: Job) -> None:
        gate.wait(10)

    for _ in range(3):
        with pytest.raises(TimedOut):
            await pool.run(deaf)
    with pytest.raises(BackendUnavailable, match="busy"):
        await pool.run(deaf)
    assert pool.counts()["running"] == 3
    gate.set()
    while pool.counts()["running"]:
        await anyio.sleep(0)
    assert pool.counts() == {"finished": 0, "failed": 0, "timed_out": 3, "cancelled": 0, "running": 0}
    assert await pool.run(lambda _: 7) == 7
