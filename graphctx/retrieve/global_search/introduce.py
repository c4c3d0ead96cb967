"""The map step where everything is asked for: sentences that introduce the documents, not details of them.

There is no question to compare with, so a sentence is rated by what summarisation has learned of openings: it stands
early in its document (the lead, the strongest single sign in news and manuals), says what something is (a definition),
is near the middle of all that is said (a centroid; Radev and others, 2004), and its document introduces others: by its
name (an index, a readme, an overview), or by how many lead to it.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow.compute as pc

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows, Scores, top_rows
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.global_search.descend import Descent
from graphctx.retrieve.global_search.evidence import home_of_units
from graphctx.retrieve.global_search.points import MOST, Candidates, chosen_above, long_enough, stand_alone
from graphctx.retrieve.global_search.rate import unit_of
from graphctx.retrieve.index import SearchIndex
from graphctx.text.lexical import STOPWORDS, terms, words

DOCUMENTS = 200
"""Documents whose openings are looked at, those first that introduce the most."""

OPENING = 8
"""Sentences of an opening."""

EARLY = 4.0
"""The sentence so many places behind the first of its document counts half of that."""

PLACE, DEFINES, NEAR_ALL, DOCUMENT, COMMUNITY = 0.15, 0.15, 0.15, 0.4, 0.15
"""Weights of a sentence's place in its document, of whether it defines, of its cosine with the mean of all, of how
much its document introduces, and of the size of its community; 1 together."""

LINKED = 0.5
"""What links say of how much a document introduces, where most lead to it; its name may say 1."""

FORMLESS = 0.5
"""What a sentence that does not stand alone loses."""

HOME, INTRODUCES = 1.0, 0.8
"""What the names say: an index or a readme, halved for each folder that it lies deeper than the highest; an
introduction or an overview, in whatever folder."""

_HOME = r"(?i)(?:^|[/\\])(?:index|readme|home|main|welcome)\.[a-z]+$"
_INTRODUCES = r"(?i)(?:^|[/\\\d_. -])(?:intro|introduction|overview|about|preface|foreword|abstract)(?:\.[a-z]+)?$"
_LINK = re.compile(r"!?\[([^\]]{0,1000})\]\([^)\s]{0,1000}(?:\s[^)]{0,1000})?\)")
_DEFINITION = re.compile(
    r"\W*(?:(?:the|a|an)\s+)?((?:[\w'’./-]+\s+){0,4}?[\w'’./-]+)\W{0,3}\s*(?:\([^)]{1,40}\)\W?\s*)?"
    r"(?:is|are|was|means|describes|explains|introduces|provides|covers|contains|gives)\s+(?!not\b|also\b|only\b)",
    re.IGNORECASE,
)


def introductions(communities: Communities, descent: Descent) -> Candidates:
    """The openings of documents and the points of communities, rated by how well they introduce.

    Args:
        communities: that may be seen.
        descent: with the largest communities.
    """
    index = communities.view.index
    documents, introduces = _documents(communities)
    rows = _openings(index, documents[top_rows(introduces, DOCUMENTS)])
    for row in descent.chosen:
        checkpoint()
        rows = np.concatenate([rows, communities.points(row)])
    rows = np.unique(rows)
    rows = rows[long_enough(index, rows)]
    units = unit_of(index, rows)
    document = index.walk.unit_doc[units].astype(np.int64)
    of_document = introduces[np.searchsorted(documents, document)]
    place = 1.0 / (1.0 + (rows - _first_sentences(index, document)) / EARLY)
    community = chosen_above(communities, descent, home_of_units(communities, units))
    size = np.array([descent.ratings.get(row, 0.0) for row in community.tolist()])
    before = PLACE * place + NEAR_ALL * _near_all(index, rows) + DOCUMENT * of_document * place + COMMUNITY * size
    best = np.sort(top_rows(before.astype(np.float32), MOST))
    rows, units, community, before = rows[best], units[best], community[best], before[best]
    rating = before + DEFINES * _defines(index, rows, units)
    rating = rating * (1.0 - FORMLESS * (1.0 - stand_alone(index, rows, units)))
    return Candidates(rows, units, np.round(rating, 6).astype(np.float32), community)


def _documents(communities: Communities) -> tuple[Rows, Scores]:
    """The rows of the documents that may be seen, and how much each introduces, in 0..1."""
    view = communities.view
    index, links = view.index, view.tables.links
    seen: Rows = np.unique(index.walk.unit_doc[index.visible_rows]).astype(np.int64)
    inside = np.zeros(index.documents.num_rows, dtype=bool)
    inside[seen] = True
    kept = inside[links.source] & inside[links.target] & (links.source != links.target)
    linked = np.log1p(np.bincount(links.target[kept], minlength=len(inside))[seen])
    uris = index.documents["uri"].take(seen)
    depth = pc.count_substring_regex(uris, r"[/\\]").to_numpy().astype(np.int64)
    home = pc.match_substring_regex(uris, _HOME).to_numpy(zero_copy_only=False)
    highest = depth[home].min(initial=99)
    named = np.where(home, HOME * 0.5 ** np.maximum(depth - highest, 0), 0.0)
    for column in (uris, index.documents["title"].take(seen)):
        one = pc.match_substring_regex(pc.replace_substring_regex(column, r"\.\w+$", ""), _INTRODUCES)
        named = np.maximum(named, INTRODUCES * one.to_numpy(zero_copy_only=False))
    most = max(float(linked.max(initial=0.0)), 1e-9)
    introduces: Scores = np.round(1.0 - (1.0 - named) * (1.0 - LINKED * linked / most), 6).astype(np.float32)
    return seen, introduces


def _openings(index: SearchIndex, documents: Rows) -> Rows:
    """The first sentences of documents that are long enough to say something."""
    walk = index.walk
    first = walk.unit_sentence[np.searchsorted(walk.unit_doc, documents)]
    last = walk.unit_sentence[np.searchsorted(walk.unit_doc, documents, side="right")]
    rows = (first[:, None] + np.arange(OPENING)).astype(np.int64)
    found: Rows = rows[rows < last[:, None]]
    return found


def _first_sentences(index: SearchIndex, documents: Rows) -> Rows:
    walk = index.walk
    found: Rows = walk.unit_sentence[np.searchsorted(walk.unit_doc, documents)].astype(np.int64)
    return found


def _near_all(index: SearchIndex, rows: Rows) -> Scores:
    """The cosine of sentences with the mean of all that may be seen, in 0..1 of the largest."""
    cosine = np.maximum(index.sentence_similarity(index.typical[0], rows), 0.0)
    found: Scores = (cosine / max(float(cosine.max(initial=0.0)), 1e-9)).astype(np.float32)
    return found


def _defines(index: SearchIndex, rows: Rows, units: Rows) -> Scores:
    """Whether each says what something is: 1 of what its document or section is called, else half."""
    walk = index.walk
    found = np.zeros(len(rows), dtype=np.float32)
    for at, (row, unit) in enumerate(zip(rows.tolist(), units.tolist(), strict=True)):
        document = index.text_of(int(walk.unit_doc[unit]))
        text = _LINK.sub(r"\1", document.text[walk.sentence_start[row] : walk.sentence_end[row]])
        said = _DEFINITION.match(text)
        subject = {term for word in words(said[1]) if word not in STOPWORDS for term in terms(word)} if said else set()
        if subject:
            found[at] = 1.0 if subject & {*terms(document.title), *terms(index.unit(unit).heading)} else 0.5
    return found
