"""The contents of overview resources as bounded Markdown: one community, and a level of the whole knowledge base.

Levels go from broad to fine: 1, concepts, are the communities; 2, sections, the documents with their headings; 3,
units, what is retrieved and quoted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.documents import has_file_lines
from graphctx.model.graph import CommunityNode
from graphctx.model.requests import CommunitiesInput, Scope
from graphctx.model.results import DocumentOutline
from graphctx.server.names import ToolNaming
from graphctx.server.render import counted, one_line, quoted, searched
from graphctx.server.resources import (
    LEVELS,
    MARKDOWN,
    Level,
    ambiguous,
    community_uri,
    document_uri,
    hierarchy_uri,
    text_contents,
    unknown,
)
from graphctx.server.tools.communities import sizes_of

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

MAX_HIERARCHY_BYTES = 30_000
"""The size of a tool's default answer: a resource goes into the same context."""
MAX_DOCUMENTS = 1_000
MAX_DEPTH = 20
"""The deepest level that a request may ask for."""
MAX_CHILDREN = 50
MAX_NAME_CHARS = 300
"""The longest name of a community, as in a tool's argument."""


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A line of a tree, and its depth."""

    depth: int
    text: str


def community_contents(
    uri: str, name: str, searcher: Searcher, scope: Scope, naming: ToolNaming
) -> types.TextResourceContents:
    """Return a community: what it is, what is above and below it, and what the documents say of it.

    Raises:
        InvalidArgument: the scope has no such community, or several of that title.
    """
    community = _community(name, searcher, scope)
    blocks = [f"# {one_line(community.title)}\n\n{_about(community)}"]
    if community.parent_id:
        above = searcher.communities(CommunitiesInput(community_ids=[community.parent_id], scope=scope)).items
        blocks += [f"Part of {_linked(parent)}." for parent in above]
    if community.n_children:
        below = searcher.communities(CommunitiesInput(parent_id=community.id, scope=scope)).items
        lines = [f"- {_linked(child)}, {sizes_of(child)}" for child in below[:MAX_CHILDREN]]
        if len(below) > MAX_CHILDREN:
            lines.append(f"- {len(below) - MAX_CHILDREN} more: {naming.name('graph.communities')} with parent_id")
        blocks.append("\n".join(["## Below it\n", *lines]))
    names = [f"- {one_line(key.name)} (`{key.id}`)" for key in community.key_entities]
    blocks.append("\n".join(["## Key entities\n", *names]))
    if community.key_facts:
        blocks.append("\n".join(["## Facts\n", *(f"- {one_line(fact)}" for fact in community.key_facts)]))
    if community.phrased:
        blocks.append(
            "## In a language model's words\n\nThe numbers are of the sentences below.\n\n" + quoted(community.phrased)
        )
    if community.summary:
        said = []
        for number, sentence in enumerate(community.summary, start=1):
            line = f":{sentence.line}" if has_file_lines(sentence.doc_uri) else ""
            page = f" (page {sentence.page})" if sentence.page is not None else ""
            said.append(
                f"[{number}] {one_line(sentence.doc_uri)}{line}{page}, {sentence.section_id}\n{quoted(sentence.text)}"
            )
        blocks.append("\n\n".join(["## What the documents say, word for word", *said]))
    said_of_it = {
        "community_id": community.id,
        "title": community.title,
        "level": community.level,
        "parent_id": community.parent_id,
        "n_entities": community.n_entities,
        "n_units": community.n_units,
        "n_children": community.n_children,
        "snapshot_id": searcher.snapshot_id,
        "uri": community_uri(community.id),
    }
    return text_contents(uri, "\n\n".join(blocks) + "\n", MARKDOWN, said_of_it)


def hierarchy_contents(
    uri: str, level: str, searcher: Searcher, scope: Scope, naming: ToolNaming
) -> types.TextResourceContents:
    """Return one level of the whole as a tree, broad entries first, up to the limit.

    Raises:
        InvalidArgument: there is no such level.
    """
    kind = _level(level)
    if kind == "concept":
        entries, left = _communities(searcher, scope)
        about, what = "Communities of entities", "communities"
        deeper = f"Read one with {community_uri('ID')}, or go on below it with {naming.name('graph.communities')}."
    else:
        entries, left = _documents(searcher, scope, kind)
        about = "Documents and their sections" if kind == "section" else "Documents and their units"
        what = "documents or sections" if kind == "section" else "documents or units"
        deeper = f"Read a document with {document_uri('ID')}; go down in one with {naming.name('graph.children')}."
    shown = _most(entries)
    left += len(entries) - len(shown)
    blocks = [f"# {about} in {searched(scope)}"]
    blocks.append("\n".join(f"{'  ' * entry.depth}- {entry.text}" for entry in shown) or "There are none.")
    if left:
        blocks.append(f"Cut: {left} or more {what} are not shown. {deeper}")
    said = {
        "level": LEVELS.index(kind) + 1,
        "name": kind,
        "shown": len(shown),
        "truncated": left > 0,
        "max_bytes": MAX_HIERARCHY_BYTES,
        "snapshot_id": searcher.snapshot_id,
        "uri": hierarchy_uri(kind),
    }
    return text_contents(uri, "\n\n".join(blocks) + "\n", MARKDOWN, said)


def _communities(searcher: Searcher, scope: Scope) -> tuple[list[TreeLine], int]:
    """Return communities as a tree, as many as may fit, and how many are left out at least."""
    below: dict[str | None, list[CommunityNode]] = {}
    left, size = 0, 0
    for level in range(MAX_DEPTH + 1):
        found = searcher.communities(CommunitiesInput(level=level, scope=scope)).items
        for number, community in enumerate(found):
            size += len(community.title.encode()) + _LINE
            if size > MAX_HIERARCHY_BYTES:
                left += len(found) - number
                break
            below.setdefault(community.parent_id, []).append(community)
        if not found:
            break

    def walked(parent: str | None, depth: int) -> Iterator[TreeLine]:
        for community in below.get(parent, ()):
            yield TreeLine(depth, f"{one_line(community.title)} (`{community.id}`), {sizes_of(community)}")
            yield from walked(community.id, depth + 1)

    return list(walked(None, 0)), left


def _documents(searcher: Searcher, scope: Scope, kind: str) -> tuple[list[TreeLine], int]:
    """Return documents with what is in them, and how many are left out at least."""
    outlines = searcher.catalog.outline(scope, MAX_DOCUMENTS)
    entries: list[TreeLine] = []
    for document in outlines.documents:
        held = counted(len(document.units), "unit")
        entries.append(
            TreeLine(0, f"{one_line(document.title)} — {one_line(document.uri)} (`{document.doc_id}`), {held}")
        )
        entries += _sections(document) if kind == "section" else _units(document)
    return entries, outlines.total - len(outlines.documents)


def _sections(document: DocumentOutline) -> list[TreeLine]:
    levels = sorted({section.level for section in document.sections if section.level})
    return [
        TreeLine(1 + levels.index(section.level), f"{one_line(section.title)} (`{section.section_id}`)")
        for section in document.sections
        if section.level
    ]


def _units(document: DocumentOutline) -> list[TreeLine]:
    return [
        TreeLine(1, f"{one_line(unit.heading) or one_line(document.title)} (`{unit.section_id}`)")
        for unit in document.units
    ]


_LINE = 60
"""Bytes of a line beside the title: the id and the sizes."""


def _most(entries: Sequence[TreeLine]) -> list[TreeLine]:
    """Return as many entries as the limit takes, the broad ones first, in their order."""
    chosen: list[int] = []
    size = 0
    for at in sorted(range(len(entries)), key=lambda at: (entries[at].depth, at)):
        size += len(entries[at].text.encode()) + 2 * entries[at].depth + 3
        if size > MAX_HIERARCHY_BYTES:
            break
        chosen.append(at)
    return [entries[at] for at in sorted(chosen)]


def _community(name: str, searcher: Searcher, scope: Scope) -> CommunityNode:
    if not name.strip() or len(name) > MAX_NAME_CHARS:
        raise unknown("community", name)
    asked = CommunitiesInput(community_ids=[name], include_snippet=True, scope=scope)
    try:
        found = searcher.communities(asked)
    except InvalidArgument:
        raise unknown("community", name) from None
    for community in found.items:
        return community
    several = [one for asked in found.unresolved if asked.reason == "ambiguous" for one in asked.candidates]
    if not several:
        raise unknown("community", name)
    raise ambiguous("communities", name, {community_uri(one.id): one.name for one in several})


def _level(name: str) -> Level:
    """Return the name of a level that is given by its number or its name.

    Raises:
        InvalidArgument: there is no such level.
    """
    for number, level in enumerate(LEVELS, start=1):
        if name.strip().casefold() in (str(number), level):
            return level
    known = [f"{number} or {level}" for number, level in enumerate(LEVELS, start=1)]
    raise InvalidArgument(
        f"There is no level {name[:100]!r} of the hierarchy; there are {', '.join(known)}.",
        field="uri",
        value=name[:200],
        allowed=known,
    )


def _linked(community: CommunityNode) -> str:
    return f"[{_label(community.title)}]({community_uri(community.id)})"


def _label(title: str) -> str:
    """Return a title for use within brackets."""
    return one_line(title).replace("[", "(").replace("]", ")")


def _about(community: CommunityNode) -> str:
    former = f" Formerly {', '.join(f'`{one}`' for one in community.formerly)}." if community.formerly else ""
    return f"`{community.id}`, level {community.level}, {sizes_of(community)}.{former}"
