"""Correction of misspelt words of a question, over the words of the documents themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from graphctx.nlp.commonness import common_words
from graphctx.nlp.language import is_english
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.index import SearchIndex
from graphctx.text.lexical import STOPWORDS, fold, stem
from graphctx.text.names import singular_of

MIN_LETTERS = 4
"""Shorter words resemble too many others."""

LONG_LETTERS = 8
"""Words of this many letters may differ by two edits, shorter ones by one."""

MAX_SUFFIX = 6
"""Letters behind a stem that may hold the error: the stem of ``configuraton`` is no stem of the documents."""

COMMON_WORDS = 20_000
"""English words that a misspelling may stand for."""

_KEPT_UNITS = 20
"""Units that are read for the forms of a stem."""

_WORD = re.compile(r"[^\W\d_]+")

ReadAs = tuple[tuple[str, str], ...]
"""Words as they were typed, and what they were read as."""


def corrected(text: str, index: SearchIndex) -> tuple[str, ReadAs]:
    """Replace words that no document holds by the one word of the documents that is spelled almost the same.

    A word of `LONG_LETTERS` letters may differ by two letters that are missing, superfluous, wrong or swapped with the
    next, a shorter one by one; its first letter counts as right. A word that a document holds stays, as does a common
    English word, one with a digit beside it, and one that several words of the documents resemble equally. A question
    in another language than English stays as it is.

    Args:
        text: the question.
        index: the visible part of the snapshot; words of other documents do not count.

    Returns:
        The question with its words replaced, and the replacements.

    >>> corrected("Who aproves a relase?", index)  # doctest: +SKIP
    ('Who approves a release?', (('aproves', 'approves'), ('relase', 'release')))
    """
    pieces: list[str] = []
    replaced: dict[str, str] = {}
    at = 0
    for match in _WORD.finditer(text):
        typed = match.group()
        around = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
        read = None if any(map(str.isdigit, around)) else _reading(fold(typed), index)
        if read is not None:
            replaced[typed] = _cased(read, typed)
            pieces += [text[at : match.start()], replaced[typed]]
            at = match.end()
    if not replaced or not is_english(text):
        return text, ()
    return "".join([*pieces, text[at:]]), tuple(replaced.items())


def is_misspelt(word: str, index: SearchIndex) -> bool:
    """Return whether a folded word that no document holds is likely another, of the documents or of common English."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    limit = 2 if len(word) >= LONG_LETTERS else 1
    words = common_words(COMMON_WORDS)
    similar = process.extract_iter(singular_of(word), words, scorer=OSA.distance, score_cutoff=limit)
    return any(other[:1] == word[:1] for other, _, _ in similar) or bool(_similar_forms(word, index))


def _reading(word: str, index: SearchIndex) -> str | None:
    """The word of the documents that a misspelt word stands for; ``None`` if it is not misspelt or none is clear."""
    if len(word) < MIN_LETTERS or word in STOPWORDS or index.bm25.has_term(stem(word)) or _is_common(word):
        return None
    forms = _similar_forms(word, index)
    if not forms:
        return None
    least = min(forms.values())
    nearest = sorted(form for form, cost in forms.items() if cost == least)
    return nearest[0] if len({stem(form) for form in nearest}) == 1 else None


def _similar_forms(word: str, index: SearchIndex) -> dict[str, tuple[int, int]]:
    """The words of the documents that are spelled almost like a word, with their distances."""
    from rapidfuzz.distance import OSA, Indel

    limit = 2 if len(word) >= LONG_LETTERS else 1
    forms: dict[str, tuple[int, int]] = {}
    for candidate in _similar_stems(word, limit, index):
        for form in _forms(candidate, index):
            distance = OSA.distance(word, form, score_cutoff=limit)
            if distance <= limit:
                swapped = sorted(word) == sorted(form)  # a letter too many or too few is likelier than a wrong one
                forms[form] = distance, distance if swapped else Indel.distance(word, form)
    return forms


def _similar_stems(word: str, limit: int, index: SearchIndex) -> Iterator[str]:
    """Visible terms that are spelled like the stem of a word, or that it begins with."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    own = stem(word)
    similar = process.extract_iter(own, list(index.bm25.vocabulary), scorer=OSA.distance, score_cutoff=limit)
    begins = (word[:end] for end in range(max(MIN_LETTERS, len(word) - MAX_SUFFIX), len(word)))
    for term in dict.fromkeys([*(term for term, _, _ in similar), *begins]):
        if term[:1] == word[:1] and len(term) >= MIN_LETTERS - 1 and term.isalpha() and index.bm25.has_term(term):
            yield term


def _forms(term: str, index: SearchIndex) -> set[str]:
    """The words of a term's first visible units that have it as their stem."""
    rows, _ = index.bm25.scores([term])
    found: set[str] = set()
    for row in rows[:_KEPT_UNITS].tolist():
        unit = index.unit(row)
        document = index.text_of(unit.doc_row)
        text = f"{document.title}\n{unit.heading}\n{document.text[unit.start_char : unit.end_char]}"
        found |= {word for word in map(fold, _WORD.findall(text)) if stem(word) == term}
    return found


def _cased(read: str, typed: str) -> str:
    """A word in the case of another: all capitals, a capital first, or as it is."""
    if len(typed) > 1 and typed.isupper():
        return read.upper()
    return read.capitalize() if typed[:1].isupper() else read


def _is_common(word: str) -> bool:
    """Whether a word has an entry of its own in the vocabulary of the built-in model, some 20,000 English words."""
    return _counter().count(word) == 1 and word.isascii()


@lru_cache(maxsize=1)
def _counter() -> WordPieceCounter:
    return WordPieceCounter()
