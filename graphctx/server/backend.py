"""What the server needs from the knowledge base: retrieval and text, without sessions, pages or budgets.

`KnowledgeBase` implements `Source`, and what it pins implements `Backend`. The server adds what belongs to a
session (passage ids, scratch URIs), cuts pages, enforces the response budget and renders the text. All methods
are synchronous, may be called from several threads at once, and raise the typed errors of `graphctx.errors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from graphctx.model.catalog import Names, Outlines, WholeDocument
from graphctx.model.found import Evidence, Found, GlobalFound, GraphFound, UnitText
from graphctx.model.graph import EntitySection, Neighbour, Node, Path, SectionEntity, SectionParents
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

__all__ = ["Backend", "Evidence", "Found", "GlobalFound", "GraphBackend", "GraphFound", "Source", "UnitText"]


class GraphBackend(Protocol):
    """The graph of one snapshot, within the scope and filters of each request.

    Nodes are named as `graphctx.model.requests.NodeRef` says. What is unknown or ambiguous is listed as unresolved;
    nodes outside the scope are as good as unknown, are never passed through, and count nowhere.

    Each method raises ``InvalidArgument`` if nothing that was asked for is known, naming what is near.
    """

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        """Describe nodes."""

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        """The nodes around some nodes, by hop, then weight, then id."""

    def paths(self, request: PathsInput) -> GraphFound[Path]:
        """The paths between two sets of nodes, by length, then weight, then ids."""

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        """What is above each section."""

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        """What is directly below a document or a section, in reading order."""

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        """The entities that each section names, the most specific first."""

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        """The units that name each entity: its homes first."""

    def communities(self, request: CommunitiesInput) -> GraphFound[CommunityNode]:
        """Communities of entities: the largest first, those of an entity from the broadest down, or some by their ids.

        Where there are none at all the listing is empty, whatever is asked for.
        """


@runtime_checkable
class Backend(GraphBackend, Protocol):
    """One snapshot of a knowledge base, as a call sees it from its start to its end.

    ``scope.project_id`` and ``scope.environment`` are already checked against `project_id` and `environment`
    when a request arrives here; ``scope.doc_tags``, ``scope.repositories`` and ``filters`` are the backend's
    to apply, before ranking. ``cursor`` and ``page_size`` are not its business.
    """

    @property
    def project_id(self) -> str:
        """The project that this knowledge base holds."""

    @property
    def environment(self) -> Environment:
        """The environment that this knowledge base belongs to."""

    @property
    def snapshot_id(self) -> str:
        """The snapshot that every answer comes from."""

    def find(self, request: SearchInput) -> Found:
        """Find the units that bear on ``request.query``."""

    def evidence(self, request: RetrieveInput) -> Evidence:
        """Find units and quote from them."""

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        """Find points of communities that say something to a question about the whole."""

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        """Quote from these units (``request.passage_ids`` belong to the server's session, not to you).

        Raises:
            InvalidArgument: one of ``section_ids`` is not in this snapshot.
        """

    def unit(self, section_id: str) -> UnitText:
        """The whole text of a unit.

        Raises:
            InvalidArgument: there is no such unit in this snapshot.
        """

    def document_text(self, doc_id: str) -> str:
        """The text that the spans of this document's units count in.

        Raises:
            InvalidArgument: there is no such document in this snapshot.
        """

    def whole_document(self, name: str, scope: Scope) -> WholeDocument:
        """A document by its id or its URI, with its text and its outline.

        Raises:
            InvalidArgument: there is no such document within the scope.
        """

    def document_names(self, text: str, scope: Scope, limit: int) -> Names:
        """URIs of documents within the scope that complete what somebody has typed; at most ``limit``."""

    def entity_names(self, text: str, scope: Scope, limit: int) -> Names:
        """Names of entities within the scope that complete what somebody has typed; at most ``limit``."""

    def community_names(self, text: str, scope: Scope, limit: int) -> Names:
        """Titles of communities within the scope that complete what somebody has typed; at most ``limit``."""

    def outline(self, scope: Scope, limit: int) -> Outlines:
        """The first ``limit`` documents within the scope, each with its headings, and how many there are."""


@runtime_checkable
class Source(Protocol):
    """A knowledge base whose published snapshot may change between calls."""

    def pinned(self) -> Backend:
        """The snapshot that is published now; each call takes one and stays with it.

        Raises:
            BackendUnavailable: it is missing or damaged.
        """

    def warm(self) -> None:
        """Load models and open tables, so that the next call is fast. Called from a background thread."""
