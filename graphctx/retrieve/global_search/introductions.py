"""Introductions: candidate points for a question that names nothing, such as *What are the main themes?*

There is no question to compare with, and the sentences nearest to the centre of a corpus are details. So candidates are
what each of the largest communities is about, and the openings of the documents that introduce others. A sentence is
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
from graphctx.text.names import shown_heading
from graphctx.text.prose import stands_alone

DOCUMENTS = 200
"""Documents whose openings are candidates, those first that introduce others."""

OPENING = 8
"""Sentences of an opening."""

LEAD_HALF = 4.0
"""The sentence this many places behind the first of its document counts half of that."""

LEAD, CENTROID, DOCUMENT = 0.3, 0.2, 0.5
"""Weights of a sentence's place in its document, of its cosine with the mean, and of what its document introduces."""

MIN_ALONE = 0.2
"""What is left of the rating of a sentence of a summary that does not stand alone."""

SMALL = 7
"""A root community of fewer names is left out of the themes where there is a larger one."""

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
    large = roots[communities.n_entities[roots] >= SMALL]
    roots = large if len(large) else roots
    sizes = np.log1p(communities.n_entities[roots])
    ratings = np.round(sizes / max(float(sizes.max(initial=0.0)), 1e-9), 6)
    return CommunitySelection(dict(zip(roots.tolist(), ratings.tolist(), strict=True)), [], roots.tolist())


def theme_sentences(communities: CommunityIndex, selection: CommunitySelection) -> dict[int, list[int]]:
    """Return for each relevant community the sentences that say what it is about, best first.

    They open the section or the document that gives the community its title; elsewhere they are its summary.
    """
    index = communities.view.index
    heading = [shown_heading(path.rpartition(" › ")[2]) for path in index.units["heading"].to_pylist()]
    titles = [shown_heading(title) for title in index.documents["title"].to_pylist()]
    by_title = {communities.title(row): row for row in selection.relevant}
    titled: dict[int, int] = {}
    for unit in index.visible_rows.tolist():
        row = by_title.get(heading[unit] or titles[index.walk.unit_doc[unit]])
        if row is not None:
            titled.setdefault(row, unit)
    found = {row: list(_standing_alone(index, _opening(index, unit))) for row, unit in titled.items()}
    return {row: found.get(row) or communities.summary(row).tolist() for row in selection.relevant}


def introductions(communities: CommunityIndex, themes: dict[int, list[int]]) -> CandidatePoints:
    """Return the openings of documents that introduce others, and what themes are about, rated.

    Args:
        communities: of the scope.
        themes: sentences by community, best first.
    """
    index = communities.view.index
    documents = np.unique(index.walk.unit_doc[index.visible_rows]).astype(np.int64)
    introduces = _introduces(index, documents)
    best = documents[top_rows(introduces, DOCUMENTS, among=introduces > 0)]
    openings = [row for document in best.tolist() for row in _opening(index, _first_unit(index, document))]
    place = {row: at for rows in themes.values() for at, row in enumerate(rows)}
    alone = _standing_alone(index, [*openings, *place])
    rows = long_enough(index, np.array(sorted({*alone, *place}), dtype=np.int64))
    document = index.walk.unit_doc[units_of(index, rows)].astype(np.int64)
    from_start = rows - index.walk.unit_sentence[np.searchsorted(index.walk.unit_doc, document)].astype(np.int64)
    lead = 1.0 / (1.0 + from_start / LEAD_HALF)
    in_theme = np.array([1.0 / (1.0 + place[row] / LEAD_HALF) if row in place else 0.0 for row in rows.tolist()])
    cosine = np.maximum(index.sentence_similarity(index.typical[0], rows), 0.0)
    centroid = cosine / max(float(cosine.max(initial=0.0)), 1e-9)
    introduced = introduces[np.searchsorted(documents, document)]
    rating = LEAD * np.maximum(lead, in_theme) + CENTROID * centroid + DOCUMENT * introduced * lead
    rating *= np.array([alone.get(row, MIN_ALONE) for row in rows.tolist()])
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


def _first_unit(index: SearchIndex, document: int) -> int:
    return int(np.searchsorted(index.walk.unit_doc, document))


def _opening(index: SearchIndex, unit: int) -> list[int]:
    start, end = index.walk.unit_sentence[unit : unit + 2].tolist()
    return list(range(start, min(end, start + OPENING)))


def _standing_alone(index: SearchIndex, rows: list[int]) -> dict[int, float]:
    """Return how well each sentence can be read without what is around it, of those that can."""
    kinds, found = index.units["kind"], {}
    for row, unit in zip(rows, units_of(index, np.array(rows, dtype=np.int64)).tolist(), strict=True):
        text = index.text_of(int(index.walk.unit_doc[unit])).text
        sentence = text[index.walk.sentence_start[row] : index.walk.sentence_end[row]]
        if alone := stands_alone(sentence, kinds[unit].as_py()):
            found[row] = alone
    return found
