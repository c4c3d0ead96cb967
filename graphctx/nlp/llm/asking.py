"""Many prompts to one model: concurrently, with limits, stopping after repeated failures."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from graphctx.model.interrupt import checkpoint
from graphctx.nlp.llm.citations import CitedAnswer, read_cited
from graphctx.nlp.llm.client import Chat, ChatFailed, ChatModel, Completion, FailureKind
from graphctx.nlp.llm.prompts import Prompt
from graphctx.settings import LlmSettings

if TYPE_CHECKING:
    from anyio import CancelScope

BREAK_AFTER = 5
"""Failures in a row, each after its retries, that end a run: an endpoint that is down, or a model that does not
follow the instructions, costs no more than these."""

_LOOK_SECONDS = 0.2
"""How often a waiting caller looks whether its call was cancelled."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model wrote to a prompt, and what of it is kept."""

    completion: Completion
    cited: CitedAnswer


Outcome = ModelAnswer | ChatFailed


def ask_all(
    model: ChatModel,
    prompts: Sequence[Prompt],
    max_tokens: int,
    *,
    concurrency: int,
    within_seconds: float = math.inf,
) -> Generator[tuple[int, Outcome], None, None]:
    """Ask all prompts.

    Leaving the iterator early cancels what is still asked.

    Args:
        model: opened once for all.
        prompts: asked in this order.
        max_tokens: of each answer.
        concurrency: prompts asked at the same time.
        within_seconds: what has no answer by then has failed.

    Yields:
        The index of each prompt, once, with its outcome, in the order in which they come.

    Raises:
        TimedOut: at a checkpoint, if the caller's call was cancelled.
    """
    if not prompts:
        return
    from anyio.from_thread import start_blocking_portal

    run = _Run(model, prompts, max_tokens, concurrency, within_seconds)
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


@dataclass
class _Run:
    """One run over all prompts, inside the loop's thread."""

    model: ChatModel
    prompts: Sequence[Prompt]
    max_tokens: int
    concurrency: int
    within_seconds: float
    outcomes: SimpleQueue[tuple[int, Outcome]] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        self._waiting = iter(range(len(self.prompts)))
        self._open = set(range(len(self.prompts)))
        self._in_a_row = 0
        self._end = ChatFailed(f"No answer within {self.within_seconds:g} s.", "timeout")

    async def all(self) -> None:
        """Put one outcome for each prompt."""
        import anyio

        with anyio.move_on_after(self.within_seconds) as scope:
            try:
                async with self.model.open() as chat, anyio.create_task_group() as tasks:
                    for _ in range(min(self.concurrency, len(self.prompts))):
                        tasks.start_soon(self._work, chat, scope)
            except ChatFailed as failure:
                self._end = failure
            except Exception as error:  # such as an address or a proxy of the environment that no client can be made of
                self._end = ChatFailed(_faulty(error), "unexpected", permanent=True)
        for index in sorted(self._open):
            self.outcomes.put((index, self._end))

    async def _work(self, chat: Chat, scope: CancelScope) -> None:
        for index in self._waiting:
            outcome = await self._one(chat, self.prompts[index])
            self._open.discard(index)
            self.outcomes.put((index, outcome))
            if isinstance(outcome, ModelAnswer):
                self._in_a_row = 0
                continue
            self._in_a_row += 1
            if outcome.permanent or self._in_a_row >= BREAK_AFTER:
                self._end = _skipped(outcome, self._in_a_row)
                scope.cancel()
                return

    async def _one(self, chat: Chat, prompt: Prompt) -> Outcome:
        try:
            completion = await chat.complete(prompt.messages, self.max_tokens)
            return ModelAnswer(completion, read_cited(completion, prompt))
        except ChatFailed as failure:
            return failure
        except Exception as error:  # a fault of an implementation must not take an ingest or a query with it
            return ChatFailed(_faulty(error), "unexpected")


def _faulty(error: Exception) -> str:
    """What failed, by its type alone: what an exception says may hold the address or a key."""
    return f"The model's client failed: {type(error).__name__}."


def _skipped(last: ChatFailed, in_a_row: int) -> ChatFailed:
    many = f"{in_a_row} failures in a row" if in_a_row > 1 else "a permanent failure"
    return ChatFailed(f"Not asked, or given up, after {many}; the last one: {last.message}", "skipped", permanent=True)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Before the first call. Tokens are word pieces, within some percent of what the model counts on prose.

    ``output_tokens`` and ``cost`` are upper bounds; ``cost`` is 0 where no price is set.
    """

    model: str
    calls: int
    from_memo: int
    input_tokens: int
    output_tokens: int
    cost: float

    def sentence(self) -> str:
        """The estimate for a person."""
        price = f", at most {self.cost:.4f} at the prices set" if self.cost else ""
        return (
            f"{self.model} would be asked {self.calls:,} times ({self.from_memo:,} answers are kept from before): "
            f"about {self.input_tokens:,} tokens in, at most {self.output_tokens:,} out{price}."
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """Failures of one kind: how many, and what the first in order said."""

    kind: FailureKind
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class LlmReport:
    """The result of asking. ``asked`` = ``answered`` + the counts of ``reasons``; the endpoint counts the tokens."""

    model: str
    asked: int
    from_memo: int
    answered: int
    dropped_sentences: int
    input_tokens: int
    output_tokens: int
    cost: float
    reasons: tuple[Reason, ...]

    @property
    def failed(self) -> int:
        """How many stay extractive although they were to be phrased."""
        return self.asked - self.answered

    def notes(self) -> list[str]:
        """What a person should know; empty if nothing went wrong."""
        if not self.failed:
            return []
        causes = "; ".join(f"{reason.count} × {reason.kind}: {reason.first}" for reason in self.reasons)
        nothing = f"{self.model} returned nothing usable for {self.failed} of {self.asked} texts"
        return [f"{nothing}; these remain extractive. {causes}"]


def cost(settings: LlmSettings, input_tokens: int, output_tokens: int) -> float:
    """The price of tokens in the currency of the settings."""
    return (input_tokens * settings.input_price + output_tokens * settings.output_price) / 1_000_000


def report(settings: LlmSettings, model: str, outcomes: Iterable[Outcome], from_memo: int = 0) -> LlmReport:
    """Count outcomes in the order of their prompts."""
    outcomes = list(outcomes)
    answers = [outcome for outcome in outcomes if isinstance(outcome, ModelAnswer)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, ChatFailed)]
    tokens = [sum(a.completion.input_tokens for a in answers), sum(a.completion.output_tokens for a in answers)]
    return LlmReport(
        model=model,
        asked=len(outcomes),
        from_memo=from_memo,
        answered=len(answers),
        dropped_sentences=sum(answer.cited.dropped for answer in answers),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost=cost(settings, *tokens),
        reasons=_reasons(failures),
    )


def _reasons(failures: list[ChatFailed]) -> tuple[Reason, ...]:
    kinds = dict.fromkeys(failure.kind for failure in failures)
    of_kind = {kind: [failure for failure in failures if failure.kind == kind] for kind in kinds}
    return tuple(Reason(kind, len(found), found[0].message) for kind, found in of_kind.items())
