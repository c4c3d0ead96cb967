"""Cancellation, time limits and progress of calls."""

from __future__ import annotations

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
from graphctx.server.warmup import OpenKnowledgeBase, Warmup
from graphctx.server.workers import CallProgress, Workers

from .calls import engine_over, units_of
from .conftest import Connect, each_era
from .results import error_of
from .waiting import HANG, NAME, Waiting

pytestmark = pytest.mark.anyio


async def happened(event: threading.Event) -> bool:
    """Wait in a thread, so that the event loop goes on."""
    return await anyio.to_thread.run_sync(event.wait, HANG)


@asynccontextmanager
async def calling(client: Client, tool: str = NAME, **arguments: object) -> AsyncIterator[anyio.CancelScope]:
    """Call a tool while the block runs; the scope that it yields cancels the call."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, tool, arguments)
            yield scope
            scope.cancel()


@each_era
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
    async with connect(ServerConfig(call_timeout=0.2)) as client:
        error = error_of(await client.call_tool(NAME))
        assert error["code"] == "TIMEOUT"
        assert error["details"]["timeout_seconds"] == 0.2
        assert await happened(waiting.stopped)


class PausingCounter:
    """The real counter, which waits at the first long text until it is released, and then tells when it is stopped."""

    def __init__(self) -> None:
        self.began, self.released, self.stopped = threading.Event(), threading.Event(), threading.Event()
        self._counter = AnswerCounter()

    def __call__(self, text: str) -> int:
        if len(text) < 1_000:  # what warms it up
            return self._counter.count(text)
        self.began.set()
        assert self.released.wait(HANG)
        try:
            checkpoint()
        except TimedOut:
            self.stopped.set()
            raise
        return self._counter.count(text)


@pytest.mark.parametrize("given_up", ["cancelled", "timed out"])
@pytest.mark.parametrize(("tool", "argument"), [("fetch", "id"), ("kb.expand_excerpt", "passage_id")])
async def test_work_on_a_large_text_ends_when_its_call_is_given_up(
    connect: Connect, kb: KnowledgeBase, tool: str, argument: str, given_up: str
) -> None:
    unit, counter = units_of(kb, "odd/line.txt")[0], PausingCounter()
    config = ServerConfig(toolsets=("kb", "connector"), call_timeout=0.2 if given_up == "timed out" else HANG)
    engine = replace(engine_over(kb), count=counter)
    async with connect(server=build_server(Warmup(lambda: engine), config)) as client:
        if given_up == "cancelled":
            async with calling(client, tool, **{argument: unit.section_id}) as scope:
                assert await happened(counter.began)
                scope.cancel()
        else:
            error = error_of(await client.call_tool(tool, {argument: unit.section_id}))
            assert error["code"] == "TIMEOUT"
        counter.released.set()
        assert await happened(counter.stopped)


async def test_a_call_that_waits_for_a_worker_says_so() -> None:
    pool, began, gate, messages = Workers(1, HANG), threading.Event(), threading.Event(), []

    def block(_: CallProgress) -> None:
        began.set()
        assert gate.wait(HANG)

    async def hear(seconds: float, message: str) -> None:
        messages.append(message)
        gate.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0)
        async with anyio.create_task_group() as group:
            group.start_soon(pool.run, block)
            assert await happened(began)
            assert await pool.run(lambda _: 7, hear) == 7
    assert messages[0].startswith("waiting for a free worker")
    assert pool.counts() == {"finished": 2, "failed": 0, "timed_out": 0, "cancelled": 0, "running": 0}


@each_era
async def test_progress_of_a_call_says_what_the_server_does(
    connect: Connect, kb: KnowledgeBase, waiting: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "FIRST_PROGRESS_SECONDS", 0.01)
    monkeypatch.setattr(workers, "PROGRESS_SECONDS", 0.01)
    heard: list[tuple[float, str]] = []
    opening = threading.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))
        if "opening the knowledge base" in heard[-1][1]:
            opening.set()
        if "kb.wait" in heard[-1][1]:
            waiting.released.set()

    def open_slowly() -> OpenKnowledgeBase:
        assert opening.wait(HANG)
        return engine_over(kb)

    async with connect(server=build_server(Warmup(open_slowly))) as client:
        assert not (await client.call_tool(NAME, progress_callback=hear)).is_error
    assert [at for at, _ in heard] == sorted(at for at, _ in heard)
    assert opening.is_set()
    assert waiting.released.is_set()


@each_era
async def test_a_resource_or_a_completion_past_its_time_is_given_up_too(connect: Connect, kb: KnowledgeBase) -> None:
    released = threading.Event()

    def open_slowly() -> OpenKnowledgeBase:
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

    def open_slowly() -> OpenKnowledgeBase:
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
    monkeypatch.setattr(workers, "MAX_ABANDONED", 2)
    pool, gate = Workers(1, HANG), threading.Event()
    ended = [threading.Event() for _ in range(3)]

    def abandoned(number: int, began: threading.Event) -> None:
        began.set()
        gate.wait(HANG)
        ended[number].set()

    for number in range(3):
        began = threading.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(pool.run, lambda _, n=number, b=began: abandoned(n, b))
            assert await happened(began)
            group.cancel_scope.cancel()
    with pytest.raises(BackendUnavailable, match="busy"):
        await pool.run(lambda _: 7)
    gate.set()
    for event in ended:
        assert await happened(event)
    assert pool.counts()["cancelled"] == 3
