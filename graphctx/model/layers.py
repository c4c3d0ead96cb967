"""What the tools of the layers are asked and answer: inputs and outputs of ``agents_*`` (RFC sections 10 to 12)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from graphctx.model.answers import LOCAL_SESSION, Answer, Budget, ListAnswer
from graphctx.model.requests import MAX_TOP_K, Bounded, Cursor, Label, LayerName, Question, Strict

MAX_CONTENT_CHARS = 100_000
"""A chunk is a piece of context, not a document: what is longer than 25,000 tokens belongs into a file."""
MAX_CHUNK_ID = 2**32 - 1

NO_LAYERS = (
    "No layers are served here. Name their folder ([layers] folder in kb.toml, or --layers). A boundary of documents "
    "([server] doc_tags, repositories) keeps them out unless [layers] despite_boundary says otherwise."
)
"""The error where a request asks for layers and no folder of layers is open."""

Kind = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


def _as_text(value: Any) -> Any:
    """The number of a chunk as text: JSON may have it as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Provenance = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        pattern=r"^([0-9]+|.*\S.*:[0-9]+(-[0-9]+)?)$",
        description="The id of a chunk, such as 12, or a place as file:line, such as docs/a.md:12 or docs/a.md:12-20.",
    ),
    BeforeValidator(_as_text),
]


class ChunkFilters(Strict):
    """Which chunks a search may give."""

    kind: list[Kind] = Field([], max_length=20, description="Only chunks of these kinds, such as invariant.")


class AgentsSearchInput(Bounded):
    """Arguments of agents_search."""

    query: Question = Field(description="What to look for: a question, key words, or a sentence of a chunk.")
    k: int = Field(10, ge=1, le=MAX_TOP_K, description="How many chunks in all.")
    filters: ChunkFilters = Field(default_factory=ChunkFilters, description="Which chunks, before ranking.")
    layers: list[LayerName] = Field(
        ["base", "user", "delta", "local"], max_length=4, description="Which layers to search; all by default."
    )
    max_content_chars: int = Field(
        1000, ge=40, le=20_000, description="Longest piece of a chunk's content, in characters."
    )
    cursor: Cursor | None = Field(None, description="next_cursor of the last answer; all else as before.")


class AgentsContextWriteInput(Strict):
    """Arguments of agents_context_write."""

    content: str = Field(
        min_length=1, max_length=MAX_CONTENT_CHARS, pattern=r"\S", description="What to keep, in words."
    )
    kind: Kind = Field(description="What sort of context it is, such as derived-summary or invariant.")
    confidence: float = Field(ge=0, le=1, description="How sure you are that it is right.")
    scope: Literal["local", "delta"] = Field(
        description="local for notes of your own, delta for what a person should review."
    )
    sources: list[Provenance] = Field(
        [], max_length=50, description="Where it comes from: places such as docs/a.md:12, and ids of chunks."
    )
    session_id: Label | None = Field(
        None, description="Of an earlier answer, for its passage ids; a section_id needs none."
    )


class AgentsContextProposeInput(Strict):
    """Arguments of agents_context_propose."""

    context_id: int = Field(ge=1, le=MAX_CHUNK_ID, description="The id of a chunk of the delta layer.")
    target: Literal["user"] = Field("user", description="Where it should go: to the user layer.")
    reason: str = Field("", max_length=500, description="Why it is worth keeping, for whoever decides.")
    session_id: Label | None = Field(
        None, description="Of an earlier answer, for its passage ids; a section_id needs none."
    )


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


class AgentsSearchAnswer(ListAnswer):
    """Output of agents_search."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"layers_absent", "conflicts", "more_conflicts", "notes"}

    chunks: list[FoundChunk]
    layers_searched: list[LayerName] = Field(description="By precedence.")
    layers_absent: list[LayerName] = Field([], description="Asked for, and without a file.")
    conflicts: list[ChunkConflict] = Field([], description="Where these chunks and others, of any layer, disagree.")
    more_conflicts: int | None = Field(None, ge=1, description="Further ones that are not listed.")
    notes: list[str] = Field([], description="What else to know of the layers.")


class _Recorded(Answer):
    """What is told of a record that is safely on the disk."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"conflicts", "more_conflicts", "notes"})

    conflicts: list[ChunkConflict] = Field([], description="Where the chunk and others, of any layer, disagree.")
    more_conflicts: int | None = Field(None, ge=1, description="Further ones that are not listed.")
    notes: list[str] = Field([], description="What else to know.")
    session_id: str = LOCAL_SESSION
    budget: Budget


class WriteAnswer(_Recorded):
    """Output of agents_context_write."""

    layer: Literal["local", "delta"]
    id: int = Field(ge=1, description="Of the chunk, for agents_context_propose where the layer is delta.")
    kind: str
    author: Literal["mcp"]
    confidence: float = Field(ge=0, le=1, description="As 32 bits hold it.")
    created_at: str
    content_chars: int = Field(ge=1)
    doc_uri: str = Field(description="The layer's file and the chunk in it.")
    section_id: str = Field(description="Handle for kb.read_excerpt.")


class ProposeAnswer(_Recorded):
    """Output of agents_context_propose."""

    proposal_id: int = Field(ge=1, description="The chunk of the delta layer that records it.")
    context_id: int = Field(ge=1)
    target: Literal["user"]
    status: Literal["pending"] = Field(description="A person or CI decides.")
    created_at: str
