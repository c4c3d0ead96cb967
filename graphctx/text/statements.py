"""Facts as a reader takes them in: the predicate in the form that the sentence has, the object with its article."""

from __future__ import annotations

import re

from graphctx.text.lexical import stem

_MODALS = frozenset("can may must should shall".split())
_FORMS = {
    "be": frozenset("is are was were".split()),
    "have": frozenset("has have had".split()),
    "do": frozenset("does do did".split()),
}
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_DENIED = re.compile(r"\b(do|does|did|is|are|was|were)(?: not|n['’]t)\b", re.IGNORECASE)
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh|[^aeiou]o)$")
_WORD = re.compile(r"[A-Za-z]+")


def statement(subject: str, predicate: str, thing: str, sentence: str) -> str:
    """Return a fact in words.

    Args:
        subject, thing: the ends, as the sentence has them.
        predicate: the lemma of the verb with its modals, negation and preposition.
        sentence: what states the fact.

    Returns:
        The words; where the sentence does not show the form of the verb, it is in the present tense.

    Example:
        >>> statement("Helm", "be", "package manager", "Helm is a package manager for Kubernetes.")
        'Helm is a package manager'
    """
    at = sentence.find(subject)
    at = at + len(subject) if at >= 0 else 0
    end = sentence.find(thing, at)
    between = sentence[at : end if end >= 0 else len(sentence)]
    article = re.search(r"\b(?:an?|the)\s+$", between) if end >= 0 else None
    shown = " ".join(article[0].split()) + " " if article else ""
    stated = _inflected(predicate, between)
    if not subject.lower().endswith("s"):  # the verb may have the number of "Ada and Eva"
        verb, _, rest = stated.partition(" ")
        singular = _SINGULAR.get(verb) or (_third_person(verb) if verb == predicate.partition(" ")[0] else verb)
        stated = stated if verb in _MODALS or verb == "never" else f"{singular} {rest}".rstrip()
    return f"{subject} {stated} {shown}{thing}"


def _inflected(predicate: str, between: str) -> str:
    """Return a predicate with its verb as the words between the ends have it."""
    first, _, rest = predicate.partition(" ")
    if first in _MODALS:
        return predicate
    if first == "not":
        verb, _, rest = rest.partition(" ")
        denied = _DENIED.search(between)
        auxiliary = denied[1].lower() if denied else "is" if verb == "be" else "does"
        return f"{auxiliary} not {rest if verb == 'be' else f'{verb} {rest}'}".rstrip()
    if first == "never":
        verb, _, rest = rest.partition(" ")
        return (
            f"{_form(verb, between)} never {rest}".rstrip() if verb == "be" else f"never {_form(verb, between)} {rest}"
        )
    return f"{_form(first, between)} {rest}".rstrip()


def _form(verb: str, between: str) -> str:
    forms = _FORMS.get(verb, frozenset())
    found = (word.lower() for word in _WORD.findall(between))
    if forms:
        return next((word for word in found if word in forms), {"be": "is", "have": "has", "do": "does"}[verb])
    own = stem(verb)
    shown = next((word for word in found if stem(word) == own and not word.endswith("ing")), "")
    return shown or _third_person(verb)


def _third_person(verb: str) -> str:
    if _SIBILANT.search(verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}s"
