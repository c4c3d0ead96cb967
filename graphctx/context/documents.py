"""Documents as a source of contexts: concepts, and the sentences of the best units, section by section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from graphctx.context.candidates import ContextCandidates, find_candidates
from graphctx.context.render import GAP, concept_line, heading, sections_text
from graphctx.model.context import ContextExample, ContextInput, ContextSection, HierarchyLevel
from graphctx.model.context_source import RetrievedPart
from graphctx.model.interrupt import checkpoint
from graphctx.model.packing import TokenBudget
from graphctx.retrieve.arrays import Mask, Scores
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import unknown_words
from graphctx.retrieve.global_search.introductions import asks_for_everything
from graphctx.retrieve.global_search.points import rate_sentences, units_of
from graphctx.retrieve.global_search.selection import themes_of_units
from graphctx.retrieve.runs import MIN_CHARS
from graphctx.retrieve.scope import Empty
from graphctx.retrieve.searcher import Searcher
from graphctx.retrieve.sentences import CODE

MAX_CONCEPTS = 3
CONCEPT_SHARE = 0.03
"""Of the retrieved part; concepts say what the rest is about, and seldom what is asked for."""

THEMED_UNITS = 20
"""The best units, whose themes are the concepts of a question."""

EXAMPLE_SHARE, MAX_EXAMPLES = 0.1, 2

EXACT = 2.0
"""What a sentence is worth more for each phrase of the question in quotation marks or code marks that it holds."""

SIMPLE_TERMS, COMPLEX_TERMS = 4, 10
SIMPLE_TOKENS, MODERATE_TOKENS = 6_000, 12_000
"""A question of few terms is answered by few passages: what else resembles it distracts. A long one, one of several
parts and one about the whole may fill the budget."""

_PHRASE = re.compile(r"\"([^\"\n]{2,200})\"|`([^`\n]{2,200})`|“([^”\n]{2,200})”")
_PARTS = re.compile(
    r"\?.*\?|[,;]\s*and\s+(?:how|what|which|who|when|where|why)\b|\b(?:compar\w+|differ\w*|versus|vs)\b", re.I | re.S
)
_TASKS = {
    "date": "The question asks for a date or a time.",
    "number": "The question asks for a number.",
    "person": "The question asks for a person or an organization.",
    "place": "The question asks for a place.",
    "code": "The question asks for code, a command or a setting.",
}


class DocumentSource:
    """Finds sections in the documents of a pinned snapshot.

    Args:
        searcher: the pinned snapshot.
        tokens: counts tokens.
    """

    def __init__(self, searcher: Searcher, tokens: TokenCounter) -> None:
        self._searcher = searcher
        self._tokens = tokens

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return concepts and spans of documents within a budget, the best place first; a `ContextSource`."""
        flat = request.strategy == "flat"
        budget = budget if flat else min(budget, adaptive_size(request.query))
        found = find_candidates(
            self._searcher, request.query, request.scope, request.filters, self._tokens, budget, distinct=not flat
        )
        if isinstance(found, Empty):
            return RetrievedPart(question=request.query, empty_reason=found.reason)
        checkpoint()
        unknown = unknown_words(found.index, found.question)
        if not found.answered and not asks_for_everything(request.query):
            return RetrievedPart(
                unknown_words=unknown, nearest=found.nearest, question=request.query, empty_reason="no_evidence"
            )
        if flat:
            chunks = self._chunks(found, budget)
            return RetrievedPart(chunks, confidence=found.confidence, unknown_words=unknown, question=request.query)
        value = found.value + EXACT * exact_matches(found, request.query)
        themes = TokenBudget(round(budget * CONCEPT_SHARE))
        concepts = themes.fill(concepts_of(found), lambda one: self._tokens.count(concept_line(one)))
        left = budget - self._tokens.count("\n".join(map(concept_line, concepts)))
        examples: list[ContextExample] = []
        chosen = self._chosen(found, value, left)
        if found.question.kind == "code":
            examples = self._examples(found, value, chosen, round(budget * EXAMPLE_SHARE))
        sections = [*concepts, *_by_place(found, value, chosen)]
        return RetrievedPart(
            sections,
            examples,
            _TASKS.get(found.question.kind, ""),
            found.confidence,
            unknown,
            question=request.query,
            tokens=self._tokens.count(sections_text(sections)),
        )

    def _chosen(self, found: ContextCandidates, value: Scores, left: int) -> Mask:
        """Return which sentences are taken: the best that fit, without any that was said before."""
        pool, runs = found.pool, found.runs
        before, atom_first = runs.at.before, np.array(runs.at.first, dtype=np.int64)
        after = [*before[1:], before[-1] + runs.at.tokens[-1]] if before else []
        best = np.full(len(pool), -np.inf)
        np.maximum.at(best, atom_first, value)
        taken, said = np.zeros(len(pool), dtype=bool), np.zeros(len(pool), dtype=bool)
        places: set[int] = set()
        gap, budget = self._tokens.count(GAP), TokenBudget(left)
        firsts = np.unique(atom_first)
        for first in firsts[np.argsort(-best[firsts], kind="stable")].tolist():
            last, unit = runs.at.last[first], runs.at.unit[first]
            place = int(found.section[unit])
            # With the text up to the next sentence; the one before pays for what is between.
            cost = after[last] - before[first] + gap
            if place not in places:
                cost += self._tokens.count(heading(_label(found, unit)))
            long = [at for at in range(first, last + 1) if len(pool.texts[at]) >= MIN_CHARS]
            if (long and said[runs.same[long]].all()) or not budget.take(cost):
                continue
            taken[first : last + 1] = True
            said[runs.same[first : last + 1]] = True
            places.add(place)
            if budget.free <= gap:
                break
        return taken

    def _chunks(self, found: ContextCandidates, left: int) -> list[ContextSection]:
        """Return whole units in order of score."""
        order = {row: at for at, row in enumerate(found.ranking.rows.tolist())}
        units = sorted(range(len(found.rows)), key=lambda at: order.get(int(found.rows[at]), len(order) + at))
        bounds = ((int(found.sentences[0][unit]), int(found.sentences[1][unit])) for unit in units)
        chunks = (span_section(found, begin, end - 1) for begin, end in bounds if begin < end)
        return TokenBudget(left).fill(chunks, self._weight)

    def _examples(self, found: ContextCandidates, value: Scores, taken: Mask, budget: int) -> list[ContextExample]:
        """Return the best blocks of code that are not among the sections."""
        pool = found.pool
        free = np.flatnonzero((pool.kind == CODE) & ~taken & (pool.tokens <= budget))
        best = (span_section(found, at, at) for at in free[np.argsort(-value[free], kind="stable")].tolist())
        fitting = TokenBudget(budget).fill(islice(best, 2 * MAX_EXAMPLES), self._weight)[:MAX_EXAMPLES]
        return [ContextExample(label=one.label, content=one.content, metadata=one.metadata) for one in fitting]

    def _weight(self, section: ContextSection) -> int:
        return self._tokens.count(f"{heading(section.label)}\n{section.content}")


