"""Global search over one scope: select communities, map them to candidate points, reduce these to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from graphctx.model.answers import EmptyReason, Point, Theme
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import GlobalSearchInput
from graphctx.model.results import GlobalResults
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import FITTED_FOR
from graphctx.retrieve.global_search.introductions import (
    asks_for_everything,
    introductions,
    largest_communities,
    theme_sentences,
)
from graphctx.retrieve.global_search.phrase import PhraserConfig, phrase
from graphctx.retrieve.global_search.points import CandidatePoints, candidate_points, direct_first, rate_community
from graphctx.retrieve.global_search.reduce import PointSelector, SelectedPoint
from graphctx.retrieve.global_search.selection import (
    CommunitySelection,
    community_scores,
    select_communities,
    themes_of_units,
)
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.text.lexical import STOPWORDS, terms, words

MIN_COSINE, MIN_KNOWN_IDF_SHARE = 0.22, 0.15
"""A question counts as answerable if a candidate has this cosine or the documents hold this share of its terms, by idf.
"""

MAX_UNKNOWN_SHARE, OVERRIDE_COSINE = 1 / 3, 0.4
"""It counts as off-topic if this share of its words is rare and in no document, unless a candidate has this cosine. A
word is rare if the tokenizer splits it into pieces (*photosynthesis*, *asdfgh*): paraphrases use common words."""

REPETITION, REPETITION_OF_EVERYTHING = 0.025, 0.5
"""What a point loses where others share its document, and its theme, as a share of the most worth. Where a question
asks for everything, each theme should contribute one or two points."""


THEME_NAMES = 4
THEME_DOCUMENTS = 2
"""Names and documents of a theme; graph.communities has more."""


@dataclass(frozen=True, slots=True)
class GlobalOutcome:
    """What a global search found.

    Attributes:
        selection: of communities.
        candidates: the candidate points.
        themes: the community of each candidate, -1 of none.
        points: those that were selected, best first.
    """

    selection: CommunitySelection
    candidates: CandidatePoints
    themes: Rows
    points: list[SelectedPoint]


class GlobalSearch:
    """Global search for one question."""

    def __init__(self, communities: CommunityIndex, question: Question, ranking: Ranking, tokens: TokenCounter) -> None:
        self._communities = communities
        self._index = communities.view.index
        self._question = question
        self._ranking = ranking
        self._tokens = tokens
        self._everything = asks_for_everything(question.text) and bool(communities.visible.any())

    def found(self, request: GlobalSearchInput, phraser: PhraserConfig | None = None) -> GlobalResults:
        """Return the answer to a request, with a language model's words for it if there is a phraser."""
        outcome = self.run(
            tests=request.options.relevance_tests,
            points_tokens=request.points_tokens,
            max_points=request.max_points,
            max_point_tokens=request.max_point_tokens,
        )
        reason: EmptyReason | None = None if outcome.points else "no_match"
        selected = outcome.points
        if selected and not self.is_answerable(outcome):
            selected, reason = [], "no_evidence"
        points = [self._point(outcome, one) for one in selected]
        themes = [int(outcome.themes[one.at]) for one in selected]
        phrased, note = phrase(phraser, request.question, points) if request.options.phrase else ((), "")
        ratings = outcome.selection.ratings
        return GlobalResults(
            items=points,
            rows=[int(outcome.candidates.units[one.at]) for one in selected],
            scope=request.scope,
            snapshot_id=self._index.snapshot.id,
            empty_reason=reason,
            themes=self._themes(themes, points),
            communities=int(self._communities.visible.sum()),
            rated=len(ratings),
            descended=len(outcome.selection.expanded),
            dropped=len(ratings.keys() - self._with_parents(themes)),
            phrased=phrased,
            note=note,
            stages={
                "units_searched": len(self._ranking.rows),
                "communities_chosen": len(outcome.selection.relevant),
                "sentences_rated": len(outcome.candidates),
                "asks_for_everything": self._everything,
            },
        )

    def run(self, *, tests: int, points_tokens: int, max_points: int, max_point_tokens: int) -> GlobalOutcome:
        """Select communities and points.

        Args:
            tests: the largest number of communities that are rated.
            points_tokens: of all points together.
            max_points: the largest number of points.
            max_point_tokens: the longest point.
        """
        communities, question, units = self._communities, self._question, direct_first(self._ranking)
        said: dict[int, list[int]] = {}
        if self._everything:
            selection = largest_communities(communities, tests)
            said = theme_sentences(communities, selection)
            candidates = introductions(communities, said)
        else:
            rate = partial(rate_community, communities, question)
            order = community_scores(communities, units)
            selection = select_communities(communities.roots(), communities.children, rate, order, tests)
            candidates = candidate_points(communities, question, selection, units)
        checkpoint()
        themes = selection.nearest(themes_of_units(communities, candidates.units), communities.hierarchy.parent)
        theme_groups = themes
        if self._everything:
            for row in reversed(selection.relevant):
                themes[np.isin(candidates.rows, said[row])] = row
            theme_groups = np.where(themes >= 0, themes, len(communities.hierarchy))  # what has none is a group too
        selector = PointSelector(self._index, question, self._tokens, max_point_tokens)
        points = selector.select(
            candidates,
            tokens=points_tokens,
            most=max_points,
            groups=[self._index.walk.unit_doc[candidates.units].astype(np.int64), theme_groups],
            repetition=REPETITION_OF_EVERYTHING if self._everything else REPETITION,
            grow=not self._everything,
        )
        return GlobalOutcome(selection, candidates, themes, points)

    def is_answerable(self, outcome: GlobalOutcome) -> bool:
        """Return whether anything bears on the question; always if it asks for everything.

        The limits are known for one embedder; with any other every question counts as answerable
        (docs/decisions/0033-global-search.md).
        """
        index, question = self._index, self._question
        if self._everything or index.embedder.name != FITTED_FOR:
            return True
        nearest = float(question.sentences.at(outcome.candidates.rows).max(initial=0.0))
        if nearest < OVERRIDE_COSINE and self._unknown_share() >= MAX_UNKNOWN_SHARE:
            return False
        idf = dict(zip(question.terms, question.idf, strict=True))
        known = sum(weight for term, weight in idf.items() if index.bm25.has_term(term))
        return nearest >= MIN_COSINE or known >= MIN_KNOWN_IDF_SHARE * sum(question.idf) > 0

    def _unknown_share(self) -> float:
        """Return the share of the question's content words that are rare and in no document."""
        named = [word for word in words(self._question.text) if word not in STOPWORDS]
        unknown = [word for word in named if not any(map(self._index.bm25.has_term, terms(word)))]
        return sum(count > 1 for count in self._tokens.count_many(unknown)) / max(len(named), 1)

    def _with_parents(self, rows: list[int]) -> set[int]:
        """Return some communities and all that are above them."""
        found: set[int] = set()
        for row in rows:
            while row >= 0 and row not in found:
                found.add(row)
                row = int(self._communities.hierarchy.parent[row])
        return found

    def _point(self, outcome: GlobalOutcome, selected: SelectedPoint) -> Point:
        candidates, at, cut = outcome.candidates, selected.at, selected.cut
        community = int(outcome.themes[at])
        unit = self._index.unit(int(candidates.units[at]))
        document = self._index.text_of(unit.doc_row)
        return Point(
            quote=document.text[cut.start_char : cut.end_char],
            rating=round(min(1.0, max(0.0, float(candidates.rating[at]))), 3),
            community_id=self._communities.hierarchy.id(community) if community >= 0 else "",
            title=document.title,
            heading=unit.heading,
            section_id=unit.id,
            truncated=cut.truncated,
            doc_uri=document.uri,
            start_char=cut.start_char,
            end_char=cut.end_char,
            line=document.line(cut.start_char),
            page=document.page(cut.start_char),
            anchor=unit.anchor,
        )

    def _theme(self, row: int, rating: float) -> Theme:
        """Return a theme, with its names and documents where the question asks for the themes."""
        communities, asked = self._communities, self._everything
        hierarchy = communities.hierarchy
        return Theme(
            id=hierarchy.id(row),
            title=communities.title(row),
            level=int(hierarchy.level[row]),
            rating=rating,
            n_children=len(communities.children(row)) if asked else 0,
            names=[name for _, name in communities.key_entities(row, THEME_NAMES)] if asked else [],
            documents=communities.document_titles(row)[:THEME_DOCUMENTS] if asked else [],
        )

    def _themes(self, rows: list[int], points: list[Point]) -> list[Theme]:
        """Return the communities of the points, rated by the best of these; ties by id."""
        best: dict[int, float] = {}
        for point, row in zip(points, rows, strict=True):
            if row >= 0:
                best[row] = max(best.get(row, 0.0), point.rating)
        themes = [self._theme(row, rating) for row, rating in best.items()]
        return sorted(themes, key=lambda theme: (-theme.rating, theme.id))
