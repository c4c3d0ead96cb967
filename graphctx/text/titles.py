"""How names become a title, wherever one is made: of all entities at ingest, of those of a scope for a request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphctx.text.names import normalise_name, singular_of

TITLE_NAMES = 3
TITLE_CHARS = 60
"""A title that is longer with a third name has two."""

_CALL = re.compile(r"\(\s*\)$")
_ARTICLES = frozenset({"the", "a", "an"})


def shown_name(name: str) -> str:
    """A name as a title shows it: on one line, without a leading article, call brackets and angle brackets around."""
    shown = " ".join(name.split())
    if (bare := _CALL.sub("", shown)) and normalise_name(bare):
        shown = bare
    if shown.startswith("<") and shown.endswith(">") and normalise_name(shown[1:-1]):
        shown = shown[1:-1]
    first, _, rest = shown.partition(" ")
    if first.casefold() in _ARTICLES and rest and normalise_name(rest) == normalise_name(shown):
        return rest
    return shown


def title_words(name: str) -> frozenset[str]:
    """The words of a name for comparing, those inside an identifier too."""
    return frozenset(
        singular_of(word) for whole in normalise_name(name).split() for word in re.split(r"::|[./]", whole) if word
    )


def says_nothing_beside(key: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether a name, given by its words, is part of one of a title or has it as a part, or has no words."""
    return not key or any(key <= other or other <= key for other in others)


def too_long(names: Sequence[str]) -> bool:
    """Whether some names are more than a title holds."""
    return len(", ".join(names)) > TITLE_CHARS
