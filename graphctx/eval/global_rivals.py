"""What global search is measured against: three simple ways to fill the same budget with text of the documents.

- ``hybrid``: a plain search. The sentences of the units that the bare hybrid ranks first, unit by unit.
- ``summaries``: the summaries of the communities of the root level, in the order of the table, whatever is asked.
- ``evidence``: the quotes of ``kb.retrieve_evidence`` in the mode ``hybrid_local``, the most that it gives.

All are cut to whole sentences or quotes, and one that does not fit gives way to the next that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphctx.eval.asker import Asker
from graphctx.eval.global_measures import CountTokens, Piece
from graphctx.eval.measures import MAX_QUOTES
from graphctx.model.requests import RetrieveInput, RetrieveOptions

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase

QUOTED_FROM = 20
"""Passages that ``evidence`` quotes from: as many as quotes, so that each may be from another."""

Rival = Callable[[str], Iterable[Piece]]
"""From a question to the texts that are given for it, best first, without end if need be."""


class Rivals:
    """The baselines over one knowledge base.

    Args:
        kb: with a published snapshot.
        count: tokens of a text.
    """

    def __init__(self, kb: KnowledgeBase, count: CountTokens) -> None:
        self._count = count
        self._searching = Asker(kb, "hybrid")
        self._quoting = Asker(kb)
        self._index = self._searching.searcher.index

    @property
    def by_name(self) -> dict[str, Rival]:
        """Name to baseline, in the order in which they are shown."""
        return {"hybrid": self.hybrid, "summaries": self.summaries, "evidence": self.evidence}

    def hybrid(self, question: str) -> Iterator[Piece]:
        """The sentences of the units that a plain search ranks first, in the order of each unit."""
        found = self._searching.rank(question)
        if isinstance(found, tuple):
            for unit in found[1].rows.tolist():
                for row in self._index.sentence_rows([unit])[0].tolist():
                    yield self._sentence(row)

    def summaries(self, question: str) -> Iterator[Piece]:
        """The sentences of the root communities' summaries; each once, and the same for every question."""
        return map(self._sentence, self._root_summaries)

    def evidence(self, question: str) -> Iterator[Piece]:
        """The quotes for a question."""
        request = RetrieveInput(
            question=question,
            max_quotes=MAX_QUOTES,
            top_k=QUOTED_FROM,
            include_context_tokens=0,
            options=RetrieveOptions(mode="hybrid_local"),
        )
        found = self._quoting.searcher.evidence(request, self._quoting.variant)
        for quote in found.items:
            yield Piece(quote.doc_uri, quote.start_char, quote.end_char, quote.quote, self._count(quote.quote))

    @cached_property
    def _root_summaries(self) -> list[int]:
        table = self._index.snapshot.table("communities", ["level", "summary_rows"])
        levels, rows = (table[name].to_pylist() for name in ("level", "summary_rows"))
        chosen = (row for level, some in zip(levels, rows, strict=True) if level == 0 for row in some)
        return list(dict.fromkeys(chosen))

    def _sentence(self, row: int) -> Piece:
        walk = self._index.walk
        unit = int(np.searchsorted(walk.unit_sentence, row, side="right")) - 1
        document = self._index.text_of(int(walk.unit_doc[unit]))
        start, end = int(walk.sentence_start[row]), int(walk.sentence_end[row])
        text = document.text[start:end]
        return Piece(document.uri, start, end, text, self._count(text))
