"""Where two texts contradict each other: by a negation, a modality, a number, or a name or value.

Claims are compared only where one says what the other says but for a word or two, and where words such as ``only``,
``unless`` and ``during`` limit both alike.

- *negation*: one denies a word that the other asserts. Two denials cancel each other; ``disabled`` denies ``enabled``.
- *modality*: one requires or permits what the other leaves to the reader or forbids.
- *number*: both have one number of a dimension, the two differ, and no bound makes room for both.
- *value*: they differ in one place in which a thing has one value: ``is stored in X``, ``is called X``, ``use X for``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphctx.layers.claims import Claim, Number, Token, claims_of
from graphctx.text.lexical import fold, stem

Why = Literal["negation", "modality", "number", "value"]

_EXTRA = 2  # words that one of two claims may have more
_LONGEST = 4  # words of a value

_PREFIX = re.compile(r"(?<![^\W-])(?:un|in|im|ir|il|dis|non-?|a)(?=\w{4})")
_SCOPES = frozenset("for in on of during inside within among under when while if where".split())
_PLACES = frozenset("in to with as from at by on into via under through per".split())
_MANY = frozenset(
    map(
        stem,
        "depends relies talks connects subscribes applies refers belongs contributes links supported tested published "
        "run deployed installed shipped available".split(),
    )
)
"""Verbs that a subject has many objects of."""
_SINGLE = frozenset(map(stem, "default current primary entry".split()))
"""Words of a subject that there is one of."""
_THE_ONE = re.compile(r"(?:is|are|as) the ", re.I)
_HAS = re.compile(r"\b(?:has|have) ", re.I)


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
            return _said(one, ones, token.stem), _said(other, others, token.stem)
    return ("forbidden", "allowed") if one.forbids else ("allowed", "forbidden")


def _said(claim: Claim, tokens: Sequence[Token], wanted: str) -> str:
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
    """What stands in the one place in which two claims differ, if what they are about has one value there."""
    start = _alike(ones, others)
    end = _alike(ones[start:][::-1], others[start:][::-1])
    left, right = ones[start : len(ones) - end], others[start : len(others) - end]
    if not (0 < len(left) <= _LONGEST and 0 < len(right) <= _LONGEST):
        return None
    if {token.stem for token in left} & {token.stem for token in right}:
        return None
    if not start:
        good = one.copula == len(left) and other.copula == len(right) and _THE_ONE.search(one.text) is not None
        return _as_written(left, right) if good else None
    before = {left[0].before, right[0].before}
    copula = one.copula == other.copula
    verb = ones[start - 1].stem
    if copula and one.copula == start:
        single = bool(before & {"called", "named", ":", "="}) or any(
            token.before == "of" or token.stem in _SINGLE for token in ones[:start]
        )
        good = single or all(token.name or token.text.endswith("s") for token in (left[-1], right[-1]))
        good = (
            start > (":" in before) and good and not end and not any(token.before for token in (*left[1:], *right[1:]))
        )
    elif verb == "use":
        good = end > 0 and ones[-end].before in ("for", "as", "to")
    else:
        tail = end == 0 or (copula and 0 <= one.copula <= start)
        good = len(before) == 1 and before <= _PLACES and start > 1 and tail and verb not in _MANY
        good = good and (one.copula >= 0 or _HAS.search(one.text) is None)
    return _as_written(left, right) if good else None


def _as_written(left: Sequence[Token], right: Sequence[Token]) -> tuple[str, str]:
    return " ".join(token.text for token in left), " ".join(token.text for token in right)


def _alike(ones: Sequence[Token], others: Sequence[Token]) -> int:
    """How many tokens two claims begin with alike."""
    pairs = enumerate(zip(ones, others, strict=False))
    return next((n for n, (a, b) in pairs if a.stem != b.stem), min(len(ones), len(others)))
