"""The graph of the small library: its outline, the names in it, and which of them stand in one paragraph.

Real over its texts and small enough to see through: whatever the server makes of a graph can be checked by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TypeVar

from graphctx.errors import InvalidArgument
from graphctx.model.found import GraphFound, UnitText
from graphctx.model.graph import (
    EntitySection,
    Neighbour,
    Node,
    Path,
    Relation,
    SectionEntity,
    SectionParents,
    Snippet,
    Unresolved,
)
from graphctx.model.ids import content_id
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    EntitiesForSectionsInput,
    ExpandInput,
    GraphInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)

T = TypeVar("T")

NAMES = {
    "ledger": "term",
    "duty officer": "term",
    "night watch": "term",
    "day watch": "term",
    "vault key": "term",
    "Ines Halvorsen": "person",
    "red telephone": "term",
    "lamp": "term",
    "keeper": "term",
}
"""What counts as an entity. A part of a name means the entity if only one has it."""


def entity_id(name: str) -> str:
    return content_id("e", name)


@dataclass
class LibraryGraph:
    """Implements `graphctx.server.backend.GraphBackend` over the units that a request may see."""

    units: Sequence[UnitText]
    snapshot_id: str
    nodes: dict[str, Node] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def __post_init__(self) -> None:
        mentions: dict[str, list[UnitText]] = {}
        for unit in self.units:
            document = Node(
                id=unit.doc_id, kind="document", name=unit.title, doc_uri=unit.doc_uri, line=1, tags=list(unit.tags)
            )
            self.nodes.setdefault(unit.doc_id, document)
            self.nodes[unit.section_id] = Node(
                id=unit.section_id,
                kind="unit",
                name=unit.heading or unit.title,
                heading=unit.heading,
                doc_uri=unit.doc_uri,
                line=unit.line,
                anchor=unit.anchor,
            )
            self._relate(unit.doc_id, unit.section_id, "HAS_UNIT", None)
            for name in NAMES:
                if re.search(rf"\b{name}\b", unit.text, re.IGNORECASE):
                    mentions.setdefault(name, []).append(unit)
        for name, units in sorted(mentions.items()):
            self.nodes[entity_id(name)] = Node(
                id=entity_id(name),
                kind="entity",
                name=name,
                label=NAMES[name],
                n_units=len(units),
                n_mentions=sum(len(re.findall(rf"\b{name}\b", unit.text, re.IGNORECASE)) for unit in units),
            )
            for unit in units:
                self._relate(unit.section_id, entity_id(name), "MENTIONS", None)
        for one, other in combinations(sorted(mentions, key=entity_id), 2):
            both = sum(unit in mentions[other] for unit in mentions[one])
            if both:
                self._relate(entity_id(one), entity_id(other), "RELATED", both)

    def _relate(self, source: str, target: str, kind: str, n_units: int | None) -> None:
        weight = None if n_units is None else float(n_units)
        self.relations.append(
            Relation.model_validate(
                {"source": source, "target": target, "type": kind, "weight": weight, "n_units": n_units}
            )
        )

    def _resolve(self, refs: Iterable[str]) -> tuple[list[str], list[Unresolved]]:
        by_uri = {node.doc_uri: node.id for node in self.nodes.values() if node.kind == "document"}
        found, unresolved = [], []
        for ref in refs:
            entities = [node for node in self.nodes.values() if node.kind == "entity"]
            exact = [node for node in entities if node.name.casefold() == ref.casefold()]
            near = [node for node in entities if ref.casefold() in node.name.casefold().split()]
            if ref in self.nodes or ref in by_uri:
                found.append(ref if ref in self.nodes else by_uri[ref])
            elif len(exact or near) == 1:
                found.append((exact or near)[0].id)
            else:
                unresolved.append(Unresolved(asked=ref, reason="ambiguous" if near else "unknown", candidates=near))
        if not found and all(one.reason == "unknown" for one in unresolved):
            asked = ", ".join(repr(one.asked) for one in unresolved)
            raise InvalidArgument(f"There is no node {asked} in this scope.", field="node_ids", value=asked)
        return found, unresolved

    def _found(
        self, refs: Iterable[str], items: Callable[[list[str]], Iterable[T]], n_most: int | None = None
    ) -> GraphFound[T]:
        starts, unresolved = self._resolve(refs)
        all_items = list(items(starts))
        empty = None if all_items else "ambiguous" if not starts else "no_match"
        capped = n_most is not None and len(all_items) > n_most
        return GraphFound(
            items=all_items[:n_most],
            snapshot_id=self.snapshot_id,
            empty_reason=empty,
            capped="node_cap" if capped else "none",
            unresolved=unresolved,
            starts=starts,
        )

    def _node(self, node_id: str, request: GraphInput) -> Node:
        node = self.nodes[node_id]
        unit = next((unit for unit in self.units if unit.section_id == node_id), None)
        if unit is None or not request.include_snippet:
            return node
        snippet = Snippet(
            text=unit.text,
            section_id=node_id,
            doc_uri=unit.doc_uri,
            start_char=unit.start_char,
            end_char=unit.end_char,
            line=unit.line,
        )
        return node.model_copy(update={"snippet": snippet})

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        return self._found(request.node_ids, lambda ids: [self._node(one, request) for one in ids])

    def _steps(
        self, request: ExpandInput | PathsInput, direction: str = "both"
    ) -> dict[str, list[tuple[str, Relation]]]:
        steps: dict[str, list[tuple[str, Relation]]] = {}
        for relation in self.relations:
            if not request.rel_types or relation.type in request.rel_types:
                if direction != "in":
                    steps.setdefault(relation.source, []).append((relation.target, relation))
                if direction != "out":
                    steps.setdefault(relation.target, []).append((relation.source, relation))
        return {source: sorted(ends, key=lambda end: end[0]) for source, ends in steps.items()}

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        steps = self._steps(request, request.direction)

        def around(starts: list[str]) -> Iterable[Neighbour]:
            seen, ring = set(starts), sorted(set(starts))
            for hop in range(1, request.max_hops + 1):
                reached: dict[str, list[Relation]] = {}
                for source in ring:
                    for target, relation in steps.get(source, []):
                        if target not in seen:
                            reached.setdefault(target, []).append(relation)
                ring = sorted(reached)
                seen.update(ring)
                for target in ring:
                    yield Neighbour(**dict(self._node(target, request)), hop=hop, via=reached[target])

        return self._found(request.node_ids, around, request.max_nodes)

    def paths(self, request: PathsInput) -> GraphFound[Path]:
        steps = self._steps(request)

        def between(_: list[str]) -> Iterable[Path]:
            starts, ends = self._resolve(request.start_ids)[0], self._resolve(request.end_ids)[0]
            found = [path for start, end in product(starts, ends) for path in self._walk(steps, start, end, request)]
            return sorted(found, key=lambda path: (path.length, [node.id for node in path.nodes]))

        return self._found([*request.start_ids, *request.end_ids], between, request.max_paths)

    def _walk(
        self, steps: dict[str, list[tuple[str, Relation]]], start: str, end: str, request: PathsInput
    ) -> Iterable[Path]:
        trails: list[tuple[list[str], list[Relation]]] = [([start], [])]
        while trails:
            ids, relations = trails.pop(0)
            if ids[-1] == end:
                nodes = [self._node(one, request) for one in ids]
                yield Path(length=len(relations), nodes=nodes, relations=relations)
            elif len(relations) < request.max_hops:
                for target, relation in steps.get(ids[-1], []):
                    if target not in ids:
                        trails.append(([*ids, target], [*relations, relation]))

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        documents = {unit.section_id: unit.doc_id for unit in self.units}

        def above(ids: list[str]) -> Iterable[SectionParents]:
            for one in ids:
                yield SectionParents(section_id=one, parents=[self._node(documents[one], request)])

        return self._found(request.section_ids, above)

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        def below(ids: list[str]) -> Iterable[Node]:
            return [self._node(unit.section_id, request) for unit in self.units if unit.doc_id in ids]

        return self._found([request.parent_id], below)

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        def named(ids: list[str]) -> Iterable[SectionEntity]:
            for one in ids:
                entities = [self.nodes[r.target] for r in self.relations if r.source == one and r.type == "MENTIONS"]
                wanted = [entity for entity in entities if not request.labels or entity.label in request.labels]
                for entity in sorted(wanted, key=lambda node: node.id)[: request.max_per_section]:
                    yield SectionEntity(**dict(entity), section_id=one)

        return self._found(request.section_ids, named)

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        def naming(ids: list[str]) -> Iterable[EntitySection]:
            for one in ids:
                sections = sorted(r.source for r in self.relations if r.target == one and r.type == "MENTIONS")
                for section in sections[: request.max_per_entity]:
                    yield EntitySection(**dict(self._node(section, request)), entity_id=one, section_id=section)

        return self._found(request.entity_ids, naming)
