"""Claims: the sentences of a chunk as words, numbers with their units, negations and modality.

A claim is what `contradictions` compares. It is read from tokens alone, without a parser, so that the same text has
the same claim on every machine and thousands are read in a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal

from graphctx.text.lexical import fold, stem
from graphctx.text.sentences import split_sentences

Force = Literal["must", "may", "optional", ""]
"""Whether a claim requires an action, permits it, leaves it to the reader, or states a fact."""

Bound = Literal["least", "most", ""]
"""Whether a number is the least or the most of something, or neither."""

_CHARS = 4000  # of a content that are read: two pages
_CLAIMS = 40  # of a content
_LAYOUT = ("#", "|", "```", "---")  # begin lines that say nothing by themselves: headings, tables, code

_PART = re.compile(r"[;•]|(?<!\w)[–—-](?!\w)|,? but (?=\w)|, and (?=(?:must|may|can|do|does|is|are|never|not) )")
_NUMBER = re.compile(r"([-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?)([a-zA-Z%]{0,9})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_NAME = re.compile(r"[A-Z\d/_.#:=@~\\%]")
_EDGES = "\"'“”‘’`*_()[]{}<>,;!?"

_DENIALS = frozenset("not no never none nobody nothing neither nor cannot without avoid avoids".split())
_FORBIDDEN = frozenset(
    "forbid forbids forbidden prohibit prohibits prohibited disallow disallows disallowed banned".split()
)
_MUST = frozenset("must shall should ought required mandatory".split())
_MUST_TO = frozenset("have has need needs required".split())  # with "to" after it
_MAY = frozenset("may can might could allow allows allowed permit permits permitted".split())
_OPTIONAL = frozenset("optional optionally".split())

_DETERMINERS = frozenset("a an the all every each any both this that these those its their our your".split())
_COPULAS = frozenset("is are was were be = : called named".split())
_EMPTY = _DETERMINERS | frozenset(
    "there it they them we you he she i which who whose and or so then do does did will would been being has have "
    "always is are was were be = : also just by of to in on at with from as for into via per than own please".split()
)
"""Words that say nothing by themselves."""
_LIMITS = frozenset(
    "only except unless otherwise besides usually normally sometimes often mostly if when while where until once "
    "during outside inside since other others".split()
)
_OPPOSITES = {
    pair.split("/")[0]: pair.split("/")[1]
    for pair in (
        "disabled/enabled disable/enable disables/enables off/enabled private/shared public/private denied/accepted "
        "rejected/accepted reject/accept rejects/accepts excluded/included excludes/includes after/before last/first "
        "descending/ascending false/true manual/automatic manually/automatically decreases/increases stops/starts "
        "parallel/sequential maximum/minimum remote/local remotely/locally external/internal closed/open "
        "fails/succeeds below/above less/more"
    ).split()
}
_ATTRIBUTES = frozenset(
    "disabled private public first last false manual maximum minimum remote local external internal closed".split()
)
"""Opposites that, right before a noun, say which thing a claim is about."""
_TIMES = {"ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600}
_TIMES |= {"hr": 3600, "hour": 3600, "day": 86400, "d": 86400, "week": 604800}
_UNITS: dict[str, tuple[str, float]] = {
    **{name + end: ("s", float(scale)) for name, scale in _TIMES.items() for end in ("", "s")},
    **{name: ("month", scale) for name, scale in (("month", 1), ("months", 1), ("year", 12), ("years", 12))},
    **{unit: ("B", 1024.0**power) for power, x in enumerate("kmgt", 1) for unit in (f"{x}b", f"{x}ib")},
    **{f"{name}bytes": ("B", 1024.0**power) for power, name in enumerate(("", "kilo", "mega", "giga"))},
    **dict.fromkeys(("b", "byte"), ("B", 1.0)),
    **dict.fromkeys(("%", "percent"), ("%", 1.0)),
}
_COUNTS = {
    word: float(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "hundred": 100.0, "twice": 2.0}
_PERIODS = {"hourly": 1.0, "daily": 24.0, "nightly": 24.0, "weekly": 168.0, "monthly": 720.0, "quarterly": 2160.0}
_PERIODS |= {"yearly": 8760.0, "annually": 8760.0}
_BOUNDS: dict[str, Bound] = {
    **dict.fromkeys("least minimum min above over".split(), "least"),
    **dict.fromkeys("most maximum max below under limited limit up".split(), "most"),
}
_MORE = frozenset("more larger longer greater higher over above exceed exceeds".split())
_LESS = frozenset("less fewer smaller shorter lower below under".split())


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a claim.

    Attributes:
        value: in the base unit of its dimension: seconds, months, bytes, percent.
        dimension: what it measures; empty for a count.
        bound: whether it is a limit.
        text: as written.
    """

    value: float
    dimension: str
    text: str
    bound: Bound = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a claim that says something.

    Attributes:
        stem: by which words are compared; a number's is its value.
        text: as written.
        before: the function word before it; empty where there is none.
        flipped: whether it is the opposite of its stem, as ``disabled`` of ``enabled``.
        denied: whether a negation is before it.
        name: whether it is written like a name, a path or a value.
        number: where it is one.
    """

    stem: str
    text: str
    before: str
    flipped: bool = False
    denied: bool = False
    name: bool = False
    number: Number | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence, or a part of one.

    Attributes:
        text: as written.
        tokens: the words that say something, in order.
        copula: how many of them are before the first form of ``be``, ``=`` or ``:``; -1 where there is none.
        force: its modality.
        forbids: whether it denies permission.
        limits: words that limit it, such as ``only`` and ``unless``.
    """

    text: str
    tokens: tuple[Token, ...]
    copula: int
    force: Force
    forbids: bool
    limits: frozenset[str]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all tokens."""
        return frozenset(token.stem for token in self.tokens)


@lru_cache(maxsize=4096)
def claims_of(content: str) -> tuple[Claim, ...]:
    """The claims of the first pages of a content, in order, without those of a single word."""
    seen = content[:_CHARS]
    sentences = (seen[start:end] for start, end in split_sentences(seen))
    parts = (part for text in sentences if not text.startswith(_LAYOUT) for part in _PART.split(text))
    claims = (claim for part in parts if len((claim := read_claim(part.strip())).tokens) > 1)
    return tuple(islice(claims, _CLAIMS))


def read_claim(text: str) -> Claim:
    """Read a sentence."""
    reader = _Reader(list(_words(text)))
    while reader.words:
        reader.read()
    return Claim(text, tuple(reader.tokens), reader.copula, reader.force, reader.forbids, frozenset(reader.limits))


class _Reader:
    """What is known of a claim while its words are read."""

    def __init__(self, words: list[str]) -> None:
        self.words = words[::-1]  # the next one is the last
        self.tokens: list[Token] = []
        self.copula = -1
        self.force: Force = ""
        self.forbids = False
        self.limits: set[str] = set()
        self._denied = False
        self._before = ""
        self._bound: Bound = ""

    def read(self) -> None:
        """Take the next word, or a number with its unit."""
        if (number := self._number()) is not None:
            self._add(Token(f"{number.value:g}{number.dimension}", number.text, self._before, number=number))
            self._bound = ""
            return
        word = self.words.pop()
        low = fold(word).replace("’", "'")
        following = fold(self.words[-1]) if self.words else ""
        if low in _COPULAS and self.copula < 0:
            self.copula = len(self.tokens)
        if low in _BOUNDS:
            self._bound = _BOUNDS[low]
        if low == "on" and not following:
            low = "enabled"
        if self._is_function(low, following):
            self._before = self._before if low in _DETERMINERS else low
            return
        flipped = low in _OPPOSITES and (self.copula >= 0 or bool(self.force) or len(self.tokens) > 1)
        name = _NAME.search(word) is not None and (bool(self.tokens) or not word.istitle())
        self._add(Token(stem(_OPPOSITES[low] if flipped else low), word, self._before, flipped, name=name))

    def _add(self, token: Token) -> None:
        last = self.tokens[-1] if self.tokens and not token.before else None
        if last is not None and last.flipped and (low := fold(last.text)) in _ATTRIBUTES:
            self.tokens[-1] = replace(last, stem=stem(low), flipped=False)
        self.tokens.append(replace(token, denied=True) if self._denied else token)
        self._denied, self._before = False, ""

    def _is_function(self, low: str, following: str) -> bool:
        """Take note of a word that changes what others say; whether it was one."""
        if low in _FORBIDDEN:
            self.forbids = not self.forbids
        elif low.endswith("n't") or low in _DENIALS:
            self._denied = not self._denied
        elif low in _OPTIONAL:
            self.force = "optional"
        elif low in _MUST or (low in _MUST_TO and following == "to"):
            self._require()
        elif low == "need" and following == "not":
            self.words.pop()
            self.force = "optional"
        elif low in _MAY:
            self.forbids ^= self._denied
            self._denied, self.force = False, self.force or "may"
        elif low in _LIMITS:
            self.limits.add(low)
        elif self._denied and low in (*_MORE, *_LESS):
            if low != "longer" or following == "than":  # no longer denies, no longer than limits
                self._denied, self._bound = False, "most" if low in _MORE else "least"
        else:
            return low in _EMPTY or low in ("least", "most", "up")
        return True

    def _require(self) -> None:
        """A word of necessity: what is not required is optional."""
        self.force = "optional" if self._denied else "must"
        self._denied = False

    def _number(self) -> Number | None:
        word, low = self.words[-1], fold(self.words[-1])
        following = fold(self.words[-2]) if len(self.words) > 1 else ""
        unit, taken = following, 2
        if low in _PERIODS:
            return Number(_PERIODS[low], "period", self.words.pop())
        if clock := _CLOCK.fullmatch(word):
            return Number(60.0 * int(clock[1]) + int(clock[2]), "clock", self.words.pop())
        if low in ("a", "an") and following in _UNITS and len(following) > 2:
            value = 1.0
        elif low in _COUNTS:
            value = _COUNTS[low]
        elif match := _NUMBER.fullmatch(word):
            value = float(match[1].replace(",", ""))
            if match[2]:
                unit, taken = match[2].casefold(), 1
                if unit not in _UNITS:
                    return None
        else:
            return None
        if unit not in _UNITS:
            self.words.pop()
            return Number(value, "", word, self._bound)
        dimension, scale = _UNITS[unit]
        text = " ".join(self.words.pop() for _ in range(taken))
        return Number(value * scale, dimension, text, self._bound)


def _words(text: str) -> Iterator[str]:
    for piece in text.split():
        word = piece.strip(_EDGES)
        label = word.endswith(":") and len(word) > 1
        word = word.rstrip(".:…").strip(_EDGES) or (word if word in ("=", ":") else "")
        if word:
            yield word
        if label:
            yield ":"
