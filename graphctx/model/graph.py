"""What the graph tools answer with: nodes, relations, paths and communities, without text unless it is asked for."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer, CitedSpan, ListAnswer
from graphctx.model.knowledge import AliasReason
from graphctx.model.requests import RelType

NodeKind = Literal["document", "section", "unit", "entity"]
NamedKind = Literal["document", "section", "unit", "entity", "community"]


class Snippet(CitedSpan):
    """One contiguous span of text about a node or a relation."""

    text: str = Field(description="Exactly as in the document.")
    section_id: str


class NodeSummary(Answer):
    """A node in short: id, kind and names."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"name", "heading", "label", "aliases", "n_mentions"})

    id: str = Field(description="Pass it to any graph tool; a unit's also to kb.read_excerpt.")
    kind: NamedKind
    name: str = Field("", description="Title of a document, heading of a section or unit, name of an entity.")
    heading: str = Field("", description="Path of headings below the document's title.")
    label: str = Field("", description="Of an entity: person, organization, code, term and the like; a hint.")
    aliases: list[str] = Field([], description="Other names of an entity.")
    n_mentions: int | None = Field(None, ge=0, description="How often an entity is named.")


class Node(NodeSummary):
    """A node of the graph, with the fields that its kind has; counts are of the scope that was applied."""

    SILENT: ClassVar[frozenset[str]] = NodeSummary.SILENT | {
        "doc_uri",
        "line",
        "page",
        "anchor",
        "tags",
        "updated_at",
        "n_units",
        "n_children",
        "snippet",
    }

    DETAIL: ClassVar[frozenset[str]] = frozenset({"anchor", "line"})

    kind: NodeKind
    doc_uri: str | None = Field(None, description="The document that it is, or that it is in.")
    line: int | None = Field(None, ge=1, description="Line of the document's text at which it starts.")
    page: int | None = Field(None, description="Page at which it starts, where there are pages.")
    anchor: str | None = Field(None, description="Anchor of its heading.")
    tags: list[str] = Field([], description="Of a document.")
    updated_at: str | None = Field(None, description="When its document was updated.")
    n_units: int | None = Field(None, ge=0, description="Units of a document or section; units that name an entity.")
    n_children: int | None = Field(None, ge=0, description="Nodes directly below a document or a section.")
    snippet: Snippet | None = Field(None, description="A sentence of it, with include_snippet.")


class LinkedAlias(Answer):
    """An entity that the documents show to be the same thing: a name of code, or what prose calls it."""

    id: str
    name: str
    reason: AliasReason


class DescribedNode(Node):
    """A node with the entities that are the same thing."""

    SILENT: ClassVar[frozenset[str]] = Node.SILENT | {"linked_aliases"}

    linked_aliases: list[LinkedAlias] = Field([], description="Of an entity: ALIAS_OF, either way.")


class Relation(Answer):
    """A relation between two nodes, from its source to its target (RELATED has no direction: ids in order)."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"predicates", "weight", "n_facts", "n_units", "reason", "snippet"})

    source: str
    target: str
    type: RelType
    weight: float | None = None
    predicates: list[str] = Field([], description="Of RELATED: what facts say, as `subject predicate object`.")
    n_facts: int | None = Field(None, ge=0)
    n_units: int | None = Field(None, ge=0, description="Units that name both.")
    reason: AliasReason | None = Field(None, description="Of ALIAS_OF: how a document shows that both are the same.")
    snippet: Snippet | None = None


class Neighbour(Node):
    """A node that an expansion reached."""

    hop: int = Field(ge=1, description="How many relations away.")
    via: list[Relation] = Field(description="The relations by which it was reached, the strongest first.")


class Path(Answer):
    """A path between two nodes: one relation between each node and the next."""

    length: int = Field(ge=0, description="Relations in it.")
    nodes: list[Node]
    relations: list[Relation]


class SectionParents(Answer):
    """What is above a section or a unit, the nearest first, the document last."""

    section_id: str
    parents: list[Node]


class SectionEntity(Node):
    """An entity that a section names."""

    section_id: str = Field(description="The section that was asked about.")


class EntitySection(Node):
    """A unit that names an entity."""

    entity_id: str = Field(description="The entity that was asked about.")
    section_id: str


class Unresolved(Answer):
    """A reference that leads to no node: unknown in this scope, or ambiguous."""

    asked: str
    reason: Literal["unknown", "ambiguous"]
    candidates: list[NodeSummary] = Field(description="What may be meant, the most mentioned first; ask by id.")


class GraphAnswer(ListAnswer):
    """Base of the answers of graph tools."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"unresolved"}

    unresolved: list[Unresolved] = Field(
        [], description="Names that could not be resolved, each with the reason and candidates."
    )
    snapshot_id: str


class KeyEntity(Answer):
    """An entity that is characteristic of a community."""

    id: str
    name: str


class CommunityNode(Answer):
    """A community of entities; counts are of the scope that was applied."""

    SILENT: ClassVar[frozenset[str]] = frozenset(
        {"parent_id", "documents", "key_facts", "summary", "phrased", "formerly"}
    )

    id: str
    title: str = Field(description="The heading or title of the documents that names it, or its key names.")
    level: int = Field(ge=0, description="0 is the root level; deeper ones are finer.")
    parent_id: str | None = None
    n_children: int = Field(ge=0)
    n_entities: int = Field(ge=0)
    n_units: int = Field(ge=0, description="Units that treat of it.")
    key_entities: list[KeyEntity]
    documents: list[str] = Field([], description="Titles of the documents that are most about it.")
    key_facts: list[str] = Field([], description="As `subject predicate object`.")
    summary: list[Snippet] = Field([], description="The sentences that say most of it, with include_snippet.")
    phrased: str | None = Field(None, description="A language model's words for them, with include_snippet.")
    formerly: list[str] = Field([], description="Ids that it had in earlier snapshots; they still lead here.")


class CommunitiesAnswer(GraphAnswer):
    """Output of graph.communities."""

    communities: list[CommunityNode]
