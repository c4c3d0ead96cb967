"""Where chunks disagree (RFC section 12): reported, never settled.

Two chunks disagree when they are of different layers, their contents differ and

- ``id``: they have one id, or
- ``subject``: they have one kind and one subject, the first line of text without its markup;

or when they are of one kind, in one layer or in two, and a sentence of one contradicts a sentence of the other. Such
claims are compared only where one says what the other says but for a word or two, and where words such as ``only``,
``unless`` and ``during`` limit both alike:

- ``negation``: one denies a word that the other asserts. Two denials cancel out; ``disabled`` denies ``enabled``.
- ``modality``: one requires or permits what the other leaves to the reader or forbids.
- ``number``: both have one number of a dimension, the two differ, and no bound makes room for both.
- ``value``: they differ in one place in which a thing has one value: ``stored in X``, ``called X``, ``use X for``.

The base layer is the canonical one and the layer that takes precedence is the one to read first; a conflict names both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphctx.layers.claims import Claim, Number, Token, claims_of
from graphctx.layers.effective import LayerView, Subject
from graphctx.layers.names import LayerName, rank
from graphctx.text.lexical import fold, stem

Why = Literal["negation", "modality", "number", "value"]

_EXTRA = 2  # words that one of two claims may have more
_LONGEST = 4  # words of a value

_PREFIX = re.compile(r"(?<![^\W-])(?:un|in|im|ir|il|dis|non-?|a)(?=\w{4})")
_SCOPES = frozenset("for in on of during inside within among under when while if where".split())
_PLACES = frozenset("in to with as from at by on into via under through per".split())
_MULTIVALUED_VERBS = frozenset(
    map(
        stem,
        "depends relies talks connects subscribes applies refers belongs contributes links supported tested published "
        "run deployed installed shipped available".split(),
    )
)
"""A subject may have many objects with these verbs."""
_SINGLE_VALUED = frozenset(map(stem, "default current primary entry".split()))
"""Subjects with these words have one value."""
_DEFINITE = re.compile(r"(?:is|are|as) the ", re.I)
_HAS = re.compile(r"\b(?:has|have) ", re.I)
Reason = Literal["id", "subject"] | Why
ChunkPlace = tuple[LayerView, int]
"""A layer and the number of a record in it."""

_PER_LAYER = 3  # chunks of one subject that are reported of each layer
_MAX_CONTRADICTIONS = 20  # that are reported of one chunk


@dataclass(frozen=True, slots=True)
class Member:
    """One side of a conflict.

    Attributes:
        layer: where the chunk is.
        id: of the chunk.
        content: of the chunk.
        claim: the sentence that contradicts another; empty where only the id or the subject is shared.
    """

    layer: LayerName
    id: int
    content: str
    claim: str = ""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Chunks that disagree.

    Attributes:
        reason: what they share, or in what they contradict each other.
        about: the id, the subject, or what each says in that place: ``50 MB against 80 MB``.
        members: two or more chunks, by precedence and then by id.
    """

    reason: Reason
    about: str
    members: tuple[Member, ...]

    @property
    def first(self) -> LayerName:
        """The layer that goes first among the members."""
        return self.members[0].layer

    @property
    def canonical(self) -> LayerName:
        """The lowest layer among the members; the base layer is authoritative."""
        return self.members[-1].layer


def all_conflicts(views: Sequence[LayerView]) -> list[Conflict]:
    """Every conflict of ids and of subjects between layers: those of ids first, ascending."""
    ids = Counter(chunk_id for view in views for chunk_id in view.records)
    found = [_of_id(chunk_id, views) for chunk_id in sorted(c for c, n in ids.items() if n > 1)]
    shared = Counter(subject for view in views for subject in view.subjects)
    found += [_of_subject(subject, views) for subject in sorted(s for s, n in shared.items() if n > 1)]
    return [conflict for conflict in found if conflict is not None]


class Nearby:
    """Chunks that others are compared with, by the words of their claims.

    Args:
        places: chunks that are in effect, the nearest first.
    """

    def __init__(self, places: Iterable[ChunkPlace]) -> None:
        self._claims: list[tuple[ChunkPlace, Claim]] = []
        self._holding: dict[tuple[str, str], list[int]] = {}
        for view, record in places:
            kind = view.file.kind(record)
            for claim in claims_of(view.file.content(record)):
                for word in claim.stems:
                    self._holding.setdefault((kind, word), []).append(len(self._claims))
                self._claims.append(((view, record), claim))

    def contradictions(self, view: LayerView, record: int) -> list[Conflict]:
        """The chunks that contradict one, each with the first sentence that does."""
        kind, content = view.file.kind(record), view.file.content(record)
        found: dict[tuple[LayerName, int], tuple[int, Conflict]] = {}
        for claim in claims_of(content):
            for number in sorted({n for word in claim.stems for n in self._holding.get((kind, word), ())}):
                (other, place), against = self._claims[number]
                key = other.name, place
                if key in found or key == (view.name, record):
                    continue
                if (difference := compared(claim, against)) is not None:
                    found[key] = number, _contradicting(difference, (view, record), (other, place))
        return [conflict for _, conflict in sorted(found.values(), key=lambda pair: pair[0])[:_MAX_CONTRADICTIONS]]


