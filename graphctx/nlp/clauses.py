"""Clauses on a dependency parse: a verb with its subjects, its voice, its objects and prepositional phrases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphctx.nlp.parse import Parse

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = frozenset({"dobj", "attr", "oprd", "dative"})
_RELATIVE_TAGS = frozenset({"WDT", "WP"})
_NOUN_TAGS = ("NN", "PRP")
_CONDITIONS = frozenset({"if", "unless", "whether", "lest"})
_SILENT_PREPOSITIONS = frozenset(
    "like than despite without except per because unlike but including such during until since before after "
    "following amid throughout".split()
)
"""Prepositions after which a noun takes no part in what the verb states; they say when, or what it is not."""

_NAMING = frozenset({"name", "rename", "call"})
_PLACES = frozenset({"GPE", "LOC", "FAC", "NORP"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb that states something of its subjects.

    Attributes:
        verb: its token.
        subjects: tokens, conjuncts included; a relative pronoun is already replaced by its noun.
        lemma: of the verb with its particle, behind the verbs that govern it ("plan to move").
        participle: the form as written, for the passive voice.
        passive: whether the subject suffers the verb.
        negated: whether the sentence denies it.
    """

    verb: int
    subjects: tuple[int, ...]
    lemma: str
    participle: str
    passive: bool
    negated: bool

    def predicate(self, preposition: str = "") -> str:
        """The predicate as written in a fact: ``not move to``, ``be found in`` for a passive."""
        parts = ["not" if self.negated else "", f"be {self.participle}" if self.passive else self.lemma, preposition]
        return " ".join(part for part in parts if part)

    def active(self) -> str:
        """The predicate of a passive clause as its agent's."""
        return f"not {self.lemma}" if self.negated else self.lemma


def clauses_of(parse: Parse, first: int, last: int) -> Iterator[Clause]:
    """The clauses of a sentence that have a subject and are no condition."""
    for verb in range(first, last):
        if parse.tags[verb][:2] != "VB" or parse.deps[verb] in ("aux", "auxpass", "amod", "compound"):
            continue
        if _is_condition(parse, verb) or any(_has_condition(parse, c) for c in parse.children[verb]):
            continue
        passive = is_passive(parse, verb)
        subjects = tuple(_subjects(parse, verb, passive))
        if not subjects:
            continue
        particle = parse.child(verb, "prt")
        ending = f" {parse.words[particle].lower()}" if particle != -1 else ""
        yield Clause(
            verb=verb,
            subjects=subjects,
            lemma=_governed(parse, verb) + parse.lemmas[verb] + ending,
            participle=parse.words[verb].lower() + ending,
            passive=passive,
            negated=_is_negated(parse, verb),
        )


def is_passive(parse: Parse, verb: int) -> bool:
    """Whether a verb form is passive: by its auxiliary, or as a bare participle after a noun or a passive."""
    if parse.child(verb, "auxpass", "nsubjpass") != -1:
        return True
    if parse.tags[verb] != "VBN" or parse.child(verb, "aux") != -1:
        return False
    if parse.deps[verb] == "conj":
        return is_passive(parse, parse.heads[verb]) if parse.child(verb, *_SUBJECTS) == -1 else False
    return parse.deps[verb] in ("acl", "advcl")


def expand(parse: Parse, token: int) -> Iterator[int]:
    """A noun with the nouns that are joined to it by "and", "or" or commas; a relative pronoun as its noun."""
    token = antecedent_noun(parse, token)
    seen = [token]
    for noun in seen:
        if parse.tags[noun].startswith(_NOUN_TAGS):
            yield noun
        seen += [c for c in parse.children[noun] if parse.deps[c] == "conj" and c > noun and c not in seen]


def antecedent_noun(parse: Parse, token: int) -> int:
    """The noun that a relative pronoun stands for; any other token is itself."""
    if parse.tags[token] not in _RELATIVE_TAGS:
        return token
    at = token
    while parse.heads[at] != at:
        if parse.deps[at] == "relcl":
            return _owner(parse, parse.heads[at], parse.words[token].lower() == "who")
        at = parse.heads[at]
    return token


def _owner(parse: Parse, noun: int, person: bool) -> int:
    """The noun that a relative clause is about; "a swimmer from Italy, who …" is about the swimmer."""
    while person and any(e.first <= noun < e.last and e.label in _PLACES for e in parse.entities):
        preposition = parse.heads[noun]
        if parse.deps[noun] != "pobj" or not parse.tags[parse.heads[preposition]].startswith("NN"):
            break
        noun = parse.heads[preposition]
    return noun


def _lifted(parse: Parse, noun: int) -> list[int]:
    """What a descriptive noun describes: the subject of its copula, or the name beside it; else itself.

    "Acme is a shop based in Oslo" says of Acme that it is based in Oslo.
    """
    at = noun
    while parse.deps[at] == "conj" and parse.tags[parse.heads[at]].startswith("NN"):
        at = parse.heads[at]
    head = parse.heads[at]
    if parse.tags[noun].startswith("NNP"):
        return [noun]
    if parse.deps[at] == "attr" and parse.lemmas[head] == "be" and parse.child(head, "neg") == -1:
        subjects = [one for s in parse.children[head] if parse.deps[s] == "nsubj" for one in expand(parse, s)]
        return [s for s in subjects if s != noun] or [noun]
    if parse.deps[at] == "appos" and parse.tags[head].startswith("NNP"):
        return [head]
    return [noun]


