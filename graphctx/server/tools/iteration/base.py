"""What the tools of iterations share: arguments, the client, lists and changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from graphctx.model.answers import Answer, ListAnswer
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import PagedInput
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.render import more, one_line
from graphctx.server.tool import Reply
from graphctx.server.tools.memory.base import (
    MemoryChange,
    MemoryInput,
    change_of,
    parse_time,
    time_field,
)

if TYPE_CHECKING:
    from graphctx.memory import IterationClient

ContextTypeName = Literal["task", "iteration", "skill", "file", "output", "error", "summary"]
"""`graphctx.memory.ContextType`, which is too slow to import for a list of tools."""


MAX_NUMBER = 1_000_000_000


class IterationListInput(MemoryInput, PagedInput):
    """What calls with lists have in common."""

    as_of: str | None = time_field("Answer as at this ISO 8601 time; default: now.")


class IterationListAnswer(ListAnswer):
    """Base of answers that are lists and may be degraded."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"degraded"}

    degraded: str = Field("", description="Why the answer is degraded.")


class ContextChange(MemoryChange):
    """Base of answers that may be degraded."""

    SILENT: ClassVar[frozenset[str]] = MemoryChange.SILENT | {"degraded"}

    degraded: str = Field("", description="What did not work, and why.")


Changed = TypeVar("Changed", bound=ContextChange)

Listed = TypeVar("Listed", bound=IterationListAnswer)

Item = TypeVar("Item", bound=Answer)


def client_of(context: CallContext, asked: MemoryInput, *, strict: bool = False) -> IterationClient:
    """Return the client of a call, which answers as of its time."""
    from graphctx.memory import IterationClient

    as_of = getattr(asked, "as_of", None)
    at = context.now if as_of is None else parse_time(as_of, "as_of")
    return IterationClient(context.open_memory, context.memory_scope(asked.scope), clock=lambda: at, strict=strict)


def writing_client(context: CallContext, asked: MemoryInput) -> IterationClient:
    """Return the client of a call that writes; failures are raised."""
    context.require_writer("the memory")
    return client_of(context, asked, strict=True)


def list_reply(
    context: CallContext,
    request: IterationListInput,
    items: list[Item],
    build: Callable[[Part[Item]], Listed],
    render: Callable[[Listed], list[str]],
    tool: str,
    shorten: Shorten[Item] | None = None,
) -> Reply[Listed]:
    """Answer a page of a list; ``tool`` is its name and ``shorten`` truncates an item that does not fit."""
    results = Results(
        items=items,
        snapshot_id="",
        scope=context.scope(request.scope),
        empty_reason=None if items else "no_match",
    )

    def text(answer: Listed) -> str:
        degraded = f"Degraded: {one_line(answer.degraded)}" if answer.degraded else ""
        return "\n\n".join(filter(None, [*render(answer), degraded, *more(context, answer, tool)]))

    return Reply(*context.pager.page(request, results, build, text, shorten))


def context_change(
    context: CallContext, kind: type[Changed], found: dict[str, Any], render: Callable[[Changed], str]
) -> Reply[Changed]:
    """Answer what a client returned, and say where it is degraded."""

    def text(answer: Changed) -> str:
        degraded = [f"Degraded: {one_line(answer.degraded)}"] if answer.degraded else []
        return "\n".join([render(answer), *degraded])

    return change_of(context, kind, found, text)
