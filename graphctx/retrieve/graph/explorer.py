"""One method for each graph tool."""

from __future__ import annotations

from graphctx.model.found import GraphFound
from graphctx.model.graph import EntitySection, Neighbour, Node, Path, SectionEntity, SectionParents
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)
from graphctx.retrieve.index import SearchIndex


class GraphExplorer:
    """The graph of one snapshot, within the scope and filters of each request. Thread-safe."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        """Describe nodes."""
        raise NotImplementedError

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        """The nodes around some nodes."""
        raise NotImplementedError

    def paths(self, request: PathsInput) -> GraphFound[Path]:
        """The paths between two sets of nodes."""
        raise NotImplementedError

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        """What is above each section."""
        raise NotImplementedError

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        """What is directly below a document or a section."""
        raise NotImplementedError

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        """The entities that each section names."""
        raise NotImplementedError

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        """The units that name each entity."""
        raise NotImplementedError
