"""The published snapshot, followed as it changes, and a view of it that stays the same for a whole call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable
from graphctx.model.catalog import Names, Outlines, WholeDocument
from graphctx.model.found import Evidence, Found, GlobalFound, GraphFound, UnitText
from graphctx.model.graph import EntitySection, Neighbour, Node, SectionEntity, SectionParents
from graphctx.model.graph import Path as GraphPath
from graphctx.model.requests import (
    ChildrenInput,
    CommunitiesInput,
    DescribeInput,
    EntitiesForSectionsInput,
    Environment,
    ExpandInput,
    ExtractEvidenceInput,
    GlobalSearchInput,
    ParentsInput,
    PathsInput,
    RetrieveInput,
    Scope,
    SearchInput,
    SectionsForEntitiesInput,
)
from graphctx.model.themes import CommunityNode

if TYPE_CHECKING:
    from graphctx.retrieve.service import Retriever
    from graphctx.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class View:
    """One snapshot, or none yet, as calls ask it; a ``graphctx.server.backend.Backend``.

    Attributes:
        project_id: the project of the knowledge base.
        environment: the environment that answers are for.
        retriever: of the snapshot; ``None`` before the first ingest.
    """

    project_id: str
    environment: Environment
    retriever: Retriever | None

    @property
    def snapshot_id(self) -> str:
        """The snapshot that every answer comes from; empty where nothing is published."""
        return self.retriever.index.snapshot.id if self.retriever else ""

    def find(self, request: SearchInput) -> Found:
        """Find the units that bear on a query, all of them up to ``top_k``."""
        if self.retriever is None:
            return Found(items=(), snapshot_id="", empty_reason="no_snapshot")
        return self.retriever.find(request)

    def evidence(self, request: RetrieveInput) -> Evidence:
        """Find units and quote from them."""
        if self.retriever is None:
            return Evidence(items=(), snapshot_id="", empty_reason="no_snapshot", mode="hybrid_local")
        return self.retriever.evidence(request)

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        """Find points of communities that say something to a question about the whole."""
        if self.retriever is None:
            return GlobalFound(items=(), snapshot_id="", empty_reason="no_snapshot")
        return self.retriever.global_search(request)

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        """Quote from given units by lexical overlap."""
        return self.require().extract(request, section_ids)

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        """Describe nodes."""
        return self.require().graph.describe(request)

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        """The nodes around some nodes."""
        return self.require().graph.expand(request)

    def paths(self, request: PathsInput) -> GraphFound[GraphPath]:
        """The paths between two sets of nodes."""
        return self.require().graph.paths(request)

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        """What is above each section."""
        return self.require().graph.parents(request)

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        """What is directly below a document or a section."""
        return self.require().graph.children(request)

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        """The entities that each section names."""
        return self.require().graph.entities_for_sections(request)

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        """The units that name each entity."""
        return self.require().graph.sections_for_entities(request)

    def communities(self, request: CommunitiesInput) -> GraphFound[CommunityNode]:
        """Communities of entities, listed or described."""
        if self.retriever is None:
            return GraphFound(items=(), snapshot_id="", empty_reason="no_snapshot")
        return self.retriever.graph.communities(request)

    def unit(self, section_id: str) -> UnitText:
        """The whole text of a unit."""
        return self.require().unit(section_id)

    def document_text(self, doc_id: str) -> str:
        """The text that spans count in."""
        return self.require().index.document(doc_id).text

    def whole_document(self, name: str, scope: Scope) -> WholeDocument:
        """A document by its id or its URI, with its outline."""
        return self.require().catalog.document(name, scope)

    def document_names(self, text: str, scope: Scope, limit: int) -> Names:
        """URIs of documents that complete a text."""
        return self.require().catalog.documents(text, scope, limit) if self.retriever else Names((), 0)

    def community_names(self, text: str, scope: Scope, limit: int) -> Names:
        """Titles of communities that complete a text."""
        return self.require().catalog.communities(text, scope, limit) if self.retriever else Names((), 0)

    def outline(self, scope: Scope, limit: int) -> Outlines:
        """The first documents with their headings."""
        return self.require().catalog.outline(scope, limit) if self.retriever else Outlines((), 0)

    def entity_names(self, text: str, scope: Scope, limit: int) -> Names:
        """Names of entities that complete a text."""
        return self.require().catalog.entities(text, scope, limit) if self.retriever else Names((), 0)

    def require(self) -> Retriever:
        """The retriever.

        Raises:
            BackendUnavailable: nothing is published yet.
        """
        if self.retriever is None:
            raise nothing_published()
        return self.retriever


def nothing_published() -> BackendUnavailable:
    """What to raise where a snapshot is needed and a knowledge base has none."""
    return BackendUnavailable(
        "Nothing is published in this knowledge base yet. Run `graphctx ingest PATH`; if an ingest was stopped, "
        "run it again, and it goes on with what it had done.",
        file="CURRENT",
    )


class Published:
    """The retriever of the published snapshot, replaced when another one is published. Thread-safe.

    Args:
        kb_dir: the knowledge base.
        retriever_of: makes the retriever of an open snapshot.
        snapshot_id: stay with this one instead of following the published one.
    """

    def __init__(
        self, kb_dir: Path, retriever_of: Callable[[Snapshot], Retriever], snapshot_id: str | None = None
    ) -> None:
        self._kb_dir = kb_dir
        self._retriever_of = retriever_of
        self._chosen = snapshot_id
        self._opening = threading.Lock()
        self._held: Retriever | None = None

    @property
    def snapshot_id(self) -> str:
        """The snapshot that the next call reads; empty before the first ingest."""
        from graphctx.store.snapshot import current_id

        return self._chosen or current_id(self._kb_dir) or ""

    def current(self) -> Retriever | None:
        """The retriever to use now; ``None`` where nothing is published.

        The first call after a publish opens the new snapshot, which takes a while: every file is hashed. Calls
        that come meanwhile do not wait for that, and are answered from the snapshot before. That one is closed
        when the last of its calls is done and nothing refers to it any more.

        Raises:
            BackendUnavailable: the snapshot is missing or damaged.
        """
        wanted = self.snapshot_id
        if not wanted:
            return None
        held = self._held
        if held is not None and held.index.snapshot.id == wanted:
            return held
        if not self._opening.acquire(blocking=held is None):
            return held
        try:
            held = self._held
            if held is None or held.index.snapshot.id != self.snapshot_id:
                self._held = self._open(warm=held is not None)
            return self._held
        finally:
            self._opening.release()

    def expect(self, snapshot_id: str) -> None:
        """Make the next call wait for this snapshot, unless it is open: its publisher wants to read what it wrote."""
        held = self._held
        if held is not None and self._chosen is None and held.index.snapshot.id != snapshot_id:
            self._held = None

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        with self._opening:
            held, self._held = self._held, None
        if held is not None:
            held.index.close()

    def _open(self, *, warm: bool) -> Retriever:
        from graphctx.store.snapshot import open_snapshot

        # Without an id, a snapshot that is pruned while it is being opened gives way to its successor.
        opened = self._retriever_of(open_snapshot(self._kb_dir, self._chosen))
        if warm:
            opened.index.warm()
        return opened