def objects_of(parse: Parse, clause: Clause) -> Iterator[int]:
    """Direct objects and complements of a clause, conjuncts included."""
    verb = clause.verb
    for child in parse.children[verb]:
        if parse.deps[child] in _OBJECTS and parse.tags[child] != "IN":
            yield from (noun for noun in expand(parse, child) if noun not in clause.subjects)
    gap = parse.deps[verb] == "relcl" and not any(parse.deps[c] in _OBJECTS for c in parse.children[verb])
    if gap and not clause.passive and parse.heads[verb] not in clause.subjects and not _strands(parse, verb):
        yield parse.heads[verb]  # "the service the team runs"


def _strands(parse: Parse, verb: int) -> bool:
    """Whether the relative word is no object: "where", "when", "in which", a stranded preposition, a copula."""
    if parse.lemmas[verb] == "be":
        return True
    stack = list(parse.children[verb])
    for token in stack:
        if parse.tags[token] in ("WRB", "WP$") or (parse.deps[token] == "pobj" and parse.tags[token] in _RELATIVE_TAGS):
            return True
        if parse.deps[token] == "prep" and not parse.children[token]:
            return True
        if parse.deps[token] in ("xcomp", "ccomp"):
            return True
    return False


def prepositions_of(parse: Parse, token: int) -> Iterator[tuple[str, int]]:
    """Pairs ``(preposition, noun)`` that hang on a verb or a noun."""
    for child in parse.children[token]:
        if parse.deps[child] not in ("prep", "agent", "dative") or parse.tags[child] not in ("IN", "TO"):
            continue
        word = parse.words[child].lower()
        if word in _SILENT_PREPOSITIONS and not (word == "after" and parse.lemmas[token] in _NAMING):
            continue
        for noun in parse.children[child]:
            if parse.deps[noun] == "pobj":
                yield from ((word, one) for one in expand(parse, noun))


def _subjects(parse: Parse, verb: int, passive: bool) -> Iterator[int]:
    own = [c for c in parse.children[verb] if parse.deps[c] in _SUBJECTS]
    if own:
        for subject in own:
            relative = parse.tags[subject] in _RELATIVE_TAGS
            for noun in expand(parse, subject):
                yield from _lifted(parse, noun) if relative else (noun,)
        return
    head, relation = parse.heads[verb], parse.deps[verb]
    if relation == "acl" and parse.tags[verb] in ("VBN", "VBG"):
        if parse.tags[head].startswith("NN"):
            yield from _lifted(parse, head)
    elif relation == "xcomp" or (relation == "advcl" and parse.tags[verb] in ("VBN", "VBG")):
        if parse.tags[head][:2] == "VB" and (relation != "xcomp" or parse.child(head, "dobj") == -1):
            yield from _subjects(parse, head, passive)
    elif relation == "conj" and parse.tags[head][:2] == "VB":
        yield from _subjects(parse, head, passive)
    elif relation == "relcl" and parse.child(verb, "nsubj", "nsubjpass") == -1 and passive:
        yield head


def _governed(parse: Parse, verb: int) -> str:
    """The verbs above an infinitive that shares their subject: ``plan to``."""
    head = parse.heads[verb]
    if parse.deps[verb] != "xcomp" or parse.tags[head][:2] != "VB" or parse.child(verb, *_SUBJECTS) != -1:
        return ""
    joint = " to " if any(parse.tags[c] == "TO" for c in parse.children[verb]) else " "
    return _governed(parse, head) + parse.lemmas[head] + joint


def _is_negated(parse: Parse, verb: int) -> bool:
    if parse.child(verb, "neg") != -1:
        return True
    if any(parse.deps[c] == "dobj" and _has_no(parse, c) for c in parse.children[verb]):
        return True
    if any(parse.deps[c] in _SUBJECTS and _has_no(parse, c) for c in parse.children[verb]):
        return True
    return parse.deps[verb] == "xcomp" and _is_negated(parse, parse.heads[verb])


def _has_no(parse: Parse, noun: int) -> bool:
    return any(parse.words[c].lower() in ("no", "neither") for c in parse.children[noun])


def _is_condition(parse: Parse, verb: int) -> bool:
    """Whether the verb stands in an "if" clause."""
    at = verb
    while True:
        if _has_condition(parse, at):
            return True
        if parse.heads[at] == at or parse.deps[at] not in ("conj", "xcomp", "ccomp", "advcl", "relcl", "acl"):
            return False
        if parse.deps[at] in ("relcl", "acl"):
            return False
        at = parse.heads[at]


def _has_condition(parse: Parse, verb: int) -> bool:
    """Whether an "if" opens the clause of this verb."""
    if parse.tags[verb][:2] != "VB":
        return False
    marks = (c for c in parse.children[verb] if parse.deps[c] in ("mark", "advmod"))
    return any(parse.words[c].lower() in _CONDITIONS for c in marks)
