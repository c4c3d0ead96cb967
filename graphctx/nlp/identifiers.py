"""Identifiers by their shape: CamelCase, snake_case, dotted and scoped paths, calls, flags, codes, capitals."""

from __future__ import annotations

import re
from collections.abc import Iterator

MIN_IDENTIFIER_CHARS = 3
MAX_IDENTIFIER_CHARS = 200
"""A longer word is data: a key, a hash, an encoded value. The longest names of people and programs are shorter."""

_JOINED = re.compile(
    r"""(?x) (?<![\w.@/:\\-]) (?:
      \w++ (?: :: \w++ )+ !? (?: \(\) )?                          # std::fs::File
    | [A-Za-z_]\w*+ (?: \. [A-Za-z_]\w++ )+ (?: \(\) )?           # values.yaml, os.path.join()
    | (?= [A-Za-z_]*? [A-Za-z0-9] _ \w ) \w++ !? (?: \(\) )?       # snake_case
    | __ [a-z]+ (?: _ [a-z]+ )* __                                # __init__
    | [A-Za-z_]\w++ (?: !(?=[\s,.;:)(\[{]) | \(\) )                # println!, drop()
    | -- [a-z][a-z0-9]* (?: - [a-z0-9]+ )*                        # --release
    | [A-Z]{2,10} - \d{1,6} (?: - \d{1,6} )*                      # INC-2041, CVE-2024-1234
    ) (?! [\w@/] )
    """
)
_CAMEL = re.compile(r"(?:[A-Z]+[a-z0-9]+|[a-z]+)[A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z]{2}[A-Za-z0-9]*")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9&]{1,9}s?")
_DEFINED = re.compile(
    r"\b(?:def|fn|func|function|class|struct|enum|trait|impl|interface|type|module|mod|macro_rules!|namespace|"
    r"package|kind:|job_name:|TABLE|VIEW|create table|create view)[ \t]+[\"']?([A-Za-z_][\w-]{2,})"
)
_SCOPED = re.compile(
    r"[A-Za-z_]\w*+(?:(?:::|\.)[A-Za-z_]\w++)+|[A-Za-z]\w*_\w+|[A-Za-z]\w*"
    r"|_(?:(?![A-Za-z])\w)*+"  # what begins no identifier is passed over at once: a file of underscores stays linear
)
_HEXADECIMAL = re.compile(r"[0-9a-f]{8,}|0x[0-9a-f]+", re.IGNORECASE)
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
MIN_ENCODED_CHARS = 12
MIN_PIECE_CHARS = 2.5
"""Characters between changes of case or to digits, on average: two in encoded data, at least three in words."""

_LITERAL = re.compile(r"[\"'<\[{(].*|.*[\"']|true|false|null|nil|none|undefined|True|False|None|[Ff]oo|[Bb]ar|[Bb]az")
_ABBREVIATIONS = frozenset("e.g i.e a.m p.m ph.d u.s u.k u.n d.c b.c a.d etc".split())


def joined_identifiers(text: str) -> list[tuple[int, int]]:
    """Spans of identifiers that a tokenizer of prose would take apart, in order."""
    return [match.span() for match in _JOINED.finditer(text) if _is_name(match.group())]


def is_identifier(word: str) -> bool:
    """Whether a word of prose has the shape of an identifier: joined as above, or CamelCase."""
    return (_JOINED.fullmatch(word) is not None or is_camel(word)) and _is_name(word)


def is_camel(word: str) -> bool:
    """Whether a word has a capital inside: ``FastAPI``, ``PostgreSQL``, ``readLine``."""
    stem = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
    return (
        MIN_IDENTIFIER_CHARS <= len(stem) <= MAX_IDENTIFIER_CHARS
        and not stem.isupper()
        and _CAMEL.fullmatch(stem) is not None
    )


def is_capitals(word: str) -> bool:
    """Whether a word is written in capitals, as acronyms are, a plural ``s`` allowed: ``HTTP``, ``EC2``, ``SLOs``."""
    return _CAPITALS.fullmatch(word) is not None and sum(char.isalpha() for char in word) >= 2


def is_code_name(code: str) -> bool:
    """Whether a piece of code can name something: not a string, number, constant, placeholder, hash or encoded data."""
    name = code.strip()
    return (
        sum(char.isalpha() for char in name) >= 2
        and _LITERAL.fullmatch(name) is None
        and _HEXADECIMAL.fullmatch(name) is None
        and not any(is_encoded(word) for word in name.split())
    )


def is_encoded(word: str) -> bool:
    """Whether a word looks like encoded data, such as base64: long, and without runs of letters as words have them."""
    if len(word) < MIN_ENCODED_CHARS or not any(char.isdigit() or char.isupper() for char in word):
        return False
    pieces = _PIECE.findall(word)
    return sum(map(len, pieces)) < MIN_PIECE_CHARS * len(pieces)


def code_identifiers(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the distinct identifiers of a code block, each at its first place.

    Plain words of code are mostly keywords and variables, so only what is defined by a keyword before it and what
    has the shape of an identifier is taken.
    """
    found: dict[str, tuple[int, int]] = {}
    for match in _DEFINED.finditer(text):
        found.setdefault(match.group(1), match.span(1))
    for match in _SCOPED.finditer(text):
        word = match.group()
        shaped = "_" in word.strip("_") or "::" in word or "." in word or is_camel(word)
        if shaped and _is_name(word) and word[1:2] not in (".", ":"):  # "n.value" is a field of a loop variable
            found.setdefault(word, match.span())
    yield from sorted(found.values())


def _is_name(word: str) -> bool:
    letters = sum(char.isalpha() for char in word)
    return (
        MIN_IDENTIFIER_CHARS <= len(word) <= MAX_IDENTIFIER_CHARS
        and letters >= 2
        and sum(char.isdigit() for char in word) <= letters
        and word.casefold().rstrip(".") not in _ABBREVIATIONS
        and _HEXADECIMAL.fullmatch(word) is None
        and not is_encoded(word)
    )
