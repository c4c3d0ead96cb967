"""Words for lexical matching: folded, stemmed, without stopwords; identifiers count whole and in parts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import Stemmer

LEXICAL_VERSION = 1

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[^\W_]+")
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?:(?:\.|::|-|_++)[^\W_]++)+")
_CAMEL = re.compile(r"\b[a-zA-Z]+[a-z][A-Z]\w*|\b[A-Z]{2,}[a-z]\w*")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_AROUND = " \t\r\n`'\"“”‘’?!.,;:()[]{}<>-_"
"""What may stand around an identifier."""

STOPWORDS = frozenset(
    "a about above after again against all also am an and any are aren't as at be because been before being below "
    "between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few "
    "for from further had hadn't has hasn't have haven't having he her here hers herself him himself his how i if in "
    "into is isn't it it's its itself let's me more most my myself no nor not of off on once only or other our ours "
    "ourselves out over own same she should shouldn't so some such than that that's the their theirs them themselves "
    "then there there's these they this those through to too under until up very was wasn't we were weren't what "
    "what's when where which while who whom whose why will with won't would wouldn't you your yours yourself "
    "yourselves s t".split()
)
"""English function words and question words."""


def words(text: str) -> list[str]:
    """The words of a text, case-folded and without accents, in order, stopwords included."""
    if text.isascii():
        return _WORD.findall(text.lower())
    return [fold(match) for match in _WORD.findall(text)]


def fold(text: str) -> str:
    """Case-fold and strip accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    # Once more, since a decomposition may hold capitals: that of a script letter is the plain one.
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("’", "'").casefold()


def terms(text: str) -> list[str]:
    """The index terms of a text: stems of its words, and identifiers both whole and in parts.

    ``getUserName`` gives ``getusername`` (as a word) and ``get``, ``user``, ``name``; ``kb.search`` gives its two
    words and ``kb.search``. Stopwords are left out.
    """
    found = [stem(word) for word in words(text) if word not in STOPWORDS]
    found.extend(match.lower() for match in _COMPOUND.findall(text))
    for camel in _CAMEL.findall(text):
        parts = (part.lower() for part in _PART.findall(camel))
        found.extend(stem(part) for part in parts if len(part) > 1 and part not in STOPWORDS)
    return found


def single_term(text: str) -> str | None:
    """Return the index term of a text that is one word or identifier, as a whole; ``None`` for any other text.

    >>> single_term("`--web.enable-lifecycle`")
    'web.enable-lifecycle'
    """
    bare = text.strip(_AROUND)
    if _COMPOUND.fullmatch(bare):
        return bare.lower()
    found = words(bare)
    return stem(found[0]) if len(found) == 1 and found[0] not in STOPWORDS else None


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The English Snowball stem of a folded word; a possessive ending goes first."""
    return str(_stemmer().stemWord(word.removesuffix("'s")))


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def words_missing(words: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the words that stand in none of some texts, in capital or small letters.

    >>> words_missing(["Skarn", "Zorblin"], ["The watch officer of Skarn"])
    ['Zorblin']
    """
    folded = [text.casefold() for text in texts]
    return [word for word in words if not any(word.casefold() in text for text in folded)]
