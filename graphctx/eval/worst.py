"""The questions that went worst, and at which stage the gold of each was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from graphctx.eval.ask import Asker
from graphctx.eval.records import Golden, GoldSpan, Outcome, SuiteRun

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.answers import Quote
    from graphctx.retrieve.trace import Stage

WORST = 20
"""Questions that are shown of each suite."""

QUOTED_FROM = 5
"""Evidence is quoted from the best this many units by default, and from some of each document only."""

COUNTED = ("R@5", "R@10", "nDCG@10", "answer", "span")
"""Measures that say how well a question went."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A piece of gold of one question, and what became of it.

    Attributes:
        doc_uri: the document.
        text: the gold span; empty where a whole document is gold.
        start_char, end_char: of the span, 0 for a whole document.
        ranks: stage to the best rank of a unit that holds it, from 1; ``None`` where the stage has none.
        quote: the number of the first quote that touches it, from 1; ``None`` where none does.
        missed: whether no quote touches it; where no quotes were asked for, whether its rank is too low to be quoted.
        why: in words.
    """

    doc_uri: str
    text: str
    start_char: int
    end_char: int
    ranks: dict[str, int | None]
    quote: int | None
    missed: bool
    why: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A question that went badly: its outcome, how well it went in 0..1, and its gold."""

    outcome: Outcome
    score: float
    gold: tuple[Gold, ...]

    @property
    def quotes_asked(self) -> bool:
        """Whether quotes were asked for, and not a ranking alone."""
        return _quotes_asked(self.outcome)


def score_of(outcome: Outcome) -> float:
    """Return how well a question went: the mean of those of `COUNTED` that apply to it, in 0..1.

    For a question that the documents do not answer: one minus the confidence of the best quote, or 1 without a quote.
    """
    if not outcome.golden.answerable:
        return 1 - max((quote.confidence for quote in outcome.quotes), default=0.0)
    values = [outcome.measures[name] for name in COUNTED if name in outcome.measures]
    return fmean(values) if values else 1.0


def worst(run: SuiteRun, kb: KnowledgeBase, variant: str, n: int = WORST) -> list[Miss]:
    """Return the questions of a variant that went worst, with the ranks of their gold at every stage.

    Args:
        run: a suite with this variant.
        kb: that was asked.
        variant: of the run.
        n: at most this many; questions that went perfectly are none of them.

    Returns:
        The worst first; ties by id.
    """
    order = sorted(run.outcomes[variant], key=lambda one: (round(score_of(one), 6), one.golden.id))
    asker = Asker(kb, variant)
    # Without reranking by meaning, one passage of each document is quoted from.
    limit = min(kb.settings.retrieve.max_per_document, QUOTED_FROM) if asker.variant.selection.semantic else 1
    return [Miss(one, round(score_of(one), 4), _gold_of(asker, one, limit)) for one in order[:n] if score_of(one) < 1]


def _gold_of(asker: Asker, outcome: Outcome, max_per_document: int) -> tuple[Gold, ...]:
    from graphctx.retrieve.ranking import quoted_units, top_units
    from graphctx.retrieve.trace import stages, units_of

    golden = outcome.golden
    wanted = _wanted(golden)
    if not wanted:
        return ()
    ranked = asker.rank(golden.question)
    if not isinstance(ranked, tuple):
        return ()
    index, ranking = asker.searcher.index, ranked[1]
    found = stages(ranking)
    front = top_units(index, ranking, QUOTED_FROM, max_per_document, distinct=True)
    quotable = frozenset(ranking.rows[quoted_units(index, ranking, QUOTED_FROM, max_per_document)].tolist())
    beyond = int(front[-1]) + 1 if len(front) else 0  # the last rank that is quoted from, but for neighbours
    gold = []
    for uri, span in wanted:
        bounds = (span.start_char, span.end_char) if span else (None, None)
        units = units_of(index, uri, *bounds)
        ranks = {name: stage.rank_of(units) for name, stage in found.items()}
        quote = _first_quote(outcome.quotes, uri, span)
        text = index.document(uri).text[span.start_char : span.end_char] if span else ""
        names = {index.unit(int(row)).id for row in units}
        from_unit = sum(one.section_id in names for one in outcome.quotes)
        asked = _quotes_asked(outcome)
        near = not quotable.isdisjoint(units.tolist())
        capped = not near and ranks["final"] is not None and ranks["final"] <= beyond
        missed = quote is None if asked else not near
        why = _why(ranks, quote, from_unit, found, asked=asked, near=near, capped=max_per_document if capped else 0)
        start, end = (span.start_char, span.end_char) if span else (0, 0)
        gold.append(Gold(uri, text, start, end, ranks, quote, missed, why))
    return tuple(gold)


def _quotes_asked(outcome: Outcome) -> bool:
    return "retrieve_evidence" in outcome.milliseconds


def _wanted(golden: Golden) -> list[tuple[str, GoldSpan | None]]:
    """Return gold spans, and gold documents without one."""
    with_span = {span.doc_uri for span in golden.gold_spans}
    spans: list[tuple[str, GoldSpan | None]] = [(span.doc_uri, span) for span in golden.gold_spans]
    return spans + [(uri, None) for uri in golden.gold_docs if uri not in with_span]


def _first_quote(quotes: Sequence[Quote], uri: str, span: GoldSpan | None) -> int | None:
    for number, quote in enumerate(quotes, start=1):
        touches = span is None or (quote.start_char < span.end_char and quote.end_char > span.start_char)
        if quote.doc_uri == uri and touches:
            return number
    return None


def _why(
    ranks: dict[str, int | None],
    quote: int | None,
    from_unit: int,
    found: dict[str, Stage],
    *,
    asked: bool,
    near: bool,
    capped: int,
) -> str:
    """Return where a piece of gold was lost, or found, in words.

    ``near``: its passage is among those that are quoted from. ``capped``: passages of a document that are quoted from,
    if that limit is why it is not; else 0.
    """
    if quote is not None:
        return f"Quoted, as number {quote}."
    final = ranks["final"]
    if from_unit:
        return f"Its passage is number {final} in the end and was quoted from, but other sentences were preferred."
    searches = [f"{name} {ranks[name]}" for name in ("bm25", "vector") if ranks[name] is not None]
    if final is None and not searches:
        limit = max(len(found["bm25"].rows), len(found["vector"].rows))
        return f"Neither search has its passage among the best {limit}, and no edge of the expansion leads to it."
    by = f"Its passage is found ({', '.join(searches)})" if searches else "Only the expansion leads to its passage"
    if final is None:
        return f"{by}, but it is not among those that were ranked."
    place = f"{by}; it is number {ranks['hybrid']} by hybrid score and {final} in the end"
    if near:
        return f"{place}, but no sentence of it was picked." if asked else f"{place}. No quotes were asked for."
    if capped:
        return f"{place}, behind others of its document. Quotes come from {capped} passages of a document at most."
    lifted = ", and no edge leads to it" if len(found["graph"].rows) and ranks["graph"] is None else ""
    return f"{place}{lifted}. Quotes come from the best {QUOTED_FROM}."
