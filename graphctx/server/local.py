"""The tools called in this process: no protocol, no session, the same declarations and the same answers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.model.answers import LOCAL_SESSION
from graphctx.model.arguments import parse_arguments
from graphctx.model.cursors import Cursors
from graphctx.model.results import UnitText
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from graphctx.server.scratch import URI_SCHEME, Passage, ScratchStore
from graphctx.server.tool import AnyTool, Reply
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import Engine


@dataclass(frozen=True, slots=True)
class LocalPassage(Passage):
    """A passage under its section's id, which stays good for the next process, too."""

    @property
    def uri(self) -> str:
        """The document that holds the passage: nothing is kept between two calls."""
        return f"{URI_SCHEME}://document/{self.unit.doc_id}"


class Unshelved(ScratchStore):
    """Passages of one call, which need no store: a section id brings each back."""

    def __init__(self) -> None:
        super().__init__(max_bytes=0, ttl=0)

    def put(self, session_id: str, snapshot_id: str, unit: UnitText) -> Passage:
        """The passage of a unit; nothing is kept."""
        return LocalPassage(unit.section_id, session_id, snapshot_id, unit, created_at="")


def tool_named(name: str) -> AnyTool:
    """The tool of a name, with dots or with underscores.

    Raises:
        InvalidArgument: there is none.
    """
    known = {tool.name: tool for tool in TOOLS}
    for tool in TOOLS:
        if name in tool.names:
            return tool
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise InvalidArgument(
        f"There is no tool {name[:80]!r}.{meant} The tools are {', '.join(known)}.",
        field="tool",
        value=name[:200],
        allowed=list(known),
    )


def call(engine: Engine, config: ServerConfig, name: str, arguments: Mapping[str, Any]) -> Reply[Any]:
    """Call a tool.

    Args:
        engine: what it runs on.
        config: limits and boundary, as a server would have them.
        name: of the tool, with dots or with underscores.
        arguments: as a client would send them.

    Raises:
        GraphctxError: whatever a client would be told in an error envelope.
    """
    tool = tool_named(name)
    request = parse_arguments(tool.input, arguments)
    cursors = Cursors(LOCAL_SESSION.encode())  # so that the next process, which is as local, can go on
    searcher = engine.searcher()
    context = CallContext(
        searcher, engine.count, Unshelved(), LOCAL_SESSION, config, cursors=cursors, layers=engine.layers
    )
    reply: Reply[Any] = tool.run(context, request)
    return reply
