"""Definitions: the names that a unit is about, by its title, heading and first sentence (docs/retrieval.md, step 3).

The lead subject of a text is what its first sentence defines: "Port Averil (founded 1340) is a town" is about *Port
Averil*. The sentence is read up to its first *is*, *was*, *are* or *were* outside brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from graphctx.ingest.defined_terms import DefinedTerms, identifier_of
from graphctx.ingest.name_keys import CODE_MARK, name_key
from graphctx.model.documents import Document, Section, TextUnit
from graphctx.nlp.identifiers import is_code_name
from graphctx.text.names import is_nameable, reads_as_clause, unnumbered

TITLE = 1.0
TITLE_BEFORE_COMMA = 0.7
TITLE_LATER_UNIT = 0.6
"""For the further units of a document without headings: they go on about the same thing."""
HEADING = 0.5
"""A heading in plain words says what a section treats of, seldom the name of a thing: "Testing", "Flow control"."""

CODE_HEADING = 0.9
"""A heading that is code, or a name with its arguments, is the title of what it explains."""

CODE_IN_HEADING = 0.7
LEAD_UNTITLED = 0.9
LEAD_TITLED = 0.7
FILE_NAME = 0.7
"""Whoever writes ``autoscaling.md`` means that file."""

FILE_STEM = 0.4
"""Files are often named by what they are about, but also by dates, numbers and habits."""

_FOLDER_FILES = frozenset(("index", "readme", "_index", "summary", "contents", "toc", "main", "__init__"))

MAX_LABEL_VALUE = 0.5
"""Table cells, link labels and file stems define only what the text itself names; they make no names."""

MAX_DEFINED_WORDS = 6
MAX_NAME_WORDS = 10
MAX_SUBJECT_WORDS = 8
MIN_SINGLE_WORD_CHARS = 3
SHORTENED = 0.7
"""For the first and last of three or more names of a person."""

LIFE_REACH = 40
"""Characters after the verb within which a birth is stated."""

WINDOW = 500
"""Characters within which the verb must come: long brackets may stand before it."""

_CODE = re.compile(r"`([^`]+)`")
_CODE_ALONE = re.compile(r"[#\s*]*`+[^`]+`+[#\s*:]*(?:\{[^}]*\})?(?:\n.*)?")
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
_LIFE = re.compile(r"\bborn\b|\b\d{4}\s*[–-]\s*(?:\w+\s+){0,3}\d{4}|\bdied\b")
_NAME_WORD = re.compile(r"[A-ZÀ-Þ][\w'’.-]*")
_NUMERAL = re.compile(r"[IVX]+")
_MARKS = "\"“”'¡¿*_"
_NO_SUBJECT = frozenset(
    "in on at during after before although though while when where if as since there here it he she they we you i "
    "this that these those some many most few several one all both each every another such other under over from to "
    "by for with without of and but or so yet because despite among between what which who how why its his her their "
    "our my your then thus however today".split()
)
_SMALL = frozenset(
    "of the and for in on at to a an de do da dos del di la le les et y du der von van & with or as from is by".split()
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A unit that is about a name, and how much, in 0..1.

    ``key`` is the name's identity, as `name_key` returns it. ``own`` tells whether the unit is named by it (title,
    heading, subject of its first sentence); a term that a unit defines among others is not.
    """

    key: str
    surface: str
    unit_row: int
    value: float
    own: bool = True

    @property
    def makes_name(self) -> bool:
        """Whether what is defined is a name, even if nothing else names it: not a question or a clause."""
        surface = self.surface.rstrip()
        return (
            (self.own or self.value > MAX_LABEL_VALUE)
            and len(self.key.split()) <= MAX_DEFINED_WORDS
            and not surface.endswith(("?", "!", ":"))
            and (self.value >= TITLE or not reads_as_clause(surface))
        )


