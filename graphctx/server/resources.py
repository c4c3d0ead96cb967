"""Resources: their URIs and templates, and the list of the passages that a session holds.

All lie within the boundary of the settings: what is outside is as unknown as what does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote, unquote

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.budgets import DEFAULT_MAX_BYTES
from graphctx.model.requests import Scope
from graphctx.server.scratch import URI_SCHEME, Passage
from graphctx.server.units import Units, in_scope

TEXT = "text/plain"
JSON = "application/json"
MARKDOWN = "text/markdown"
MAX_URI_CHARS = 2000
MAX_LISTED = 50
"""Passages on one page of the list: about 20 KB, and as many as one search can find."""
STATUS_URI = f"{URI_SCHEME}://status"

Level = Literal["concept", "section", "unit"]
LEVELS: tuple[Level, ...] = ("concept", "section", "unit")
"""The levels of the hierarchy, from broad to fine; the first is level 1."""

_PRIORITY = 0.1  # large and better read in excerpts (tool contract, section 5.2)
_SCRATCH = re.compile(rf"{URI_SCHEME}://scratch/(x_[a-z2-7]{{16}})/(p_[a-z2-7]{{16}})")
_NAMED = re.compile(rf"{URI_SCHEME}://(section|document|entity|community|hierarchy)/(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Template:
    """A URI template; ``completes`` holds for each of its variables what completes it."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    completes: Mapping[str, str]


TEMPLATES = (
    Template(
        f"{URI_SCHEME}://section/{{section_id}}",
        "section",
        "Passages",
        "The whole text of a passage by its section_id, in every session.",
        TEXT,
        {"section_id": "nothing"},
    ),
    Template(
        f"{URI_SCHEME}://scratch/{{session_id}}/{{passage_id}}",
        "scratch",
        "Passages of this session",
        "The whole text of a passage that a search or a quote came from, while the session holds it.",
        TEXT,
        {"session_id": "nothing", "passage_id": "nothing"},
    ),
    Template(
        f"{URI_SCHEME}://document/{{doc_id}}",
        "document",
        "Documents",
        "The text of a document, by its id or its URI, up to a limit; _meta says what is missing and lists its "
        "sections.",
        TEXT,
        {"doc_id": "document"},
    ),
    Template(
        f"{URI_SCHEME}://entity/{{entity_id}}",
        "entity",
        "Entities",
        "What the documents name: an entity by its id or its name, the sections that define it, and what it is "
        "related to.",
        JSON,
        {"entity_id": "entity"},
    ),
    Template(
        f"{URI_SCHEME}://community/{{community_id}}",
        "community",
        "Communities",
        "A theme of the documents, by its id or its title: what is above and below it, its key entities and facts, and "
        "a summary of cited sentences.",
        MARKDOWN,
        {"community_id": "community"},
    ),
    Template(
        f"{URI_SCHEME}://hierarchy/{{level}}",
        "hierarchy",
        "The whole, level by level",
        "1 or concept: the communities as a tree; 2 or section: the documents and their sections; 3 or unit: the "
        "documents and their units. From broad to fine as much as a limit takes; _meta says whether that is all.",
        MARKDOWN,
        {"level": "level"},
    ),
)


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed URI: the kind of resource, and the ids or the name in it."""

    kind: str
    parts: tuple[str, ...] = ()


def templates(of: Sequence[Template] = TEMPLATES) -> list[types.ResourceTemplate]:
    """Return templates as clients list them."""
    return [
        types.ResourceTemplate(
            uri_template=template.uri,
            name=template.name,
            title=template.title,
            description=template.description,
            mime_type=template.mime_type,
            annotations=types.Annotations(audience=["assistant"], priority=_PRIORITY),
        )
        for template in of
    ]


def parse_uri(uri: str) -> Address:
    """Parse the URI of a resource.

    Raises:
        InvalidArgument: this server has no such resource.
    """
    if len(uri) <= MAX_URI_CHARS:
        if uri == STATUS_URI:
            return Address("status")
        if match := _SCRATCH.fullmatch(uri):
            return Address("scratch", match.groups())
        if match := _NAMED.fullmatch(uri):
            return Address(match[1], (unquote(match[2]),))
    forms = [template.uri for template in TEMPLATES] + [STATUS_URI]
    raise InvalidArgument(
        f"This server has no resource {uri[:120]!r}; its resources are {', '.join(forms)}.",
        field="uri",
        value=uri[:200],
        allowed=forms,
    )


def section_uri(section_id: str) -> str:
    """Return the URI of a passage, which needs no session."""
    return f"{URI_SCHEME}://section/{quote(section_id, safe='<>:')}"


def document_uri(doc_id: str) -> str:
    """Return the URI of a document."""
    return f"{URI_SCHEME}://document/{quote(doc_id, safe='')}"


def entity_uri(entity_id: str) -> str:
    """Return the URI of an entity."""
    return f"{URI_SCHEME}://entity/{quote(entity_id, safe='')}"


def community_uri(community_id: str) -> str:
    """Return the URI of a community."""
    return f"{URI_SCHEME}://community/{quote(community_id, safe='')}"


def hierarchy_uri(level: str) -> str:
    """Return the URI of a level of the hierarchy."""
    return f"{URI_SCHEME}://hierarchy/{level}"


def ambiguous(kinds: str, name: str, candidates: Mapping[str, str]) -> InvalidArgument:
    """Return the error about a name of several things; ``candidates`` holds their labels by URI."""
    shown = ", ".join(f"{uri} ({called})" for uri, called in candidates.items())
    return InvalidArgument(
        f"{name!r} is the name of several {kinds}. Read one of them: {shown}.",
        field="uri",
        value=name,
        allowed=list(candidates),
    )


def unknown(kind: str, name: str) -> InvalidArgument:
    """Return the error about an unknown name, the same whether it lies outside of the boundary or does not exist."""
    return InvalidArgument(
        f"There is no {kind} {name[:200]!r} in this knowledge base. Complete the template's argument, or search for "
        "it.",
        field="uri",
        value=name[:200],
        allowed=f"the id of {'an' if kind == 'entity' else 'a'} {kind}, or its {_NAMES[kind]}",
    )


_NAMES = {"document": "URI", "entity": "name", "community": "title"}


def for_assistants(last_modified: str) -> types.Annotations:
    """Return annotations of a resource for the assistant, with a low priority for its context.

    Args:
        last_modified: an ISO 8601 date or time, UTC if it has no zone. Clients accept only a whole date-time of
            RFC 3339, so it becomes one.
    """
    moment = datetime.fromisoformat(last_modified)
    stamp = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    return types.Annotations(
        audience=["assistant"],
        priority=_PRIORITY,
        last_modified=stamp.replace(tzinfo=None).isoformat(timespec="seconds") + "Z",
    )


def listed(passage: Passage) -> types.Resource:
    """Return a passage as clients list it."""
    unit = passage.unit
    return types.Resource(
        uri=passage.uri,
        name=passage.passage_id,
        title=f"{unit.title} › {unit.heading}" if unit.heading else unit.title,
        description=unit.doc_uri,
        mime_type=TEXT,
        size=passage.size_bytes,
        annotations=for_assistants(unit.updated_at or passage.created_at),
    )


def text_contents(
    uri: str, text: str, mime_type: str, meta: dict[str, Any] | None = None
) -> types.TextResourceContents:
    """Return the contents of a resource, with facts about it under graphctx's key in ``_meta``."""
    return types.TextResourceContents(
        uri=uri, mime_type=mime_type, text=text, _meta={f"{URI_SCHEME}/resource": meta} if meta else None
    )


