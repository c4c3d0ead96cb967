"""Union-find over names, for the whole corpus and with exceptions for single documents."""

from __future__ import annotations


class UnionFind:
    """Sets of names that stand for one thing, each set with its canonical name.

    Args:
        size: how many names there are; at first each is its own canonical name.
    """

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))
        self._in_document: dict[tuple[int, int], int] = {}

    def find(self, name: int) -> int:
        """Return the canonical name of a name in the whole corpus."""
        parent = self._parent
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    def union(self, name: int, into: int) -> None:
        """Merge a name into another one everywhere; that one's canonical name stays."""
        self._parent[self.find(name)] = self.find(into)

    def union_in(self, document: int, name: int, into: int) -> None:
        """Merge a name into another one in one document only. The first merge of a name in a document holds."""
        if self.find(name) != self.find(into):
            self._in_document.setdefault((document, name), into)

    def find_in(self, document: int, name: int, surface: str) -> int:
        """Return the canonical name of a name in a document.

        A surface in lower case is never a short form: in a text about Ms Snow, "the snow" is snow.
        """
        into = self._in_document.get((document, name)) if surface != surface.lower() else None
        return self.find(name if into is None else into)