def find_definitions(
    document: Document, sections: Sequence[Section], units: Sequence[TextUnit], first_row: int
) -> list[Definition]:
    """Return the definitions in one document.

    Args:
        document: whose units they are.
        sections: its sections.
        units: its units, in order; their rows start at ``first_row``.

    Returns:
        The best value for each name and unit, sorted by unit and name.
    """
    by_id = {section.id: section for section in sections}
    best: dict[tuple[int, str], Definition] = {}
    seen_sections: set[str] = set()
    flat = not document.headings
    terms = DefinedTerms(document)
    written = {h.start_char: document.text[h.start_char : h.end_char] for h in document.headings}
    for row, unit in enumerate(units, first_row):
        names = [(name, value, False) for name, value in _lead_subject(document, unit)]
        section = by_id[unit.section_id]
        if document.titled and (row == first_row or flat):
            weight = 1.0 if row == first_row else TITLE_LATER_UNIT
            names += [(name, value * weight, False) for name, value in title_names(document.title)]
        heading = written.get(section.start_char, "")
        if heading and section.level > 0 and section.id not in seen_sections:
            names += _heading_names(section, heading)
        seen_sections.add(section.id)
        found = [(name, value, True, code) for name, value, code in names]
        found += [(name, value, False, code) for name, value, code in terms.of(unit)]
        if row == first_row:
            found += [(name, value, False, False) for name, value in file_names(document)]
        for surface, value, own, code in found:
            key = name_key(surface, code=code)
            known = best.get((row, key))
            if usable(key) and (known is None or known.value < value):
                best[row, key] = Definition(key, surface, row, value, own)
    return [best[at] for at in sorted(best)]


def title_names(title: str) -> Iterator[tuple[str, float]]:
    """Yield the names of a document by its title, with their values."""
    title = unnumbered(title)
    yield title, TITLE
    bare = _without_parenthesis(title)
    if bare and bare != title:
        yield bare, TITLE
    head, comma, _ = title.partition(", ")
    if comma:
        yield head, TITLE_BEFORE_COMMA


def _without_parenthesis(title: str) -> str:
    """A title without a last part in parentheses. Takes no regular expression: one that begins with white space looks
    at each run of it once for each of its characters."""
    head, opened, inside = title.rstrip().rpartition("(")
    return head.rstrip() if opened and inside and inside.find(")") == len(inside) - 1 else title


def file_names(document: Document) -> Iterator[tuple[str, float]]:
    """Yield the names of a document by its file, with their values: none for a text without headings, or for a row."""
    path = PurePosixPath(unquote(document.uri))
    if "#" in document.uri or not document.headings:
        return
    yield path.name, FILE_NAME
    stem = path.stem.replace("-", " ").replace("_", " ")
    if path.stem.casefold() not in _FOLDER_FILES and any(char.isalpha() for char in stem):
        yield stem, FILE_STEM


def usable(key: str) -> bool:
    """Whether a name, by its key, is specific enough to be anyone's definition."""
    if key.startswith(CODE_MARK):
        return is_code_name(key[1:])
    parts = key.split()
    if not is_nameable(key) or len(parts) > MAX_NAME_WORDS:
        return False
    return len(parts) > 1 or len(key) >= MIN_SINGLE_WORD_CHARS


def _heading_names(section: Section, written: str) -> Iterator[tuple[str, float, bool]]:
    """The names in a heading, with whether they are code; ``written`` is the heading with its markup."""
    title = section.title
    alone = _CODE_ALONE.fullmatch(written.strip()) is not None
    weight = CODE_HEADING if alone else HEADING
    yield from ((name, value * weight, alone) for name, value in title_names(title))
    if section.anchor and title.endswith(f" {section.anchor}"):  # a definition in source code, "def open_gate"
        yield section.anchor, CODE_HEADING, True
    for code in _CODE.findall(written):
        yield code, CODE_IN_HEADING, True
        yield identifier_of(code), CODE_IN_HEADING, True


def _lead_subject(document: Document, unit: TextUnit) -> Iterator[tuple[str, float]]:
    if unit.kind == "prose":
        value = LEAD_TITLED if document.titled else LEAD_UNTITLED
        text = document.text[unit.start_char : min(unit.end_char, unit.start_char + WINDOW)]
        yield from ((name, value * share) for name, share in lead_subjects(text).items())


