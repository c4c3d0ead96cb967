"""Scratch passages as MCP resources: ``graphctx://scratch/{session_id}/{passage_id}``."""

from __future__ import annotations

import re

import mcp_types as types

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.server.scratch import URI_SCHEME, Passage, ScratchStore

URI_TEMPLATE = f"{URI_SCHEME}://scratch/{{session_id}}/{{passage_id}}"
MIME_TYPE = "text/plain"
_PRIORITY = 0.1  # large and better read in excerpts (tool contract, section 5.2)
_URI = re.compile(rf"{URI_SCHEME}://scratch/(x_[a-z2-7]{{16}})/(p_[a-z2-7]{{16}})")


def template() -> types.ResourceTemplate:
    """The one resource template."""
    return types.ResourceTemplate(
        uri_template=URI_TEMPLATE,
        name="scratch",
        title="Passages of this session",
        description="The whole text of a passage that a search or a quote came from, while the session holds it.",
        mime_type=MIME_TYPE,
        annotations=types.Annotations(audience=["assistant"], priority=_PRIORITY),
    )


def listed(passage: Passage) -> types.Resource:
    """A passage as an entry of the resource list."""
    unit = passage.unit
    return types.Resource(
        uri=passage.uri,
        name=passage.passage_id,
        title=f"{unit.title} › {unit.heading}" if unit.heading else unit.title,
        description=unit.doc_uri,
        mime_type=MIME_TYPE,
        size=passage.size_bytes,
        annotations=types.Annotations(
            audience=["assistant"], priority=_PRIORITY, last_modified=unit.updated_at or passage.created_at
        ),
    )


def read(store: ScratchStore, session_id: str, uri: str) -> types.TextResourceContents:
    """The whole text of a passage.

    Raises:
        InvalidArgument: the URI is not of the template's form, or names nothing that is held.
        ScopeViolation: it names another session.
    """
    match = _URI.fullmatch(uri)
    if match is None:
        raise InvalidArgument(
            f"{uri[:120]!r} is no resource of this server; its resources are {URI_TEMPLATE}.",
            field="uri",
            value=uri[:200],
            allowed=URI_TEMPLATE,
        )
    if match[1] != session_id:
        raise ScopeViolation(
            f"{uri!r} belongs to another session. Repeat the kb.search call that returned it, in this one.",
            field="uri",
            value=uri,
            allowed=f"{URI_SCHEME}://scratch/{session_id}/…",
        )
    passage = store.get(session_id, match[2])
    return types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=passage.unit.text)
