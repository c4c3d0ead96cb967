"""What the documents say, to hold answers against: texts by URI, and the document of every id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from graphctx.knowledge_base import KnowledgeBase
from graphctx.text.graphemes import is_boundary

_ID = re.compile(r"\b[dsuec]_[a-z2-7]{16}\b")
SPANS = ("preview", "quote", "excerpt", "text")
"""The names that a span's text has, beside its ``start_char`` and ``end_char``."""


@dataclass(frozen=True)
class Truth:
    """A knowledge base as its tests know it."""

    kb: KnowledgeBase

    @cached_property
    def places(self) -> dict[str, frozenset[str]]:
        """The URIs of the documents that an id belongs to; of an entity, all that name it."""
        found: dict[str, set[str]] = {}
        for query in (
            "MATCH (d:Document) RETURN d.id, d.uri",
            "MATCH (d:Document)-[:HAS_SECTION]->(s:Section) RETURN s.id, d.uri",
            "MATCH (d:Document)-[:HAS_SECTION]->(s:Section)-[:HAS_UNIT]->(u:TextUnit) RETURN u.id, d.uri",
            "MATCH (d:Document)-[:HAS_SECTION]->(:Section)-[:HAS_UNIT]->(:TextUnit)-[:MENTIONS]->(e:Entity) "
            "RETURN DISTINCT e.id, d.uri",
            "MATCH (d:Document)-[:HAS_SECTION]->(:Section)-[:HAS_UNIT]->(:TextUnit)-[:MENTIONS]->(:Entity)"
            "-[:IN_COMMUNITY]->(c:Community) RETURN DISTINCT c.id, d.uri",
            "MATCH (d:Document)-[:HAS_SECTION]->(:Section)-[:HAS_UNIT]->(:TextUnit)-[:MENTIONS]->(:Entity)"
            "-[:IN_COMMUNITY]->(:Community)-[:CHILD_OF*1..6]->(c:Community) RETURN DISTINCT c.id, d.uri",
        ):
            for identifier, uri in self.kb.cypher(query, max_rows=100_000).rows:
                found.setdefault(identifier, set()).add(uri)
        # Titles, headings and file names are entities too, without a mention; they belong where they are written.
        documents = sorted(uri for identifier, uris in found.items() if identifier[0] == "d" for uri in uris)
        for identifier, name in self.kb.cypher("MATCH (e:Entity) RETURN e.id, e.name", max_rows=100_000).rows:
            if identifier not in found:
                found[identifier] = {uri for uri in documents if name.casefold() in self._words_of(uri)}
        return {identifier: frozenset(uris) for identifier, uris in found.items()}

    def _words_of(self, uri: str) -> str:
        document = self.kb.document(uri)
        return f"{unquote(uri)}\n{document.title}\n{document.text}".casefold()

    @cached_property
    def uris(self) -> frozenset[str]:
        return frozenset(uri for identifier, uris in self.places.items() if identifier[0] == "d" for uri in uris)

    def ids(self, kind: str, within: Callable[[str], bool] = lambda uri: True) -> list[str]:
        """The ids of a kind (``d``, ``s``, ``u``, ``e``) that some document within has, in order."""
        return sorted(i for i, uris in self.places.items() if i[0] == kind and any(map(within, uris)))

    def text(self, uri: str) -> str:
        return self.kb.document(uri).text

    def check_spans(self, structure: Any) -> int:
        """Hold every span of an answer against its document: its text, and graphemes whole at both ends.

        Gives how many there are.
        """
        checked = 0
        if "metadata" in structure:  # the connector form has its place apart from its text
            structure = {**structure["metadata"], "text": structure["text"]}
        for node in nodes(structure):
            if "start_char" not in node or "doc_uri" not in node:
                continue
            said = [name for name in SPANS if name in node]
            document = self.text(node["doc_uri"])
            start, end = node["start_char"], node["end_char"]
            assert 0 <= start <= end <= len(document)
            assert is_boundary(document, start), f"begins within a character: {node}"
            assert is_boundary(document, end), f"ends within a character: {node}"
            assert node.get("line", 0) in (0, document.count("\n", 0, start) + 1)
            for name in said:
                assert document[start:end] == node[name], (name, node)
                checked += 1
            if before := node.get("context_before"):
                assert document[:start].endswith(before)
            if after := node.get("context_after"):
                assert document[end:].startswith(after)
            assert said or "snapshot_id" in node, f"a place without a text: {node}"
        return checked

    def strangers(self, reply: str, within: Callable[[str], bool], asked: str = "") -> set[str]:
        """The ids in a reply that no document within has, but for those that the caller named itself."""
        return {
            identifier
            for identifier in set(_ID.findall(reply)) - set(_ID.findall(asked))
            if not any(map(within, self.places.get(identifier, ())))
        }


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a JSON value."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from nodes(inner)


def uris_in(structure: Any) -> set[str]:
    """Every document that an answer speaks of."""
    return {node["doc_uri"] for node in nodes(structure) if node.get("doc_uri")}
