"""Lead subjects: what the first sentence of a text defines, by the names that it may go by elsewhere.

"Elwyn Brooks "E. B." White (July 11, 1899 – October 1, 1985) was an American writer" is about *E. B. White*, *Elwyn
Brooks White* and *Elwyn White*. The sentence is read up to its first *is*, *was*, *are* or *were* outside brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_WORDS = 8
WINDOW = 500
"""Characters within which the verb must come: dates of birth and death may stand in long brackets before it."""

DEFINED = 1.0
"""For the name as it stands, before its first comma, and without a nickname or an honorific."""

SHORTENED = 0.7
"""For the first and last of three or more names, and for names that a bracket adds."""

_OPENING, _CLOSING = "([", ")]"
_TOKEN = re.compile(r"[(\[\])]|(?<![\w'’])(?:is|was|are|were)(?![\w'’])")
_ADVERB = r"(?:often|also|generally|commonly|usually|currently|formerly|originally|officially|still|now|both|widely)"
_KIND = r"(?:a|an|the|one|any|born|best known|known|called|considered|located|situated|published|founded|released)"
_DEFINES = re.compile(rf"\s+(?:{_ADVERB}\s+)?{_KIND}\b")
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\b(?:St|Dr|Mr|Ms|Mt|Jr|Sr))(?<!\b(?:Mrs|vol))\.\s+(?=[A-Z“\"])|\n\s*\n")
_QUOTED = re.compile(r"(?<!\s)\s*+[\"“”]([^\"“”]{1,30})[\"“”]\s*")
_HONORIFIC = re.compile(
    r"^(?:Sir|Dame|Lord|Lady|Dr\.?|Prof(?:essor|\.)?|Sheikha?|Saint|St\.|Rev(?:erend|\.)?|Captain|Colonel|General"
    r"|President|Prince(?:ss)?|Queen|King|Mr\.?|Mrs\.?|Ms\.?)\s+(?=\w+\s+\w)"
)
_WORD = r"[A-Z][\w'’.-]*"
_ADDED = re.compile(
    r"\b(?:(?:also |better |simply )?known(?: simply)? as|born|née|real name|stage name|abbreviated(?: as)?|or)\s+"
    rf"(?:just\s+)?[\"“']?(?P<name>{_WORD}(?:\s+(?:(?:of|the|de|von|van|al|bin)\s+)?{_WORD}){{0,5}})"
)
_IS_PERSON = re.compile(r"(?:[A-ZÀ-Þ][\w'’.-]*\s+){2,}(?![IVX]+$)[A-ZÀ-Þ][\w'’-]+")
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|c\.|\d)"
)
_LIFE_REACH = 40
"""Characters after the verb within which a birth is stated."""

_LIFE = re.compile(r"\bborn\b|\b\d{4}\s*[–-]\s*(?:\w+\s+){0,3}\d{4}|\bdied\b")
_NO_SUBJECT = frozenset(
    "in on at during after before although though while when where if as since there here it he she they we you i "
    "this that these those some many most few several one all both each every another other such under over from to "
    "by for with without of and but or so yet because despite among between what which who how why its his her their "
    "our my your then thus however today".split()
)
_SMALL = frozenset(
    "of the and for in on at to a an de do da dos del di la le les et y du der von van & with or as from is by".split()
)


@dataclass(frozen=True, slots=True)
class LeadSubject:
    """A name that a text defines, and how surely, in 0..1."""

    name: str
    value: float


def lead_subjects(text: str) -> list[LeadSubject]:
    """The names that the first sentence of a text defines, surest first; none where it defines nothing.

    Args:
        text: of a unit, from its start; only its first `WINDOW` characters are read.
    """
    window = text[:WINDOW]
    found = _before_verb(window)
    if found is None:
        return []
    bare, brackets, rest = found
    whole = bare.strip(" ,;:*_\n\t")
    if not _is_name(whole):
        whole = whole.partition(", ")[0].strip(" *_")
        if not _is_name(whole):
            return []
    names: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        name = name.strip(" ,;*_\"“”'")
        if name and len(name.split()) <= MAX_WORDS:
            names[name] = max(names.get(name, 0.0), value)

    head, _, tail = whole.partition(", ")
    if tail and not tail[:1].isupper() and not tail[:1].isdigit() and len(tail.split()) > 2:
        whole = head  # an apposition: "Ramon, sometimes called the Saint"
    for name in (whole, head):
        add(name, DEFINED)
        for variant in _without_extras(name):
            add(variant, DEFINED)
    if _LIFE.search(brackets) or _LIFE.search(window[rest : rest + _LIFE_REACH]):
        for name in [name for name in names if _IS_PERSON.fullmatch(name)]:
            first, *_, last = name.split()
            add(f"{first} {last}", SHORTENED)
    for match in _ADDED.finditer(f"{brackets} {whole}"):
        if not _MONTH.match(match["name"]):
            add(match["name"], SHORTENED)
    return [LeadSubject(name, value) for name, value in sorted(names.items(), key=lambda item: (-item[1], item[0]))]


def _before_verb(window: str) -> tuple[str, str, int] | None:
    """What stands before the defining verb, outside brackets and inside them, and where the verb ends."""
    depth, at = 0, 0
    outside: list[str] = []
    inside: list[str] = []
    for token in _TOKEN.finditer(window):
        (inside if depth else outside).append(window[at : token.start()])
        at = token.end()
        if token[0] in _OPENING:
            depth += 1
        elif token[0] in _CLOSING:
            depth = max(0, depth - 1)
        elif depth:
            inside.append(token[0])
        else:
            subject = "".join(outside)
            if _SENTENCE_END.search(subject.lstrip()):
                return None
            if subject.strip() and _DEFINES.match(window, token.end()):
                return re.sub(r"\s+", " ", subject), "".join(inside), token.end()
            if len(subject.split()) >= MAX_WORDS:
                return None
            outside.append(token[0])  # a title may hold a verb: "Who Is Who is a book"
    return None


def _is_name(text: str) -> bool:
    """Whether a subject reads as a name: it opens with a capital, and what is not small is mostly capital."""
    words = text.split()
    if not words or len(words) > MAX_WORDS:
        return False
    first = words[0].strip("\"“”'¡¿*_")
    if not (first[:1].isupper() or first[:1].isdigit()):
        return False
    if words[0].casefold() in ("the", "a", "an"):
        return any(word[:1].isupper() for word in words[1:]) or len(words) <= 4
    rest = [word.strip("\"“”'¡¿*_") for word in words[1:] if word.casefold() not in _SMALL]
    capital = sum(1 for word in rest if word[:1].isupper() or word[:1].isdigit() or not word[:1].isalpha())
    if first.casefold() in _NO_SUBJECT:  # the start of a sentence, or of a title: "His Last Haul"
        return len(words) > 1 and words[1][:1].isupper() and capital == len(rest)
    return not rest or capital * 2 >= len(rest) or len(words) <= 3


def _without_extras(name: str) -> Iterator[str]:
    """The same name without a nickname in quotes, with the nickname for the first names, without an honorific."""
    plain = _HONORIFIC.sub("", name)
    if plain != name:
        yield plain
    match = _QUOTED.search(plain)
    if match and match.start() > 0:
        before, after = plain[: match.start()].strip(), plain[match.end() :].strip()
        if before and after:
            yield f"{before} {after}"
            yield f"{match[1]} {after.split()[-1]}" if len(after.split()) > 1 else f"{match[1]} {after}"
