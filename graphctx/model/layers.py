"""Chunks of the layers of AGENTS.db and their conflicts, as answers show them (RFC sections 10 to 12)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer
from graphctx.model.requests import LayerName

NO_LAYERS = (
    "No layers are served here. Name their folder: [layers] folder in kb.toml, or graphctx serve --layers. A boundary "
    "of documents ([server] doc_tags, repositories) keeps them out unless [layers] despite_boundary says otherwise."
)
"""The error where a request asks for layers and no folder of layers is open."""

ChunkKind = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class ConflictSide(Answer):
    """One side of a conflict."""

    layer: LayerName
    id: int = Field(ge=1)
    excerpt: str = Field(description="The sentence that contradicts the other, or the start of its content.")


class ChunkConflict(Answer):
    """Chunks that disagree. Nothing settles it but a person."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"more_members"})

    reason: Literal["id", "subject", "negation", "modality", "number", "value"] = Field(
        description="id or subject: what chunks of several layers share, with another content. Else in what a sentence "
        "of one contradicts one of the other."
    )
    about: str = Field(description="The id, the subject, or what each says: 50 MB against 80 MB.")
    first: LayerName = Field(description="The layer that goes first among them.")
    canonical: LayerName = Field(description="The lowest among them; the base layer is authoritative.")
    members: list[ConflictSide] = Field(description="By precedence.")
    more_members: int | None = Field(None, ge=1, description="Further ones that are not listed.")


class ChunkName(Answer):
    """A chunk by its layer and its id."""

    layer: LayerName
    id: int = Field(ge=1)


class FoundChunk(Answer):
    """A chunk that bears on the query."""

    SILENT: ClassVar[frozenset[str]] = frozenset(
        {"created_at", "sources", "more_sources", "truncated", "retracted_by", "more_retracted_by", "revisions"}
    )

    rank: int = Field(ge=1)
    layer: LayerName
    id: int = Field(ge=1, description="For agents_context_propose, where the layer is delta.")
    kind: str
    author: str = Field(description="human or mcp.")
    confidence: float = Field(ge=0, le=1, description="The author's, in the chunk being right.")
    created_at: str = ""
    sources: list[str] = Field([], description="Ids of chunks, and places as file:line.")
    more_sources: int | None = Field(None, ge=1, description="Sources that are not listed.")
    content: str = Field(description="Exactly as in the chunk; the piece that fits the query where it is long.")
    start_char: int = Field(ge=0, description="Where that piece starts in the chunk's content.")
    end_char: int = Field(ge=0)
    content_chars: int = Field(ge=0, description="Characters of the whole content.")
    truncated: bool = Field(False, description="Whether this is a piece; kb.read_excerpt with section_id has all.")
    doc_uri: str = Field(description="The layer's file and the chunk in it.")
    section_id: str = Field(description="Handle for kb.read_excerpt.")
    score: float = Field(description="By which it is ranked; 1 at most.")
    similarity: float = Field(description="Of its vector to the query's, -1 to 1.")
    revisions: int | None = Field(None, ge=2, description="Records with its id, where it was edited; this is the last.")
    retracted_by: list[ChunkName] = Field([], description="Tombstones that take it back.")
    more_retracted_by: int | None = Field(None, ge=1, description="Further ones that are not listed.")
