"""Subject-predicate-object triples by rules on the dependency parse.

Precision comes first. A clause states a fact if the text asserts it: a main clause, one that "and" joins to it, a
reason, or a relative clause that describes a name. Questions, orders, conditions, hypotheses, reported speech and
examples state none. Negation and modality stay in the predicate. There is no fact where the meaning hangs on words
that neither the ends nor the predicate have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from graphctx.model.documents import Sentence
from graphctx.model.knowledge import RawFact
from graphctx.nlp.chunks import GENERIC
from graphctx.nlp.parse import Candidate, Parse
from graphctx.text.names import normalise_name, singular_of

Triple = tuple[int, str, int]
"""Subject token, predicate, object token."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd")
_NARROWING = ("prep", "relcl", "acl", "amod")
"""Dependents behind a noun that say which of the things so called are meant."""
_JOINTS = _words("and & both")
_MODALS = _words("can may must should shall")
_HYPOTHETICAL = _words("would could might")
_HEDGES = _words(
    "almost apparently barely formerly frequently generally hardly ideally instead likely longer maybe nearly "
    "normally occasionally often originally otherwise perhaps possibly potentially presumably previously probably "
    "rarely rather seldom sometimes supposedly then theoretically typically usually"
)
_CONDITIONS = _words("if unless whether lest except provided assuming")
_OCCASIONS = _words("when whenever once until till after before while where wherever given how why")
"""They open a condition in the present tense, and a time in the past tense."""
_FRONTED_CONDITIONS = _words("with without for by below above under over beyond")
_REASONS = _words("because although though whereas")
_REMINDERS = _words("note remember recall know")
"""Verbs whose clause is asserted: "Note that Helm reads the file"."""
_CASES = _words("case event absence")
_NARRATIVE = _words("we us our ours i me my let here listing figure")
"""They tie a sentence to an example; what it states holds there."""
_ORDERS = _words(
    "add allow avoid bump change convert create deprecate disable document drop enable ensure fix hide improve include "
    "introduce make merge move pin prevent print refactor remove rename replace return revert set show simplify "
    "support switch tweak update upgrade use"
)
"""First words of notes of changes and of steps, which the tagger takes for names."""
_IGNORED_PREPOSITIONS = _words(
    "after amid before besides between but depending despite during except following given including like per "
    "regardless since such than though throughout unlike until versus via without"
)
"""Prepositions after which a noun takes no part in what the verb states; they say when, or what it is not."""
_DEICTIC = _words(
    "above additional aforementioned alternative analogous another below certain corresponding different either enough "
    "equivalent extra few fewer first following former further given her his its last latter less many more most much "
    "my neither next not numerous only other our own previous relevant respective resulting said same second "
    "several similar some such that their these third this those various what whatever which whichever whose your"
)
"""Words before a noun that tie it to other sentences or to a part of what it names."""
_SPECIFIC = _words("call calls instance instances line lines output value values variable variables")
"""Heads of phrases that mean one thing of an example."""
_PARTS_OF_TEXT = _words("appendix chapter example figure listing note page part section step table tip")
_VAGUE = GENERIC | _words("command function information language method object tool")
"""Nouns that an adjective alone does not make meaningful: "useful tool"."""
_APPOSABLE = ("person", "organization", "location")
_BREAKS = _words(": ; . — –")
"""Between the parts of a clause they show that the parse is wrong."""


