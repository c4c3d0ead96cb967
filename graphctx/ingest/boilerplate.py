"""Boilerplate: the line that a site or a template puts at the beginning or the end of many pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from graphctx.ingest.corpus import Corpus
from graphctx.nlp.markup import sentence_kinds

PAGES = frozenset(
    {"text/html", "text/markdown", "text/mdx", "text/asciidoc", "text/x-rst", "text/plain", "application/pdf"}
)
"""Media types that may have boilerplate; a line that many rows, slides or messages repeat is data."""

EDGE = 3
"""Sentences at the beginning and at the end of a document that are looked at."""

_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}(?::\d{2})?"
    r"|(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? (?:\d{1,2}, )?\d{4}"
)
"""Lines that differ in nothing else are the same: "This page was last changed on 2024-03-01"."""

MIN_CHARS = 12
MIN_TITLES = 6
MIN_SHARE = 0.05
"""A line is boilerplate in this many documents of different titles, and this share of all."""


def boilerplate(corpus: Corpus) -> frozenset[tuple[str, int]]:
    """Return the sentences that are boilerplate, each as the id of its unit and its place in there.

    A whole sentence says something, be it repeated; a line with a colon says something of its own document
    (``Status: accepted``), or leads in to something. A page without a whole sentence has no boilerplate.
    """
    titles: defaultdict[str, set[str]] = defaultdict(set)
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for row, document in enumerate(corpus.documents):
        if document.media_type not in PAGES:
            continue
        for unit_id, place, text in _edges(corpus, row):
            titles[text].add(document.title)
            places[text].append((unit_id, place))
    least = max(MIN_TITLES, MIN_SHARE * len(corpus.documents))
    return frozenset(place for text, found in places.items() if len(titles[text]) >= least for place in found)


def _edges(corpus: Corpus, row: int) -> Iterator[tuple[str, int, str]]:
    document, units = corpus.documents[row], corpus.units_of(row)
    if not any(_is_whole(document.text[one.start_char : one.end_char]) for unit in units for one in unit.sentences):
        return
    units = units if len(units) <= 2 * EDGE else (*units[:EDGE], *units[-EDGE:])  # each has a sentence
    sentences = [
        (unit.id, at, one, kind)
        for unit in units
        for at, (one, kind) in enumerate(zip(unit.sentences, sentence_kinds(document, unit), strict=True))
    ]
    for unit_id, at, one, kind in [*sentences[:EDGE], *sentences[max(EDGE, len(sentences) - EDGE) :]]:
        line = _DATE.sub("", " ".join(document.text[one.start_char : one.end_char].split()))
        if kind != "code" and len(line) >= MIN_CHARS and ":" not in line and not _is_whole(line):
            yield unit_id, at, line


def _is_whole(sentence: str) -> bool:
    return sentence.rstrip().endswith((".", "!", "?", "…", "。"))
