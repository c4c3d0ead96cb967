from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from graphctx.errors import BackendUnavailable, TimedOut
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.interrupt import checkpoint
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server import workers
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Engine, Warmup
from graphctx.server.workers import Job, Workers

from .calls import engine_over, units_of
from .conftest import Connect
from .results import error_of
from .waiting import HANG, NAME, Waiting

pytestmark = pytest.mark.anyio


async def happened(event: threading.Event) -> bool:
    """Wait in a thread, so that the event loop goes on."""
    return await anyio.to_thread.run_sync(event.wait, HANG)


@asynccontextmanager
async def calling(client: Client, tool: str = NAME, **arguments: object) -> AsyncIterator[anyio.CancelScope]:
    """A call that goes on while the block runs; give its scope, by which the client cancels it."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, tool, arguments)
            yield scope
            scope.cancel()


async def test_a_cancelled_call_is_stopped_at_its_next_checkpoint(connect: Connect, waiting: Waiting) -> None:
    async with connect() as client:
        async with calling(client) as scope:
            assert await happened(waiting.began)
            assert not waiting.stopped.is_set()
            scope.cancel()
        assert await happened(waiting.stopped)
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_call_that_cannot_be_stopped_gives_its_slot_back_all_the_same(
    connect: Connect, waiting: Waiting
) -> None:
    async with connect(ServerConfig(workers=1)) as client:
        async with calling(client, deaf=True) as scope:
            assert await happened(waiting.began)
            scope.cancel()
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_call_past_its_time_is_answered_and_stopped(connect: Connect, waiting: Waiting) -> None:
    async with connect(ServerConfig(call_timeout=1)) as client:
        error = error_of(await client.call_tool(NAME))
        assert error["code"] == "TIMEOUT"
        assert error["details"]["timeout_seconds"] == 1
        assert await happened(waiting.stopped)


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


@pytest.mark.parametrize(
    ("tool", "argument", "whole"),
    [("fetch", "id", True), ("fetch", "id", False), ("kb.expand_excerpt", "passage_id", False)],
)
@pytest.mark.parametrize("given_up", ["cancelled", "timed out"])
async def test_work_on_a_large_document_ends_when_its_call_is_given_up(
    connect: Connect, kb: KnowledgeBase, tool: str, argument: str, whole: bool, given_up: str
) -> None:
    unit, counter = units_of(kb, "odd/line.txt")[0], PausingCounter()
    arguments = {argument: unit.doc_id if whole else unit.section_id}
    config = ServerConfig(toolsets=("kb", "connector"), call_timeout=1 if given_up == "timed out" else 60)
    opened = replace(engine_over(kb), count=counter)
    async with connect(server=build_server(Warmup(lambda: opened), config)) as client:
        if given_up == "cancelled":
            async with calling(client, tool, **arguments) as scope:
                assert await happened(counter.began)
                scope.cancel()
        else:
            assert error_of(await client.call_tool(tool, arguments))["code"] == "TIMEOUT"
        counter.released.set()
        with anyio.fail_after(60):
            while (await calls_of(client))["running"] > 1:  # the one that reads this
                pass
    assert len(counter.sizes) <= 2  # a text and a structure were being weighed; no further try


async def calls_of(client: Client) -> dict[str, int]:
    """How calls ended so far, and how many run now."""
    return json.loads((await client.read_resource("graphctx://status")).contents[0].text)["calls"]


async def test_a_call_that_waits_for_a_worker_says_so() -> None:
    pool, gate, second = Workers(1, HANG), threading.Event(), Job()
    async with anyio.create_task_group() as group:
        group.start_soon(pool.run, lambda _: gate.wait(HANG))
        while not pool.counts()["running"]:
            await anyio.sleep(0)
        with anyio.move_on_after(0.05):
            await pool.run(lambda _: pytest.fail("there is one worker, and it is busy"), second)
        assert second.doing == "waiting for a free worker"
        gate.set()
    assert pool.counts() == {"finished": 1, "failed": 0, "timed_out": 0, "cancelled": 1, "running": 0}


async def test_progress_is_told_of_a_call_that_takes_longer(
    connect: Connect, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0.05)
    monkeypatch.setattr(workers, "PROGRESS_SECONDS", 0.05)
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))
        if len(heard) == 3:
            waiting.released.set()

    async with connect() as client:
        assert not (await client.call_tool(NAME, progress_callback=hear)).is_error
    assert len(heard) >= 3
    assert [at for at, _ in heard] == sorted(at for at, _ in heard)
    assert "kb.wait" in (heard[-1][1] or "")


async def test_progress_says_that_the_knowledge_base_is_being_opened(
    connect: Connect, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0.02)
    heard: list[str | None] = []
    released = threading.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)
        if "opening the knowledge base" in (message or ""):
            released.set()

    def open_slowly() -> Engine:
        assert released.wait(HANG)
        return engine_over(kb)

    async with connect(server=build_server(Warmup(open_slowly))) as client:
        await client.call_tool("kb.search", {"query": "ledger"}, progress_callback=hear)
    assert released.is_set(), heard


async def test_a_resource_or_a_completion_past_its_time_is_given_up_too(connect: Connect, kb: KnowledgeBase) -> None:
    released = threading.Event()

    def open_slowly() -> Engine:
        assert released.wait(HANG)
        return engine_over(kb)

    server = build_server(Warmup(open_slowly), ServerConfig(call_timeout=0.05))
    async with connect(server=server) as client:
        for asked in (
            lambda: client.read_resource("graphctx://document/ops%2Fbackup.md"),
            lambda: client.complete(PromptReference(name="compare"), {"name": "first", "value": "led"}),
        ):
            with pytest.raises(MCPError) as caught:
                await asked()
            assert caught.value.error.data["error"]["code"] == "TIMEOUT"
        released.set()


async def test_an_opening_that_its_first_caller_gave_up_serves_the_next(kb: KnowledgeBase) -> None:
    gate, opened = threading.Event(), []

    def open_slowly() -> Engine:
        assert gate.wait(HANG)
        checkpoint()  # the first caller has gone, which must not stop what others wait for
        opened.append(1)
        return engine_over(kb)

    warmup = Warmup(open_slowly)
    with pytest.raises(TimedOut):
        await Workers(2, 0.05).run(lambda _: warmup.get())
    gate.set()
    assert await Workers(2, HANG).run(lambda _: warmup.get())
    assert opened == [1]


async def test_a_flood_of_calls_that_never_stop_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MAX_LEFT_BEHIND", 2)
    pool, gate = Workers(1, 0.02), threading.Event()

    def deaf(job: Job) -> None:
        gate.wait(HANG)

    while pool.counts()["running"] < 3:
        with pytest.raises(TimedOut):
            await pool.run(deaf)
    with pytest.raises(BackendUnavailable, match="busy"):
        await pool.run(deaf)
    gate.set()
    while pool.counts()["running"]:
        await anyio.sleep(0)
    counts = pool.counts()
    assert counts["timed_out"] >= 3
    assert (counts["finished"], counts["failed"], counts["cancelled"]) == (0, 0, 0)
    with anyio.fail_after(HANG):
        while True:
            with contextlib.suppress(TimedOut):  # a slow machine may take longer than that to start a thread
                assert await pool.run(lambda _: 7) == 7
                return