def find_facts(
    parse: Parse, candidates: Sequence[Candidate], sentences: Sequence[Sentence], key_terms: frozenset[str]
) -> list[RawFact]:
    """Find the facts that one unit states.

    The subject is a name, a phrase that contains one, or a key term; the object is another mention of the unit.

    Args:
        parse: the parsed unit.
        candidates: its mentions with their tokens.
        sentences: the unit's sentences.
        key_terms: normalised names of what the document is about, such as its headings.

    Returns:
        Facts in no particular order, without duplicates.

    Example:
        >>> find_facts(parse, candidates, unit.sentences, frozenset({"chart"}))  # doctest: +SKIP
    """
    clauses = _Clauses.of(parse, candidates, key_terms)
    facts: dict[tuple[int, int, int, str], RawFact] = {}
    for first, last in parse.segment_bounds():
        words = [word.lower() for word in parse.words[first:last]]
        opening = next((word for word in words if word[0].isalnum()), "")
        if words[-1] == "?" or opening in _ORDERS or not _NARRATIVE.isdisjoint(words):
            continue
        for subject, predicate, object_ in clauses.triples(first, last):
            one, other = clauses.subject(subject), clauses.object(object_)
            if one is None or other is None or _name(one) == _name(other):
                continue
            sentence = sentences[parse.sentences[subject]]
            fact = RawFact(
                parse.unit_id,
                parse.sentences[subject],
                one.mention.surface,
                predicate,
                other.mention.surface,
                one.mention.start_char,
                one.mention.end_char,
                other.mention.start_char,
                other.mention.end_char,
                sentence.start_char,
                sentence.end_char,
            )
            facts.setdefault((fact.sentence, fact.subject_start, fact.object_start, predicate), fact)
    return list(facts.values())


def _name(end: Candidate) -> str:
    return singular_of(normalise_name(end.mention.surface))


