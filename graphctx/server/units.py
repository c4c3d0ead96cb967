"""Look up units by id within a scope, and check that a passage of a session is still published."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.model.ids import fingerprint
from graphctx.model.requests import Scope
from graphctx.model.results import UnitText
from graphctx.model.scope import within
from graphctx.server.scratch import Passage

if TYPE_CHECKING:
    from graphctx.layer_source.source import LayerSource
    from graphctx.retrieve.searcher import Searcher

LAYER_ID = "layer:"
"""The prefix of section ids of layers' chunks."""


def is_chunk(unit: UnitText) -> bool:
    """Return whether a unit is a layer's chunk."""
    return unit.section_id.startswith(LAYER_ID)


def in_scope(unit: UnitText, scope: Scope) -> bool:
    """Return whether a unit is in scope. A chunk always is: the settings decide whether layers are served."""
    return is_chunk(unit) or within(scope.doc_tags, scope.repositories)(unit.tags, unit.doc_uri)


def _anywhere(_: UnitText) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one snapshot, and the chunks of the layers beside it, if any."""

    searcher: Searcher
    layers: LayerSource | None = None

    def unit(self, section_id: str) -> UnitText:
        """Return a unit, or a layer's chunk, by its id.

        Raises:
            InvalidArgument: the id is unknown.
        """
        if self.layers is not None and section_id.startswith(LAYER_ID):
            return self.layers.unit(section_id)
        return self.searcher.unit(section_id)

    def within(self, section_id: str, scope: Scope, argument: str) -> UnitText:
        """Return a unit of a scope, or a layer's chunk, by its id.

        Raises:
            InvalidArgument: the scope has no such unit; the error is the same for one outside of the scope.
        """
        try:
            unit = self.unit(section_id)
        except InvalidArgument:
            raise unknown_passage(section_id, argument) from None
        if not in_scope(unit, scope):
            raise unknown_passage(section_id, argument)
        return unit

    def version_of(self, unit: UnitText) -> str:
        """Return the version that a passage of this unit belongs to: the snapshot, or a hash of a chunk's text."""
        return f"layer {fingerprint([unit.text])}" if is_chunk(unit) else self.searcher.snapshot_id

    def current(
        self, held: Passage, argument: str = "passage_id", seen: Callable[[UnitText], bool] = _anywhere
    ) -> Passage:
        """Return a passage that was found earlier as it is published now, under the same id.

        Its text is the same; tags, title and place are those of the published document.

        Raises:
            InvalidArgument: the text was changed or deleted, or has left the boundary; the error is the same.
        """
        if not is_chunk(held.unit) and held.snapshot_id == self.searcher.snapshot_id:
            return held
        try:
            unit = self.unit(held.unit.section_id)
        except InvalidArgument:
            raise _outdated(held, argument) from None
        renamed = unit.section_id != held.unit.section_id  # a former id leads to the document under its name now
        if unit.text != held.unit.text or (unit.doc_uri != held.unit.doc_uri and not renamed) or not seen(unit):
            raise _outdated(held, argument)
        return replace(held, snapshot_id=self.version_of(unit), unit=unit)


def unknown_passage(asked: str, argument: str) -> InvalidArgument:
    """Return the error about a section id that is not in scope, the same for one that does not exist."""
    repeat = searches(asked)
    return InvalidArgument(
        f"{argument}: no passage within this scope is known as {asked[:200]!r}. Ids come from earlier answers, and "
        f"change when the text that they stand for does. Repeat the {' or '.join(repeat)} call and use the ids of its "
        "answer.",
        field=argument,
        value=asked[:200],
        allowed="a section_id or passage_id of an answer within this scope",
        repeat=repeat,
    )


def searches(section_id: str) -> Sequence[str]:
    """Return the tools whose answers have such ids."""
    return ["agents_search"] if section_id.startswith(LAYER_ID) else ["kb.search", "kb.retrieve_evidence"]


def _outdated(held: Passage, argument: str) -> InvalidArgument:
    repeat = searches(held.unit.section_id)
    return InvalidArgument(
        f"{argument}: the text of {held.passage_id!r} has changed since it was found, or is gone. Repeat the "
        f"{' or '.join(repeat)} call and use the new passage_id.",
        field=argument,
        value=held.passage_id,
        allowed="a passage_id of the published snapshot",
        repeat=repeat,
    )
