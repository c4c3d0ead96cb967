"""Tool calls in this process, without a protocol and without a session: the same declarations, the same answers."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.model.answers import LOCAL_SESSION
from graphctx.model.arguments import parse_arguments
from graphctx.model.cursors import Cursors
from graphctx.model.results import UnitText
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from graphctx.server.listing import hidden_fields
from graphctx.server.scratch import URI_SCHEME, Passage, ScratchStore
from graphctx.server.tool import AnyTool, Reply
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import OpenKnowledgeBase


class LocalPassage(Passage):
    """A passage whose id is its section's, which the next process understands too."""

    @property
    def uri(self) -> str:
        """The URI of its document: nothing is kept between two calls."""
        return f"{URI_SCHEME}://document/{self.unit.doc_id}"


class LocalScratch(ScratchStore):
    """Keeps nothing: a section id leads back to each passage."""

    def put(self, session_id: str, snapshot_id: str, unit: UnitText, principal: str = "") -> Passage:
        """Return the passage of a unit."""
        return LocalPassage(unit.section_id, session_id, snapshot_id, unit, created_at="")


def tool_named(name: str) -> AnyTool:
    """Return the tool of a name, with dots or with underscores.

    Raises:
        InvalidArgument: there is no such tool.
    """
    known = {tool.name: tool for tool in TOOLS}
    for tool in TOOLS:
        if name in tool.names:
            return tool
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise InvalidArgument(
        f"There is no tool {name[:80]!r}.{hint} The tools are {', '.join(known)}.",
        field="tool",
        value=name[:200],
        allowed=list(known),
    )


def call(kb: OpenKnowledgeBase, config: ServerConfig, name: str, arguments: Mapping[str, Any]) -> Reply[Any]:
    """Call a tool.

    Raises:
        GraphctxError: what a client would get as an error envelope.

    ```python
    reply = call(open_kb("handbook/.graphctx"), ServerConfig(), "kb.search", {"query": "duty officer"})
    print(reply.text)
    ```
    """
    tool = tool_named(name)
    request = parse_arguments(tool.input, arguments, hidden_fields(tool, config))
    reply: Reply[Any] = tool.run(
        CallContext(
            kb.searcher(),
            kb.count,
            LocalScratch(max_bytes=0, ttl=0),
            LOCAL_SESSION,
            config,
            cursors=Cursors(LOCAL_SESSION.encode()),  # a fixed key, so that the next process can go on
            layers=kb.layers,
            memory=kb.memory,
            now=datetime.now(UTC),
            ingest=kb.ingest,
        ),
        request,
    )
    return reply