def conflicts_of(view: LayerView, record: int, views: Sequence[LayerView], nearby: Nearby) -> tuple[Conflict, ...]:
    """The conflicts of one chunk.

    Args:
        view: its layer.
        record: its record.
        views: all layers, by precedence.
        nearby: the chunks that are near it.
    """
    if view.bookkeeping[record]:
        return ()
    subject = view.subject(record)
    found = [_of_id(int(view.file.ids[record]), views), _of_subject(subject, views, [(view, record)])]
    return (*nearby.contradictions(view, record), *(conflict for conflict in found if conflict is not None))


def _of_id(chunk_id: int, views: Sequence[LayerView]) -> Conflict | None:
    places = [(view, view.records[chunk_id]) for view in views if chunk_id in view.records]
    return _conflict("id", str(chunk_id), [place for place in places if not place[0].bookkeeping[place[1]]])


def _of_subject(
    subject: Subject, views: Sequence[LayerView], found: Sequence[tuple[LayerView, int]] = ()
) -> Conflict | None:
    places = [(view, record) for view in views for record in view.subjects.get(subject, ())[:_PER_LAYER]]
    return _conflict("subject", subject[1], list(dict.fromkeys([*found, *places])))


def _conflict(reason: Reason, about: str, places: Sequence[ChunkPlace]) -> Conflict | None:
    members = sorted((_member(place) for place in places), key=_order)
    if len({member.layer for member in members}) < 2 or len({member.content for member in members}) < 2:
        return None
    return Conflict(reason, about, tuple(members))


def _contradicting(difference: Contradiction, one: ChunkPlace, other: ChunkPlace) -> Conflict:
    sides = [
        (_member(one, difference.one), difference.differs[0]),
        (_member(other, difference.other), difference.differs[1]),
    ]
    sides.sort(key=lambda side: _order(side[0]))
    return Conflict(difference.why, " against ".join(said for _, said in sides), tuple(member for member, _ in sides))


def _member(place: ChunkPlace, claim: str = "") -> Member:
    view, record = place
    return Member(view.name, int(view.file.ids[record]), view.file.content(record), claim)