def adaptive_size(query: str) -> int:
    """Return the most tokens that are retrieved for a question, by its complexity."""
    from graphctx.text.lexical import terms

    n_terms = len(set(terms(query)))
    if n_terms >= COMPLEX_TERMS or asks_for_everything(query) or _PARTS.search(query):
        return 10**9
    return SIMPLE_TOKENS if n_terms <= SIMPLE_TERMS else MODERATE_TOKENS


def exact_matches(found: ContextCandidates, query: str) -> Scores:
    """Return how many of the phrases that a question quotes each sentence holds, to the letter but for case."""
    phrases = [next(filter(None, match)).casefold() for match in _PHRASE.findall(query)]
    texts = found.pool.texts
    if not phrases:
        return np.zeros(len(texts), dtype=np.float32)
    return np.array([sum(phrase in text.casefold() for phrase in phrases) for text in texts], dtype=np.float32)


def concepts_of(found: ContextCandidates, most: int = MAX_CONCEPTS) -> list[ContextSection]:
    """Return the communities that the best units treat of, each with the sentence of it that fits the question best."""
    best = np.argsort(-found.score, kind="stable")[:THEMED_UNITS]
    themes = themes_of_units(found.communities, found.rows[best])
    weight: dict[int, float] = {}
    relevance: dict[int, float] = {}
    for unit, theme in zip(best.tolist(), themes.tolist(), strict=True):
        if theme >= 0:
            weight[theme] = weight.get(theme, 0.0) + float(found.score[unit])
            relevance[theme] = max(relevance.get(theme, 0.0), found.relevance[unit])
    concepts = []
    for theme in sorted(weight, key=lambda row: (-round(weight[row], 5), row))[:most]:
        checkpoint()
        points = found.communities.points(theme)
        if not len(points):
            continue
        rating = rate_sentences(found.index, found.question, points)
        point = int(points[int(np.argmax(rating))])
        row = int(units_of(found.index, np.array([point]))[0])
        walk, hierarchy = found.index.walk, found.communities.hierarchy
        metadata, text = _place(found, row, int(walk.sentence_start[point]), int(walk.sentence_end[point]))
        metadata["community_id"] = hierarchy.id(theme)
        concepts.append(
            ContextSection(
                label=" ".join(found.communities.title(theme).split()),
                relevance_score=relevance[theme],
                content=text,
                metadata=metadata,
                hierarchy_level=1,
                origin="themes",
            )
        )
    return concepts


