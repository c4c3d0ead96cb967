"""Pronouns stand for a subject of the last sentences, or for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphctx.nlp.candidates import Candidate
from graphctx.nlp.clauses import expand
from graphctx.nlp.parse import Parse

LOOKBACK_SENTENCES = 2
"""How many sentences back an antecedent may stand; farther ones are mostly wrong."""

_PEOPLE = frozenset({"he", "she", "him", "her"})
_THING = frozenset({"it"})
_MANY = frozenset({"they", "them"})


@dataclass(frozen=True, slots=True)
class _Subject:
    token: int
    main: bool
    plural: bool
    candidate: Candidate


class Antecedents:
    """The subjects of a unit's sentences, as far as it has been read."""

    def __init__(
        self, parse: Parse, end_at: Callable[[int], Candidate | None], candidates: Sequence[Candidate]
    ) -> None:
        """Start before the first sentence.

        Args:
            parse: the parsed unit.
            end_at: the mention that a token heads, or ``None``.
            candidates: all mentions of the unit.
        """
        self._parse = parse
        self._end_at = end_at
        self._people = [c for c in candidates if c.mention.label == "person"]
        self._read: list[list[_Subject]] = []
        self._last: tuple[int, int] = (0, 0)
        self._resolved: dict[int, Candidate | None] = {}

    def close(self, first: int, last: int) -> None:
        """The sentence ``first:last`` has been read: its subjects can be referred to from the next ones."""
        self._read.append(self._subjects(first, last))
        del self._read[:-LOOKBACK_SENTENCES]
        self._last = (first, last)

    def resolve(self, pronoun: int) -> Candidate | None:
        """What a personal pronoun stands for: the nearest subject that it agrees with, or ``None``."""
        if pronoun not in self._resolved:
            self._resolved[pronoun] = self._resolve(pronoun)
        return self._resolved[pronoun]

    def _resolve(self, pronoun: int) -> Candidate | None:
        parse = self._parse
        word = parse.words[pronoun].lower()
        if word not in _PEOPLE | _THING | _MANY:
            return None
        first = pronoun
        while first > 0 and parse.segments[first - 1] == parse.segments[pronoun]:
            first -= 1
        here = [s for s in self._subjects(first, pronoun) if not self._is_own_subject(s.token, pronoun)]
        for sentence in (here[::-1], *(self._ranked(subjects) for subjects in reversed(self._read))):
            fitting = [s for s in sentence if _agrees(word, s)]
            if fitting:
                # several people in one sentence: which one is meant cannot be told without understanding it
                people = {s.candidate.mention.surface for s in fitting}
                if word in _PEOPLE and len(people) > 1 and not fitting[0].main:
                    return None
                return fitting[0].candidate
        return self._only_person() if word in _PEOPLE else None

    def _only_person(self) -> Candidate | None:
        """The person of the last sentence, where it names exactly one."""
        first, last = self._last
        named = [c for c in self._people if first <= c.first < last]
        return named[-1] if len({c.mention.surface for c in named}) == 1 else None

    def _is_own_subject(self, subject: int, pronoun: int) -> bool:
        """Whether both hang on one verb: "Ada saw her" is not about Ada."""
        return self._parse.heads[subject] == self._parse.heads[pronoun]

    @staticmethod
    def _ranked(subjects: list[_Subject]) -> list[_Subject]:
        return sorted(subjects, key=lambda s: (not s.main, -s.token))

    def _subjects(self, first: int, last: int) -> list[_Subject]:
        parse = self._parse
        found = []
        for token in range(first, last):
            if parse.deps[token] not in ("nsubj", "nsubjpass"):
                continue
            # An antecedent may stand after its pronoun, or be it ("he who …"): only what was read already counts.
            nouns = [noun for noun in expand(parse, token) if noun < last]
            main = parse.deps[parse.heads[token]] == "ROOT"
            for noun in nouns:
                candidate = self.resolve(noun) if parse.tags[noun] == "PRP" else self._end_at(noun)
                if candidate is not None:
                    plural = len(nouns) > 1 or parse.tags[noun] in ("NNS", "NNPS")
                    found.append(_Subject(noun, main, plural, candidate))
        return found


def _agrees(pronoun: str, subject: _Subject) -> bool:
    label = subject.candidate.mention.label
    if pronoun in _PEOPLE:
        return label == "person"
    if pronoun in _MANY:
        return (subject.plural and label != "person") or label in ("group", "organization")
    return label != "person" and not subject.plural
