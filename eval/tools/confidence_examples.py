"""The examples that confidence is fitted on: quotes, each with its features and whether it is gold.

Every quote that the questions of the development sets get is one example: its features, and whether it is gold: it
stands in a gold document and, where gold spans of that are known, touches one. Questions are asked in up to four ways:

full    as they are; some sets have questions without an answer of their own
hidden  with the gold passages out of scope (of the handbook: the gold documents)
cut     in a copy of the corpus that has lost the sentences which answer them (eval/tools/cut_corpora.py)
off     questions of other sets

In all but the first nothing answers them, and no quote is gold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from graphctx.eval.corpora import open_for
from graphctx.eval.golden import bind
from graphctx.eval.records import Golden
from graphctx.eval.suites import Suite
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import RetrieveInput
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.arrays import Mask
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.ranking import top_units
from graphctx.retrieve.searcher import Searcher
from graphctx.retrieve.selection import Selected, select_sentences
from graphctx.retrieve.sentences import SentencePool
from graphctx.retrieve.variants import DEFAULT
from graphctx.settings import RetrieveSettings

T = TypeVar("T")

MOST = 300
"""Questions that are asked of a set as they are, evenly chosen; all of those with unanswerable ones."""


@dataclass(frozen=True, slots=True)
class Example:
    """One quote: of which question, asked how, whether that has an answer, whether the quote is gold, its features."""

    question: str
    way: str
    answerable: bool
    gold: bool
    features: tuple[float, ...]


class Asker:
    """Asks one knowledge base at the defaults of ``retrieve_evidence``."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.index, self._boundary = kb.searcher().index, kb.searcher().boundary
        self._tokens = WordPieceCounter()

    def ask(self, one: Golden, way: str, answerable: bool, gold: Mask, hidden: Mask | None) -> Iterator[Example]:
        """Yield an example for each quote; ``hidden`` are units whose documents are left out."""
        asked, index = RetrieveInput(question=one.question), self.index
        if hidden is not None:
            documents = np.ones(index.documents.num_rows, dtype=bool)
            documents[index.walk.unit_doc[hidden]] = False
            index = index.part(documents)
        searcher = Searcher(index, self._boundary, self._tokens, RetrieveSettings())
        ranked = searcher.rank(one.question)
        if not isinstance(ranked, tuple):
            return
        question, ranking = ranked
        positions = top_units(index, ranking, asked.top_k, min(RetrieveSettings().max_per_document, asked.top_k))
        pool, selected = select_sentences(
            index,
            question,
            ranking,
            positions,
            max_quotes=asked.max_quotes,
            max_quote_tokens=asked.max_quote_tokens,
            weights=DEFAULT.selection,
            tokens=self._tokens,
        )
        if not selected:
            return
        rows = ranking.rows[positions]
        sure = Confidence.of(index, question, ranking, positions, pool)
        for run in selected:
            unit = int(rows[pool.unit[run.first]])
            is_gold = answerable and self._touches(one, gold, unit, pool, run)
            yield Example(one.id, way, answerable, is_gold, tuple(sure.run(run.first, run.last).tolist()))

    def _touches(self, one: Golden, gold: Mask, unit: int, pool: SentencePool, run: Selected) -> bool:
        """Whether a quote stands in a gold passage and touches a gold span, where spans of the document are known."""
        document, start, end = pool.documents[run.first], int(pool.start[run.first]), int(pool.end[run.last])
        spans = [span for span in one.gold_spans if span.doc_uri == document.uri]
        touches = any(start < span.end_char and end > span.start_char for span in spans)
        return bool(gold[unit]) and (touches or not spans)

    def gold(self, one: Golden, whole_documents: bool = False) -> Mask:
        """The units that are gold."""
        walk, units = self.index.walk, self.index.units
        start, end = units["start_char"].to_numpy(), units["end_char"].to_numpy()
        gold = np.zeros(walk.n_units, dtype=bool)
        for uri in one.gold_docs:
            here = walk.unit_doc == self.index.document(uri).row
            spans = [span for span in one.gold_spans if span.doc_uri == uri]
            if spans and here.sum() > 1 and not whole_documents:
                here &= np.any([(start < span.end_char) & (end > span.start_char) for span in spans], axis=0)
            gold |= here
        return gold


def gather(name: str, suite: Suite, foreign: Sequence[Golden], work: Path) -> Iterator[Example]:
    """Ask a set in every way but ``cut``."""
    with open_for(suite, kb=None, default_kb=work, work=work) as kb:
        golden = bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix)
        asker = Asker(kb)
        mixed = any(not one.answerable for one in golden)
        for one in golden if mixed else evenly(golden, MOST):
            gold = asker.gold(one)
            yield from asker.ask(one, "full", one.answerable, gold, None)
            hidden = asker.gold(one, whole_documents=name == "handbook")
            if hidden.any() and not hidden.all():
                yield from asker.ask(one, "hidden", False, gold, hidden)
        for one in foreign:
            yield from asker.ask(one, "off", False, np.zeros(asker.index.walk.n_units, dtype=bool), None)


def gather_cut(suite: Suite, work: Path) -> Iterator[Example]:
    """Ask the questions whose answers were cut out of a corpus."""
    with open_for(suite, kb=None, default_kb=work, work=work) as kb:
        asker = Asker(kb)
        for one in bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix):
            yield from asker.ask(one, "cut", False, np.zeros(asker.index.walk.n_units, dtype=bool), None)


def evenly(items: Sequence[T], most: int) -> list[T]:
    """At most so many, at even distances."""
    step = max(1.0, len(items) / most)
    return [items[int(at * step)] for at in range(min(most, len(items)))]
