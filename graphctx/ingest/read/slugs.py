"""Anchors of headings that state none: the slug of the title, as GitHub and most site generators make it."""

from __future__ import annotations

import re

_DROPPED = re.compile(r"[^\w\- ]")


class Slugger:
    """Makes slugs that are unique within one document: the second ``usage`` is ``usage-1``."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def slug(self, title: str) -> str | None:
        """The anchor of the next heading; ``None`` if nothing of its title is left."""
        return self.unique(_DROPPED.sub("", title.strip().lower()).replace(" ", "-"))

    def unique(self, base: str) -> str | None:
        """``base``, or with the first free number behind it; ``None`` if it is empty."""
        if not base:
            return None
        count = self._taken.get(base)
        if count is None:
            self._taken[base] = 0
            return base
        unique = base
        while unique in self._taken:
            count += 1
            unique = f"{base}-{count}"
        self._taken[base] = count
        self._taken[unique] = 0
        return unique
