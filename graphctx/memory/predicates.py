"""Predicates in one form, and which of them hold one value at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SAME: dict[str, str] = {
    "live in": "reside in|live at|be live in|be living in|move to|relocate to|settle in|be resident in|live|moved to",
    "work at": "work for|work with|be employed at|be employed by|be working at|be working for|join|start at|work in|"
    "start work at|begin at|be hired by|joined|employed by",
    "be based in": "be located in|be headquartered in|be situated in|located in|based in|headquartered in|locate in",
    "be married to": "marry|be marry to|married to|spouse|wife|husband",
    "report to": "be managed by|manager|boss|supervisor",
    "be owned by": "owner|belong to|be acquired by|owned by",
    "study at": "attend|enroll at|be enrolled at|go to school at|studied at",
    "ceo": "chief executive|chief executive officer",
    "phone number": "phone|telephone|telephone number|mobile number",
    "email": "email address|e mail|mail address",
    "headquarters": "head office|hq",
    "deadline": "due date",
}
_ENDS: dict[str, str] = {
    "live in": "move from|leave from|move out of|move away from",
    "work at": "leave|quit|resign from|be fired from|be laid off by|depart from|retire from|stop working at",
    "be married to": "divorce|be divorced from|separate from|split from",
    "study at": "graduate from|drop out of",
    "use": "stop using|abandon|switch from|migrate from",
}
SINGLE_VALUED = frozenset(
    "live in|work at|be based in|be married to|report to|be owned by|study at|be due on|be scheduled for|"
    "be assigned to|be named|be called|cost|be engaged to|be led by|play for|run on|be hosted on|be priced at".split(
        "|"
    )
)
"""Verbs that hold one value at a time for a subject."""

SINGLE_VALUED_NOUNS = frozenset(
    "deadline status number email address age name price cost budget title role job position employer manager boss ceo "
    "cto cfo owner lead leader head president chair capital headquarters version port url birthday salary size height "
    "weight location city hometown date time rate limit timeout quota leader captain coach mayor director supervisor "
    "priority severity color phase stage".split()
)
"""Attributes that hold one value at a time; compared with the last word of a predicate."""

MANY_VALUED_NOUNS = frozenset(
    "friend sister brother child son daughter parent colleague coworker teammate neighbor cousin pet hobby "
    "member user customer client example part type kind feature goal reason problem issue skill advantage benefit "
    "interest partner supplier vendor participant guest author".split()
)
"""Attributes that hold many values, although a sentence names one of them."""

TYPES: dict[str, tuple[str, str]] = {
    "live in": ("person", "place"),
    "work at": ("person", "organization"),
    "study at": ("person", "organization"),
    "be married to": ("person", "person"),
    "be engaged to": ("person", "person"),
    "report to": ("person", "person"),
    "friend": ("person", "person"),
    "colleague": ("person", "person"),
    "play for": ("person", "organization"),
    "phone number": ("", "contact"),
    "email": ("", "contact"),
    "birthday": ("person", "date"),
    "age": ("", "quantity"),
    "deadline": ("", "date"),
    "be due on": ("", "date"),
    "be scheduled for": ("", "date"),
    "date": ("", "date"),
    "budget": ("", "quantity"),
    "price": ("", "quantity"),
    "cost": ("", "quantity"),
    "ceo": ("organization", "person"),
    "lead": ("", "person"),
    "headquarters": ("organization", "place"),
    "be based in": ("organization", "place"),
    "be led by": ("", "person"),
    "city": ("", "place"),
    "location": ("", "place"),
    "hometown": ("person", "place"),
}
"""Types of what a predicate relates, its subject and its object; empty where it says nothing of one."""

_SINGLING = frozenset("favorite preferred current main primary default new latest next".split())
_FORMS = {"is": "be", "are": "be", "was": "be", "were": "be", "has": "have", "does": "do", "goes": "go"}
_SPELLINGS = {"favourite": "favorite", "colour": "color", "neighbour": "neighbor", "centre": "center"}
_KEPT_S = frozenset("is was has does goes status headquarters address".split())


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate in the form in which it is compared.

    Attributes:
        key: the form.
        ends: whether stating it ends the relation ``key``, as "leave" ends "work at".
    """

    key: str
    ends: bool = False


def canonical_predicate(predicate: str) -> Predicate:
    """Fold a predicate: case, underscores, the inflection of its first word, and synonyms.

    canonical_predicate("works_for")  # Predicate("work at")
    canonical_predicate("not live in")  # Predicate("live in", ends=True)
    """
    words = re.sub(r"[\W_]+", " ", predicate.casefold()).split()
    negated = words[:1] == ["not"] or words[:2] == ["no", "longer"]
    words = [_SPELLINGS.get(word, word) for word in words]
    words = words[2 if words[:2] == ["no", "longer"] else 1 :] if negated else words
    if len(words) > 1 and words[0] in ("current", "new"):
        words = words[1:]
    if words:
        words[0] = _FORMS.get(words[0], words[0])
        if len(words) > 1 and words[0].endswith("s") and words[0] not in _KEPT_S and not words[0].endswith("ss"):
            words[0] = words[0][:-1]
    key = " ".join(words)
    if key in _ENDED_BY:
        return Predicate(_ENDED_BY[key], not negated)
    return Predicate(_CANONICAL.get(key, key), negated)


def holds_one_value(key: str) -> bool:
    """Return whether a canonical predicate holds one value at a time, as far as its words say."""
    words = key.split()
    return key in SINGLE_VALUED or (bool(words) and (words[-1] in SINGLE_VALUED_NOUNS or words[0] in _SINGLING))


def attribute_holds_one_value(key: str) -> bool:
    """Return the same for an attribute of which a sentence says "its … is": one unless known to be of many."""
    return key.split()[-1] not in MANY_VALUED_NOUNS


_CANONICAL = {each: name for name, listed in _SAME.items() for each in listed.split("|")}
_ENDED_BY = {each: name for name, listed in _ENDS.items() for each in listed.split("|")}
