"""One method for each graph tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from graphctx.errors import InvalidArgument
from graphctx.model.graph import (
    CommunityNode,
    DescribedNode,
    EntitySection,
    Neighbour,
    Node,
    Path,
    SectionEntity,
    SectionParents,
    Unresolved,
)
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
from graphctx.model.results import GraphResults
from graphctx.retrieve.graph.community_nodes import find_communities
from graphctx.retrieve.graph.nodes import linked_aliases, mention_snippet, node, node_fields
from graphctx.retrieve.graph.resolve import ResolvedNodes, resolve
from graphctx.retrieve.graph.sections import children, entities_of, label_rows, parents, units_naming
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.graph.traverse import expand, find_paths, neighbour, path
from graphctx.retrieve.graph.view import GraphView, NodeKey
from graphctx.retrieve.index import SearchIndex

Item = TypeVar("Item")


class GraphExplorer:
    """The graph of a snapshot, within the scope and filters of each request. Thread-safe.

    What lies outside the scope does not exist: it is unknown by id and by name, no path passes through it, and no
    count, weight or name depends on it. All methods raise `InvalidArgument` if nothing that the request names is known.
    They return an empty listing if the scope leaves nothing or everything that the request names is ambiguous.

    Args:
        index: of the whole snapshot.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    @cached_property
    def tables(self) -> GraphTables:
        """The tables of the snapshot's graph."""
        return GraphTables(self._index)

    def describe(self, request: DescribeInput) -> GraphResults[DescribedNode]:
        """Describe nodes, in the order of the request.

        Raises:
            InvalidArgument: nothing is known, or nodes have no field of a name in ``fields``.
        """
        _check_fields(request.fields)

        def run(view: GraphView) -> GraphResults[DescribedNode]:
            named = resolve(view, request.node_ids, "node_ids")
            nodes = [_described(view, key, snippet=request.include_snippet) for key in _each(named.keys)]
            return _found(view, [_narrowed(item, request.fields) for item in nodes], named)

        return self._within(request, run)

    def expand(self, request: ExpandInput) -> GraphResults[Neighbour]:
        """Return the nodes around some nodes, by hop, then the weight of the strongest relation, then id."""

        def run(view: GraphView) -> GraphResults[Neighbour]:
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
            return _found(view, items, named, more=more)

        return self._within(request, run)

    def paths(self, request: PathsInput) -> GraphResults[Path]:
        """Return the paths between two sets of nodes, by length, then the weight of the weakest relation, then ids."""

        def run(view: GraphView) -> GraphResults[Path]:
            starts = resolve(view, request.start_ids, "start_ids")
            ends = resolve(view, request.end_ids, "end_ids")
            edges, paths = find_paths(
                view,
                starts.keys,
                ends.keys,
                types=request.rel_types,
                max_hops=request.max_hops,
                max_paths=request.max_paths + 1,
            )
            first = paths[: request.max_paths]
            items = [path(view, edges, found, snippet=request.include_snippet) for found in _each(first)]
            return _found(view, items, starts, ends, more=len(paths) > len(first))

        return self._within(request, run)

    def parents(self, request: ParentsInput) -> GraphResults[SectionParents]:
        """Return what is above each section or unit, the nearest first, the document last."""

        def run(view: GraphView) -> GraphResults[SectionParents]:
            named = resolve(view, request.section_ids, "section_ids", ("section", "unit"))
            items = [
                SectionParents(
                    section_id=view.id(key),
                    parents=[node(view, above, snippet=request.include_snippet) for above in parents(view, key)],
                )
                for key in _each(named.keys)
            ]
            return _found(view, items, named)

        return self._within(request, run)

    def children(self, request: ChildrenInput) -> GraphResults[Node]:
        """Return what is directly below a document or a section, in reading order."""

        def run(view: GraphView) -> GraphResults[Node]:
            named = resolve(view, [request.parent_id], "parent_id", ("document", "section"))
            below = [key for parent in named.keys for key in children(view, parent)]
            return _found(view, [node(view, key, snippet=request.include_snippet) for key in _each(below)], named)

        return self._within(request, run)

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphResults[SectionEntity]:
        """Return the entities that each section or unit names, the most specific first.

        Raises:
            InvalidArgument: nothing is known, or there is no label of a name in ``labels``.
        """
        labels = label_rows(request.labels)

        def run(view: GraphView) -> GraphResults[SectionEntity]:
            named = resolve(view, request.section_ids, "section_ids", ("section", "unit"))
            most = request.max_per_section
            entities = [(key, entities_of(view, key, labels, most + 1)) for key in _each(named.keys)]
            items = [
                SectionEntity(section_id=view.id(key), **node_fields(view, entity, snippet=request.include_snippet))
                for key, found in entities
                for entity in found[:most]
            ]
            return _found(view, items, named, more=any(len(found) > most for _, found in entities))

        return self._within(request, run)

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphResults[EntitySection]:
        """Return the units that name each entity: those that are about it first."""

        def run(view: GraphView) -> GraphResults[EntitySection]:
            named = resolve(view, request.entity_ids, "entity_ids", ("entity",))
            most = request.max_per_entity
            units = [(key, units_naming(view, key, most + 1)) for key in _each(named.keys)]

            def item(entity: NodeKey, unit: NodeKey) -> EntitySection:
                fields = node_fields(view, unit)
                if request.include_snippet:
                    fields["snippet"] = mention_snippet(view, unit.row, entity.row)
                return EntitySection(entity_id=view.id(entity), section_id=view.id(unit), **fields)

            items = [item(key, unit) for key, found in units for unit in found[:most]]
            return _found(view, items, named, more=any(len(found) > most for _, found in units))

        return self._within(request, run)

    def communities(self, request: CommunitiesInput) -> GraphResults[CommunityNode]:
        """Return communities of entities: the largest first, or those of an entity from the broadest down.

        Where there are no communities the listing is empty, whatever the request names.
        """
        return self._within(request, lambda view: find_communities(view, request))

    def _within(self, request: GraphInput, run: Callable[[GraphView], GraphResults[Item]]) -> GraphResults[Item]:
        """Run a request over what its scope and filters leave, or return why that is nothing."""
        nothing = self._index.empty_reason(request.scope, request.filters)
        if nothing is not None:
            return GraphResults(
                items=(),
                snapshot_id=self._index.snapshot.id,
                empty_reason=nothing.reason,
                filtered_by=nothing.filtered_by,
            )
        return run(GraphView(self._index.within(request.scope, request.filters), self.tables))


