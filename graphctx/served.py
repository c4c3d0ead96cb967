"""A knowledge base as a server needs it: the snapshot that is published, models, layers and the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.model.budgets import Limits
from graphctx.model.found import Evidence, UnitText
from graphctx.model.pages import Pager
from graphctx.model.requests import Environment, ExtractEvidenceInput, Filters, Scope
from graphctx.model.scope import Boundary
from graphctx.published import Published, View
from graphctx.settings import Settings, layers_folder, load_settings

if TYPE_CHECKING:
    from typing import Self

    from graphctx.nlp.base import Embedder
    from graphctx.nlp.tokens import AnswerCounter
    from graphctx.retrieve.index import SearchIndex
    from graphctx.retrieve.layered.source import LayerSource
    from graphctx.retrieve.service import Retriever
    from graphctx.store.config import KbConfig
    from graphctx.store.snapshot import Snapshot


class Served:
    """What a server asks (a ``graphctx.server.backend.Source``), and what that stands on.

    Args:
        path: the folder.
        config: its ``kb.toml``.
        snapshot_id: stay with this snapshot instead of following the published one.
    """

    def __init__(self, path: Path, config: KbConfig, *, snapshot_id: str | None = None) -> None:
        self.path = path
        self.config = config
        self.settings: Settings = load_settings(config.settings)
        self._published = Published(path, self._retriever_of, snapshot_id)

    @property
    def project_id(self) -> str:
        """The project that this knowledge base holds; fixed in ``kb.toml``."""
        return self.config.project_id

    @property
    def environment(self) -> Environment:
        """The environment that answers are for; a setting."""
        return self.settings.server.environment

    @property
    def snapshot_id(self) -> str:
        """The snapshot that the next answer comes from; empty before the first ingest."""
        return self._published.snapshot_id

    def pinned(self) -> View:
        """The published snapshot as it is now: what one call reads, however much is published meanwhile."""
        return View(self.project_id, self.environment, self._published.current())

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        """Quote from given units by lexical overlap."""
        return self.pinned().extract(request, section_ids)

    def unit(self, section_id: str) -> UnitText:
        """The whole text of a unit.

        Raises:
            InvalidArgument: there is none of that id, or the settings' boundary leaves it out.
        """
        return self.pinned().unit(section_id)

    def warm(self) -> None:
        """Load the model and open the index, so that the next call is fast."""
        _ = self._tokens
        retriever = self._published.current()
        if retriever is not None:
            retriever.index.warm()

    @cached_property
    def layers(self) -> LayerSource | None:
        """The layers of AGENTS.db that the settings name (``[layers] folder``); ``None`` where they name none."""
        folder = layers_folder(self.settings, self.path)
        return self.layers_of(folder) if folder else None

    def layers_of(self, folder: Path) -> LayerSource:
        """The layers of a folder, searched with this knowledge base's model where they were made with it.

        Args:
            folder: that holds them by their standard names; none of them need be there.
        """
        from graphctx.layers import LayerStack
        from graphctx.layers.embedders import profiled
        from graphctx.nlp.embedders import DEFAULT
        from graphctx.retrieve.layered.source import LayerSource

        shared = (self.config.embedder or DEFAULT) == DEFAULT
        return LayerSource(LayerStack(folder, profiled(self._embedder) if shared else None), self._tokens)

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        self._published.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Beneath

    def _layers(self) -> LayerSource:
        if self.layers is None:
            raise InvalidArgument(
                "This knowledge base has no layers: name their folder in kb.toml ([layers] folder). A boundary of "
                "documents ([server] doc_tags, repositories) keeps them out unless despite_boundary says otherwise.",
                field="layers",
                setting="layers.folder",
            )
        return self.layers

    @cached_property
    def _embedder(self) -> Embedder:
        from graphctx.nlp.embedders import DEFAULT, make_embedder

        return make_embedder(self.config.embedder or DEFAULT)

    @cached_property
    def _tokens(self) -> AnswerCounter:
        from graphctx.nlp.tokens import AnswerCounter

        return AnswerCounter()

    def _retriever_of(self, snapshot: Snapshot) -> Retriever:
        from graphctx.retrieve.global_search.phrase import Phrasing
        from graphctx.retrieve.index import SearchIndex
        from graphctx.retrieve.service import Retriever

        server = self.settings.server
        boundary = Scope(doc_tags=list(server.doc_tags), repositories=list(server.repositories))
        # What may never be seen is left out once and for all calls, so that none can forget to.
        index = SearchIndex(snapshot, self._embedder).within(boundary, Filters())
        llm = self.settings.llm
        # Half of a call's time: what was found extractively must still get out.
        phrasing = Phrasing(llm, server.call_timeout_seconds / 2) if llm.enabled else None
        return Retriever(index, self._tokens, self.settings.retrieve, phrasing)

    def _index(self) -> SearchIndex:
        return self.pinned().require().index

    def _scope(self, asked: Scope) -> Scope:
        server = self.settings.server
        return Boundary(self.project_id, self.environment, server.doc_tags, server.repositories).narrow(asked)

    @cached_property
    def _pager(self) -> Pager:
        limits = Limits(self.settings.server.max_tokens, self.settings.server.max_bytes)
        return Pager(limits, self._tokens.count)
