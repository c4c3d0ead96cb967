"""Texts on which a pattern is at its worst, made from the pattern's own structure."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, TypeAlias

Attack: TypeAlias = tuple[str, str, str]
"""Prefix, pump and end."""

ENDS = ("", "\0", "\n", "!", " a", "A=")
ALPHABET = "aZ0_ \t\n.,:;-'\"`*#<>()[]{}|/\\=!é中\u2019\0"
_ANY = "aZ0_ .-"
_SAMPLES = 3
_MANY = 3  # repetitions of a repeat in a sample, beside its least


class Attacks:
    """The attacks on one pattern, each as a text of a given size.

    An attack is a prefix that leads into a repeat of the pattern, a pump that is repeated, and an end that makes the
    match fail. Pumps are all characters that the pattern tells apart, alone and in pairs, and samples of every
    repeated part and of the whole.
    """

    def __init__(self, pattern: str, flags: int, seed: int = 0) -> None:
        self._random = random.Random(seed)
        tree = parser.parse(pattern, flags)
        literals = sorted(set(_literals(tree)))
        letters = _told_apart(tree, [*dict.fromkeys([*literals, *ALPHABET])])
        self.prefixes: dict[str, None] = {"": None}
        pumps: dict[str, None] = dict.fromkeys(letters)
        for before, body in _repeats(tree, []):
            for _ in range(_SAMPLES):
                self.prefixes["".join(self._sample(part) for part in before)] = None
                if pump := self._sample(body):
                    pumps[pump] = None
        for _ in range(_SAMPLES):
            if pump := self._sample(tree):
                pumps[pump] = None
        for a, b in product(letters, letters):
            pumps.setdefault(a + b)
        self.pumps = list(pumps)

    def all(self) -> list[Attack]:
        """Every attack, in an order of chance that the seed decides."""
        attacks = list(product(self.prefixes, self.pumps, ENDS))
        self._random.shuffle(attacks)
        return attacks

    def _sample(self, tree: Any) -> str:
        return "".join(self._of(kind, value) for kind, value in tree)

    def _of(self, kind: Any, value: Any) -> str:
        choose = self._random.choice
        match kind:
            case c.LITERAL:
                return chr(value)
            case c.NOT_LITERAL:
                return choose([char for char in _ANY if ord(char) != value])
            case c.ANY:
                return choose(_ANY)
            case c.IN:
                return self._member(value)
            case c.BRANCH:
                return self._sample(choose(value[1]))
            case c.SUBPATTERN:
                return self._sample(value[3])
            case c.ATOMIC_GROUP:
                return self._sample(value)
            case c.MAX_REPEAT | c.MIN_REPEAT | c.POSSESSIVE_REPEAT:
                least, most, body = value
                count = choose([least, min(most, least + 1), min(most, least + _MANY)])
                return "".join(self._sample(body) for _ in range(min(count, 1000)))
        return ""  # places, lookarounds and references take no text of their own

    def _member(self, items: Any) -> str:
        negated = items[0][0] is c.NEGATE
        held = [char for char in ALPHABET if _holds(items[negated:], char) != negated]
        if negated:
            return self._random.choice(held or ["\u2603"])
        stated = [chr(value) for kind, value in items if kind is c.LITERAL]
        stated += [chr(self._random.randint(*value)) for kind, value in items if kind is c.RANGE]
        return self._random.choice(stated + held)


def slowest(compiled: Any, methods: Iterable[str], attacks: Sequence[Attack], size: int, count: int) -> list[Attack]:
    """The attacks that take the pattern longest at a small size."""
    took = []
    for attack in attacks:
        text = text_of(attack, size)
        started = time.thread_time()
        use(compiled, methods, text)
        took.append((time.thread_time() - started, attack))
    took.sort(reverse=True)
    return [attack for _, attack in took[:count]]


def text_of(attack: Attack, size: int) -> str:
    """The text of an attack, of about ``size`` characters."""
    prefix, pump, end = attack
    return (prefix + pump * max(1, (size - len(prefix) - len(end)) // len(pump)))[: size - len(end)] + end


def use(compiled: Any, methods: Iterable[str], text: str) -> None:
    """Use a pattern in the given ways on a whole text."""
    given: Any = text.encode("utf-8") if isinstance(compiled.pattern, bytes) else text
    for method in methods:
        if method == "search":
            for _ in compiled.finditer(given):
                pass
        else:
            getattr(compiled, method)(given)


_REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)


def _subtrees(kind: Any, value: Any) -> list[Any]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is c.SUBPATTERN:
        return [value[3]]
    if kind is c.BRANCH:
        return list(value[1])
    if kind in (c.ASSERT, c.ASSERT_NOT):
        return [value[1]]
    return [value] if kind is c.ATOMIC_GROUP else []


def _nodes(tree: Any) -> Iterator[tuple[Any, Any]]:
    for kind, value in tree:
        yield kind, value
        for subtree in _subtrees(kind, value):
            yield from _nodes(subtree)


def _repeats(tree: Any, before: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """Each repeat's body, with what stands before it."""
    parts: list[Any] = list(before)
    for kind, value in tree:
        if kind in _REPEATS:
            yield parts, value[2]
        for subtree in _subtrees(kind, value):
            yield from _repeats(subtree, parts)
        parts = [*parts, [(kind, value)]]


def _literals(tree: Any) -> Iterator[str]:
    for kind, value in _nodes(tree):
        if kind in (c.LITERAL, c.NOT_LITERAL):
            yield chr(value)
        elif kind is c.IN:
            for member, held in value:
                if member in (c.LITERAL, c.RANGE):
                    yield from map(chr, (held,) if member is c.LITERAL else held)


def _told_apart(tree: Any, chars: list[str]) -> list[str]:
    """One character of each group that every set and literal of the pattern treats alike."""
    sets = [
        [(c.LITERAL, value)] if kind is not c.IN else [item for item in value if item[0] is not c.NEGATE]
        for kind, value in _nodes(tree)
        if kind in (c.LITERAL, c.NOT_LITERAL, c.IN)
    ]
    seen: dict[tuple[bool, ...], str] = {}
    for char in chars:
        seen.setdefault((*(_holds(items, char) for items in sets), char == "\n"), char)
    return list(seen.values())


_CATEGORIES = {
    c.CATEGORY_DIGIT: str.isdecimal,
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    c.CATEGORY_NOT_DIGIT: lambda char: not char.isdecimal(),
    c.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    c.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _holds(items: Any, char: str) -> bool:
    return any(
        (kind is c.LITERAL and value == ord(char))
        or (kind is c.RANGE and value[0] <= ord(char) <= value[1])
        or (kind is c.CATEGORY and _CATEGORIES[value](char))
        for kind, value in items
    )
