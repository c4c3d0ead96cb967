"""What a tool is: declared once, listed, documented and called from that declaration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from graphctx.model.answers import Answer
from graphctx.model.budgets import Limits
from graphctx.model.requests import Strict
from graphctx.server.call_context import CallContext
from graphctx.server.config import Toolset

In = TypeVar("In", bound=Strict)
Out = TypeVar("Out", bound=Answer)

READ_ONLY_HINTS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
"""Of all retrieval tools (tool contract, section 7.2)."""

Effect = Literal["none", "append", "append_once"]
"""What a call leaves behind: nothing; a record more with each call; or one record, however often it is repeated. No
tool takes anything away, and none reaches beyond this machine."""


@dataclass(frozen=True, slots=True)
class Description:
    """The five parts that every tool's description has (tool contract, section 7.1).

    ``{response}`` in ``returns`` stands for what a whole response may weigh.
    """

    use_when: str
    not_when: str
    returns: str
    follow_up: str
    defaults: str

    def text(self, limits: Limits | None = None) -> str:
        """The description as a client gets it, of a server with these limits; with the usual ones by default."""
        most = limits or Limits()
        returns = self.returns.replace("{response}", f"{most.max_tokens:,} tokens and {most.max_bytes:,} bytes")
        return (
            f"Use when {self.use_when}\n"
            f"Do not use when {self.not_when}\n"
            f"Returns at most {returns}\n"
            f"If you need more, {self.follow_up}\n"
            f"Defaults: {self.defaults}"
        )


@dataclass(frozen=True, slots=True)
class Reply(Generic[Out]):
    """An answer and its readable rendering; each stands alone: many clients show a model only one."""

    answer: Out
    text: str


@dataclass(frozen=True, slots=True)
class Tool(Generic[In, Out]):
    """A tool's declaration. ``run`` is synchronous and raises the typed errors.

    ``aliases`` are names under which it can be called, but is not listed.
    """

    name: str
    toolset: Toolset
    title: str
    description: Description
    input: type[In]
    output: type[Out]
    run: Callable[[CallContext, In], Reply[Out]]
    effect: Effect = "none"
    aliases: tuple[str, ...] = ()

    @property
    def hints(self) -> dict[str, bool]:
        """The annotations, by their names on the wire."""
        return {
            **READ_ONLY_HINTS,
            "readOnlyHint": self.effect == "none",
            "idempotentHint": self.effect != "append",
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it can be called: its own, with underscores too, and its aliases."""
        return tuple(dict.fromkeys((self.name, self.name.replace(".", "_"), *self.aliases)))


AnyTool = Tool[Any, Any]
