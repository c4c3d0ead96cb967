"""The context of one tool call: its pinned snapshot, session, scope and budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.model.answers import SLIM
from graphctx.model.budgets import CountTokens
from graphctx.model.cursors import HEAVIEST_ID, Cursors
from graphctx.model.layers import NO_LAYERS
from graphctx.model.pages import Pager
from graphctx.model.requests import Scope
from graphctx.model.results import Results, UnitText
from graphctx.server.config import ServerConfig
from graphctx.server.names import DOTTED, ToolNaming
from graphctx.server.scratch import Passage, ScratchStore
from graphctx.server.units import Units, in_scope, is_chunk

if TYPE_CHECKING:
    from graphctx.ingest.report import IngestReport
    from graphctx.layer_source.source import LayerSource
    from graphctx.memory import Memory, MemoryScope, Moment
    from graphctx.retrieve.searcher import Searcher

_RANDOM_ID = re.compile(r"\b([px]_)([0-9A-Za-z]{11,16})\b")


def _with_fixed_ids(text: str) -> str:
    """Replace every random id by one of the same length, so that no budget depends on chance."""
    return _RANDOM_ID.sub(lambda found: found[1] + HEAVIEST_ID[: len(found[2])], text)


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a tool's handler works with.

    Attributes:
        searcher: the pinned snapshot, to ask.
        count: counts the tokens of a text.
        scratch: holds the passages that the session has seen.
        session_id: the session of the call.
        config: the server's settings.
        naming: the names of tools as the client knows them.
        cursors: makes and reads cursors.
        layers: the layers of AGENTS.db, if any are served.
        principal: the owner of the call's bearer token, or empty.
        session_note: says that the ``session_id`` of the call was ignored, if it was.
        slim: whether the answer is sent in its slim form.
        memory: opens the memory, if one is served.
        now: the time of the call.
        ingest: reads documents into the knowledge base.
        say_progress: tells the client what the call is doing.
    """

    searcher: Searcher
    count: CountTokens
    scratch: ScratchStore
    session_id: str
    config: ServerConfig
    naming: ToolNaming = DOTTED
    cursors: Cursors = field(default_factory=Cursors)
    layers: LayerSource | None = None
    principal: str = ""
    session_note: str | None = None
    slim: bool = False
    memory: Callable[[], Memory] | None = None
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    ingest: Callable[..., IngestReport] | None = None
    say_progress: Callable[[str], object] = len

    @property
    def pager(self) -> Pager:
        """The pager that cuts this session's answers to their pages and budgets."""
        return Pager(
            self.config.limits,
            self.count,
            self.session_id,
            self.cursors,
            _with_fixed_ids,
            self.payload_parts,
            self.session_note,
            lambda answer: answer.model_dump_json(context=self.form),
        )

    @property
    def form(self) -> dict[str, bool] | None:
        """The context of serialization that writes the answer in the form in which it is sent."""
        return SLIM if self.slim else None

    def payload_parts(self, text: str, structure: str) -> list[str]:
        """Return the parts of an answer that are sent: without structured output, the structure alone."""
        return [text, structure] if self.config.structured_output else [structure]

    def say(self, sentence: str) -> str:
        """Return a sentence of the server's own with the names of tools as this client knows them."""
        return self.naming.text(sentence)

    def scope(self, asked: Scope) -> Scope:
        """Return the scope that applies: what was asked for, within the boundary of the settings.

        Raises:
            ScopeViolation: the call asks for something outside.
        """
        return self.searcher.boundary.narrow(asked)

    def passages(self, listing: Results[Any]) -> list[Passage]:
        """Hold the passages of a listing's items in this session; an item without a row is a layer's."""
        rows = listing.rows or [-1] * len(listing.items)
        return [
            self._store_passage(self.searcher.unit_at(row) if row >= 0 else self._units.unit(item.section_id))
            for item, row in zip(listing.items, rows, strict=True)
        ]

    def layer_source(self) -> LayerSource:
        """Return the layers.

        Raises:
            BackendUnavailable: none are served.
        """
        if self.layers is None:
            raise BackendUnavailable(NO_LAYERS, setting="layers.folder")
        return self.layers

    def open_memory(self) -> Memory:
        """Return the memory.

        Raises:
            BackendUnavailable: none is served, or it cannot be opened.
        """
        if self.memory is None:
            raise BackendUnavailable(
                "No memory is served here. Start the server with --memory DIR, or set [memory] folder in kb.toml and "
                "offer the toolset memory.",
                setting="memory.folder",
            )
        return self.memory()

    def memory_scope(self, asked: Scope) -> MemoryScope:
        """Return whose memory a call reaches: its principal's, in this server's project and the call's session.

        Raises:
            ScopeViolation: the call asks for another project.
            InvalidArgument: the call narrows by tags or folders, which only documents have.
        """
        from graphctx.memory import MemoryScope

        if asked.doc_tags or asked.repositories:
            raise InvalidArgument(
                "scope.doc_tags and scope.repositories narrow documents; what is remembered has neither. Leave them "
                "out, and use filters.",
                field="scope",
            )
        return MemoryScope(self.principal, self.scope(asked).project_id or "", self.session_id)

    def moment(self, iteration: int = 0) -> Moment:
        """Return the time of the call, at an iteration."""
        from graphctx.memory import Moment

        return Moment(self.now, iteration)

    def require_writer(self, what: str) -> None:
        """Let callers write over HTTP only if somebody answers for them.

        A process over pipes belongs to whoever started it. Over HTTP a caller needs a bearer token, or an operator who
        says that a proxy authenticates.

        Args:
            what: is written into, for the error: ``layers``, ``the memory``.

        Raises:
            ScopeViolation: this caller may not write.
        """
        config = self.config
        if config.transport == "http" and not self.principal and not config.anonymous_writes:
            raise ScopeViolation(
                f"Writing into {what} over HTTP needs a bearer token, and this call has none. Reading needs none; ask "
                "the operator for a token ([server] tokens, --token-file), or to start the server with "
                "--allow-anonymous where a proxy authenticates.",
                field="authorization",
                value="nothing",
                allowed="the bearer token of a known owner",
            )

    def document_text(self, unit: UnitText) -> str:
        """Return the text that the offsets of a unit refer to; a layer's chunk is its own document."""
        return unit.text if is_chunk(unit) else self.searcher.document_text(unit.doc_id)

    def section_id(self, ref: str, argument: str) -> str:
        """Return the section id of a passage id, and any other reference unchanged.

        Raises:
            InvalidArgument: this session has no such passage, or its text is no longer published.
        """
        return self._held(ref, argument).unit.section_id if ref.startswith("p_") else ref

    def passage(self, asked: str, scope: Scope, argument: str = "passage_id") -> Passage:
        """Return a passage by its passage id or section id, as it is published now.

        Raises:
            InvalidArgument: this session has no such passage, its text is no longer published, or the scope has no
                such section.
            ScopeViolation: this session has the passage, and it lies outside the scope.
        """
        if asked.startswith("p_"):
            held = self._held(asked, argument)
            if not in_scope(held.unit, scope):
                raise ScopeViolation(
                    f"{argument}: passage {asked!r} lies outside the doc_tags or repositories of the scope. "
                    "Widen the scope if you may, or search within it.",
                    field=argument,
                    value=asked,
                    allowed=scope.model_dump(mode="json"),
                )
            return held
        return self._store_passage(self._units.within(asked, scope, argument))

    @property
    def _units(self) -> Units:
        return Units(self.searcher, self.layers)

    def _held(self, passage_id: str, argument: str) -> Passage:
        return self._units.current(self.scratch.get(self.session_id, passage_id, argument), argument)

    def _store_passage(self, unit: UnitText) -> Passage:
        return self.scratch.put(self.session_id, self._units.version_of(unit), unit, self.principal)
