"""Global search over one snapshot: the steps in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.answers import EmptyReason
from graphctx.model.found import GlobalFound
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import GlobalSearchInput
from graphctx.model.themes import Point, Theme
from graphctx.retrieve.cite import Tokens
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.confidence import FITTED_FOR, Confidence, likely_answered
from graphctx.retrieve.global_search.descend import Descent, descend
from graphctx.retrieve.global_search.evidence import evidence_of, themes_of_units
from graphctx.retrieve.global_search.introduce import introductions
from graphctx.retrieve.global_search.phrase import Phrasing, phrase
from graphctx.retrieve.global_search.points import Candidates, candidates_of, chosen_above
from graphctx.retrieve.global_search.rate import Rater, Size
from graphctx.retrieve.global_search.reduce import AGAIN, AGAIN_IN_ALL, Chosen, Reducer
from graphctx.retrieve.global_search.route import asks_for_everything
from graphctx.retrieve.question import Question
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.sentences import sentence_pool
from graphctx.text.lexical import STOPWORDS, terms, words

RELEVANCE_TESTS = 64
"""Communities that are rated at most where nobody says; as `graphctx.model.requests.GlobalOptions` has it."""

LOOKED_AT = 10
"""Units of the plain search whose sentences tell how sure that is."""

NEAR, KNOWN = 0.22, 0.15
"""A sentence of this cosine, or so much of the question's words by idf, is a sign that something bears on it."""

STRANGE, CLOSE = 1 / 3, 0.4
"""So many of the question's words in no document, and rare in the language too, say that it is about other things,
unless a sentence has this cosine. Rare is a word that the tokenizer has only in pieces (*photosynthesis*, *asdfgh*): a
paraphrase is made of common ones."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found: candidates, which of them are told, and the descent that led to them."""

    candidates: Candidates
    chosen: list[Chosen]
    descent: Descent