def lead_subjects(text: str) -> dict[str, float]:
    """Return the names of what the first sentence of a text defines, with their values in 0..1.

    Args:
        text: of a unit, from its start; only its first `WINDOW` characters are read.
    """
    window = text[:WINDOW]
    subject, verb_end = _before_verb(window)
    whole = subject.strip(" ,;:*_\n\t")
    head, _, tail = whole.partition(", ")
    apposition = bool(tail) and not tail[:1].isupper() and not tail[:1].isdigit() and len(tail.split()) > 2
    if apposition or not _is_name(whole):  # "Ramon, sometimes called the Saint"
        whole = head
    if not _is_name(whole.strip(" *_")):
        return {}
    variants = (variant for name in (whole, head) for variant in (name, *_without_extras(name)))
    names = {name.strip(f" ,;'{_MARKS}"): 1.0 for name in variants if len(name.split()) <= MAX_SUBJECT_WORDS}
    if _LIFE.search(window[: verb_end + LIFE_REACH]):
        for name in filter(_has_middle_names, list(names)):
            first, *_, last = name.split()
            names.setdefault(f"{first} {last}", SHORTENED)
    names.pop("", None)
    return names


def _without_extras(name: str) -> Iterator[str]:
    """The same name without an honorific, without a nickname in quotes, and with the nickname for the first names."""
    plain = _HONORIFIC.sub("", name)
    yield plain
    match = _QUOTED.search(plain)
    before, after = (plain[: match.start()].strip(), plain[match.end() :].strip()) if match else ("", "")
    if match and before and after:
        yield f"{before} {after}"
        yield f"{match[1]} {after.split()[-1]}"


def _before_verb(window: str) -> tuple[str, int]:
    """Return the text before the defining verb, outside brackets, and where the verb ends; ("", 0) without one."""
    depth, at = 0, 0
    outside: list[str] = []
    for token in _TOKEN.finditer(window):
        if not depth:
            outside.append(window[at : token.start()])
        at = token.end()
        if token[0] in _OPENING:
            depth += 1
        elif token[0] in _CLOSING:
            depth = max(0, depth - 1)
        elif not depth:
            subject = "".join(outside)
            if _SENTENCE_END.search(subject.lstrip()):
                break
            if subject.strip() and _DEFINES.match(window, at):
                return " ".join(subject.split()), at
            if len(subject.split()) >= MAX_SUBJECT_WORDS:
                break
            outside.append(token[0])  # a title may hold a verb: "Who Is Who is a book"
    return "", 0


def _is_name(text: str) -> bool:
    """Whether a subject reads as a name: it opens with a capital, and what is not small is mostly capital."""
    words = text.split()
    if not words or len(words) > MAX_SUBJECT_WORDS:
        return False
    first = words[0].strip(_MARKS)
    if not (first[:1].isupper() or first[:1].isdigit()):
        return False
    if words[0].casefold() in ("the", "a", "an"):
        return any(word[:1].isupper() for word in words[1:]) or len(words) <= 4
    rest = [word.strip(_MARKS) for word in words[1:] if word.casefold() not in _SMALL]
    capital = sum(1 for word in rest if word[:1].isupper() or word[:1].isdigit() or not word[:1].isalpha())
    if first.casefold() in _NO_SUBJECT:  # the start of a sentence, or of a title: "His Last Haul"
        return len(words) > 1 and words[1][:1].isupper() and capital == len(rest)
    return not rest or capital * 2 >= len(rest) or len(words) <= 3


def _has_middle_names(name: str) -> bool:
    """Whether a name has three or more capitalised words and does not end with an initial or a Roman numeral."""
    words = name.split()
    last = words[-1] if words else ""
    capitals = len(words) > 2 and all(map(_NAME_WORD.fullmatch, words))
    return capitals and len(last) > 1 and "." not in last and not _NUMERAL.fullmatch(last)
