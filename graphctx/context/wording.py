"""Whether two wordings ask the same: the guard beside similarity in the cache of contexts.

Vectors hardly tell "above 10 MB" from "below 10 MB", 2023 from 2024, or who did it from whom it was done to. So all
words have to agree but those that come and go between wordings, in the same order or with one phrase moved.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from graphctx.text.lexical import fold

_FRAME = re.compile(
    r"^(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:tell|explain\s+to|show|remind)\s+(?:me|us)"
    r"|tell\s+(?:me|us)|(?:i|we)(?:\s+would|'d)?\s+(?:want|need|like)\s+to\s+know|do\s+you\s+know)\b[\s,:]*"
)
_HOW_TO = re.compile(r"\bhow\s+(?:(?:do|can|could|should)\s+(?:i|we|you|one)|to)\b")
_MEANING = (
    re.compile(r"^(?:(?:can|could)\s+you\s+)?(?:please\s+)?(?:explain|define)\s+(?:the\s+term\s+)?(?!how|wh)(.+)$"),
    re.compile(r"^what(?:\s+is|\s+are|\s+do\s+(?:people|you|we|they))\s+mean[t]?\s+by\s+(.+)$"),
    re.compile(r"^what\s++do(?:es)?\s++(\S.*?)\smean\b(.*)$"),
)
"""Questions of what something is, in other words."""

_CONTRACTED = re.compile(r"\b(what|who|where|when|how|that|it|there)'s\b")
_NEGATED = re.compile(r"n't\b|\bcannot\b")
_EDGES = "?!.,;:()[]{}…"

_IGNORED = frozenset(
    "a an the that of for at my our your i you we me us it its they them their please exactly precisely".split()
)
"""Words that come and go between wordings of one question."""

_STRANDED = frozenset("of for at".split())
"""These count at the end of a question: "What is it for?"."""

_RELATIVE = frozenset("who which whom".split())
"""These come and go after a noun."""

_PREPOSITIONS = frozenset(
    "in on off to from into by with without before after during until under over above below back while when if".split()
)
"""A phrase that begins with one of these may stand elsewhere."""

_AUXILIARIES = {
    word: group
    for group, words in {
        "be": "is are am be been being",
        "be past": "was were",
        "do": "do does",
        "do past": "did",
        "have": "have has",
        "have past": "had",
    }.items()
    for word in words.split()
}
_PRESENT = frozenset(("be", "do", "have"))
_SAME = {"which": "what", "whom": "who"}


@dataclass(frozen=True, slots=True)
class Wording:
    """What a question says: its words in order, and its auxiliary verbs, of which the order does not matter."""

    words: tuple[str, ...]
    auxiliaries: frozenset[str]

    def agrees(self, other: Wording) -> bool:
        """Return whether both ask the same."""
        apart = self.auxiliaries ^ other.auxiliaries
        if len(apart) > 1 or not apart <= _PRESENT:
            return False
        if self.words == other.words:
            return True
        return not apart and Counter(self.words) == Counter(other.words) and _moved(self.words, other.words)


@lru_cache(maxsize=4096)
def wording(question: str) -> Wording:
    """Return the wording of a question.

    >>> wording("Who approves a release?").agrees(wording("Please tell me who approves releases."))
    True
    >>> wording("Who approves a release?").agrees(wording("Who approved a release?"))
    False
    """
    # Flags of commands differ by case.
    plain = " ".join(token if token.lstrip("`\"'([").startswith("-") else fold(token) for token in question.split())
    text = _FRAME.sub("", plain.replace("’", "'"))
    text = _NEGATED.sub(" not", _CONTRACTED.sub(r"\1 is", _HOW_TO.sub("how", text)))
    for pattern in _MEANING:
        text = pattern.sub(lambda match: " ".join(("what is", *match.groups())), text)
    tokens = text.split()
    kept: list[str] = []
    auxiliaries: set[str] = set()
    for at, token in enumerate(tokens):
        word = token.rstrip(_EDGES).lstrip("([{")
        last = at == len(tokens) - 1
        if not word or (word in _IGNORED and not (last and word in _STRANDED)):
            continue
        if group := _AUXILIARIES.get(word) if not last else None:
            auxiliaries.add(group)
        elif word in _RELATIVE and at and tokens[at - 1] not in ("and", "or") and tokens[at - 1][-1] not in _EDGES:
            continue
        else:
            kept.append(_SAME.get(word) or _uninflected(word))
    return Wording(tuple(kept), frozenset(auxiliaries))


def _uninflected(word: str) -> str:
    """Return a word without possessive, plural and -ing."""
    word = word.removesuffix("'s").rstrip("'")
    if not word.isalpha() or len(word) < 4 or word in _PREPOSITIONS:
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ing") and re.search("[aeiouy]", word[:-3]):
        word = word[:-3]
    if len(word) > 3:
        word = word.removesuffix("e")
        word = word[:-1] if word[-1] == word[-2] else word
    return word


def _moved(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether one is the other with a phrase moved: from the beginning to the end, or one with a preposition."""
    size = len(one)
    start = next(at for at in range(size) if one[at] != other[at])
    end = size - next(at for at in range(size) if one[size - 1 - at] != other[size - 1 - at])
    own, its = one[start:end], other[start:end]
    cuts = [cut for cut in range(1, len(own)) if own[cut:] + own[:cut] == its]
    whole = start == 0 and end == size
    return any(whole or own[0] in _PREPOSITIONS or own[cut] in _PREPOSITIONS for cut in cuts)
