"""One method for each graph tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

from graphctx.errors import InvalidArgument
from graphctx.model.answers import LimitReason
from graphctx.model.found import GraphFound
from graphctx.model.graph import EntitySection, Neighbour, Node, Path, SectionEntity, SectionParents, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import (
    ChildrenInput,
    CommunitiesInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    GraphInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)
from graphctx.model.themes import CommunityNode
from graphctx.retrieve.graph import tree
from graphctx.retrieve.graph.communities import find_communities
from graphctx.retrieve.graph.expand import expand, neighbour
from graphctx.retrieve.graph.nodes import node, node_fields
from graphctx.retrieve.graph.paths import find_paths, path
from graphctx.retrieve.graph.resolve import Resolved, resolve
from graphctx.retrieve.graph.sections import entities_of, label_rows, units_of
from graphctx.retrieve.graph.snippets import mention_snippet
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.view import Key, View
from graphctx.retrieve.index import SearchIndex

Item = TypeVar("Item")
Asked = TypeVar("Asked", bound=GraphInput)


class GraphExplorer:
    """The graph of one snapshot, within the scope and filters of each request. Thread-safe.

    What lies outside is as good as absent: it is unknown by id and by name, it is not passed through, and neither
    counts nor weights nor names tell of it. All methods raise ``InvalidArgument`` where nothing that was asked for is
    known, and give an empty listing where the scope leaves nothing or all that was asked for is ambiguous.
    """

    def __init__(self, index: SearchIndex) -> None:
        """Read nothing yet.

        Args:
            index: of the whole snapshot.
        """
        self._index = index

    @cached_property
    def tables(self) -> GraphTables:
        """The columns that make the graph, shared with whoever else names its nodes."""
        return GraphTables(self._index)

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        """Describe nodes, in the order in which they are asked for.

        Raises:
            InvalidArgument: nothing is known, or ``fields`` has one that nodes do not have.
        """
        _check_fields(request.fields)

        def run(view: View) -> GraphFound[Node]:
            named = resolve(view, request.node_ids, "node_ids")
            nodes = [node(view, key, snippet=request.include_snippet) for key in _each(named.keys)]
            return self._found([_narrowed(item, request.fields) for item in nodes], view, [named])

        return self._within(request, run)

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        """The nodes around some nodes, by hop, then the weight of the strongest relation, then id."""

        def run(view: View) -> GraphFound[Neighbour]:
            named = resolve(view, request.node_ids, "node_ids")
            reached, more = expand(
                view,
                named.keys,
                types=request.rel_types,
                direction=request.direction,
                max_hops=request.max_hops,
                max_nodes=request.max_nodes,
            )
            items = [neighbour(view, item, snippet=request.include_snippet) for item in _each(reached)]
            return self._found(items, view, [named], _cap(more))

        return self._within(request, run)

    def paths(self, request: PathsInput) -> GraphFound[Path]:
        """The paths between two sets of nodes, by length, then the weight of the weakest relation, then ids."""

        def run(view: View) -> GraphFound[Path]:
            starts = resolve(view, request.start_ids, "start_ids")
            ends = resolve(view, request.end_ids, "end_ids")
            edges, trails = find_paths(
                view,
                starts.keys,
                ends.keys,
                types=request.rel_types,
                max_hops=request.max_hops,
                max_paths=request.max_paths + 1,
            )
            first = trails[: request.max_paths]
            items = [path(view, edges, trail, snippet=request.include_snippet) for trail in _each(first)]
            return self._found(items, view, [starts, ends], _cap(len(trails) > len(first)))

        return self._within(request, run)

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        """What is above each section or unit, the nearest first, the document last."""

        def run(view: View) -> GraphFound[SectionParents]:
            named = resolve(view, request.section_ids, "section_ids", ("section", "unit"))
            items = [
                SectionParents(
                    section_id=view.id(key),
                    parents=[node(view, above, snippet=request.include_snippet) for above in tree.parents(view, key)],
                )
                for key in _each(named.keys)
            ]
            return self._found(items, view, [named])

        return self._within(request, run)

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        """What is directly below a document or a section, in reading order."""

        def run(view: View) -> GraphFound[Node]:
            named = resolve(view, [request.parent_id], "parent_id", ("document", "section"))
            below = [key for parent in named.keys for key in tree.children(view, parent)]
            items = [node(view, key, snippet=request.include_snippet) for key in _each(below)]
            return self._found(items, view, [named])

        return self._within(request, run)

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        """The entities that each section or unit names, the most specific first.

        Raises:
            InvalidArgument: nothing is known, or ``labels`` has one that there is not.
        """
        labels = label_rows(request.labels)

        def run(view: View) -> GraphFound[SectionEntity]:
            named = resolve(view, request.section_ids, "section_ids", ("section", "unit"))
            most = request.max_per_section
            entities = [(key, entities_of(view, key, labels, most + 1)) for key in _each(named.keys)]
            items = [
                SectionEntity(section_id=view.id(key), **node_fields(view, entity, snippet=request.include_snippet))
                for key, found in entities
                for entity in found[:most]
            ]
            return self._found(items, view, [named], _cap(any(len(found) > most for _, found in entities)))

        return self._within(request, run)

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        """The units that name each entity: its homes first."""

        def run(view: View) -> GraphFound[EntitySection]:
            named = resolve(view, request.entity_ids, "entity_ids", ("entity",))
            most = request.max_per_entity
            units = [(key, units_of(view, key, most + 1)) for key in _each(named.keys)]
            items = [
                EntitySection(entity_id=view.id(key), section_id=view.id(unit), **_naming(view, unit, key, request))
                for key, found in units
                for unit in found[:most]
            ]
            return self._found(items, view, [named], _cap(any(len(found) > most for _, found in units)))

        return self._within(request, run)

    def communities(self, request: CommunitiesInput) -> GraphFound[CommunityNode]:
        """Communities of entities: the largest first, or those of an entity from the broadest down.

        A snapshot that has none gives an empty listing and no error, whatever is asked for.
        """
        return self._within(request, lambda view: find_communities(view, request))

    def _within(self, request: Asked, run: Callable[[View], GraphFound[Item]]) -> GraphFound[Item]:
        """Answer from what a request may see, or say why that is nothing."""
        nothing = self._index.empty_reason(request.scope, request.filters)
        if nothing is not None:
            return GraphFound(
                items=(),
                snapshot_id=self._index.snapshot.id,
                empty_reason=nothing.reason,
                filtered_by=nothing.filtered_by,
            )
        return run(View(self._index.within(request.scope, request.filters), self.tables))

    def _found(
        self, items: Sequence[Item], view: View, named: Sequence[Resolved], capped: LimitReason = "none"
    ) -> GraphFound[Item]:
        unresolved: list[Unresolved] = [item for part in named for item in part.unresolved]
        nobody = any(part.ambiguous and not part.keys for part in named)
        return GraphFound(
            items=items,
            snapshot_id=self._index.snapshot.id,
            empty_reason=None if items else "ambiguous" if nobody else "no_match",
            capped=capped,
            unresolved=unresolved,
            starts=[view.id(key) for key in named[0].keys],
        )


def _cap(more: bool) -> LimitReason:
    """What to say where a cap of the request's own left some out."""
    return "node_cap" if more else "none"


def _each(items: Sequence[Item]) -> Iterator[Item]:
    """The items, as long as somebody waits for the answer."""
    for item in items:
        checkpoint()
        yield item


def _naming(view: View, unit: Key, entity: Key, request: SectionsForEntitiesInput) -> dict[str, Any]:
    """The fields of a unit, with the sentence in which it names an entity where one is asked for."""
    fields = node_fields(view, unit)
    return fields | {"snippet": mention_snippet(view, unit.row, entity.row) if request.include_snippet else None}


def _check_fields(fields: Sequence[str]) -> None:
    for name in fields:
        if name not in Node.model_fields:
            raise InvalidArgument(
                f"fields: a node has no field {name!r}; it has {', '.join(Node.model_fields)}.",
                field="fields",
                value=name,
                allowed=list(Node.model_fields),
            )


def _narrowed(item: Node, fields: Sequence[str]) -> Node:
    """A node with some of its fields beside id and kind, and a snippet if it has one."""
    if not fields:
        return item
    kept = {name: getattr(item, name) for name in {*fields, "id", "kind", "snippet"}}
    return Node(**{"name": "", **kept})