def current(held: Passage, units: Units, boundary: Scope) -> Passage:
    """Return a held passage as it is published now.

    Raises:
        InvalidArgument: its text is no longer published within the boundary.
    """
    return units.current(held, "uri", lambda unit: in_scope(unit, boundary))


def page(held: Sequence[Passage], cursor: str | None, units: Units, boundary: Scope) -> types.ListResourcesResult:
    """Return one page of a session's passages without those that are no longer published.

    Args:
        held: the passages, the newest first.
        cursor: the id of the last passage of the page before.
        units: the published units.
        boundary: the boundary of the settings.

    Raises:
        InvalidArgument: the session does not hold the passage of the cursor.
    """
    start = 0
    if cursor is not None:
        start = next((place for place, passage in enumerate(held, start=1) if passage.passage_id == cursor), 0)
        if not start:
            raise InvalidArgument(
                f"cursor {cursor[:60]!r} does not continue this list: it was altered, or the session no longer holds "
                "the passage that it continues from. List the resources again without cursor.",
                field="cursor",
                value=cursor[:200],
                allowed="the nextCursor of the previous page",
            )
    entries: list[types.Resource] = []
    size = 0
    for passage in held[start : start + MAX_LISTED]:
        try:
            entry = listed(current(passage, units, boundary))
        except InvalidArgument:
            start += 1
            continue
        size += len(entry.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8", "surrogatepass"))
        if entries and size > DEFAULT_MAX_BYTES:
            break
        entries.append(entry)
        start += 1
    return types.ListResourcesResult(
        resources=entries, next_cursor=held[start - 1].passage_id if start < len(held) else None
    )
