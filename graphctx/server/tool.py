"""The declaration of a tool: it is listed, documented and called from this one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from graphctx.model.answers import Answer
from graphctx.model.budgets import Limits
from graphctx.model.requests import Strict
from graphctx.server.call_context import CallContext
from graphctx.server.config import Toolset
from graphctx.server.schemas import Schema, tool_schema

In = TypeVar("In", bound=Strict)
Out = TypeVar("Out", bound=Answer)

READ_ONLY_HINTS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
"""The annotations of retrieval tools (tool contract, section 7.2)."""

Effect = Literal["none", "append", "append_once", "delete"]
"""What a call leaves behind: nothing; one more record with each call; one record, however often it is repeated; or less
than there was. No tool reaches beyond this machine."""

_COMMON_ARGUMENTS = frozenset({"scope", "filters", "session_id", "max_tokens", "max_bytes", "cursor"})
"""Arguments of every tool; the last line of a description leaves out those that have no default."""

_NO_CAP = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Description:
    """What a tool's author writes of its description (tool contract, section 7.1).

    Each part goes on from words that the listing puts before it: "Use when", "Do not use when", "Returns at most", "If
    you need more,". The fifth part, defaults and caps, is generated from the input model. In ``returns``, the name of
    an argument in braces stands for its default (``{top_k}``), and ``{response}`` for the limits of a whole response.
    """

    use_when: str
    not_when: str
    returns: str
    follow_up: str


@dataclass(frozen=True, slots=True)
class Reply(Generic[Out]):
    """An answer and its readable text. Each stands alone: many clients show a model only one of them."""

    answer: Out
    text: str


@dataclass(frozen=True, slots=True)
class Tool(Generic[In, Out]):
    """The declaration of a tool.

    Attributes:
        name: dotted, as documentation and the command line write it.
        toolset: in which it is offered.
        title: for people.
        description: for models.
        input: the model of its arguments; its defaults and caps are declared nowhere else.
        output: the model of its answer.
        run: the handler. It is synchronous and raises the errors of `graphctx.errors`.
        effect: what a call leaves behind.
        aliases: further names under which it can be called, but is not listed.
        timeout_seconds: until a call fails, in place of the server's limit.
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
    timeout_seconds: float | None = None

    @property
    def hints(self) -> dict[str, bool]:
        """The annotations, by their names on the wire."""
        return {
            **READ_ONLY_HINTS,
            "readOnlyHint": self.effect == "none",
            "destructiveHint": self.effect == "delete",
            "idempotentHint": self.effect != "append",
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it can be called: its own, the same with underscores, and its aliases."""
        return tuple(dict.fromkeys((self.name, self.name.replace(".", "_"), *self.aliases)))

    def describe(self, limits: Limits | None = None, listed: Schema | None = None) -> str:
        """Return the five lines of the description.

        Args:
            limits: Of a response of the server.
            listed: The schema of the arguments that are listed; all of them by default.
        """
        limits = limits or Limits()
        schema = tool_schema(self.input, "input")
        values = {name: field["default"] for name, field in _arguments(schema) if "default" in field}
        values["response"] = f"{limits.max_tokens:,} tokens and {limits.max_bytes:,} bytes"
        said = self.description
        return (
            f"Use when {said.use_when}\n"
            f"Do not use when {said.not_when}\n"
            f"Returns at most {said.returns.format_map(values)}\n"
            f"If you need more, {said.follow_up}\n"
            f"Defaults: {_defaults_and_caps(list(_arguments(listed or schema)))}"
        )


AnyTool = Tool[Any, Any]


def _arguments(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the arguments of a tool, those of its options too."""
    for name, field in schema["properties"].items():
        if name == "options":
            yield from _arguments(field)
        elif name not in _COMMON_ARGUMENTS or "default" in field:
            yield name, field


def _defaults_and_caps(fields: list[tuple[str, Schema]]) -> str:
    """Return every default but ``false``, and every cap: ``page_size 25. Max: page_size 100, 20 node_ids.``"""
    defaults = [
        f"{name} {str(field['default']).lower()}"
        for name, field in fields
        if field.get("default") and not isinstance(field["default"], list)
    ]
    caps = [f"{name} {field['maximum']}" for name, field in fields if field.get("maximum", _NO_CAP) < _NO_CAP]
    lists = [(name, field) for name, field in fields if "maxItems" in field and "enum" not in field["items"]]
    caps += [f"{field['maxItems']} {name}" for name, field in lists]
    return f"{', '.join(defaults) or 'none'}. Max: {', '.join(caps) or 'none'}."