def _by_place(found: ContextCandidates, value: Scores, taken: Mask) -> list[ContextSection]:
    """Return the spans of the sentences that are taken: the section with the best sentence first, in its order."""
    groups: dict[int, list[tuple[int, int]]] = {}
    best: dict[int, float] = {}
    for first, last in _runs(found, taken):
        place = int(found.section[found.pool.unit[first]])
        groups.setdefault(place, []).append((first, last))
        best[place] = max(best.get(place, -np.inf), float(value[first : last + 1].max()))
    order = sorted(groups, key=lambda place: (-best[place], place))
    return [span_section(found, first, last) for place in order for first, last in groups[place]]


def _runs(found: ContextCandidates, taken: Mask) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of sentences that stand next to each other in one section."""
    start = last = -1
    for at in np.flatnonzero(taken).tolist():
        if start >= 0 and not _follows(found, last, at):
            yield start, last
            start = -1
        start, last = (at if start < 0 else start), at
    if start >= 0:
        yield start, last


def _follows(found: ContextCandidates, one: int, other: int) -> bool:
    pool = found.pool
    unit, following = int(pool.unit[one]), int(pool.unit[other])
    same_section = found.section[unit] == found.section[following]
    return bool(other == one + 1 and pool.rows[other] == pool.rows[one] + 1 and same_section)


def span_section(
    found: ContextCandidates,
    first: int,
    last: int,
    *,
    level: HierarchyLevel | None = None,
    relevance: float | None = None,
) -> ContextSection:
    """Return the span of some sentences of one section.

    Args:
        found: the candidates.
        first, last: positions in the pool.
        level: by default 2 where the span goes beyond one unit, else 3.
        relevance: by default that of the most relevant of its units.
    """
    pool = found.pool
    units = range(int(pool.unit[first]), int(pool.unit[last]) + 1)
    row = int(found.rows[units[0]])
    metadata, text = _place(found, row, int(pool.start[first]), int(pool.end[last]))
    return ContextSection(
        label=_label(found, units[0]),
        relevance_score=max(found.relevance[unit] for unit in units) if relevance is None else relevance,
        content=text,
        metadata=metadata,
        hierarchy_level=level or (2 if len(units) > 1 else 3),
    )


def place_section(found: ContextCandidates, unit: int, start: int, end: int) -> ContextSection:
    """Return a span of a document that holds a unit and those beside it, as a chunk as relevant as the unit."""
    metadata, text = _place(found, int(found.rows[unit]), start, end)
    return ContextSection(
        label=_label(found, unit),
        relevance_score=found.relevance[unit],
        content=text,
        metadata=metadata,
        hierarchy_level=3,
    )


def _place(found: ContextCandidates, row: int, start: int, end: int) -> tuple[dict[str, Any], str]:
    unit = found.index.unit(row)
    document = found.index.text_of(unit.doc_row)
    place = {
        "doc_uri": document.uri,
        "title": document.title,
        "heading": unit.heading,
        "section_id": unit.id,
        "start_char": start,
        "end_char": end,
        "line": document.line(start),
        "page": document.page(start),
    }
    return {name: value for name, value in place.items() if value is not None}, document.text[start:end]


def _label(found: ContextCandidates, unit: int) -> str:
    """Return the title of the unit's document, and its heading where that says more, on one line."""
    place = found.index.unit(int(found.rows[unit]))
    title, under = found.index.text_of(place.doc_row).title, place.heading
    label = f"{title} › {under}" if under and under != title else title
    return " ".join(label.split())
