"""The tools of the graph: from nodes to what surrounds them, up and down the outline, between text and entities.

Answers are projections of nodes, without text unless it is asked for (tool contract, sections 4.1 and 6).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeVar

from pydantic import Field

from graphctx.model.graph import (
    DescribedNode,
    EntitySection,
    GraphAnswer,
    Neighbour,
    Node,
    Path,
    Relation,
    SectionEntity,
    SectionParents,
    Snippet,
)
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)
from graphctx.server.render import counted, joined, one_line
from graphctx.server.tools.graph_base import NodeNames, graph_description, graph_tool, node_line, sentence_below

NodeT = TypeVar("NodeT", bound=Node)


class DescribeAnswer(GraphAnswer):
    """Output of graph.describe."""

    nodes: list[DescribedNode]


def _described(answer: DescribeAnswer, _: NodeNames) -> list[str]:
    lines = []
    for node in answer.nodes:
        lines.append(node_line(node))
        lines += [f"  the same as {_named(one.id, {one.id: one.name})} ({one.reason})" for one in node.linked_aliases]
    return ["\n".join(lines)] if lines else []


DESCRIBE = graph_tool(
    "graph.describe",
    "Describe documents, sections and entities",
    (DescribeInput, DescribeAnswer),
    "nodes",
    lambda searcher, request: searcher.graph.describe(request),
    _described,
    follow="Around one of them: graph.expand with its id.",
    description=graph_description(
        use_when="you have ids, document URIs or entity names and want to know what they are: name, kind, place and "
        "size. It also finds the id of an entity.",
        not_when="you want what surrounds a node (graph.expand) or what a text says (kb.retrieve_evidence).",
        returns="nodes ({page_size}), as many as were asked for",
        follow_up="graph.expand from an id.",
    ),
)


class ExpandAnswer(GraphAnswer):
    """Output of graph.expand."""

    starts: list[str] = Field(description="Ids of the nodes that the expansion started from.")
    nodes: list[Neighbour]


def _expanded(answer: ExpandAnswer, names: NodeNames) -> list[str]:
    """Return the start nodes, then each node with the relations that led to it, by hop."""
    known = {**names, **_names(answer.nodes)}
    blocks = []
    if answer.nodes:
        blocks.append("From " + ", ".join(_named(start, known) for start in answer.starts))
    for hop, nodes in groupby(answer.nodes, key=lambda node: node.hop):
        lines = [f"{counted(hop, 'relation')} away:"]
        for node in nodes:
            lines.append(node_line(node))
            lines += [f"  {_relation(relation, known, shown=node.snippet)}" for relation in node.via]
        blocks.append("\n".join(lines))
    return blocks


EXPAND = graph_tool(
    "graph.expand",
    "Explore around nodes",
    (ExpandInput, ExpandAnswer),
    "nodes",
    lambda searcher, request: searcher.graph.expand(request),
    _expanded,
    extra=lambda found: {"starts": list(found.starts)},
    named=lambda found: found.starts,
    follow="Further: graph.expand with a node's id.",
    description=graph_description(
        use_when="you want to know what an entity (by name or id), a section or a document is related to, and how.",
        not_when="a question in words would do (kb.retrieve_evidence).",
        returns="nodes ({page_size}) with the relations that led to them, nearest and strongest first",
        follow_up="graph.expand from one of the nodes, or narrower with rel_types.",
    ),
)


class PathsAnswer(GraphAnswer):
    """Output of graph.paths."""

    paths: list[Path]


def _paths(answer: PathsAnswer, _: NodeNames) -> list[str]:
    """Return each path as a chain of names, with what its relations say below it; then each node once."""
    nodes = {node.id: node for path in answer.paths for node in path.nodes}
    names = _names(nodes.values())
    called = Counter(names.values())
    names = {node: name if called[name] == 1 else f"{name} [{node}]" for node, name in names.items()}
    chains = "\n".join(_path(number, path, names) for number, path in enumerate(answer.paths, start=1))
    return [chains, "\n".join(["The nodes on them:", *map(node_line, nodes.values())])]


def _path(number: int, path: Path, names: NodeNames) -> str:
    chain = [names[node.id] for node in path.nodes[:1]]
    below = []
    for relation, left, node in zip(path.relations, path.nodes, path.nodes[1:], strict=False):
        chain += [_arrow(relation, left.id, _measures(relation)), names[node.id]]
        below += [f"  {one_line(predicate)}" for predicate in relation.predicates]
        below += [sentence_below(relation.snippet).removeprefix("\n")] if relation.snippet else []
    return "\n".join([f"[{number}] {' '.join(chain)}", *below])


PATHS = graph_tool(
    "graph.paths",
    "Find connections between nodes",
    (PathsInput, PathsAnswer),
    "paths",
    lambda searcher, request: searcher.graph.paths(request),
    _paths,
    follow="The text of a section on a path: kb.read_excerpt with its id.",
    description=graph_description(
        use_when="you ask how two things are connected, and through what.",
        not_when="you know only one end (graph.expand), or a question in words would do (kb.retrieve_evidence).",
        returns="paths ({page_size}, max_paths in all), shortest and strongest first",
        follow_up="raise max_hops, or read a section on the path with kb.read_excerpt.",
    ),
)


class ParentsAnswer(GraphAnswer):
    """Output of graph.parents."""

    sections: list[SectionParents]


PARENTS = graph_tool(
    "graph.parents",
    "Go up the outline",
    (ParentsInput, ParentsAnswer),
    "sections",
    lambda searcher, request: searcher.graph.parents(request),
    lambda answer, _: [
        "\n".join([f"Above {one.section_id}:", *map(node_line, one.parents)]) for one in answer.sections
    ],
    follow="Beside a section: graph.children of its parent.",
    description=graph_description(
        use_when="you want to know in which section, chapter and document a passage stands.",
        not_when="the heading and title of a search result already say it.",
        returns="sections ({page_size}), each with its ancestors, the document last",
        follow_up="graph.children of an ancestor, for what stands beside the passage.",
    ),
)


class ChildrenAnswer(GraphAnswer):
    """Output of graph.children."""

    parent_id: str | None
    children: list[Node]


def _below(answer: ChildrenAnswer, _: NodeNames) -> list[str]:
    return ["\n".join([f"Below {answer.parent_id}:", *map(node_line, answer.children)])] if answer.children else []


CHILDREN = graph_tool(
    "graph.children",
    "Go down the outline",
    (ChildrenInput, ChildrenAnswer),
    "children",
    lambda searcher, request: searcher.graph.children(request),
    _below,
    extra=lambda found: {"parent_id": next(iter(found.starts), None)},
    follow="Further down: graph.children with a section's id. Text: kb.read_excerpt with a unit's id.",
    description=graph_description(
        use_when="you want the outline of a document or a section, in reading order.",
        not_when="you look for something in it: kb.search with filters.path_prefix finds it.",
        returns="sections or units ({page_size}) directly below one parent",
        follow_up="graph.children of one of them, or kb.read_excerpt of a unit.",
    ),
)


class EntitiesAnswer(GraphAnswer):
    """Output of graph.entities_for_sections."""

    entities: list[SectionEntity]


ENTITIES_FOR_SECTIONS = graph_tool(
    "graph.entities_for_sections",
    "List the entities that sections name",
    (EntitiesForSectionsInput, EntitiesAnswer),
    "entities",
    lambda searcher, request: searcher.graph.entities_for_sections(request),
    lambda answer, names: _grouped(answer.entities, lambda entity: entity.section_id, "Named in", names),
    named=lambda found: (entity.section_id for entity in found.items),
    follow="Around an entity: graph.expand with its id. Where it is named: graph.sections_for_entities.",
    description=graph_description(
        use_when="you have passages and want the people, things and terms in them, as starting points in the graph.",
        not_when="you have the name of an entity already (graph.describe, graph.expand take names).",
        returns="entities ({page_size}, max_per_section a section), the most specific first",
        follow_up="graph.expand or graph.sections_for_entities with an entity's id.",
    ),
)


class SectionsAnswer(GraphAnswer):
    """Output of graph.sections_for_entities."""

    sections: list[EntitySection]


SECTIONS_FOR_ENTITIES = graph_tool(
    "graph.sections_for_entities",
    "List the sections that name entities",
    (SectionsForEntitiesInput, SectionsAnswer),
    "sections",
    lambda searcher, request: searcher.graph.sections_for_entities(request),
    lambda answer, names: _grouped(answer.sections, lambda section: section.entity_id, "Naming", names),
    named=lambda found: (section.entity_id for section in found.items),
    follow="What they say: kb.extract_evidence or kb.read_excerpt, with up to three of these ids.",
    description=graph_description(
        use_when="you have an entity, by id or by name, and want the passages that speak of it, its own first.",
        not_when="you have a question about it: kb.retrieve_evidence quotes the answer.",
        returns="sections ({page_size}, max_per_entity an entity), where it is written about most first",
        follow_up="kb.extract_evidence or kb.read_excerpt with up to three section_ids.",
    ),
)


def _grouped(nodes: Iterable[NodeT], key: Callable[[NodeT], str], lead: str, names: NodeNames) -> list[str]:
    return [
        "\n".join([f"{lead} {_named(about, names)}:", *map(node_line, group)])
        for about, group in groupby(nodes, key=key)
    ]


def _names(nodes: Iterable[Node]) -> dict[str, str]:
    return {node.id: one_line(node.name) for node in nodes}


def _named(node_id: str, names: NodeNames) -> str:
    return f"{one_line(names[node_id])} [{node_id}]" if node_id in names else f"[{node_id}]"


def _relation(relation: Relation, names: NodeNames, shown: Snippet | None) -> str:
    """Return ``A —TYPE→ B (weight, counts)``, what it says, and its sentence unless that has just been shown."""
    ends = [one_line(names[end]) if end in names else f"[{end}]" for end in (relation.source, relation.target)]
    measures = f" ({said})" if (said := _measures(relation)) else ""
    predicates = f": {joined(relation.predicates)}" if relation.predicates else ""
    sentence = sentence_below(relation.snippet) if relation.snippet != shown else ""
    return f"{ends[0]} {_arrow(relation, relation.source)} {ends[1]}{measures}{predicates}{sentence}"


def _arrow(relation: Relation, left: str, measures: str = "") -> str:
    """Return ``—TYPE→``, or ``←TYPE—`` if the target is on the left; RELATED has no direction and no head."""
    body = f"{relation.type} ({measures})" if measures else relation.type
    if relation.type == "RELATED":
        return f"—{body}—"
    return f"—{body}→" if relation.source == left else f"←{body}—"


def _measures(relation: Relation) -> str:
    said = []
    if relation.weight is not None:
        said.append(f"weight {relation.weight:g}")
    if relation.n_facts:
        said.append(counted(relation.n_facts, "fact"))
    if relation.n_units:
        said.append(counted(relation.n_units, "unit"))
    if relation.reason:
        said.append(relation.reason)
    return ", ".join(said)
