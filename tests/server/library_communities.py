"""The communities of the small library, and what they say to a question: few enough to be checked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphctx.errors import InvalidArgument
from graphctx.model.answers import EmptyReason
from graphctx.model.found import GlobalFound, GraphFound, UnitText
from graphctx.model.graph import Named, Snippet, Unresolved
from graphctx.model.ids import content_id
from graphctx.model.requests import CommunitiesInput, GlobalSearchInput
from graphctx.model.themes import CommunityNode, KeyEntity, Point, Theme
from graphctx.text.spans import best_spans

from .library_graph import LibraryGraph, entity_id

HIERARCHY = {
    "c_books": (None, ("ledger", "vault key")),
    "c_duties": (None, ("duty officer", "night watch", "Ines Halvorsen", "red telephone")),
    "c_officer": ("c_duties", ("duty officer", "Ines Halvorsen", "red telephone")),
    "c_watch": ("c_duties", ("night watch",)),
    "c_light": (None, ("lamp", "keeper")),
}
"""Parent and members by name; a title is made of the first two members that may be seen."""

FORMER = {"c_bookkeeping": "c_books"}


def community_id(name: str) -> str:
    return content_id("c", name)


@dataclass
class LibraryCommunities:
    """What a request may see of `HIERARCHY`."""

    graph: LibraryGraph

    def members(self, name: str) -> list[str]:
        return [member for member in HIERARCHY[name][1] if entity_id(member) in self.graph.nodes]

    def title(self, name: str) -> str:
        return ", ".join(self.members(name)[:2])

    def level(self, name: str) -> int:
        return 0 if HIERARCHY[name][0] is None else 1

    def seen(self) -> list[str]:
        return sorted(filter(self.members, HIERARCHY), key=lambda name: (-len(self.members(name)), community_id(name)))

    def units(self, name: str) -> list[UnitText]:
        wanted = {entity_id(member) for member in self.members(name)}
        naming = {relation.source for relation in self.graph.relations if relation.target in wanted}
        return [unit for unit in self.graph.units if unit.section_id in naming]

    def find(self, request: CommunitiesInput) -> GraphFound[CommunityNode]:
        seen, unresolved = self.seen(), []
        if not seen:
            return GraphFound(items=(), snapshot_id=self.graph.snapshot_id, empty_reason="no_communities")
        if request.community_ids:
            chosen, unresolved = self._resolve(request.community_ids)
        else:
            chosen = [name for name in seen if self.level(name) == (request.level or 0)]
            if request.parent_id is not None:
                parents, _ = self._resolve([request.parent_id])
                chosen = [name for name in seen if HIERARCHY[name][0] in parents]
            if request.entity_id is not None:
                [entity], _ = self.graph._resolve([request.entity_id])
                chosen = sorted((name for name in seen if entity in map(entity_id, self.members(name))), key=self.level)
        return GraphFound(
            items=[self._node(name, request) for name in chosen],
            snapshot_id=self.graph.snapshot_id,
            empty_reason=None if chosen else "ambiguous" if unresolved else "no_match",
            unresolved=unresolved,
        )

    def _resolve(self, refs: Sequence[str]) -> tuple[list[str], list[Unresolved]]:
        known = {community_id(name): name for name in self.seen()}
        known |= {community_id(old): name for old, name in FORMER.items() if name in known.values()}
        found, unresolved = [], []
        for ref in refs:
            titled = [name for name in self.seen() if self.title(name) == ref]
            if ref in known or len(titled) == 1:
                found.append(known.get(ref) or titled[0])
                continue
            candidates = [Named(id=community_id(name), kind="community", name=ref) for name in titled]
            unresolved.append(Unresolved(asked=ref, reason="ambiguous" if titled else "unknown", candidates=candidates))
        if not found and all(one.reason == "unknown" for one in unresolved):
            raise InvalidArgument(f"There is no community {refs[0]!r} in this scope.", field="community_ids")
        return found, unresolved

    def _node(self, name: str, request: CommunitiesInput) -> CommunityNode:
        parent, units = HIERARCHY[name][0], self.units(name)
        summary = [
            Snippet(
                text=unit.text,
                section_id=unit.section_id,
                doc_uri=unit.doc_uri,
                start_char=unit.start_char,
                end_char=unit.end_char,
                line=unit.line,
            )
            for unit in units
        ]
        whole = bool(request.community_ids)
        return CommunityNode(
            id=community_id(name),
            title=self.title(name),
            level=self.level(name),
            parent_id=community_id(parent) if parent else None,
            n_children=sum(HIERARCHY[other][0] == name for other in self.seen()),
            n_entities=len(self.members(name)),
            n_units=len(units),
            key_entities=[KeyEntity(id=entity_id(member), name=member) for member in self.members(name)],
            key_facts=[f"{member} is in {units[0].doc_uri}" for member in self.members(name)] if whole else [],
            summary=summary[: None if whole else 1] if request.include_snippet else [],
            formerly=[community_id(old) for old, now in FORMER.items() if now == name] if whole else [],
        )

    def search(self, request: GlobalSearchInput) -> GlobalFound:
        """The best span of every unit of each root community that has one."""
        seen = self.seen()
        roots = [name for name in seen if self.level(name) == 0]
        points: dict[str, Point] = {}
        for name in roots:
            units = self.units(name)
            for span in best_spans(request.question, [unit.text for unit in units], request.max_points):
                unit = units[span.passage]
                start, end = unit.start_char + span.start_char, unit.start_char + span.end_char
                points.setdefault(
                    f"{unit.section_id}:{start}",
                    Point(
                        quote=unit.text[span.start_char : span.end_char],
                        rating=span.score,
                        community_id=community_id(name),
                        title=unit.title,
                        heading=unit.heading,
                        section_id=unit.section_id,
                        doc_uri=unit.doc_uri,
                        start_char=start,
                        end_char=end,
                        line=unit.line + unit.text.count("\n", 0, span.start_char),
                    ),
                )
        ordered = sorted(points.values(), key=lambda point: (-point.rating, point.section_id))[: request.max_points]
        with_points = {point.community_id for point in ordered}
        empty: EmptyReason | None = None if ordered else "no_match" if seen else "no_communities"
        return GlobalFound(
            items=ordered,
            snapshot_id=self.graph.snapshot_id,
            empty_reason=empty,
            themes=[
                Theme(id=community_id(name), title=self.title(name), level=0, rating=0.5)
                for name in roots
                if community_id(name) in with_points
            ],
            communities=len(seen),
            rated=len(roots),
            dropped=len(roots) - len(with_points),
            stages={"units": len(points)},
        )