class GlobalSearch:
    """Global search within one scope.

    Args:
        communities: that may be seen.
        question: made ready.
        ranking: units in the order of a plain search.
        tokens: counts them.
    """

    def __init__(self, communities: Communities, question: Question, ranking: Ranking, tokens: Tokens) -> None:
        self._communities = communities
        self.index = communities.view.index
        self.question = question
        self.ranking = ranking
        self.tokens = tokens
        self.everything = asks_for_everything(question.text) and bool(communities.seen.any())

    def run(self, *, tests: int, points_tokens: int, max_points: int, max_point_tokens: int) -> Outcome:
        """Descend, map and reduce.

        Args:
            tests: communities that are rated at most.
            points_tokens: of all points together.
            max_points: most points.
            max_point_tokens: longest point.
        """
        communities, units = self._communities, self.ranking.rows
        evidence = evidence_of(communities, units)
        checkpoint()
        if self.everything:
            descent = descend(communities, evidence * 0.0, Size(communities), tests, deeper=False)
            candidates = introductions(communities, descent)
        else:
            descent = descend(communities, evidence, Rater(communities, self.question), tests)
            candidates = candidates_of(communities, self.question, descent, units)
        checkpoint()
        reducer = Reducer(self.index, self.question, self.tokens, max_point_tokens)
        again = AGAIN_IN_ALL if self.everything else AGAIN
        chosen = reducer.choose(candidates, tokens=points_tokens, most=max_points, again=again)
        return Outcome(candidates, chosen, descent)

    def found(self, request: GlobalSearchInput, phrasing: Phrasing | None = None) -> GlobalFound:
        """Everything that a request asks for, and a language model's words for it where one is given."""
        outcome = self.run(
            tests=request.options.relevance_tests,
            points_tokens=request.points_tokens,
            max_points=request.max_points,
            max_point_tokens=request.max_point_tokens,
        )
        theme_rows = self._theme_rows(outcome)
        points = [self._point(outcome, one, row) for one, row in zip(outcome.chosen, theme_rows, strict=True)]
        reason: EmptyReason | None = None if points else "no_match"
        if points and not self.bears(outcome):
            points, reason = [], "no_evidence"
        phrased, note = phrase(phrasing, request.question, points) if request.options.phrase else ((), "")
        descent, seen = outcome.descent, self._communities.seen
        told = {int(outcome.candidates.community[one.at]) for one in outcome.chosen} if points else set()
        return GlobalFound(
            items=points,
            snapshot_id=self.index.snapshot.id,
            empty_reason=reason,
            themes=self._themes(theme_rows, points),
            communities=int(seen.sum()),
            rated=len(descent.ratings),
            descended=len(descent.descended),
            dropped=sum(row not in told for row in descent.ratings),
            phrased=phrased,
            note=note,
            stages={
                "units_searched": len(self.ranking.rows),
                "communities_chosen": len(descent.chosen),
                "sentences_rated": len(outcome.candidates),
                "asks_for_everything": self.everything,
            },
        )

    def bears(self, outcome: Outcome) -> bool:
        """Whether anything bears on the question; taken for granted where everything is asked for.

        Nothing does where many of its words are strange to the documents, or where all signs are missing: no sentence
        is near the question, the documents know hardly any of its words, and a plain search is not sure of its best
        passages either. That alone would be too strict: a question about the whole uses other words than any sentence
        (docs/decisions/0022-global-search.md).
        """
        index, question, ranking = self.index, self.question, self.ranking
        rows = outcome.candidates.rows
        if self.everything or index.embedder.name != FITTED_FOR:
            return True
        nearest = float(index.sentence_similarity(question.vector, rows).max(initial=0.0))
        if nearest < CLOSE and self._strange() >= STRANGE:
            return False
        if nearest >= NEAR:
            return True
        weights = [index.bm25.idf(term) for term in question.terms]
        known = sum(weight for weight, term in zip(weights, question.terms, strict=True) if index.bm25.knows(term))
        if known >= KNOWN * sum(weights) > 0:
            return True
        units = ranking.rows[:LOOKED_AT]
        pool = sentence_pool(index, question, units)
        if not len(pool):
            return False
        confidence = Confidence.of(index, question, ranking, np.arange(len(units)), pool)
        return likely_answered(index, (confidence.of_run(at, at) for at in range(len(pool))))

    def _strange(self) -> float:
        """The share of the question's words that no document has, and that are rare words besides."""
        named = [word for word in words(self.question.text) if word not in STOPWORDS]
        unknown = [word for word in named if not any(map(self.index.bm25.knows, terms(word)))]
        pieces = self.tokens.count_many(unknown)
        return sum(count > 1 for count in pieces) / max(len(named), 1)

    def _theme_rows(self, outcome: Outcome) -> list[int]:
        """The community that is told as the theme of each point, -1 of none: chosen where one is, else the finest."""
        units = outcome.candidates.units[[one.at for one in outcome.chosen]]
        rows = themes_of_units(self._communities, units)
        if self.everything:
            parent = self._communities.hierarchy.parent
            while len(above := np.flatnonzero((rows >= 0) & (parent[rows] >= 0))):
                rows[above] = parent[rows[above]]
        found: list[int] = chosen_above(self._communities, outcome.descent, rows).tolist()
        return found

    def _point(self, outcome: Outcome, chosen: Chosen, community: int) -> Point:
        candidates, at, cut = outcome.candidates, chosen.at, chosen.cut
        unit = self.index.unit(int(candidates.units[at]))
        document = self.index.text_of(unit.doc_row)
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

    def _themes(self, rows: list[int], points: list[Point]) -> list[Theme]:
        """The communities of the points, rated by the best of these; ties by id."""
        best: dict[int, float] = {}
        for point, row in zip(points, rows, strict=False):  # no points where nothing bears on the question
            if row >= 0:
                best[row] = max(best.get(row, 0.0), point.rating)
        hierarchy = self._communities.hierarchy
        themes = [
            Theme(
                id=hierarchy.id(row), title=self._communities.title(row), level=int(hierarchy.level[row]), rating=rating
            )
            for row, rating in best.items()
        ]
        return sorted(themes, key=lambda theme: (-theme.rating, theme.id))