@dataclass(frozen=True, slots=True)
class _Clauses:
    """The clauses of a unit, and the mentions that can be an end of a fact by the heads of their phrases."""

    parse: Parse
    mention_of: dict[int, Candidate]
    names: frozenset[int]
    key_terms: frozenset[str]

    @classmethod
    def of(cls, parse: Parse, candidates: Sequence[Candidate], key_terms: frozenset[str]) -> _Clauses:
        mention_of = {c.last - 1: c for c in candidates if c.mention.kind == "noun_chunk"}
        named = {token: c for c in reversed(candidates) if c.is_name for token in range(c.first, c.last)}
        return cls(parse, named | mention_of, frozenset(named), key_terms)

    def subject(self, token: int) -> Candidate | None:
        """The name or term that a phrase stands for, if it means the same alone."""
        parse, found = self.parse, self._whole(token)
        if found is None or parse.words[token].lower() in _SPECIFIC:
            return None
        before = {parse.words[at].lower() for at in range(parse.left_edge(token), found.first)}
        if (before or not found.is_name) and self._is_narrowed(token, found):
            return None
        if _name(found) in self.key_terms:
            return found if found.is_name or found.last - found.first > 1 or "the" not in before else None
        if found.is_name:  # a word in code is a name of the product, or of one example
            return (
                None
                if parse.code[token] and found.mention.surface.isalnum() and found.mention.surface.islower()
                else found
            )
        return None if self.names.isdisjoint(range(found.first, found.last)) else found

    def object(self, token: int) -> Candidate | None:
        """The mention that a phrase stands for, if it means the same alone."""
        parse, found = self.parse, self._whole(token)
        if found is None or found.is_name:
            return found
        left = range(parse.left_edge(token), found.first)
        joined = parse.child(token, "conj")
        if joined != -1 and parse.tags[left.start].startswith("DT") and self._has(joined, "compound"):
            return None  # "a monitoring and alerting toolkit" is no monitoring
        definite = any(parse.words[at].lower() == "the" for at in left)
        narrowed = self._is_narrowed(token, found) and _name(found) not in self.key_terms
        if definite and narrowed and self.names.isdisjoint(range(found.first, found.last)):
            return None
        if found.last - found.first > 1:
            described = any(
                parse.tags[at][:2] not in ("JJ", "VB") or parse.code[at] for at in range(found.first, token)
            )
            return found if described or singular_of(parse.words[token].lower()) not in _VAGUE else None
        return None if definite or narrowed or parse.words[token] == "default" else found

    def _is_narrowed(self, token: int, found: Candidate) -> bool:
        """Whether words behind a phrase say which of the things so called are meant."""
        parse = self.parse
        if parse.words[found.last : found.last + 1] == [","]:
            return False
        return any(parse.deps[c] in _NARROWING and c >= found.last for c in parse.children[token])

    def _whole(self, token: int) -> Candidate | None:
        """The mention with this head, unless words around it that it leaves out change what it means."""
        parse, found = self.parse, self.mention_of.get(token)
        if found is None or category(found.mention.surface[0]) == "So":  # a list's sign, not a name
            return None
        if _name(found) in GENERIC and _name(found) not in self.key_terms:
            return None
        words = [parse.words[at].lower() for at in range(found.first, found.last)]
        if words[0] in _PARTS_OF_TEXT and len(words) == 2 and (len(words[1]) < 3 or not words[1].isalpha()):
            return None
        if not found.is_name and not _DEICTIC.isdisjoint(words):
            return None
        if parse.words[max(found.first - 1, 0)].endswith("-"):
            return None  # "non-XML"
        if found.is_name and parse.tags[found.last : found.last + 1] in (["CD"], ["NNP"]):
            return None  # "RFC 7405"
        for at in range(parse.left_edge(token), found.first):
            word, tag = parse.words[at], parse.tags[at]
            if at == token - 1 and parse.code[token] and tag[:2] == "NN" and word.lower() not in _SPECIFIC:
                continue  # "the type `str`"
            if (
                parse.deps[at] == "poss"
                or tag[:2] == "RB"
                or word.lower() in _DEICTIC
                or not (word[0] + word[-1]).isalnum()
            ):
                return None
            if (
                (parse.heads[at] == token and tag[:2] in ("NN", "VB"))
                or tag in ("JJR", "JJS")
                or (found.is_name and tag == "JJ" and parse.deps[token] == "attr")
            ):
                return None
        return found

    def triples(self, first: int, last: int) -> Iterator[Triple]:
        """The triples of one sentence, whatever their ends are."""
        for token in range(first, last):
            if self.parse.tags[token][:2] == "VB" and self.parse.deps[token] not in (
                "aux",
                "auxpass",
                "amod",
                "compound",
            ):
                yield from self._of_clause(token)
            elif self.parse.deps[token] == "appos":
                yield from self._of_apposition(token)

    def _of_clause(self, verb: int) -> Iterator[Triple]:
        parse = self.parse
        subjects = [s for s in dict.fromkeys(self._subjects_of(verb)) if self._fits(s, verb)]
        modality = self._modality(verb)
        if not subjects or modality is None or not self._is_finite(verb) or not self._is_asserted(verb):
            return
        verbs = f"be {parse.words[verb].lower()}" if self._is_passive(verb) else self._governed(verb) + self._form(verb)
        particle = parse.child(verb, "prt")
        predicate = modality + verbs + (f" {parse.words[particle].lower()}" if particle != -1 else "")
        completed = self._has(verb, "ccomp", "xcomp") or any(  # "prevents the loss from growing", "gives you a key"
            (parse.words[c] == "from" and self._has(c, "pcomp"))
            or (parse.deps[c] == "dative" and parse.tags[c] != "IN")
            for c in parse.children[verb]
        )
        direct = [c for c in parse.children[verb] if parse.deps[c] in _OBJECTS and parse.tags[c] != "IN" and c > verb]
        if completed and direct and parse.lemmas[verb] != "use":  # "tells Helm to skip it", "uses Go to write it"
            return
        if any(parse.tags[c] in ("JJR", "RBR") for at in (verb, *direct) for c in parse.children[at]):
            return  # a comparison
        if "not " in modality and direct and (self._has(verb, "prep") or self._has(direct[0], "conj")):
            return  # "does not write files outside of it", "not both"
        whole = len(direct) == 1 and not any(parse.tags[c] == "JJ" and c > direct[0] for c in parse.children[verb])
        for object_ in direct if whole else ():
            for one in self._conjuncts(object_) if self._are_joined(verb, object_) else ():
                yield from ((subject, predicate, one) for subject in subjects)
                yield from self._with_prepositions(subjects, predicate, one)
        complement = parse.child(verb, "acomp")
        if complement != -1:
            if parse.tags[complement] == "JJ" and not direct:
                yield from self._with_prepositions(subjects, predicate, complement)
        elif not direct:
            if not completed:
                yield from self._behind(subjects, predicate, verb, verb)
        elif whole and not completed and not self._has(direct[0], "conj", *_NARROWING):
            noun = self._noun(direct[0])
            yield from self._behind(subjects, f"{predicate} {noun}", verb, direct[0]) if noun else ()

    def _of_apposition(self, token: int) -> Iterator[Triple]:
        """A role behind a name, "Ada Poe, the founder of Acme": it has an article, and no list goes on behind it."""
        parse, named = self.parse, self.parse.heads[token]
        one, left = self.mention_of.get(named), parse.left_edge(token)
        if (
            one is None
            or one.mention.label not in _APPOSABLE
            or parse.tags[token] != "NN"
            or parse.deps[named] == "conj"
        ):
            return
        behind = parse.tags[left] == "DT" and parse.words[left - 1] == "," and left - 1 == one.last
        if behind and not self._has(named, "conj", "cc") and not self._has(token, "conj", "cc"):
            yield named, "be", token
            yield from self._with_prepositions([named], "be", token)

    def _with_prepositions(self, subjects: Sequence[int], predicate: str, word: int) -> Iterator[Triple]:
        """Triples whose predicate takes in a noun or an adjective: "be part of", "be compatible with"."""
        if noun := self._noun(word):
            yield from self._behind(subjects, f"{predicate} {noun}", word, word)

    def _behind(self, subjects: Sequence[int], predicate: str, head: int, after: int) -> Iterator[Triple]:
        """Triples with the prepositional objects of a word that stand behind another."""
        parse = self.parse
        for child in parse.children[head]:
            word = parse.words[child].lower()
            if (
                child < after
                or parse.deps[child] not in ("prep", "agent", "dative")
                or parse.tags[child] not in ("IN", "TO")
            ):
                continue
            shape = word == "of" and parse.lemmas[head] == "be"  # "is of the form X"
            if word in _IGNORED_PREPOSITIONS or shape or self._has(child, "prep", "advmod"):  # "instead of"
                continue
            for noun in parse.children[child]:
                denied = " not " in f" {predicate}" and self._has(noun, "conj")
                if parse.deps[noun] == "pobj" and self._are_joined(head, noun) and not denied:
                    yield from ((s, f"{predicate} {word}", one) for one in self._conjuncts(noun) for s in subjects)
            if parse.tags[head][:2] == "NN":  # "a set of tools for tests" is no set for tests
                return

    def _subjects_of(self, verb: int) -> Iterator[int]:
        parse, head, relation = self.parse, self.parse.heads[verb], self.parse.deps[verb]
        own = [c for c in parse.children[verb] if parse.deps[c] in (*_SUBJECTS, "expl")]
        for subject in own:
            if parse.tags[subject] in ("WDT", "WP"):
                yield from self._described(head) if relation == "relcl" else ()
            elif parse.deps[subject] in _SUBJECTS and relation != "relcl":  # what "the file that Helm reads" lacks
                yield from self._conjuncts(subject)
        if not own and relation == "acl" and parse.tags[verb] == "VBN":
            yield from self._described(head)
        elif not own and parse.tags[head][:2] == "VB":
            same_form = parse.tags[head] == parse.tags[verb] and self._has(head, "aux")
            joined = relation == "conj" and (parse.tags[verb] not in ("VB", "VBG") or same_form)
            if joined or (relation == "xcomp" and not self._has(head, "dobj") and parse.lemmas[head] != "be"):
                yield from self._subjects_of(head)

    def _described(self, noun: int) -> Iterator[int]:
        """What a clause behind a noun describes: the subject of its copula, or the noun if it names one thing.

        "Acme is a shop based in Oslo" says of Acme that it is based in Oslo; "shops based in Oslo" states nothing.
        """
        parse, head, found = self.parse, self.parse.heads[noun], self.mention_of.get(noun)
        if parse.deps[noun] == "attr" and parse.lemmas[head] == "be" and self._modality(head) == "":
            if parse.tags[noun] == "NN" and self._is_asserted(head):
                yield from (subject for subject in self._subjects_of(head) if subject != noun)
        elif found is not None and parse.deps[noun] in (*_SUBJECTS, *_OBJECTS, "appos"):
            described = parse.words[noun + 1] == "," or (found.is_name and found.first == parse.left_edge(noun))
            yield from (noun,) if described else ()

    def _fits(self, subject: int, verb: int) -> bool:
        """Whether a subject stands before its verb without a break; else the parse is wrong."""
        parse, left, between = self.parse, self.parse.left_edge(subject), self.parse.words[subject:verb]
        if subject > verb or not self._are_joined(subject, verb):
            return False
        if between.count(",") % 2 and "and" not in between and parse.deps[verb] not in ("conj", "relcl", "acl"):
            return False
        # In "To hide secrets use the flag" the secrets are hidden, and use nothing.
        return (
            left == 0 or parse.tags[left - 1] not in ("VB", "VBG") or parse.segments[left - 1] != parse.segments[left]
        )

    def _conjuncts(self, token: int) -> Iterator[int]:
        """A noun with those joined to it by "and" or commas; none if "or" or "but" joins them."""
        parse, seen = self.parse, [token]
        for noun in seen:
            if any(
                parse.deps[c] in ("cc", "preconj") and parse.words[c].lower() not in _JOINTS
                for c in parse.children[noun]
            ):
                return
            joined = (c for c in parse.children[noun] if parse.deps[c] == "conj" and c > noun)
            seen += [c for c in joined if not any(tag[:2] == "VB" for tag in parse.tags[noun:c])]
        yield from (noun for noun in seen if parse.tags[noun][:2] == "NN")

    def _is_passive(self, verb: int) -> bool:
        """Whether a verb form is passive: by its auxiliary, or as a bare participle behind a noun or a passive."""
        parse = self.parse
        if self._has(verb, "auxpass", "nsubjpass"):
            return True
        if parse.tags[verb] != "VBN" or self._has(verb, "aux", *_SUBJECTS):
            return False
        return parse.deps[verb] == "acl" or (parse.deps[verb] == "conj" and self._is_passive(parse.heads[verb]))

    def _is_finite(self, verb: int) -> bool:
        """Whether a verb form has a tense; an order or a heading has not."""
        parse, head = self.parse, self.parse.heads[verb]
        if parse.tags[verb] == "VBN":
            perfect = parse.deps[verb] == "conj" and parse.tags[head] == "VBN"
            return self._is_passive(verb) or self._has(verb, "aux") or (perfect and self._has(head, "aux"))
        bare = parse.tags[verb] in ("VB", "VBG") and parse.deps[verb] not in ("xcomp", "conj")
        return not bare or self._has(verb, "aux")

    def _is_asserted(self, verb: int) -> bool:
        """Whether the text says that a clause is so."""
        parse, head, relation = self.parse, self.parse.heads[verb], self.parse.deps[verb]
        if self._is_conditional(verb):
            return False
        if relation in ("ROOT", "relcl", "acl"):
            return True
        if relation == "conj":
            joints = {parse.words[c].lower() for c in parse.children[head] if parse.deps[c] == "cc"}
            return parse.tags[head][:2] == "VB" and joints.isdisjoint(("or", "nor")) and self._is_asserted(head)
        if relation == "advcl" and _REASONS.isdisjoint(self._openings(verb)):
            return False
        if relation == "ccomp" and parse.lemmas[head] not in _REMINDERS:
            return False
        return relation in ("advcl", "ccomp", "xcomp") and self._is_asserted(head)

    def _is_conditional(self, verb: int) -> bool:
        """Whether a clause is a condition, or holds under one alone."""
        parse = self.parse
        tenses = [verb, *(c for c in parse.children[verb] if parse.deps[c] in ("aux", "auxpass"))]
        opening = _CONDITIONS if any(parse.tags[at] == "VBD" for at in tenses) else _CONDITIONS | _OCCASIONS
        clauses = [verb, *(c for c in parse.children[verb] if parse.deps[c] == "advcl")]
        if any(not opening.isdisjoint(self._openings(clause)) for clause in clauses):
            return True
        if any(parse.words[clause] == "provided" for clause in clauses[1:]):
            return True
        for child in parse.children[verb]:
            if parse.deps[child] == "prep":
                below = [parse.words[at].lower() for c in parse.children[child] for at in (c, *parse.children[c])]
                if not _CASES.isdisjoint(below):
                    return True
                if child < verb and (
                    parse.words[child].lower() in _FRONTED_CONDITIONS or not _DEICTIC.isdisjoint(below)
                ):
                    return True
        return False

    def _openings(self, verb: int) -> list[str]:
        parse = self.parse
        return [parse.words[c].lower() for c in parse.children[verb] if parse.deps[c] in ("mark", "advmod", "prep")]

    def _modality(self, verb: int) -> str | None:
        """Modal and negation with a space behind each; ``None`` where the clause is hedged."""
        parse = self.parse
        shares = parse.deps[verb] == "conj" and not self._has(verb, "aux", "auxpass", *_SUBJECTS)
        governor = parse.heads[verb] if parse.deps[verb] == "xcomp" or shares else verb
        words = [parse.lemmas[c] for c in parse.children[governor] if parse.deps[c] in ("aux", "advmod", "neg")]
        if any(word in _HYPOTHETICAL or word in _HEDGES for word in words):
            return None
        denied = parse.child(governor, "neg")
        if denied == -1 and not self._has_no(governor):
            return "".join(f"{word} " for word in words if word in _MODALS)
        if (
            any(parse.deps[c] == "advmod" and -1 < denied < c for c in parse.children[governor])
            or denied > governor + 1
        ):
            return None  # "not always", "is of Acme, not of Globex"
        never = denied != -1 and parse.lemmas[denied] == "never"
        return "".join(f"{word} " for word in words if word in _MODALS) + ("never " if never else "not ")

    def _has_no(self, verb: int) -> bool:
        parse = self.parse
        nouns = (c for c in parse.children[verb] if parse.deps[c] in ("dobj", *_SUBJECTS))
        return any(parse.words[word].lower() in ("no", "neither") for noun in nouns for word in parse.children[noun])

    def _governed(self, verb: int) -> str:
        """The verbs above one that shares their subject: ``plan to``."""
        parse, head = self.parse, self.parse.heads[verb]
        if parse.tags[head][:2] != "VB" or self._has(verb, *_SUBJECTS):
            return ""
        if parse.deps[verb] == "conj" and parse.tags[verb] == "VB":
            return self._governed(head)
        if parse.deps[verb] != "xcomp":
            return ""
        form = f"be {parse.words[head].lower()}" if self._is_passive(head) else self._form(head)
        return (
            self._governed(head) + form + (" to " if any(parse.tags[c] == "TO" for c in parse.children[verb]) else " ")
        )

    def _form(self, verb: int) -> str:
        gerund = self.parse.tags[verb] == "VBG" and self.parse.deps[verb] == "xcomp"
        return self.parse.words[verb].lower() if gerund else self.parse.lemmas[verb]

    def _noun(self, token: int) -> str:
        """A common noun or an adjective as a part of a predicate; empty if it means something else alone."""
        parse = self.parse
        if parse.tags[token] not in ("NN", "NNS", "JJ") or parse.code[token]:
            return ""
        if (found := self.mention_of.get(token)) is not None:
            return found.mention.surface if self._whole(token) is not None else ""
        if any(parse.words[c].lower() in _DEICTIC or parse.deps[c] == "poss" for c in parse.children[token]):
            return ""
        return parse.words[token] if parse.words[token].isupper() else parse.words[token].lower()

    def _are_joined(self, one: int, other: int) -> bool:
        return _BREAKS.isdisjoint(self.parse.words[one:other])

    def _has(self, token: int, *labels: str) -> bool:
        return self.parse.child(token, *labels) != -1
