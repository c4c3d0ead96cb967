"""The desk at which one call is served: backend, session, scope and budget in one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.model.budgets import CountTokens
from graphctx.model.cursors import HEAVIEST_ID, Cursors
from graphctx.model.pages import Pager
from graphctx.model.requests import Scope
from graphctx.model.scope import Boundary
from graphctx.server.backend import Backend, UnitText
from graphctx.server.config import ServerConfig
from graphctx.server.names import OWN, Spelling
from graphctx.server.scratch import Passage, ScratchStore
from graphctx.server.units import Units, is_chunk, seen

if TYPE_CHECKING:
    from graphctx.retrieve.layered.source import LayerSource

_NO_LAYERS = (
    "No layers are served here. Whoever runs the server names their folder ([layers] folder, --layers). A boundary of "
    "documents ([server] doc_tags, repositories) keeps them out unless [layers] despite_boundary says otherwise."
)

_RANDOM_ID = re.compile(r"\b([px]_)([0-9A-Za-z]{11,16})\b")


def _steady(text: str) -> str:
    """The text with every random id replaced by one of the same length."""
    return _RANDOM_ID.sub(lambda found: found[1] + HEAVIEST_ID[: len(found[2])], text)


@dataclass(frozen=True, slots=True)
class Desk:
    """Everything that a tool's handler may use.

    ``principal`` is the owner of the call's bearer token, if it has one; ``layers`` are those of AGENTS.db, if any;
    ``session_note`` says that the ``session_id`` of the call was ignored, if it was.
    """

    backend: Backend
    count: CountTokens
    scratch: ScratchStore
    session_id: str
    config: ServerConfig
    spelling: Spelling = OWN
    cursors: Cursors = field(default_factory=Cursors)
    layers: LayerSource | None = None
    principal: str = ""
    session_note: str | None = None

    @property
    def pager(self) -> Pager:
        """Cuts this session's answers to their pages and budgets."""
        return Pager(
            self.config.limits, self.count, self.session_id, self.cursors, _steady, self.sent, self.session_note
        )

    def sent(self, text: str, structure: str) -> list[str]:
        """What of an answer is sent: without structured output, the structure alone and as text."""
        return [text, structure] if self.config.structured_output else [structure]

    def say(self, sentence: str) -> str:
        """A sentence of the server's own with the names of tools as this client knows them."""
        return self.spelling.text(sentence)

    def scope(self, asked: Scope) -> Scope:
        """The scope that applies: what was asked for, within the settings.

        Raises:
            ScopeViolation: something outside them is asked for.
        """
        boundary = Boundary(
            self.backend.project_id, self.backend.environment, self.config.doc_tags, self.config.repositories
        )
        return boundary.narrow(asked)

    def shelve(self, section_id: str) -> Passage:
        """Put a unit, or a layer's chunk, into this session's scratch store."""
        return self._shelved(self._units.unit(section_id))

    def layer_source(self, argument: str = "") -> LayerSource:
        """The layers.

        Args:
            argument: the one that asks for them; none where the whole tool does.

        Raises:
            InvalidArgument: an argument asks for layers, and there are none here.
            BackendUnavailable: a tool needs layers, and there are none here.
        """
        if self.layers is not None:
            return self.layers
        if argument:
            raise InvalidArgument(
                f"{argument}: {_NO_LAYERS}", field=argument, value="some", allowed="left out", setting="layers.folder"
            )
        raise BackendUnavailable(_NO_LAYERS, setting="layers.folder")

    def document_text(self, unit: UnitText) -> str:
        """The text that a unit's span counts in; a chunk is its own document."""
        return unit.text if is_chunk(unit) else self.backend.document_text(unit.doc_id)

    def section_id(self, ref: str, argument: str) -> str:
        """The section id that a reference stands for: a passage id's own, and anything else unchanged.

        Args:
            ref: what the caller named.
            argument: as which argument.

        Raises:
            InvalidArgument: this session has no such passage, or its text is no longer published.
        """
        return self._held(ref, argument).unit.section_id if ref.startswith("p_") else ref

    def passage(self, asked: str, scope: Scope, argument: str = "passage_id") -> Passage:
        """The passage that a caller names by its passage id or by its section id, as it is published now.

        Args:
            asked: what the caller named.
            scope: that applies.
            argument: as which argument.

        Raises:
            InvalidArgument: this session has no such passage, or its text is no longer published; or no such section
                lies within ``scope``.
            ScopeViolation: this session has the passage, and it lies outside ``scope``.
        """
        if asked.startswith("p_"):
            held = self._held(asked, argument)
            if not seen(held.unit, scope):
                raise ScopeViolation(
                    f"{argument}: passage {asked!r} lies outside the doc_tags or repositories of the scope. "
                    "Widen the scope if you may, or search within it.",
                    field=argument,
                    value=asked,
                    allowed=scope.model_dump(mode="json"),
                )
            return held
        return self._shelved(self._units.within(asked, scope, argument))

    @property
    def _units(self) -> Units:
        return Units(self.backend, self.layers)

    def _held(self, passage_id: str, argument: str) -> Passage:
        return self._units.current(self.scratch.get(self.session_id, passage_id, argument), argument)

    def _shelved(self, unit: UnitText) -> Passage:
        return self.scratch.put(self.session_id, self._units.edition(unit), unit)
