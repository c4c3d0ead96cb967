"""Names as they are compared, and as titles show them: pure functions on the surface of an entity.

Two surfaces are the same name where `normalise_name` maps both to one string. Resolution, definitions and the
dictionary match of a question all compare that string.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

DETERMINERS = frozenset(
    "the a an this that these those my your his her its our their some any each every no another such".split()
)
"""Words that may stand before a name and are no part of it: determiners and possessive pronouns."""

STOPWORDS = frozenset(
    "i me we us you he him she it they them who whom whose which what that this these those here there one "
    "ones something anything everything nothing someone anyone everyone nobody none all both either neither "
    "each other others another any some many much more most few less least several such same own so too very "
    "just only also and or but nor if then else than as at by for from in into of off on onto out over to up "
    "with without about after before between through during under above below again once when where why how "
    "not no yes do does did done is are was were be been being have has had will would can could shall should "
    "may might must the a an his her its our your their my mine yours hers ours theirs himself herself itself "
    "themselves myself yourself etc eg ie let lets us now well even still yet "
    "whichever whatever whoever whenever wherever however".split()
)
"""Function words: no name consists of them alone."""

_SAME_PLURAL = frozenset("news means headquarters series species always besides perhaps lens".split())

_ICS_PLURALS = frozenset("metrics topics critics clinics comics fabrics graphics mechanics picnics relics".split())

_SMALL_WORDS = frozenset(
    "of the and for in on at to a an de do da dos del di la le les et y du der von van & with".split()
)
"""Words that an acronym usually skips."""

_CLAUSE_OPENERS = frozenset(
    "what why how who whom whose when where which whether before after while if until unless because from let "
    "in on at for with without about during under things questions".split()
)
_CLAUSE_WORDS = frozenset(
    "i me my we us our you your he him his she her it its they them their is are was were be been being am do does did "
    "don't doesn't didn't can't won't isn't aren't has have had can could should would will shall may might must "
    "not".split()
)
"""A heading with one of these words says something."""

_SECTION_WORDS = frozenset(
    "abstract acknowledgements afterwards alternatives answer answers appendix audit background cause causes clothing "
    "conclusion conclusions consequences contact contacts contents context cost costs decision decisions delays "
    "description details discussion dissent example examples figures goals history hosts impact installation "
    "introduction limits links method methods motivation note notes objections options overview people practical "
    "preface prerequisites principle principles problem problems purpose questions references related releases "
    "reporting requirements resources responsibilities restore result results recommendations rules sizes solution "
    "status subscribers summary tables tests timeline training updates usage versions visitors warnings".split()
)
"""What writers put above sections of documents of every sort."""

_STOCK = frozenset(
    "see also|further reading|external links|getting started|next steps|odds and ends|looking ahead|going back|"
    "table of contents|release notes|known issues|options considered|frequently asked questions".split("|")
)

_NUMBERING = re.compile(
    r"(?i:appendix|chapter|part|section)(?: [A-Z\d]{1,4})?(?:[.:] | [-–—] )"
    r"|(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){1,5}\. (?=\D)"
)
"""Before the words of a heading: "Chapter 3. ", "27.2.5. "; "1. " may be of a name or a date."""
_REMARK = re.compile(r" \[[^\[\]]*\]$")
_CODE_GENERICS = re.compile(r"([\w.:]*\w)\s*<.*>")
_POSSESSIVE = re.compile(r"(?<=\w)['’´`](?:s\b|(?=\s|$))", re.IGNORECASE)
_LEADING_EDGE = re.compile(r"^[^\w.#@$/+-]+")
_TRAILING_EDGE = re.compile(r"(?<![^\w+#/])[^\w+#/]+$")
_LEADING_UNDERSCORE = re.compile(r"_\w*[^\W_]$|__\w+__$")
"""``_bucket`` and ``__init__`` are other names than "bucket" and "init"; a pair of single underscores is emphasis."""

_DASHES = re.compile(r"(?<=\w)[-‐‑‒–—]+(?=\w)")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")
_UNITED_STATES = re.compile(r"\s*(?:[Tt]he )?(?:U\.?S\.?(?:A\.?)?|United States of America)(?:['’]s)?\s*")
"""Its short form would be a pronoun once case is folded."""

_DROPPED = re.compile(r"[`*\"“”„«»,;!?()\[\]{}|\\]+")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "´": "'", "ʼ": "'"})
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")


TITLE_NAMES = 3
TITLE_CHARS = 60
"""A title that is longer with a third name has two."""

_CALL = re.compile(r"\(\s*\)$")
_PLAIN = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
"""A case-folded surface with nothing else to fold."""


@lru_cache(maxsize=1 << 16)
def normalise_name(surface: str) -> str:
    """Fold a surface to the form in which names are compared.

    Case, accents, markup, a leading determiner or possessive, a trailing possessive ``'s``, hyphens, commas,
    the dots of initials, call brackets and generic parameters of an identifier are folded away. Dots, ``::`` and
    underscores inside an identifier stay, and so do the dashes that open a command-line flag.

    Returns:
        Words joined by single spaces; empty where nothing of a name is left. Applying it twice changes nothing.
    """
    text = surface
    while True:
        folded = _fold(text)
        if folded == text:
            return folded
        text = folded


def _fold(surface: str) -> str:
    if _UNITED_STATES.fullmatch(surface):
        return "united states"
    text = surface.casefold()
    return _without_determiners(text.split(" ") if _PLAIN.fullmatch(text) else _folded_words(text))


def _folded_words(text: str) -> list[str]:
    """Return the words of a case-folded surface, free of accents, markup and possessives."""
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = (
            "".join(char for char in decomposed if not unicodedata.combining(char)).translate(_APOSTROPHES).casefold()
        )
    generics = _CODE_GENERICS.fullmatch(text.strip(" `*"))
    if generics:
        text = generics.group(1)
    text = _POSSESSIVE.sub("", text)
    text = _DROPPED.sub(" ", text).replace("&", " and ")
    words = []
    for word in _words(text):
        if _INITIALS.fullmatch(word):
            word = word.replace(".", "")
        word = _TRAILING_EDGE.sub("", _LEADING_EDGE.sub("", word))
        word = word if _LEADING_UNDERSCORE.match(word) else word.strip("_")
        if _LETTER.search(word) or _DIGITS.search(word):
            words.append(word)
    return words


def _without_determiners(words: list[str]) -> str:
    words = _join_initials(words)
    start = 0
    while start < len(words) - 1 and words[start] in DETERMINERS:
        start += 1
    if start and all(word in STOPWORDS for word in words[start:]):  # "The Who"
        start = 0
    return " ".join(words[start:])


def _words(text: str) -> list[str]:
    """The words of a name, taken apart at hyphens; "another-secret" is no secret, so a determiner stays on its word."""
    words = []
    for word in text.split():
        parts = _DASHES.sub(" ", word).split()
        words += [word] if len(parts) > 1 and parts[0] in DETERMINERS else parts
    return words if len(words) == 1 else [word if word.startswith("__") else word.strip("_") for word in words]


def _join_initials(words: list[str]) -> list[str]:
    """Join a run of single letters that opens a longer name: ``j r r tolkien`` is ``jrr tolkien``."""
    run = 0
    while run < len(words) and len(words[run]) == 1 and words[run].isalpha() and words[run] != "a":
        run += 1
    if 2 <= run < len(words):
        return ["".join(words[:run]), *words[run:]]
    return words


def is_nameable(name: str) -> bool:
    """Whether a normalised name can stand for an entity: two characters, a letter, and not only function words."""
    return len(name) > 1 and _LETTER.search(name) is not None and not all(word in STOPWORDS for word in name.split())


def reads_as_clause(heading: str) -> bool:
    """Whether a heading says something instead of naming something: "What we found", "How it works", "See also".

    Only what every writer puts above a section is meant; most headings of other sorts are names of their topic.
    """
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", heading.casefold().replace("’", "'"))
    if not words:
        return True
    if len(words) == 1:
        return words[0] in _SECTION_WORDS
    return words[0] in _CLAUSE_OPENERS or any(word in _CLAUSE_WORDS for word in words) or heading.casefold() in _STOCK


def digits_of(name: str) -> tuple[str, ...]:
    """The runs of digits of a name, in order; names that differ in them are different things."""
    return tuple(_DIGITS.findall(name))


def acronym_of(name: str) -> str:
    """The upper-case initials of a name's words, without articles, prepositions and conjunctions.

    ``Site Reliability Group`` gives ``SRG``, ``Journal of Mathematical Physics`` gives ``JMP``.
    """
    words = re.split(r"[\s\-–/]+", name.strip())
    return "".join(word[0] for word in words if word and word.casefold() not in _SMALL_WORDS).upper()


def is_acronym_of(short: str, long: str) -> bool:
    """Whether ``short`` abbreviates ``long``: its letters are found in order, each at or after a word's start.

    The first letter opens the first word, every word but small ones gives at least its initial, and further
    letters are taken from inside the words (``Prometheus Query Language``, ``PromQL``).
    """
    letters = [char for char in short.casefold() if char.isalnum()]
    if len(letters) > 2 and letters[-1] == "s" and short[-1] == "s":  # a plural: "SLOs"
        letters.pop()
    words = [word for word in re.split(r"[\s\-–/]+", long.casefold()) if word]
    if len(letters) < 2 or len(words) < 2 or len(letters) > 2 * len(words) + 2:
        return False
    return _abbreviates(letters, words, 0, 0)


def _abbreviates(letters: list[str], words: list[str], at: int, word: int) -> bool:
    """Match ``letters[at:]`` against ``words[word:]``."""
    if word == len(words):
        return at == len(letters)
    current = words[word]
    if current in _SMALL_WORDS and _abbreviates(letters, words, at, word + 1):
        return True
    if at == len(letters) or not current.startswith(letters[at]):
        return False
    taken, inside = at + 1, 1
    while True:
        if _abbreviates(letters, words, taken, word + 1):
            return True
        if taken == len(letters):
            return False
        found = current.find(letters[taken], inside)
        if found == -1:
            return False
        taken, inside = taken + 1, found + 1


def singular_of(name: str) -> str:
    """The name with its last word made singular by the regular English rules; unchanged where it is not a plural."""
    head, _, last = name.rpartition(" ")
    if (
        len(last) < 4
        or not last.endswith("s")
        or last.endswith(("ss", "us", "is", "ous"))
        or (last.endswith("ics") and last not in _ICS_PLURALS)
        or last in _SAME_PLURAL
    ):
        return name
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith(("ches", "shes", "xes", "sses", "zes")):
        last = last[:-2]
    else:
        last = last[:-1]
    return f"{head} {last}" if head else last


def shown_name(name: str) -> str:
    """A name as a title shows it: on one line, without a leading article, call brackets and angle brackets around."""
    shown = " ".join(name.split())
    if (bare := _CALL.sub("", shown)) and normalise_name(bare):
        shown = bare
    if shown.startswith("<") and shown.endswith(">") and normalise_name(shown[1:-1]):
        shown = shown[1:-1]
    first, _, rest = shown.partition(" ")
    if first.casefold() in ("the", "a", "an") and rest and normalise_name(rest) == normalise_name(shown):
        return rest
    return shown


def title_words(name: str) -> frozenset[str]:
    """The words of a name for comparing, those inside an identifier too."""
    return frozenset(
        singular_of(word) for whole in normalise_name(name).split() for word in re.split(r"::|[./]", whole) if word
    )


def says_nothing_beside(key: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether a name, by its words, is part of a name of a title or contains one, or has no words."""
    return not key or any(key <= other or other <= key for other in others)


def shown_heading(heading: str) -> str:
    """A heading as the title of a community shows it, without markup, numbering or a remark in brackets at its ends."""
    return _REMARK.sub("", unnumbered(shown_name(heading)).strip(" .*_"))


def unnumbered(heading: str) -> str:
    """Return a heading without the number of its section; one that is a number alone stays.

    >>> unnumbered("27.2. Standby servers"), unnumbered("Chapter 3. Indexes"), unnumbered("3 ways")
    ('Standby servers', 'Indexes', '3 ways')
    """
    number = _NUMBERING.match(heading)
    return (heading[number.end() :] if number else heading) or heading


def too_long(names: Sequence[str]) -> bool:
    """Whether some names are more than a title holds."""
    return len(", ".join(names)) > TITLE_CHARS