def _order(member: Member) -> tuple[int, int]:
    return rank(member.layer), member.id


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two claims that cannot both hold.

    Attributes:
        why: what they differ in.
        one: the sentence of the first text.
        other: that of the second.
        differs: what each says in that place, such as ``50 MB`` and ``80 MB``.
    """

    why: Why
    one: str
    other: str
    differs: tuple[str, str]


def contradiction(one: str, other: str) -> Contradiction | None:
    """The first contradiction between the claims of two texts, if there is any."""
    pairs = ((claim, against) for claim in claims_of(one) for against in claims_of(other))
    return next((found for pair in pairs if (found := compared(*pair)) is not None), None)


def compared(one: Claim, other: Claim) -> Contradiction | None:
    """How two claims contradict each other, if they do."""
    if one.limits != other.limits or not near(one, other):
        return None
    ones, others = _without_prefixes(one.tokens, other.tokens), _without_prefixes(other.tokens, one.tokens)
    shared = {token.stem for token in ones} & {token.stem for token in others}
    words = [token for token in ones if token.stem in shared and token.number is None]
    if not words:
        return None
    mine = [token for token in ones if token.stem not in shared]
    its = [token for token in others if token.stem not in shared]
    differs = _negation(one, other, ones, others, shared)
    why: Why = "negation"
    if differs is not None:
        if not _all_but_extra(mine, its) or len(shared) < 2:
            return None
        if "may" in (one.force, other.force):
            why = "modality"
    elif {one.force, other.force} == {"optional", "must"} and _all_but_extra(mine, its):
        why, differs = "modality", (one.force, other.force)
    elif (differs := _numbers(one, ones, mine, its)) is not None:
        why = "number"
    elif (differs := _value(one, other, ones, others)) is not None:
        why = "value"
    else:
        return None
    return Contradiction(why, one.text, other.text, differs)


def near(one: Claim, other: Claim) -> bool:
    """Whether two claims share as many words as those that contradict each other do."""
    shared = len(one.stems & other.stems)
    return shared > 0 and min(len(one.stems), len(other.stems)) - shared <= _LONGEST


def _without_prefixes(tokens: Sequence[Token], against: Sequence[Token]) -> list[Token]:
    """Tokens, of which those that deny a word of another claim by a prefix (``unsigned``) stand for that word."""
    known = {token.stem for token in against}
    made = []
    for token in tokens:
        if token.stem not in known and token.number is None:
            bare = stem(_PREFIX.sub("", fold(token.text), count=1))
            if bare != token.stem and bare in known:
                token = replace(token, stem=bare, flipped=not token.flipped)
        made.append(token)
    return made


def _negation(
    one: Claim, other: Claim, ones: Sequence[Token], others: Sequence[Token], shared: set[str]
) -> tuple[str, str] | None:
    """What one claim denies and the other asserts, as each says it."""

    def denials(claim: Claim, tokens: Sequence[Token]) -> int:
        return claim.forbids + sum(token.denied + token.flipped for token in tokens if token.stem in shared)

    if (denials(one, ones) - denials(other, others)) % 2 == 0 or "optional" in (one.force, other.force):
        return None
    for token in (*ones, *others):
        if token.stem in shared and token.denied + token.flipped == 1:
            return _said(ones, token.stem), _said(others, token.stem)
    return ("forbidden", "allowed") if one.forbids else ("allowed", "forbidden")


def _said(tokens: Sequence[Token], wanted: str) -> str:
    token = next(token for token in tokens if token.stem == wanted)
    return f"not {token.text}" if token.denied else token.text


def _all_but_extra(mine: Sequence[Token], its: Sequence[Token]) -> bool:
    """Whether one of two claims has all words of the other, and few more, none of which narrows what it is about."""
    extra = [*mine, *its]
    return not (mine and its) and len(extra) <= _EXTRA and not any(token.before in _SCOPES for token in extra)


def _numbers(
    claim: Claim, tokens: Sequence[Token], mine: Sequence[Token], its: Sequence[Token]
) -> tuple[str, str] | None:
    """Two numbers of which only one can hold, as written. One before the verb says what the claim is about."""
    left, right = ([token for token in side if token.number is not None] for side in (mine, its))
    if len(left) != 1 or len(right) != 1:
        return None
    words, other_words = ([token for token in side if token.number is None] for side in (mine, its))
    one, other = left[0].number, right[0].number
    if one is None or other is None or one.dimension != other.dimension or _room(one, other):
        return None
    about = tokens.index(left[0]) < claim.copula and not one.bound
    return None if about or words or other_words else (one.text, other.text)


def _room(one: Number, other: Number) -> bool:
    """Whether the bound of one of two numbers makes room for the other."""
    if one.bound == other.bound:
        return False
    return all(
        limit.bound == "" or (value.value <= limit.value) == (limit.bound == "most")
        for limit, value in ((one, other), (other, one))
    )


def _value(one: Claim, other: Claim, ones: Sequence[Token], others: Sequence[Token]) -> tuple[str, str] | None:
    """What is in the one place in which two claims differ, if what they are about has one value there."""
    start = _alike(ones, others)
    end = _alike(ones[start:][::-1], others[start:][::-1])
    left, right = ones[start : len(ones) - end], others[start : len(others) - end]
    if not (0 < len(left) <= _LONGEST and 0 < len(right) <= _LONGEST):
        return None
    if {token.stem for token in left} & {token.stem for token in right}:
        return None
    if not start:
        good = one.copula == len(left) and other.copula == len(right) and _DEFINITE.search(one.text) is not None
        return _as_written(left, right) if good else None
    before = {left[0].before, right[0].before}
    copula = one.copula == other.copula
    verb = ones[start - 1].stem
    if copula and one.copula == start:
        single = bool(before & {"called", "named", ":", "="}) or any(
            token.before == "of" or token.stem in _SINGLE_VALUED for token in ones[:start]
        )
        good = single or all(token.name or token.text.endswith("s") for token in (left[-1], right[-1]))
        good = (
            start > (":" in before) and good and not end and not any(token.before for token in (*left[1:], *right[1:]))
        )
    elif verb == "use":
        good = end > 0 and ones[-end].before in ("for", "as", "to")
    else:
        tail = end == 0 or (copula and 0 <= one.copula <= start)
        good = len(before) == 1 and before <= _PLACES and start > 1 and tail and verb not in _MULTIVALUED_VERBS
        good = good and (one.copula >= 0 or _HAS.search(one.text) is None)
    return _as_written(left, right) if good else None


def _as_written(left: Sequence[Token], right: Sequence[Token]) -> tuple[str, str]:
    return " ".join(token.text for token in left), " ".join(token.text for token in right)


def _alike(ones: Sequence[Token], others: Sequence[Token]) -> int:
    """How many tokens two claims begin with alike."""
    pairs = enumerate(zip(ones, others, strict=False))
    return next((n for n, (a, b) in pairs if a.stem != b.stem), min(len(ones), len(others)))
