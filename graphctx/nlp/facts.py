"""Subject-predicate-object triples by rules on the dependency parse.

Rules cover active and passive clauses, copulas, prepositional objects, relative and participial clauses, conjunctions,
appositions and roles of names, and "City, Country". Conditions and questions state no fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphctx.model.documents import Sentence
from graphctx.model.knowledge import RawFact
from graphctx.nlp.chunks import GENERIC
from graphctx.nlp.parse import Candidate, Parse
from graphctx.text.names import normalise_name, singular_of

Triple = tuple[int, str, int]
"""Subject token, predicate, object token."""

LOOKBACK_SENTENCES = 2
"""How many sentences back an antecedent may be; farther ones are mostly wrong."""

MAX_ROLE_WORDS = 3

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "dative")
_RELATIVE_TAGS = ("WDT", "WP")
_CONDITIONS = ("if", "unless", "whether", "lest")
_APPOSABLE = ("person", "organization", "location")
_IGNORED_PREPOSITIONS = frozenset(
    "like than despite without except per because unlike but including such during until since before after "
    "following amid throughout".split()
)
"""Prepositions after which a noun takes no part in what the verb states; they say when, or what it is not."""

_PEOPLE, _THING, _MANY = ("he", "she", "him", "her"), ("it",), ("they", "them")


def find_facts(
    parse: Parse, candidates: Sequence[Candidate], sentences: Sequence[Sentence], key_terms: frozenset[str]
) -> list[RawFact]:
    """Find the facts that one unit states.

    Both ends of a fact are mentions of the unit, at least one of them a name or a key term; a pronoun stands for a
    mention of the two sentences before it.

    Args:
        parse: the parsed unit.
        candidates: its mentions with their tokens.
        sentences: the unit's sentences.
        key_terms: normalised names of what the document is about, such as its headings.

    Returns:
        Facts in no particular order, without duplicates.
    """
    mention_by_head = {c.last - 1: c for c in candidates if c.mention.kind == "noun_chunk"}
    for candidate in candidates:
        if candidate.is_name:
            for token in range(candidate.first, candidate.last):
                mention_by_head.setdefault(token, candidate)
    antecedents = _antecedents(parse, mention_by_head)
    facts: dict[tuple[int, int, int, str], RawFact] = {}
    for first, last in parse.segment_bounds():
        if parse.words[last - 1] == "?":
            continue
        for subject, predicate, object_ in _triples(parse, mention_by_head, first, last):
            one, other = (
                antecedents.get(t) if parse.tags[t] == "PRP" else mention_by_head.get(t) for t in (subject, object_)
            )
            if one is None or other is None or not _is_fact(one, other, key_terms):
                continue
            sentence = sentences[parse.sentences[subject]]
            fact = RawFact(
                parse.unit_id,
                parse.sentences[subject],
                one.mention.surface,
                predicate,
                other.mention.surface,
                *_written(parse, subject, one),
                *_written(parse, object_, other),
                sentence.start_char,
                sentence.end_char,
            )
            facts.setdefault((fact.sentence, fact.subject_start, fact.object_start, predicate), fact)
    return list(facts.values())


def _is_fact(one: Candidate, other: Candidate, key_terms: frozenset[str]) -> bool:
    names = [normalise_name(end.mention.surface) for end in (one, other)]
    singular = [singular_of(name) for name in names]
    if names[0] == names[1] or any(name in GENERIC and name not in key_terms for name in singular):
        return False
    return one.is_name or other.is_name or any(name in key_terms for name in singular)


def _written(parse: Parse, token: int, end: Candidate) -> tuple[int, int]:
    """Where the text has one end of a fact: the pronoun, or the mention."""
    if parse.tags[token] == "PRP":
        return parse.starts[token], parse.ends[token]
    return end.mention.start_char, end.mention.end_char


def _triples(parse: Parse, mention_by_head: dict[int, Candidate], first: int, last: int) -> Iterator[Triple]:
    for token in range(first, last):
        if parse.tags[token][:2] == "VB" and parse.deps[token] not in ("aux", "auxpass", "amod", "compound"):
            yield from _clause_triples(parse, token)
        if parse.deps[token] == "appos":
            yield from _of_apposition(parse, mention_by_head, token)
        if (named := mention_by_head.get(token)) is not None and named.is_name and named.last == token + 1:
            if named.mention.label == "person":
                yield from _of_role_before(parse, named, first)
            if named.mention.label == "location" and _is_within(parse, mention_by_head, named, first, last):
                yield token, "be in", token + 2


def _clause_triples(parse: Parse, verb: int) -> Iterator[Triple]:
    passive = _is_passive(parse, verb)
    subjects = list(dict.fromkeys(_subjects_of(parse, verb, passive)))
    if not subjects or _is_condition(parse, verb):
        return
    particle = parse.child(verb, "prt")
    ending = f" {parse.words[particle].lower()}" if particle != -1 else ""
    negated = "not " if _is_negated(parse, verb) else ""
    active = negated + _governed(parse, verb) + parse.lemmas[verb] + ending
    predicate = f"{negated}be {parse.words[verb].lower()}{ending}" if passive else active
    direct = parse.child(verb, "dobj")
    noun = f" {_noun(parse, direct)}" if direct != -1 and parse.tags[direct] in ("NN", "NNS") else ""
    objects = [
        one
        for child in parse.children[verb]
        if parse.deps[child] in _OBJECTS and parse.tags[child] != "IN"
        for one in _conjuncts(parse, child)
        if one not in subjects
    ]
    for subject in subjects:
        for object_ in objects:
            turned = parse.lemmas[verb] == "be" and parse.tags[subject] == "NN" and parse.tags[object_][:3] == "NNP"
            roles = list(_prepositions(parse, subject)) if turned else []
            if roles:  # "the capital of France is Paris" says of Paris that it is the capital of France
                yield from ((object_, f"{negated}be {_noun(parse, subject)} {word}", inner) for word, inner in roles)
                continue
            yield subject, predicate, object_
            for word, inner in _prepositions(parse, object_):
                yield subject, f"{predicate} {_noun(parse, object_)} {word}", inner
        for word, object_ in _prepositions(parse, verb):
            if passive and word == "by":
                yield object_, active, subject
            else:
                yield subject, f"{predicate}{noun} {word}", object_


def _of_apposition(parse: Parse, mention_by_head: dict[int, Candidate], token: int) -> Iterator[Triple]:
    for named, role in ((parse.heads[token], token), (token, parse.heads[token])):
        one, other = mention_by_head.get(named), mention_by_head.get(role)
        if one is None or other is None or other.is_name or one.mention.label not in _APPOSABLE:
            continue
        if parse.tags[role] == "NN":
            yield named, "be", role
            for word, object_ in _prepositions(parse, role):
                if object_ != named:
                    yield named, f"be {_noun(parse, role)} {word}", object_
            return


def _of_role_before(parse: Parse, person: Candidate, start: int) -> Iterator[Triple]:
    """A role right before a person's name: "the actor John Booth", "Acme's CEO Ada Poe".

    It is read off the words, as the parser ties such roles in many ways.
    """
    token = person.last - 1
    role = first = person.first - 1
    if role < start or parse.tags[role] not in ("NN", "NNP") or parse.code[role]:
        return
    while first > start and role - first < MAX_ROLE_WORDS and parse.tags[first] in ("NN", "NNP", "JJ"):
        first -= 1
    if parse.tags[first] == "POS" and first > start:
        yield token, f"be {_noun(parse, role)} of", first - 1
    elif parse.tags[role] == "NN" and parse.deps[role] in ("compound", "nmod") and parse.heads[role] == token:
        yield token, "be", role


def _is_within(parse: Parse, mention_by_head: dict[int, Candidate], place: Candidate, first: int, last: int) -> bool:
    """Whether a place is followed by the one around it: "Berlin, Germany", and not an enumeration."""
    comma = place.last
    if comma >= last - 1 or parse.words[comma] != ",":
        return False
    around = mention_by_head.get(comma + 1)
    if around is None or around.mention.label != "location" or around.first != comma + 1:
        return False
    enumerated = around.last < last and parse.tags[around.last] == "CC"
    return not enumerated and not (place.first > first and parse.words[place.first - 1] == ",")


def _subjects_of(parse: Parse, verb: int, passive: bool) -> Iterator[int]:
    own = [child for child in parse.children[verb] if parse.deps[child] in _SUBJECTS]
    head, relation = parse.heads[verb], parse.deps[verb]
    participle = parse.tags[verb] in ("VBN", "VBG")
    if own:
        for subject in own:
            for noun in _conjuncts(parse, subject):
                yield from _described(parse, noun) if parse.tags[subject] in _RELATIVE_TAGS else (noun,)
    elif relation == "acl" and participle and parse.tags[head][:2] == "NN":
        yield from _described(parse, head)
    elif parse.tags[head][:2] == "VB" and (
        relation == "conj"
        or (relation == "xcomp" and parse.child(head, "dobj") == -1)
        or (relation == "advcl" and participle)
    ):
        yield from _subjects_of(parse, head, passive)


def _described(parse: Parse, noun: int) -> list[int]:
    """What a descriptive noun describes: the subject of its copula, or the name beside it; else itself.

    "Acme is a shop based in Oslo" says of Acme that it is based in Oslo.
    """
    head = parse.heads[noun]
    if parse.tags[noun][:3] != "NNP":
        if parse.deps[noun] == "attr" and parse.lemmas[head] == "be" and parse.child(head, "neg") == -1:
            subjects = [one for s in parse.children[head] if parse.deps[s] == "nsubj" for one in _conjuncts(parse, s)]
            return [subject for subject in subjects if subject != noun] or [noun]
        if parse.deps[noun] == "appos" and parse.tags[head][:3] == "NNP":
            return [head]
    return [noun]


def _conjuncts(parse: Parse, token: int) -> Iterator[int]:
    """A noun with those joined to it by "and", "or" or commas; a relative pronoun as the noun that it stands for."""
    if parse.tags[token] in _RELATIVE_TAGS:
        at = token
        while parse.heads[at] != at and parse.deps[at] != "relcl":
            at = parse.heads[at]
        token = parse.heads[at] if parse.deps[at] == "relcl" else token
    seen = [token]
    for noun in seen:
        if parse.tags[noun].startswith(("NN", "PRP")):
            yield noun
        seen += [c for c in parse.children[noun] if parse.deps[c] == "conj" and c > noun and c not in seen]


def _prepositions(parse: Parse, token: int) -> Iterator[tuple[str, int]]:
    """Pairs ``(preposition, noun)`` that depend on a verb or a noun; the owner of a role as "of"."""
    for child in parse.children[token]:
        if parse.deps[child] == "poss" and parse.tags[token] == "NN":
            yield from (("of", one) for one in _conjuncts(parse, child))
        if parse.deps[child] not in ("prep", "agent", "dative") or parse.tags[child] not in ("IN", "TO"):
            continue
        word = parse.words[child].lower()
        if word not in _IGNORED_PREPOSITIONS:
            for noun in parse.children[child]:
                if parse.deps[noun] == "pobj":
                    yield from ((word, one) for one in _conjuncts(parse, noun))


def _is_passive(parse: Parse, verb: int) -> bool:
    """Whether a verb form is passive: by its auxiliary, or as a bare participle after a noun or a passive."""
    if parse.child(verb, "auxpass", "nsubjpass") != -1:
        return True
    if parse.tags[verb] != "VBN" or parse.child(verb, "aux", *_SUBJECTS) != -1:
        return False
    if parse.deps[verb] == "conj":
        return _is_passive(parse, parse.heads[verb])
    return parse.deps[verb] in ("acl", "advcl")


def _is_negated(parse: Parse, verb: int) -> bool:
    negated = parse.child(verb, "neg") != -1 or any(
        parse.words[word].lower() in ("no", "neither")
        for child in parse.children[verb]
        if parse.deps[child] in ("dobj", *_SUBJECTS)
        for word in parse.children[child]
    )
    return negated or (parse.deps[verb] == "xcomp" and _is_negated(parse, parse.heads[verb]))


def _is_condition(parse: Parse, verb: int) -> bool:
    """Whether a verb is part of an "if" clause, or depends on one."""

    def opens(at: int) -> bool:
        marks = (c for c in parse.children[at] if parse.deps[c] in ("mark", "advmod"))
        return parse.tags[at][:2] == "VB" and any(parse.words[c].lower() in _CONDITIONS for c in marks)

    above = [verb]
    while parse.deps[above[-1]] in ("conj", "xcomp", "ccomp", "advcl"):
        above.append(parse.heads[above[-1]])
    return any(map(opens, (*above, *parse.children[verb])))


def _governed(parse: Parse, verb: int) -> str:
    """The verbs above an infinitive that shares their subject: ``plan to``."""
    head = parse.heads[verb]
    if parse.deps[verb] != "xcomp" or parse.tags[head][:2] != "VB" or parse.child(verb, *_SUBJECTS) != -1:
        return ""
    joint = " to " if any(parse.tags[c] == "TO" for c in parse.children[verb]) else " "
    return _governed(parse, head) + parse.lemmas[head] + joint


def _noun(parse: Parse, token: int) -> str:
    word = parse.words[token]
    return word if word.isupper() else word.lower()


@dataclass(frozen=True, slots=True)
class _Subject:
    segment: int
    token: int
    main: bool
    plural: bool
    candidate: Candidate


def _antecedents(parse: Parse, mention_by_head: dict[int, Candidate]) -> dict[int, Candidate]:
    """What each personal pronoun stands for: the nearest subject that it agrees with, if there is one."""
    found: dict[int, Candidate] = {}
    subjects: list[_Subject] = []
    for token, (tag, segment) in enumerate(zip(parse.tags, parse.segments, strict=True)):
        agrees = _agreement(parse.words[token].lower()) if tag == "PRP" else None
        if agrees is not None:
            # Not the subject of the pronoun's own verb: "Ada saw her" is not about Ada.
            fitting = [
                s
                for s in subjects
                if segment - s.segment <= LOOKBACK_SENTENCES
                and parse.heads[s.token] != parse.heads[token]
                and agrees(s)
            ]
            if fitting:
                best = max(fitting, key=lambda s: (s.segment, s.segment == segment or s.main, s.token))
                rivals = {s.candidate.mention.surface for s in fitting if s.segment == best.segment}
                # Which of several people in one sentence is meant is unknown without understanding it.
                if best.main or len(rivals) == 1 or best.candidate.mention.label != "person":
                    found[token] = best.candidate
        if parse.deps[token] in _SUBJECTS:
            nouns = list(_conjuncts(parse, token))
            main = parse.deps[parse.heads[token]] == "ROOT"
            for noun in nouns:
                candidate = found.get(noun) if parse.tags[noun] == "PRP" else mention_by_head.get(noun)
                if candidate is not None:
                    plural = len(nouns) > 1 or parse.tags[noun] in ("NNS", "NNPS")
                    subjects.append(_Subject(segment, noun, main, plural, candidate))
    return found


def _agreement(pronoun: str) -> Callable[[_Subject], bool] | None:
    """Whether a subject agrees with a pronoun in number and kind; ``None`` for a pronoun that is not resolved."""
    if pronoun in _PEOPLE:
        return lambda s: s.candidate.mention.label == "person"
    if pronoun in _MANY:
        return lambda s: (
            (s.plural and s.candidate.mention.label != "person")
            or s.candidate.mention.label in ("group", "organization")
        )
    if pronoun in _THING:
        return lambda s: s.candidate.mention.label != "person" and not s.plural
    return None
