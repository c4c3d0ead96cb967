"""Triples out of remembered sentences: attributes by patterns, other statements by the parser of the documents.

"Ana's manager is Carlos", "the deadline of Apollo moved to May 2" and "my phone number is 555" are attributes. The
first person is the author of the item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from graphctx.memory.dates import DATE, date_of
from graphctx.memory.facts import is_name
from graphctx.memory.items import Triple
from graphctx.memory.predicates import attribute_holds_one_value, canonical_predicate, holds_one_value
from graphctx.model.documents import Document, Sentence, TextUnit
from graphctx.nlp.base import Extractor
from graphctx.text.sentences import split_sentences

DEFAULT_AUTHOR = "User"
MAX_VALUE_WORDS = 12

_SINCE = re.compile(
    rf",? ?\b(?:since|as of|from|starting(?: in| on| from)?|effective|beginning(?: in| on)?) ({DATE})\b", re.I
)
_UNTIL = re.compile(rf",? ?\b(?:until|till|to|through) ({DATE})\b", re.I)
_AT = re.compile(rf",? ?\b(?:in|on) ({DATE})\b", re.I)

_FIRST_PERSON: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"\b{word}\b"), said)
    for word, said in (
        ("I[’']m", "{} is"),
        ("I am", "{} is"),
        ("I was", "{} was"),
        ("I[’']ve", "{} has"),
        ("I have", "{} has"),
        ("I[’']ll", "{} will"),
        ("I[’']d", "{} would"),
        ("I", "{}"),
        ("(?:[Mm]y)", "{}'s"),
        ("(?:[Mm]ine)", "{}'s"),
        ("(?:me|myself)", "{}"),
    )
)
_LEAD = re.compile(
    r"^(?:(?:actually|correction|update|note|remember|reminder|fyi|by the way|also|so|and|but|well|now|ok|okay|hi|"
    r"hello|yes|no|sorry|currently|today|please note that|note that|remember that)\b[,:;!.]?\s+)+",
    re.I,
)
_WORDS = r"[\w.&/+#'’-]+(?: [\w.&/+#'’-]+)"
_SUBJECT = rf"(?:[Tt]he )?(?P<s>{_WORDS}{{0,5}}?)"
_ATTRIBUTE = r"(?P<p>[\w-]+(?: [\w-]+){0,3}?)"
_IS = r"(?:(?:has|have) (?:now )?(?:been |become )?|is |are |becomes |became |will be )(?:now |currently |actually )*"
_BECAME = (
    r"(?:(?:has|have|was|were|is|are) )?(?:now )?(?:been )?(?:changed|moved|postponed|delayed|extended|"
    r"pushed(?: back)?|raised|lowered|increased|reduced|cut|set|updated|switched|renamed|brought forward)"
    r"(?: from (?P<old>.+?))? to "
)
_VALUE = r"(?P<o>.+)"
_PATTERNS = tuple(
    re.compile(rf"^{pattern}$")
    for pattern in (
        rf"{_SUBJECT}['’]s? {_ATTRIBUTE} {_BECAME}{_VALUE}",
        rf"[Tt]he {_ATTRIBUTE} (?:of|for) {_SUBJECT} {_BECAME}{_VALUE}",
        rf"{_SUBJECT} (?:has )?(?:changed|updated|switched|raised|lowered|increased|reduced|moved|set) "
        rf"(?:its|his|her|their|the) {_ATTRIBUTE}(?: from (?P<old>.+?))? to {_VALUE}",
        rf"{_SUBJECT}['’]s? {_ATTRIBUTE} {_IS}{_VALUE}",
        rf"[Tt]he {_ATTRIBUTE} (?:of|for) {_SUBJECT} {_IS}{_VALUE}",
    )
)
_CHANGED = r"(?:[\w’']+ ){0,4}?(?:changed|updated|raised|lowered|increased|reduced|moved|set|cut)"
_LOOSE_PATTERNS = tuple(
    re.compile(rf"^{pattern}$")
    for pattern in (
        rf"{_CHANGED} the {_ATTRIBUTE} (?:of|for) {_SUBJECT}(?: from (?P<old>.+?))? to {_VALUE}",
        rf"{_CHANGED} {_SUBJECT}['’]s? {_ATTRIBUTE}(?: from (?P<old>.+?))? to {_VALUE}",
        rf"{_SUBJECT} (?:has|had|got|gets) an? (?:new )?{_ATTRIBUTE} of {_VALUE}",
        rf"{_SUBJECT} (?:(?:now|currently|has|have) )?(?P<p>(?:[a-z]+s|moved) (?:in|at|for|to)) "
        r"(?P<o>.+?)(?: (?:with|as) .+)?",
    )
)
"""Believed of attributes that hold one value alone: a budget of 5 euros, but no cup of tea."""

_HOLDER = re.compile(
    rf"^{_SUBJECT} (?:is|became|becomes|has become|(?:was|has been|is) (?:named|appointed|elected|made)|"
    rf"(?:takes|took|has taken) over(?: from .+?)? as) "
    rf"(?:now )?(?:the )(?:new |current )?{_ATTRIBUTE} (?:of|for) {_VALUE}$"
)
"""The other way round: who holds an attribute of something, "Ada is the CEO of Acme"."""

_TAIL = re.compile(
    r"(?:,? (?:not|instead of|rather than|and not|but not|no longer) .*| \((?:not|was|previously) .*\)|,? (?:instead|"
    r"now|anymore|currently|from now on|at the moment|these days))$",
    re.I,
)
_MOVED = re.compile(r"\b(?:moved|relocated) from [^,;]+? to\b")
_ENDED = re.compile(r"\b(?:no longer|not .* any ?more|any ?more|used to|stopped|formerly|previously)\b", re.I)
_ROLE = re.compile(r"^be (?P<p>[\w-]+(?: [\w-]+)?) of$")
_VERBAL = frozenset("is are was were be been has have had do does did will would can could not".split())


class TripleExtractor:
    """Finds triples in the text of an item.

    Args:
        make_extractor: makes the extractor of sentences when it is first needed.
    """

    def __init__(self, make_extractor: Callable[[], Extractor]) -> None:
        self._make = make_extractor
        self._extractor: Extractor | None = None

    def triples(self, text: str, author: str = "") -> list[Triple]:
        """Return the triples that a text states, in order, without duplicates; questions state nothing.

        Args:
            text: of the item; ``start_char:end_char`` of a triple is a sentence of it.
            author: who is meant by the first person; `DEFAULT_AUTHOR` if empty.
        """
        found: list[Triple] = []
        parsed: list[tuple[int, int, str]] = []
        for start, end in split_sentences(text):
            said = _in_third_person(text[start:end], author or DEFAULT_AUTHOR)
            if said.endswith("?"):
                continue
            attribute = _attribute(said, start, end)
            if attribute is None:
                parsed.append((start, end, said))
            else:
                found.append(attribute)
        found += self._parsed(parsed)
        named = [triple for triple in found if is_name(triple.subject) and is_name(triple.object)]
        return sorted(dict.fromkeys(named), key=lambda triple: triple.start_char)

    def _parsed(self, sentences: list[tuple[int, int, str]]) -> Iterator[Triple]:
        if not sentences:
            return
        if self._extractor is None:
            self._extractor = self._make()
        text, spans = "", []
        for _, _, said in sentences:
            spans.append(Sentence(len(text), len(text) + len(said)))
            text += f"{said} "
        document = Document("d_memory", "memory", "", text, "", "text/plain", titled=False)
        unit = TextUnit("u_memory", document.id, "s_memory", 0, "prose", 0, len(text), 0, tuple(spans))
        for fact in self._extractor.extract(document, [unit]).facts:
            start, end, said = sentences[fact.sentence]
            first, last = _period(said)
            triple = Triple(fact.subject, fact.predicate, fact.object, first, last, start_char=start, end_char=end)
            role = _ROLE.match(fact.predicate)
            if role:  # "Ada is the CEO of Acme" says the CEO of Acme
                triple = replace(triple, subject=fact.object, predicate=role["p"], object=fact.subject)
            ends = bool(_ENDED.search(said)) or canonical_predicate(fact.predicate).ends
            yield replace(triple, ends=ends)


def _in_third_person(sentence: str, author: str) -> str:
    said = _MOVED.sub("moved to", _LEAD.sub("", " ".join(sentence.split())))
    author = author[:1].upper() + author[1:]  # which the parser takes for a name
    for pattern, form in _FIRST_PERSON:
        said = pattern.sub(form.replace("{}", author.replace("\\", "")), said)
    return said


def _attribute(said: str, start: int, end: int) -> Triple | None:
    """Return the triple of a sentence that gives an attribute its value."""
    bare = said.rstrip(" .!;:")
    first, last = _said_since(bare)
    bare = _UNTIL.sub("", _SINCE.sub("", bare)) if first or last else bare
    for pattern in (*_PATTERNS, _HOLDER, *_LOOSE_PATTERNS):
        match = pattern.match(bare)
        if match is None or (pattern in _LOOSE_PATTERNS and not holds_one_value(canonical_predicate(match["p"]).key)):
            continue
        subject, predicate, value = match["s"], match["p"], _TAIL.sub("", match["o"]).strip(" ,.;")
        if pattern is _HOLDER:
            subject, value = value.removeprefix("the "), subject
        words = f"{subject} {predicate}".casefold().split()
        if not value or len(value.split()) > MAX_VALUE_WORDS or not _VERBAL.isdisjoint(words):
            return None
        ended = bool(re.match(r"(?:no longer|not) ", match["o"]))
        value = re.sub(r"^(?:no longer|not) ", "", match["o"]).strip() if ended else value
        if canonical_predicate(predicate).key in ("report to", "be married to", "be owned by"):
            single: bool | None = None
        else:
            single = attribute_holds_one_value(canonical_predicate(predicate).key) or None
        return Triple(subject, predicate, value, first, last, 1.0, ended, single, start, end)
    return None


def _said_since(said: str) -> tuple[datetime | None, datetime | None]:
    since, until = _SINCE.search(said), _UNTIL.search(said) if _SINCE.search(said) else None
    return (date_of(since[1]) if since else None), (date_of(until[1]) if until else None)


def _period(said: str) -> tuple[datetime | None, datetime | None]:
    """Return since when and until when a statement says that it holds."""
    since, until, at = _SINCE.search(said), _UNTIL.search(said), _AT.search(said)
    begun = since or at
    return (date_of(begun[1]) if begun else None), (date_of(until[1]) if until else None)
