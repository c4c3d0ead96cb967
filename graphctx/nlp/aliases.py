"""Names that the text itself equates: "Long Name (LN)", "LN (Long Name)", "X, also known as Y"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from graphctx.model.knowledge import MentionKind
from graphctx.nlp.parse import Candidate, Parse, covering, surface_of
from graphctx.nlp.proper_names import capitalised
from graphctx.text.names import is_acronym_of

MAX_EXPANSION_TOKENS = 9

_ALSO_KNOWN = re.compile(
    r"[,(\s]*(?:(?:also|better|formerly) known as|also called|a\.k\.a\.|aka|abbreviated(?: as)?|shortened to)"
    r"(?: an?| the)?[\s\"“‘`]*",
    re.IGNORECASE,
)
"""The words between two names of one thing."""


def expansions(parse: Parse, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Mark the aliases that the unit states; a long form that was no mention yet becomes one.

    Returns:
        The candidates, some with ``alias_of`` set, and long forms that were missing.
    """
    found = list(candidates)
    for opening, word in enumerate(parse.words):
        if word == "(":
            found = _in_brackets(parse, found, opening)
    return _also_known(parse, found)


def _in_brackets(parse: Parse, candidates: list[Candidate], opening: int) -> list[Candidate]:
    segment = parse.segments[opening]
    closing = next(
        (
            token
            for token in range(opening + 1, min(opening + MAX_EXPANSION_TOKENS + 2, len(parse.words)))
            if parse.words[token] == ")" and parse.segments[token] == segment
        ),
        -1,
    )
    if closing < opening + 2 or opening == 0 or parse.segments[opening - 1] != segment:
        return candidates
    if closing == opening + 2 and _is_short(parse.words[opening + 1]):
        short = opening + 1
        bottom = max(0, opening - MAX_EXPANSION_TOKENS)
        for first in range(opening - 2, bottom - 1, -1):
            if parse.segments[first] != segment:
                break
            if is_acronym_of(parse.words[short], surface_of(parse, first, opening)) and _opens(parse, first):
                return _equate(parse, candidates, (short, short + 1), (first, opening))
    elif _is_short(parse.words[opening - 1]):
        short = opening - 1
        if is_acronym_of(parse.words[short], surface_of(parse, opening + 1, closing)):
            return _equate(parse, candidates, (short, short + 1), (opening + 1, closing))
    return candidates


def _is_short(word: str) -> bool:
    return 2 <= len(word) <= 10 and word[0].isalnum() and sum(char.isupper() for char in word) >= 2


def _opens(parse: Parse, token: int) -> bool:
    """Whether a long form may start at a token: not with a small word."""
    return parse.tags[token] not in ("DT", "IN", "CC", "TO", "PRP", "PRP$")


def _equate(
    parse: Parse, candidates: list[Candidate], short: tuple[int, int], long: tuple[int, int]
) -> list[Candidate]:
    """Make ``short`` an alias of ``long``; both become mentions, and no other name stays inside the long form."""
    same = [c for c in candidates if (c.first, c.last) == long]
    name = surface_of(parse, *long)
    both = (*covering(candidates, *long), *covering(candidates, *short))
    kept = [c for c in candidates if c not in both or (c.first, c.last) == long]
    if not same:
        kind: MentionKind = "proper" if any(capitalised(parse.words[t]) for t in range(*long)) else "noun_chunk"
        kept.append(Candidate.over(parse, *long, kind, "term"))
    label = same[0].mention.label if same else "term"
    alias = Candidate.over(parse, *short, "acronym", label)
    kept.append(alias.with_mention(replace(alias.mention, alias_of=name)))
    return kept


def _also_known(parse: Parse, candidates: list[Candidate]) -> list[Candidate]:
    """Make the name behind "also known as" an alias of the name before it, if that phrase is said of that name.

    It is not in "Acme, Ohio, also known as …" and in "a lake in Ohio, also known as …".
    """
    names = sorted((c for c in candidates if c.is_name), key=lambda c: c.first)
    aliases: dict[int, str] = {}
    for one, other in pairwise(names):
        before = one.first - 1
        joined = before >= 0 and (parse.words[before] == "," or parse.tags[before] in ("CC", "IN"))
        if (
            one.last < other.first
            and parse.segments[one.first] == parse.segments[other.first]
            and _ALSO_KNOWN.fullmatch(" ".join(parse.words[one.last : other.first]))
            and not (joined and parse.segments[before] == parse.segments[one.first])
            and parse.deps[one.last - 1] != "pobj"
            and one.mention.surface != other.mention.surface
        ):
            aliases[other.first] = one.mention.surface
    return [
        c.with_mention(replace(c.mention, alias_of=aliases[c.first])) if c.is_name and c.first in aliases else c
        for c in candidates
    ]
