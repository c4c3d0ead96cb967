"""The older names of the graph tools, one for one (tool contract, section 4.1).

Those that never had pages give as much as a page can hold, and a cursor for what is beyond.
"""

from __future__ import annotations

from graphctx.model import compat, requests
from graphctx.server.tool import AnyTool
from graphctx.server.tools.compat.wrapper import older, shared
from graphctx.server.tools.graph import (
    CHILDREN,
    DESCRIBE,
    ENTITIES_FOR_SECTIONS,
    EXPAND,
    PARENTS,
    PATHS,
    SECTIONS_FOR_ENTITIES,
)

_WHOLE = 100  # the largest page of a graph tool


def _expand(request: compat.ExpandNeighborsInput) -> requests.ExpandInput:
    return requests.ExpandInput(
        node_ids=request.node_ids,
        rel_types=request.rel_types,
        direction=request.direction,
        max_hops=request.max_hops,
        include_snippet=request.include_snippet,
        page_size=request.page_size,
        **shared(request),
    )


def _paths(request: compat.GetPathsBetweenInput) -> requests.PathsInput:
    return requests.PathsInput(
        start_ids=request.start_ids,
        end_ids=request.end_ids,
        rel_types=request.rel_types,
        max_hops=request.max_hops,
        max_paths=request.max_paths,
        page_size=_WHOLE,
        **shared(request),
    )


def _describe(request: compat.DescribeNodesInput) -> requests.DescribeInput:
    return requests.DescribeInput(node_ids=request.node_ids, fields=request.fields, page_size=_WHOLE, **shared(request))


def _children(request: compat.ListChildrenInput) -> requests.ChildrenInput:
    return requests.ChildrenInput(parent_id=request.parent_id, page_size=request.page_size, **shared(request))


def _parents(request: compat.ListParentsInput) -> requests.ParentsInput:
    return requests.ParentsInput(section_ids=request.section_ids, page_size=_WHOLE, **shared(request))


def _entities(request: compat.GetEntitiesForSectionsInput) -> requests.EntitiesForSectionsInput:
    return requests.EntitiesForSectionsInput(
        section_ids=request.section_ids,
        labels=request.labels,
        max_per_section=request.max_per_section,
        page_size=_WHOLE,
        **shared(request),
    )


def _sections(request: compat.GetSectionsForEntitiesInput) -> requests.SectionsForEntitiesInput:
    return requests.SectionsForEntitiesInput(
        entity_ids=request.entity_ids, max_per_entity=request.max_per, page_size=_WHOLE, **shared(request)
    )


COMPAT_GRAPH_TOOLS: tuple[AnyTool, ...] = (
    older(
        "expand_neighbors",
        EXPAND,
        compat.ExpandNeighborsInput,
        _expand,
        returns="page_size nodes (25) with the relations that led to them",
    ),
    older("get_paths_between", PATHS, compat.GetPathsBetweenInput, _paths, returns="max_paths paths (10)"),
    older("describe_nodes", DESCRIBE, compat.DescribeNodesInput, _describe, returns="one node for each id (20)"),
    older("list_children", CHILDREN, compat.ListChildrenInput, _children, returns="page_size nodes (50)"),
    older("list_parents", PARENTS, compat.ListParentsInput, _parents, returns="the ancestors of each section (20)"),
    older(
        "get_entities_for_sections",
        ENTITIES_FOR_SECTIONS,
        compat.GetEntitiesForSectionsInput,
        _entities,
        returns="max_per_section entities (20) of each section",
    ),
    older(
        "get_sections_for_entities",
        SECTIONS_FOR_ENTITIES,
        compat.GetSectionsForEntitiesInput,
        _sections,
        returns="max_per sections (20) of each entity",
    ),
)
