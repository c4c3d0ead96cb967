"""The language of a document, by its script and by the function words that spaCy ships (MIT)."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path

LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "nb", "fi", "pl", "cs", "hu", "ro", "tr")
"""Languages in Latin script that are told apart."""

MAX_CHARS = 5_000
"""Characters of a document that are looked at, from its start."""

MIN_WORDS = 8
MIN_SHARE = 0.15
"""Function words, and their share among all words, from which on they tell the language; code and lists have fewer."""

MIN_FUNCTION_WORDS = 2
"""Function words that tell the language of a question."""

_WORD = re.compile(r"[^\W\d_]{2,}")
"""Initials and symbols of one letter are words of several languages."""


def language_of(text: str, *, min_words: int = MIN_WORDS) -> str:
    """Return the language of a text.

    Args:
        text: of a document or a question.
        min_words: function words from which on they tell the language.

    Returns:
        A code of `LANGUAGES`; the name of the script (``"cyrillic"``) where most letters are not Latin; empty where
        nothing tells.

    Example:
        >>> language_of("Die Öfen werden um vier Uhr angeheizt, und das Brot ist um sechs Uhr fertig.")
        'de'
    """
    words = _WORD.findall(text[:MAX_CHARS])
    scripts = Counter(_script(word[0]) for word in words)
    if not scripts:
        return ""
    script = min(scripts, key=lambda one: (-scripts[one], one))
    if script != "latin":
        return script
    counts: defaultdict[str, float] = defaultdict(float)
    found: Counter[str] = Counter()
    for word, count in Counter(word.casefold() for word in words).items():
        known = _languages_of().get(word, ())
        for language in known:
            counts[language] += math.log1p(count) / len(known)  # one word that is frequent tells little
            found[language] += count
    best = min(LANGUAGES, key=lambda one: (-round(counts[one], 6), LANGUAGES.index(one)))
    return best if found[best] >= max(min_words, MIN_SHARE * len(words)) else ""


def is_english(question: str) -> bool:
    """Return whether the function words of a question are English, or too few to tell."""
    return language_of(question, min_words=MIN_FUNCTION_WORDS) in ("", "en")


def _script(letter: str) -> str:
    name = unicodedata.name(letter, "").split(" ", 1)[0].lower()
    return "han" if name in ("cjk", "hiragana", "katakana") else name


@cache
def _languages_of() -> dict[str, tuple[str, ...]]:
    """Return for each function word the languages that have it; spaCy itself, which takes a second, is not imported."""
    found: dict[str, list[str]] = {}
    spec = find_spec("spacy")
    folder = Path(spec.origin if spec and spec.origin else "").parent / "lang"
    for language in LANGUAGES:
        # The file alone: its package compiles the tokenizer of the language, seconds for all of them.
        for word in run_path(str(folder / language / "stop_words.py"))["STOP_WORDS"]:
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}