def _found(view: GraphView, items: Sequence[Item], *named: ResolvedNodes, more: bool = False) -> GraphResults[Item]:
    """Return a listing of items; ``more`` if a cap of the request left some out."""
    unresolved: list[Unresolved] = [item for part in named for item in part.unresolved]
    ambiguous = any(part.ambiguous and not part.keys for part in named)
    return GraphResults(
        items=items,
        snapshot_id=view.index.snapshot.id,
        empty_reason=None if items else "ambiguous" if ambiguous else "no_match",
        capped="node_cap" if more else "none",
        unresolved=unresolved,
        starts=[view.id(key) for key in named[0].keys],
    )


def _described(view: GraphView, key: NodeKey, *, snippet: bool) -> DescribedNode:
    aliases = linked_aliases(view, key) if key.kind == "entity" else []
    return DescribedNode(linked_aliases=aliases, **node_fields(view, key, snippet=snippet))


def _each(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, and stop when the call is cancelled."""
    for item in items:
        checkpoint()
        yield item


def _check_fields(fields: Sequence[str]) -> None:
    for name in fields:
        if name not in DescribedNode.model_fields:
            raise InvalidArgument(
                f"fields: a node has no field {name!r}; it has {', '.join(DescribedNode.model_fields)}.",
                field="fields",
                value=name,
                allowed=list(DescribedNode.model_fields),
            )


def _narrowed(item: DescribedNode, fields: Sequence[str]) -> DescribedNode:
    """Return a node with some fields beside its id, kind and snippet; all of them if none are named."""
    if not fields:
        return item
    kept = {name: getattr(item, name) for name in {*fields, "id", "kind", "snippet"}}
    return DescribedNode(**{"name": "", **kept})
