"""Many prompts to one model: concurrently, in bounds, and only as long as answers come."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from graphctx.model.interrupt import checkpoint
from graphctx.nlp.llm.base import Chat, ChatFailed, ChatModel, Completion
from graphctx.nlp.llm.cited import Reading, read_cited
from graphctx.nlp.llm.prompts import Prompt

if TYPE_CHECKING:
    from anyio import CancelScope

BREAK_AFTER = 5
"""Failures in a row, each after its retries, that end a run: an endpoint that is down, or a model that does not
follow the instructions, costs no more than these."""

_LOOK_SECONDS = 0.2
"""How often a waiting caller looks whether it has been given up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to a prompt, and what is believed of it."""

    completion: Completion
    reading: Reading


Outcome = Answer | ChatFailed


def ask_all(
    model: ChatModel,
    prompts: Sequence[Prompt],
    max_tokens: int,
    *,
    concurrency: int,
    within_seconds: float = math.inf,
    break_after: int = BREAK_AFTER,
) -> Generator[tuple[int, Outcome], None, None]:
    """Ask all prompts.

    Leaving the iterator early gives up what is still asked.

    Args:
        model: opened once for all.
        prompts: asked in this order.
        max_tokens: of each answer.
        concurrency: prompts asked at the same time.
        within_seconds: what has no answer by then has failed.
        break_after: failures in a row after which the rest is skipped.

    Yields:
        The index of each prompt, once, with its outcome, in the order in which they come.

    Raises:
        TimedOut: at a checkpoint, when the caller's call was given up.
    """
    if not prompts:
        return
    from anyio.from_thread import start_blocking_portal

    run = _Run(model, prompts, max_tokens, concurrency, within_seconds, break_after)
    with start_blocking_portal() as portal:  # a thread with a loop of its own: the caller may have one running
        done = portal.start_task_soon(run.all)
        for _ in prompts:
            yield _next(run.outcomes, done)


def _next(outcomes: SimpleQueue[tuple[int, Outcome]], done: Future[None]) -> tuple[int, Outcome]:
    while True:
        checkpoint()
        ended = done.done()
        try:
            return outcomes.get(timeout=0 if ended else _LOOK_SECONDS)
        except Empty:
            if ended:
                done.result()
                raise


class _Run:
    """One run over all prompts, inside the loop's thread."""

    def __init__(
        self,
        model: ChatModel,
        prompts: Sequence[Prompt],
        max_tokens: int,
        concurrency: int,
        within_seconds: float,
        break_after: int,
    ) -> None:
        self.outcomes: SimpleQueue[tuple[int, Outcome]] = SimpleQueue()
        self._model = model
        self._prompts = prompts
        self._max_tokens = max_tokens
        self._concurrency = concurrency
        self._within_seconds = within_seconds
        self._break_after = break_after
        self._waiting = iter(range(len(prompts)))
        self._open = set(range(len(prompts)))
        self._in_a_row = 0
        self._end = ChatFailed(f"No answer within {within_seconds:g} s.", "timeout")

    async def all(self) -> None:
        """Put one outcome for each prompt."""
        import anyio

        with anyio.move_on_after(self._within_seconds) as scope:
            try:
                async with self._model.open() as chat, anyio.create_task_group() as tasks:
                    for _ in range(min(self._concurrency, len(self._prompts))):
                        tasks.start_soon(self._work, chat, scope)
            except ChatFailed as failure:
                self._end = failure
            except Exception as error:  # such as an address or a proxy of the environment that no client can be made of
                self._end = ChatFailed(_faulty(error), "unexpected", lasting=True)
        for index in sorted(self._open):
            self.outcomes.put((index, self._end))

    async def _work(self, chat: Chat, scope: CancelScope) -> None:
        for index in self._waiting:
            outcome = await self._one(chat, self._prompts[index])
            self._open.discard(index)
            self.outcomes.put((index, outcome))
            if isinstance(outcome, Answer):
                self._in_a_row = 0
                continue
            self._in_a_row += 1
            if outcome.lasting or self._in_a_row >= self._break_after:
                self._end = _skipped(outcome, self._in_a_row)
                scope.cancel()
                return

    async def _one(self, chat: Chat, prompt: Prompt) -> Outcome:
        try:
            completion = await chat.complete(prompt.messages, self._max_tokens)
            return Answer(completion, read_cited(completion, prompt))
        except ChatFailed as failure:
            return failure
        except Exception as error:  # a fault of an implementation must not take an ingest or a query with it
            return ChatFailed(_faulty(error), "unexpected")


def _faulty(error: Exception) -> str:
    """What failed, by its type alone: what an exception says may hold the address or a key."""
    return f"The model's client failed: {type(error).__name__}."


def _skipped(last: ChatFailed, in_a_row: int) -> ChatFailed:
    many = f"{in_a_row} failures in a row" if in_a_row > 1 else "a failure that lasts"
    return ChatFailed(f"Not asked, or given up, after {many}; the last one: {last.message}", "skipped", lasting=True)
