"""A small knowledge base in memory: real strings, lexical ranking, the real models and the real span algorithm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Quote, SearchResult
from graphctx.model.catalog import Names, Outlined, OutlineEntry, Outlines, UnitEntry, WholeDocument
from graphctx.model.graph import EntitySection, Neighbour, Node, Path, SectionEntity, SectionParents
from graphctx.model.ids import content_id
from graphctx.model.requests import (
    ChildrenInput,
    CommunitiesInput,
    DescribeInput,
    EntitiesForSectionsInput,
    Environment,
    ExpandInput,
    ExtractEvidenceInput,
    Filters,
    GlobalSearchInput,
    GraphInput,
    ParentsInput,
    PathsInput,
    RetrieveInput,
    Scope,
    SearchInput,
    SectionsForEntitiesInput,
)
from graphctx.model.scope import within
from graphctx.model.themes import CommunityNode
from graphctx.server.backend import Evidence, Found, GlobalFound, GraphFound, UnitText
from graphctx.text.spans import best_spans, overlap, question_tokens

from .library_communities import LibraryCommunities
from .library_graph import LibraryGraph


def count_tokens(text: str) -> int:
    """Words and punctuation marks: an estimator for tests of what a limit does, whatever the tokenizer."""
    return len(re.findall(r"\w+|[^\w\s]", text))


HANDBOOK = {
    "ops/backup.md": (
        "Backups",
        "ops",
        "# Backups\n\nThe nightly backup of the ledger starts at 02:10 and is kept for 35 days. It is run by the "
        "night watch.\n\n# Restore\n\nA restore begins with a call to the duty officer. Only the duty officer may "
        "unseal the vault key. The restore of the ledger takes about forty minutes.\n",
    ),
    "people/duty.md": (
        "Duty rota",
        "people,ops",
        "# Duty officer\n\nThe duty officer for the ledger is Ines Halvorsen until March. She is reached on the "
        "red telephone.\n\n# Night watch\n\nThe night watch looks after backups – and coffee ☕. It hands over at "
        "06:00.\n",
    ),
    "glossary.txt": (
        "Glossary",
        "",
        "Ledger: the book of all accounts, kept since 1974.\n\nVault key: the key that opens sealed backups.\n",
    ),
}


def _names(text: str, known: set[str], limit: int) -> Names:
    found = sorted(name for name in known if text.lower() in name.lower())
    return Names(tuple(found[:limit]), len(found))


@dataclass
class Library:
    """Implements `graphctx.server.backend.Source` and `Backend`; a unit is a paragraph."""

    documents: dict[str, tuple[str, str, str]] = field(default_factory=lambda: dict(HANDBOOK))
    project_id: str = "handbook"
    environment: Environment = "dev"
    snapshot_id: str = "snap-1"

    def __post_init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.units: dict[str, UnitText] = {}
        for uri, (title, tags, text) in sorted(self.documents.items()):
            doc_id = content_id("d", uri)
            self.texts[doc_id] = text
            heading = ""
            for match in re.finditer(r"(?:[^\n]+\n?)+", text):
                if match[0].startswith("# "):
                    heading = match[0][2:].strip()
                    continue
                body = match[0].rstrip()
                unit = UnitText(
                    section_id=content_id("u", uri, match.start()),
                    doc_id=doc_id,
                    doc_uri=uri,
                    tags=tuple(tags.split(",")) if tags else (),
                    title=title,
                    heading=heading,
                    anchor=heading.lower().replace(" ", "-") or None,
                    text=body,
                    start_char=match.start(),
                    end_char=match.start() + len(body),
                    line=1 + text.count("\n", 0, match.start()),
                )
                self.units[unit.section_id] = unit

    def pinned(self) -> Library:
        return self

    def warm(self) -> None:
        """Nothing to load."""

    def unit(self, section_id: str) -> UnitText:
        if section_id not in self.units:
            raise InvalidArgument(f"There is no section {section_id!r}.", field="section_id", value=section_id)
        return self.units[section_id]

    def text_of(self, doc_uri: str) -> str:
        return self.texts[content_id("d", doc_uri)]

    def document_text(self, doc_id: str) -> str:
        return self.texts[doc_id]

    def _graph(self, request: GraphInput) -> LibraryGraph:
        return LibraryGraph(self._allowed(request.scope, request.filters), self.snapshot_id)

    def describe(self, request: DescribeInput) -> GraphFound[Node]:
        return self._graph(request).describe(request)

    def expand(self, request: ExpandInput) -> GraphFound[Neighbour]:
        return self._graph(request).expand(request)

    def paths(self, request: PathsInput) -> GraphFound[Path]:
        return self._graph(request).paths(request)

    def parents(self, request: ParentsInput) -> GraphFound[SectionParents]:
        return self._graph(request).parents(request)

    def children(self, request: ChildrenInput) -> GraphFound[Node]:
        return self._graph(request).children(request)

    def entities_for_sections(self, request: EntitiesForSectionsInput) -> GraphFound[SectionEntity]:
        return self._graph(request).entities_for_sections(request)

    def sections_for_entities(self, request: SectionsForEntitiesInput) -> GraphFound[EntitySection]:
        return self._graph(request).sections_for_entities(request)

    def communities(self, request: CommunitiesInput) -> GraphFound[CommunityNode]:
        return LibraryCommunities(self._graph(request)).find(request)

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        allowed = self._allowed(request.scope, request.filters)
        if not allowed:
            reason = "nothing_in_scope" if self.units else "empty_knowledge_base"
            return GlobalFound(items=(), snapshot_id=self.snapshot_id, empty_reason=reason)
        return LibraryCommunities(LibraryGraph(allowed, self.snapshot_id)).search(request)

    def community_names(self, text: str, scope: Scope, limit: int) -> Names:
        told = LibraryCommunities(LibraryGraph(self._allowed(scope, Filters()), self.snapshot_id))
        return _names(text, {told.title(name) for name in told.seen()}, limit)

    def outline(self, scope: Scope, limit: int) -> Outlines:
        units: dict[str, list[UnitText]] = {}
        for unit in self._allowed(scope, Filters()):
            units.setdefault(unit.doc_uri, []).append(unit)
        documents = []
        for uri, own in list(units.items())[:limit]:
            whole = self.whole_document(uri, scope)
            entries = tuple(UnitEntry(unit.section_id, unit.heading) for unit in own)
            documents.append(Outlined(whole.doc_id, uri, whole.title, whole.outline, entries))
        return Outlines(tuple(documents), len(units))

    def whole_document(self, name: str, scope: Scope) -> WholeDocument:
        for unit in self._allowed(scope, Filters()):
            if name in (unit.doc_id, unit.doc_uri):
                text = self.texts[unit.doc_id]
                headings = list(re.finditer(r"^# (.+)$", text, re.MULTILINE))
                ends = [match.start() for match in headings[1:]] + [len(text)]
                outline = tuple(
                    OutlineEntry(
                        content_id("s", unit.doc_uri, match.start()), 1, match[1], match[1].lower(), match.start(), end
                    )
                    for match, end in zip(headings, ends, strict=bool(headings))
                )
                return WholeDocument(unit.doc_id, unit.doc_uri, unit.title, unit.tags, None, text, outline)
        raise InvalidArgument(f"There is no document {name!r}.", document=name)

    def document_names(self, text: str, scope: Scope, limit: int) -> Names:
        return _names(text, {unit.doc_uri for unit in self._allowed(scope, Filters())}, limit)

    def entity_names(self, text: str, scope: Scope, limit: int) -> Names:
        graph = LibraryGraph(self._allowed(scope, Filters()), self.snapshot_id)
        return _names(text, {node.name for node in graph.nodes.values() if node.kind == "entity"}, limit)

    def _allowed(self, scope: Scope, filters: Filters) -> list[UnitText]:
        def fits(unit: UnitText) -> bool:
            return (
                within(scope.doc_tags, scope.repositories)(unit.tags, unit.doc_uri)
                and within(filters.doc_tag)(unit.tags, unit.doc_uri)
                and unit.doc_uri.startswith(filters.path_prefix or "")
            )

        return [unit for unit in self.units.values() if fits(unit)]

    def _ranked(self, query: str, units: Sequence[UnitText], max_per_doc: int) -> list[tuple[float, UnitText]]:
        tokens = question_tokens(query)
        scored = sorted(((overlap(tokens, u.text), u) for u in units), key=lambda su: (-su[0], su[1].section_id))
        taken: dict[str, int] = {}
        ranked = []
        for score, unit in scored:
            if score > 0 and taken.get(unit.doc_id, 0) < max_per_doc:
                taken[unit.doc_id] = taken.get(unit.doc_id, 0) + 1
                ranked.append((score, unit))
        return ranked

    def find(self, request: SearchInput) -> Found:
        allowed = self._allowed(request.scope, request.filters)
        ranked = self._ranked(request.query, allowed, request.options.max_per_doc)[: request.top_k]
        results = []
        for rank, (score, unit) in enumerate(ranked, start=1):
            best = best_spans(request.query, [unit.text], 1)[0]
            start = unit.start_char + best.start_char
            end = min(unit.start_char + best.end_char, start + request.options.max_snippet_chars)
            text = self.texts[unit.doc_id]
            results.append(
                SearchResult(
                    section_id=unit.section_id,
                    doc_uri=unit.doc_uri,
                    doc_id=unit.doc_id,
                    doc_tag=",".join(unit.tags),
                    title=unit.title,
                    heading=unit.heading,
                    rank=rank,
                    score=round(score, 4),
                    source="bm25",
                    preview=text[start:end],
                    start_char=start,
                    end_char=end,
                    line=1 + text.count("\n", 0, start),
                    anchor=unit.anchor,
                    size_bytes=len(unit.text.encode()),
                    scores={"overlap": score} if request.options.include_scores else None,
                )
            )
        empty = None if results else ("no_match" if allowed else "nothing_in_scope")
        reason = empty if self.units else "empty_knowledge_base"
        return Found(items=results, snapshot_id=self.snapshot_id, empty_reason=reason)

    def evidence(self, request: RetrieveInput) -> Evidence:
        allowed = self._allowed(request.scope, request.filters)
        units = [unit for _, unit in self._ranked(request.question, allowed, 5)[: request.top_k]]
        return self._quoted(request, units, None if units else "no_match" if allowed else "nothing_in_scope")

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        return self._quoted(request, [self.unit(section_id) for section_id in section_ids], None)

    def _quoted(self, request: RetrieveInput | ExtractEvidenceInput, units: list[UnitText], empty) -> Evidence:  # type: ignore[no-untyped-def]
        quotes = []
        for span in best_spans(request.question, [unit.text for unit in units], request.max_quotes):
            unit = units[span.passage]
            start, end = unit.start_char + span.start_char, unit.start_char + span.end_char
            text = self.texts[unit.doc_id]
            quotes.append(
                Quote(
                    quote=text[start:end],
                    doc_uri=unit.doc_uri,
                    section_id=unit.section_id,
                    title=unit.title,
                    heading=unit.heading,
                    start_char=start,
                    end_char=end,
                    line=1 + text.count("\n", 0, start),
                    anchor=unit.anchor,
                    confidence=span.score,
                )
            )
        if not quotes and empty is None:
            empty = "no_match"
        return Evidence(
            items=quotes,
            snapshot_id=self.snapshot_id,
            empty_reason=empty,
            mode="vector_only",
            candidates=len(units),
            stages={"units": len(units)},
        )
