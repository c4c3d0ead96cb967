"""Introductions: candidate points for a question that names nothing, such as *What are the main themes?*

There is no question to compare with, and the sentences nearest to the centre of a corpus are details. So a sentence is
rated by what summarisation has found to introduce: it stands early in its document (the lead, the strongest single sign
in news and manuals), it is near the mean of all sentences (the centroid; Radev and others, 2004), and its document
introduces others by its name.
"""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from graphctx.retrieve.arrays import Rows, Scores, top_rows
from graphctx.retrieve.global_search.points import CandidatePoints, long_enough, units_of
from graphctx.retrieve.global_search.selection import CommunitySelection
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.index import SearchIndex
from graphctx.text.lexical import STOPWORDS, terms, words

DOCUMENTS = 200
"""Documents whose openings are candidates, those first that introduce others."""

OPENING = 8
"""Sentences of an opening."""

LEAD_HALF = 4.0
"""The sentence so many places behind the first of its document counts half of that."""

LEAD, CENTROID, DOCUMENT = 0.3, 0.2, 0.5
"""Weights of a sentence's place in its document, of its cosine with the mean, and of what its document introduces."""

_INDEX = r"(?i)(?:^|[/\\])(?:index|readme|home|main|welcome)\.[a-z]+$"
_OVERVIEW = r"(?i)(?:^|[/\\\d_. -])(?:intro|introduction|overview|about|preface|foreword|abstract)(?:\.[a-z]+)?$"

_GENERAL = frozenset(
    term
    for word in (
        "main major key central overall overarching recurring common dominant general principal important significant "
        "whole entire all every big picture theme topic subject issue idea point trend pattern summary summarise "
        "summarize overview sum give tell show list describe explain cover discuss treat contain talk say deal mention "
        "address find document documentation docs corpus collection knowledge base text note file archive handbook "
        "dataset data material source library content information throughout across most here stand please takeaway "
        "thing everything kind type briefly brief short together"
    ).split()
    for term in terms(word)
)
"""Words of a question that name nothing in particular."""


def asks_for_everything(question: str) -> bool:
    """Return whether a question has content words, and all of them are general: *What are the main themes?*"""
    named = [term for word in words(question) if word not in STOPWORDS for term in terms(word)]
    return bool(named) and all(term in _GENERAL for term in named)


def largest_communities(communities: CommunityIndex, most: int) -> CommunitySelection:
    """Return the largest root communities, rated by ``ln(1 + n) / ln(1 + largest)`` of their visible members."""
    roots = communities.roots()[:most]
    sizes = np.log1p(communities.n_entities[roots])
    ratings = np.round(sizes / max(float(sizes.max(initial=0.0)), 1e-9), 6)
    return CommunitySelection(dict(zip(roots.tolist(), ratings.tolist(), strict=True)), [], roots.tolist())


def introductions(communities: CommunityIndex, selection: CommunitySelection) -> CandidatePoints:
    """Return the openings of documents and the points of communities, rated by how well they introduce.

    Args:
        communities: of the scope.
        selection: of the largest communities.
    """
    index = communities.view.index
    documents = np.unique(index.walk.unit_doc[index.visible_rows]).astype(np.int64)
    introduces = _introduces(index, documents)
    openings = _openings(index, documents[top_rows(introduces, DOCUMENTS)])
    rows = long_enough(index, np.unique(np.concatenate([openings, *map(communities.points, selection.relevant)])))
    document = index.walk.unit_doc[units_of(index, rows)].astype(np.int64)
    lead = 1.0 / (1.0 + (rows - _first_sentences(index, document)) / LEAD_HALF)
    cosine = np.maximum(index.sentence_similarity(index.typical[0], rows), 0.0)
    centroid = cosine / max(float(cosine.max(initial=0.0)), 1e-9)
    introduced = introduces[np.searchsorted(documents, document)]
    rating = LEAD * lead + CENTROID * centroid + DOCUMENT * introduced * lead
    rating = np.round(rating, 6).astype(np.float32)
    return CandidatePoints.best(index, rows, rating, rating)


def _introduces(index: SearchIndex, documents: Rows) -> Scores:
    """Return how much the name of each document says that it introduces others, in 0..1.

    An index or a readme has 1, halved for each folder that it lies deeper than the highest; an introduction or an
    overview has 0.8 in whatever folder.
    """
    uris, titles = (index.documents[name].take(documents) for name in ("uri", "title"))
    depth = pc.count_substring_regex(uris, r"[/\\]").to_numpy().astype(np.int64)
    is_index = pc.match_substring_regex(uris, _INDEX).to_numpy(zero_copy_only=False)
    found = np.where(is_index, 0.5 ** np.maximum(depth - depth[is_index].min(initial=99), 0), 0.0)
    for names in (uris, titles):
        stems = pc.replace_substring_regex(names, r"\.\w+$", "")
        found = np.maximum(found, 0.8 * pc.match_substring_regex(stems, _OVERVIEW).to_numpy(zero_copy_only=False))
    return found.astype(np.float32)


def _openings(index: SearchIndex, documents: Rows) -> Rows:
    walk = index.walk
    first = _first_sentences(index, documents)
    end = walk.unit_sentence[np.searchsorted(walk.unit_doc, documents, side="right")]
    rows: Rows = first[:, None] + np.arange(OPENING)
    return rows[rows < end[:, None]]


def _first_sentences(index: SearchIndex, documents: Rows) -> Rows:
    first: Rows = index.walk.unit_sentence[np.searchsorted(index.walk.unit_doc, documents)].astype(np.int64)
    return first
