"""Subject–predicate–object triples by rules on the dependency parse.

Read are: active and passive clauses, copulas, prepositional objects, relative and participial clauses, conjunctions
of subjects, objects and verbs, appositions to a person, an organisation or a place, roles before a person's name,
and "City, Country". Conditions and questions state nothing and give no fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphctx.model.documents import Sentence
from graphctx.model.knowledge import RawFact
from graphctx.nlp.candidates import Candidate
from graphctx.nlp.clauses import Clause, clauses_of, expand, objects_of, prepositions_of
from graphctx.nlp.generic import GENERIC
from graphctx.nlp.parse import Parse
from graphctx.nlp.pronouns import Antecedents
from graphctx.text.names import normalise_name, singular_of

_APPOSABLE = frozenset({"person", "organization", "location"})
MAX_ROLE_WORDS = 3
_PASSIVE_AGENT = "by"


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
    ends = _Ends(candidates, key_terms)
    antecedents = Antecedents(parse, ends.at, candidates)
    facts: dict[tuple[int, int, int, str], RawFact] = {}
    for first, last in parse.segment_bounds():
        if parse.words[last - 1] == "?":
            antecedents.close(first, last)
            continue
        triples = [*_clause_triples(parse, first, last), *_noun_triples(parse, ends, first, last)]
        for subject, predicate, thing in triples:
            fact = _fact(parse, ends, antecedents, sentences, subject, predicate, thing)
            if fact is not None:
                facts.setdefault((fact.sentence, fact.subject_start, fact.object_start, fact.predicate), fact)
        antecedents.close(first, last)
    return list(facts.values())


class _Ends:
    """Which mention a token heads."""

    def __init__(self, candidates: Sequence[Candidate], key_terms: frozenset[str]) -> None:
        self._key_terms = key_terms
        self._at: dict[int, Candidate] = {}
        for candidate in candidates:
            if candidate.mention.kind == "noun_chunk":
                self._at[candidate.last - 1] = candidate
        for candidate in candidates:
            if candidate.is_name:
                for token in range(candidate.first, candidate.last):
                    self._at.setdefault(token, candidate)

    def at(self, token: int) -> Candidate | None:
        """The mention with this token as its head, or the name around it."""
        return self._at.get(token)

    def is_key(self, candidate: Candidate) -> bool:
        """Whether a fact may be about it: a name, or a term that the document is about."""
        return candidate.is_name or self.is_term(normalise_name(candidate.mention.surface))

    def is_term(self, name: str) -> bool:
        """Whether a normalised name is a term that the document is about."""
        return singular_of(name) in self._key_terms


def _fact(
    parse: Parse,
    ends: _Ends,
    antecedents: Antecedents,
    sentences: Sequence[Sentence],
    subject: int,
    predicate: str,
    thing: int,
) -> RawFact | None:
    one = antecedents.resolve(subject) if parse.tags[subject] == "PRP" else ends.at(subject)
    other = antecedents.resolve(thing) if parse.tags[thing] == "PRP" else ends.at(thing)
    if one is None or other is None or not (ends.is_key(one) or ends.is_key(other)):
        return None
    names = normalise_name(one.mention.surface), normalise_name(other.mention.surface)
    if names[0] == names[1] or any(name in GENERIC and not ends.is_term(name) for name in names):
        return None
    sentence = sentences[parse.sentences[subject]]
    here = one if parse.tags[subject] != "PRP" else None
    there = other if parse.tags[thing] != "PRP" else None
    return RawFact(
        unit_id=parse.unit_id,
        sentence=parse.sentences[subject],
        subject=one.mention.surface,
        predicate=predicate,
        object=other.mention.surface,
        subject_start=here.mention.start_char if here else parse.starts[subject],
        subject_end=here.mention.end_char if here else parse.ends[subject],
        object_start=there.mention.start_char if there else parse.starts[thing],
        object_end=there.mention.end_char if there else parse.ends[thing],
        start_char=sentence.start_char,
        end_char=sentence.end_char,
    )


def _clause_triples(parse: Parse, first: int, last: int) -> Iterator[tuple[int, str, int]]:
    """Triples ``(subject token, predicate, object token)`` of the verbs of a sentence."""
    for clause in clauses_of(parse, first, last):
        yield from _of_clause(parse, clause)


def _of_clause(parse: Parse, clause: Clause) -> Iterator[tuple[int, str, int]]:
    stated = [(clause.predicate(), thing) for thing in objects_of(parse, clause)]
    direct = parse.child(clause.verb, "dobj")
    noun = (
        _noun(parse, direct) if direct != -1 and parse.tags[direct] in ("NN", "NNS") and not parse.code[direct] else ""
    )
    for subject in clause.subjects:
        for predicate, thing in stated:
            turned = list(_role_first(parse, clause, subject, thing))
            if turned:
                yield from turned
                continue
            yield subject, predicate, thing
            for preposition, inner in prepositions_of(parse, thing):
                yield subject, f"{predicate} {_noun(parse, thing)} {preposition}", inner
        for preposition, thing in prepositions_of(parse, clause.verb):
            if clause.passive and preposition == _PASSIVE_AGENT:
                yield thing, clause.active(), subject
            else:
                yield subject, clause.predicate(f"{noun} {preposition}" if noun else preposition), thing


def _role_first(parse: Parse, clause: Clause, subject: int, thing: int) -> Iterator[tuple[int, str, int]]:
    """ "The capital of France is Paris" says of Paris that it is the capital of France."""
    if clause.lemma == "be" and parse.tags[subject] == "NN" and parse.tags[thing].startswith("NNP"):
        for preposition, inner in prepositions_of(parse, subject):
            if parse.tags[inner].startswith("NNP"):
                denied = "not " if clause.negated else ""
                yield thing, f"{denied}be {_noun(parse, subject)} {preposition}", inner


def _noun(parse: Parse, token: int) -> str:
    word = parse.words[token]
    return word if word.isupper() else word.lower()


def _noun_triples(parse: Parse, ends: _Ends, first: int, last: int) -> Iterator[tuple[int, str, int]]:
    """Triples that noun phrases state: appositions, roles and places within places."""
    for token in range(first, last):
        if parse.deps[token] == "appos":
            yield from _of_apposition(parse, ends, parse.heads[token], token)
        yield from _of_role_before(parse, ends, token)
        if parse.words[token] == "," and first < token < last - 1:
            place, within = ends.at(token - 1), ends.at(token + 1)
            if (
                place is not None
                and within is not None
                and place.mention.label == within.mention.label == "location"
                and place.last == token
                and within.first == token + 1
                and not (within.last < last and parse.tags[within.last] == "CC")  # an enumeration
                and not (place.first > first and parse.words[place.first - 1] == ",")
            ):
                yield token - 1, "be in", token + 1


def _of_apposition(parse: Parse, ends: _Ends, head: int, token: int) -> Iterator[tuple[int, str, int]]:
    one, other = ends.at(head), ends.at(token)
    if one is None or other is None:
        return
    if one.mention.label in _APPOSABLE and not other.is_name and parse.tags[token] == "NN":
        named, role = head, token
    elif other.mention.label in _APPOSABLE and not one.is_name and parse.tags[head] == "NN":
        named, role = token, head
    else:
        return
    yield named, "be", role
    yield from _of_role(parse, named, role)


def _of_role(parse: Parse, named: int, role: int) -> Iterator[tuple[int, str, int]]:
    """What a role belongs to: "head of X", "X's head"."""
    for preposition, thing in prepositions_of(parse, role):
        if thing != named:
            yield named, f"be {_noun(parse, role)} {preposition}", thing
    owner = parse.child(role, "poss")
    if owner != -1:
        for thing in expand(parse, owner):
            yield named, f"be {_noun(parse, role)} of", thing


def _of_role_before(parse: Parse, ends: _Ends, token: int) -> Iterator[tuple[int, str, int]]:
    """A role right before a person's name: "the actor John Booth", "Acme's CEO Ada Poe".

    Read off the words, as the parser ties such roles in many ways.
    """
    person = ends.at(token)
    if person is None or person.last != token + 1 or not person.is_name or person.mention.label != "person":
        return
    role = first = person.first - 1
    if role < 0 or parse.tags[role] not in ("NN", "NNP") or parse.code[role]:
        return
    while first > 0 and role - first < MAX_ROLE_WORDS and parse.tags[first] in ("NN", "NNP", "JJ"):
        first -= 1
    if parse.tags[first] == "POS" and first > 0 and parse.segments[first] == parse.segments[token]:
        yield token, f"be {_noun(parse, role)} of", first - 1
    elif parse.tags[role] == "NN" and parse.deps[role] in ("compound", "nmod") and parse.heads[role] == token:
        yield token, "be", role
