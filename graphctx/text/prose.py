"""Which sentences stand alone: full sentences of prose, that say something without the one before."""

from __future__ import annotations

import re

MIN_WORDS, MAX_WORDS = 6, 60
MAX_CHARS = 420

_MARKER = re.compile(r"\s*(?:[-*+•>]\s+|\(?\d{1,3}[.)]\s+|#{1,6}\s+)*")
_END = re.compile(r"[.!…][\"'”’)\]*_`]*\s*$")
_HEADING = re.compile(r"\s*#{1,6}\s|.*\n\s*(?:=+|-+)\s*$", re.DOTALL)
_STRUCTURE = re.compile(r"```|~~~|^\s*\||\|\s*\||:---|</?\w+[^>]*>|^\s*:\w+:|^\s*\.\. |\{\{|\}\}|\t\S+\t", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]{0,1000})\]\([^)\s]{0,1000}(?:\s[^)]{0,1000})?\)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SYMBOL = re.compile(r"[^\w\s.,;:'\"’“”()–—-]")

_PRONOUNS = frozenset(
    "it its this that these those they them their he him his she her hers such both neither either here there one "
    "some others another each all most many so which who".split()
)
_CONNECTIVES = frozenset(
    "however but and or also then therefore thus hence otherwise instead moreover furthermore besides nevertheless "
    "nonetheless consequently similarly likewise finally first second third next lastly meanwhile additionally again "
    "nor yet still else alternatively conversely accordingly perhaps maybe well okay ok yes no sure note".split()
)
_CONNECTIVE_PHRASE = re.compile(
    r"(?:in other words|in addition|in contrast|in (?:this|that) (?:case|situation|way)|for (?:example|instance|this)|"
    r"as a result|as such|on the other hand|to (?:do|fix|solve|avoid|achieve) (?:this|that|it)|after (?:this|that)|"
    r"because of (?:this|that)|note that|at (?:this|that) point|with (?:this|that))\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:above|below|following|previous section|next section|see also|as follows|earlier|aforementioned|"
    r"former|latter|this (?:section|chapter|page|example|guide|document|tutorial)|(?:listing|figure|table) \d)\b",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"(?:its|they|them|their|theirs|he|him|his|she|hers?|these|those|"
    r"(?:this|that)(?! (?:section|chapter|page|document|guide|tutorial|book|article|manual|handbook|specification)\b)|"
    r"it(?! (?:is|was|may be|can be|will be|would be)(?: \w+){1,2} (?:to|that|for|if)\b))\b",
    re.IGNORECASE,
)
"""Opens a sentence that is about what the one before names: not "It is possible to …"."""

_ENDS_AT_COLON = re.compile(r"[:：][*_`\"')\]]*$")
_SEES = re.compile(
    r"[-*+(_\s]*(?:(?:for (?:more|further|additional)|to learn more)\b[^.,]*, |please )*(?:also )?"
    r"(?:see|refer to|read)\b",
    re.IGNORECASE,
)
_LATE_PRONOUN = re.compile(
    r"(?:[^\W\d_][\w'’-]*+\W++|\d++\W++){1,6}?(?:it|its|he|him|his|she|her|they|them|their)\b", re.IGNORECASE
)
_LABEL = re.compile(r"\W*(?:[\w'’.-]+ ){0,3}[\w'’.-]+(?:\*\*)?:(?:\*\*)?\s|\W*[^.!?\n]{1,40}[.:]\*\*")
_REFERENCE = re.compile(r"<[^<>\s]+>`|<!--|\[\^|:\w+:`|`_\b|\]\[|https?://\S{30,}|^\s*\d{1,2}:\d\d\b")
_LEADING_MARK = re.compile(r"\.\.\.|…|[\u2190-\u2bff\U0001f000-\U0001faff]")
"""Of a sentence that was begun before, and of the entries of a change log."""

MARK_SHARE = 0.4
_CAPITAL = re.compile(r"\s\W*[A-Z]")
_PERSONAL = re.compile(r"\b(?:I|I'm|I’m|I've|I’ve|you|your|we|we'll|let's|let’s|us|my|our)\b", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?![\w])")
MAX_NUMBER_SHARE = 0.15
MIN_NUMBERS = 5
"""This many numbers, in relation to words, are in a row of a table that has lost its lines, and hardly in prose."""

