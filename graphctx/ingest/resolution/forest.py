"""Which name stands for which: a forest whose roots are the canonical names."""

from __future__ import annotations

from typing import Literal, TypeAlias

Reason: TypeAlias = Literal["exact", "acronym", "alias", "containment", "fuzzy"]


class Forest:
    """Merges of names, for the whole corpus or for one document."""

    def __init__(self, size: int) -> None:
        """Start with every name by itself."""
        self._parent = list(range(size))
        self.reasons: dict[int, Reason] = {}
        """Why a name is no root any more."""
        self._here: dict[tuple[int, int], tuple[int, Reason]] = {}

    def root(self, name: int) -> int:
        """The canonical name of a name, in the whole corpus."""
        parent = self._parent
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    def merge(self, name: int, into: int, reason: Reason) -> bool:
        """Let a name stand for another one everywhere; false where both are one already."""
        alias, canonical = self.root(name), self.root(into)
        if alias == canonical:
            return False
        self._parent[alias] = canonical
        self.reasons[alias] = reason
        return True

    def merge_in(self, document: int, name: int, into: int, reason: Reason) -> None:
        """Let a name stand for another one in one document only; the first decision stays."""
        if self.root(name) != self.root(into):
            self._here.setdefault((document, name), (into, reason))

    def root_in(self, document: int, name: int, surface: str) -> int:
        """The canonical name of a name in a document.

        A surface in lower case is never a short form: in a text about Ms Snow, "the snow" is snow.
        """
        here = self._here.get((document, name)) if surface != surface.lower() else None
        return self.root(name if here is None else here[0])

    def local(self) -> list[tuple[int, int, Reason]]:
        """The merges of single documents, as distinct ``(name, canonical, reason)``, sorted."""
        found = {(name, self.root(into), reason) for (_, name), (into, reason) in self._here.items()}
        return sorted(merge for merge in found if self.root(merge[0]) != merge[1])
