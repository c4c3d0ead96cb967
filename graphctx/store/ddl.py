"""The graph's tables. Nodes carry what identifies and names a thing; relations carry numbers only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A node table: its label, the snapshot table it comes from, and its properties; ``id`` is the key."""

    label: str
    source: str
    columns: tuple[tuple[str, str], ...]

    @property
    def ddl(self) -> str:
        """The statement that makes it."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"CREATE NODE TABLE {self.label} ({columns}, PRIMARY KEY (id));"


@dataclass(frozen=True, slots=True)
class RelTable:
    """A relation: its label, the labels at its ends, and its numbers."""

    label: str
    source: str
    target: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def ddl(self) -> str:
        """The statement that makes it."""
        columns = "".join(f", {name} {kind}" for name, kind in self.columns)
        return f"CREATE REL TABLE {self.label} (FROM {self.source} TO {self.target}{columns});"


NODE_TABLES: tuple[NodeTable, ...] = (
    NodeTable(
        "Document",
        "documents",
        (
            ("id", "STRING"),
            ("uri", "STRING"),
            ("title", "STRING"),
            ("media_type", "STRING"),
            ("tags", "STRING[]"),
            ("updated_at", "STRING"),
            ("n_units", "INT32"),
        ),
    ),
    NodeTable(
        "Section",
        "sections",
        (
            ("id", "STRING"),
            ("doc_id", "STRING"),
            ("ordinal", "INT32"),
            ("level", "INT32"),
            ("title", "STRING"),
            ("path", "STRING[]"),
            ("anchor", "STRING"),
            ("start_char", "INT32"),
            ("end_char", "INT32"),
        ),
    ),
    NodeTable(
        "TextUnit",
        "units",
        (
            ("id", "STRING"),
            ("doc_id", "STRING"),
            ("doc_uri", "STRING"),
            ("section_id", "STRING"),
            ("ordinal", "INT32"),
            ("kind", "STRING"),
            ("title", "STRING"),
            ("heading", "STRING"),
            ("start_char", "INT32"),
            ("end_char", "INT32"),
            ("n_tokens", "INT32"),
        ),
    ),
    NodeTable(
        "Entity",
        "entities",
        (
            ("id", "STRING"),
            ("name", "STRING"),
            ("label", "STRING"),
            ("aliases", "STRING[]"),
            ("n_mentions", "INT32"),
            ("n_units", "INT32"),
        ),
    ),
    NodeTable(
        "Community",
        "communities",
        (
            ("id", "STRING"),
            ("level", "INT32"),
            ("title", "STRING"),
            ("n_entities", "INT32"),
            ("n_units", "INT32"),
            ("modularity", "DOUBLE"),
            ("key_entity_ids", "STRING[]"),
            ("summary", "STRING"),
            ("phrased", "STRING"),
            ("formerly", "STRING[]"),
        ),
    ),
)

REL_TABLES: tuple[RelTable, ...] = (
    RelTable("HAS_SECTION", "Document", "Section"),
    RelTable("PARENT_OF", "Section", "Section"),
    RelTable("HAS_UNIT", "Section", "TextUnit"),
    RelTable("NEXT", "TextUnit", "TextUnit"),
    RelTable("MENTIONS", "TextUnit", "Entity", (("n_mentions", "INT32"),)),
    RelTable(
        "RELATED",
        "Entity",
        "Entity",
        (("weight", "FLOAT"), ("n_facts", "INT32"), ("n_units", "INT32"), ("similarity", "FLOAT")),
    ),
    RelTable("LINKS_TO", "Document", "Document", (("n_links", "INT32"), ("n_title_mentions", "INT32"))),
    RelTable("IN_COMMUNITY", "Entity", "Community"),
    RelTable("CHILD_OF", "Community", "Community"),
)


def ddl() -> str:
    """The statements that make the graph, one a line, nodes first."""
    statements = [node.ddl for node in NODE_TABLES] + [rel.ddl for rel in REL_TABLES]
    return "\n".join(statements) + "\n"
