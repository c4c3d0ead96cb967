"""The protocols behind which a language model stands, and what goes in and comes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from graphctx.errors import BackendUnavailable

FailureKind = Literal[
    "unreachable",
    "timeout",
    "rate_limited",
    "refused",
    "server_error",
    "not_a_completion",
    "uncited",
    "unexpected",
    "skipped",
]
"""Why there is no answer: from the endpoint, from what it said, or because nobody asked any more."""


class ChatFailed(BackendUnavailable):
    """A prompt has no usable answer. Whoever asked goes on without one.

    Args:
        message: what happened; never a secret, an address or text of the endpoint.
        kind: for counting.
        lasting: asking again, or asking something else, would end the same way.
    """

    def __init__(self, message: str, kind: FailureKind, lasting: bool = False) -> None:
        super().__init__(message, kind=kind)
        self.kind: FailureKind = kind
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote. ``finished`` is false where it was cut at its limit; tokens are 0 where not told."""

    text: str
    finished: bool = True
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence of a model, and which of the given sentences it is drawn from: indices from 0, sorted."""

    text: str
    cites: tuple[int, ...]


class Chat(Protocol):
    """An open line to a model, used by many tasks at once."""

    async def complete(self, messages: Sequence[Message], max_tokens: int) -> Completion:
        """Answer a conversation, as repeatably as the model can.

        Raises:
            ChatFailed: there is no answer after all retries.
        """


@runtime_checkable
class ChatModel(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """The model's name, for reports."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever another model, or other sampling, would answer: part of memo keys."""

    def open(self) -> AbstractAsyncContextManager[Chat]:
        """Open a line that lives as long as the ``async with`` block.

        Raises:
            ChatFailed: on entering, where what it needs is not installed.
        """


class Memory(Protocol):
    """Where answers are kept between ingests; ``graphctx.store.cache.Memo`` is one."""

    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that are there."""

    def put_many(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Keep values."""