PRONOUN_SHARE, CONNECTIVE_SHARE, POINTING_SHARE, PERSONAL_SHARE, LOWER_SHARE = 0.45, 0.65, 0.6, 0.8, 0.3
"""What is left of the worth of a sentence that opens with a pronoun, with a connective or a bracket, points elsewhere,
speaks to the reader, or begins in the middle."""

LATE_PRONOUN_SHARE, LABEL_SHARE, REFERENCE_SHARE, EXCLAIMED_SHARE, OPEN_SHARE = 0.55, 0.6, 0.6, 0.6, 0.5
"""The same for one that has a pronoun before the first name could explain it, follows a label, is full of
addresses, is cried out, or has a bracket without its other half."""


def refers_back(text: str) -> bool:
    """Whether a sentence opens with a pronoun that stands for something in a sentence before: "They run on …"."""
    marked = _MARKER.match(text)
    return bool(_REFERS_BACK.match(text[marked.end() if marked else 0 :].lstrip("*_`\"'“‘([")))


def leads_on(text: str) -> bool:
    """Whether a sentence only says where something is: it ends at a colon, or is "See [the guide](guide.md)."."""
    return bool(_ENDS_AT_COLON.search(text) or (_SEES.match(text) and "](" in text))


def stands_alone(text: str, kind: str) -> float:
    """How well a sentence can be read without what is around it.

    Args:
        text: the sentence as the document has it, markup included.
        kind: of its unit: ``prose``, ``list``, ``code`` or ``table``.

    Returns:
        0 for what is not a sentence of prose (headings, code, table rows, questions, fragments, openers of lists),
        else up to 1.
    """
    if kind in ("code", "table") or len(text) > MAX_CHARS or _HEADING.match(text) or _STRUCTURE.search(text):
        return 0.0
    marked = _MARKER.match(text)
    bare = text[marked.end() if marked else 0 :]
    plain = _LINK.sub(r"\1", bare)
    if not _END.search(plain):
        return 0.0
    words = _WORD.findall(plain)
    letters = sum(map(len, words))
    if not MIN_WORDS <= len(words) <= MAX_WORDS or letters < 0.65 * len("".join(plain.split())):
        return 0.0
    if len(numbers := _NUMBER.findall(plain)) >= MIN_NUMBERS and len(numbers) > MAX_NUMBER_SHARE * len(words):
        return 0.0
    if len(_SYMBOL.findall(plain)) > 0.08 * len(plain):
        return 0.0
    share = 1.0
    opening = words[0].casefold()
    first = plain.lstrip("*_`\"'“‘([")[:1]
    if opening in _PRONOUNS:
        share *= PRONOUN_SHARE
    elif opening in _CONNECTIVES or _CONNECTIVE_PHRASE.match(plain.lstrip("*_`\"'“‘([")):
        share *= CONNECTIVE_SHARE
    if opening not in _PRONOUNS and (late := _LATE_PRONOUN.match(plain.lstrip("*_`\"'“‘(["))):
        # A capital between the first word and the pronoun is a name that it may stand for.
        share *= 1.0 if _CAPITAL.search(_DATE.sub("", late[0])) else LATE_PRONOUN_SHARE
    if bare.startswith("("):
        share *= CONNECTIVE_SHARE
    if _LEADING_MARK.match(bare):
        share *= MARK_SHARE
    if first.islower() and not bare.lstrip("*_").startswith("`"):
        share *= LOWER_SHARE
    if _POINTING.search(plain):
        share *= POINTING_SHARE
    if _PERSONAL.search(plain):
        share *= PERSONAL_SHARE
    if _LABEL.match(bare):
        share *= LABEL_SHARE
    if _REFERENCE.search(bare):
        share *= REFERENCE_SHARE
    if any(bare.count(left) != bare.count(right) for left, right in ("()", "[]", "“”")):
        share *= OPEN_SHARE
    if plain.rstrip("*_`\"'”’) \n").endswith("!"):
        share *= EXCLAIMED_SHARE
    return share
