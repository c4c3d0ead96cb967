"""Summaries in the words of a language model. Without one, or if it fails, summaries stay extractive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from graphctx.errors import TimedOut
from graphctx.ingest.communities.evidence import CommunityEvidence
from graphctx.model.knowledge import CommunitySummary
from graphctx.nlp.llm.asking import Estimate, LlmReport, Reason
from graphctx.nlp.llm.citations import Cited
from graphctx.nlp.llm.phrase import CommunityText, Memory, Summaries
from graphctx.store.communities import CitedSentence, write_phrased


class Summariser(Protocol):
    """Phrases summaries in cited sentences. Retries and concurrency are up to the implementation."""

    @property
    def name(self) -> str:
        """The model's name, for reports."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same community could get another text: model, prompt, settings."""

    def estimate(self, communities: Sequence[CommunityText], memory: Memory) -> Estimate:
        """Estimate what `summarise` would ask, without asking."""

    def summarise(
        self, communities: Sequence[CommunityText], memory: Memory, on_done: Callable[[int, int], None]
    ) -> Summaries:
        """Return cited sentences for each community, in order; an empty tuple for what failed.

        ``on_done`` is called with how many of how many communities are done.
        """


def texts_of(summaries: Sequence[CommunitySummary], evidence: CommunityEvidence) -> list[CommunityText]:
    """Return the input of the language model: the sentences of each extractive summary, the best first."""
    entity_row = {entity: row for row, entity in enumerate(evidence.entity_ids)}
    return [
        CommunityText(
            title=one.title,
            names=tuple(evidence.names[entity_row[entity]] for entity in one.key_entity_ids),
            sentences=tuple(evidence.sentence(row) for row in one.summary_rows),
        )
        for one in summaries
    ]


def phrase_summaries(
    summaries: Sequence[CommunitySummary],
    evidence: CommunityEvidence,
    summariser: Summariser,
    memory: Memory,
    on_done: Callable[[int, int], None],
) -> tuple[list[CommunitySummary], LlmReport]:
    """Have a language model phrase summaries. What it fails on, or does not cite, stays extractive.

    Returns:
        The summaries in their order, and a report of the model's calls.
    """
    texts = texts_of(summaries, evidence)
    try:
        made = summariser.summarise(texts, memory, on_done)
    except TimedOut:
        raise
    except Exception as error:  # a model elsewhere may fail in any way, and no ingest fails with it
        return list(summaries), _all_failed(summariser, texts, error)
    sentences = [*made.texts, *((),) * len(texts)]
    return [_with(one, cited) for one, cited in zip(summaries, sentences, strict=False)], made.report


def _with(summary: CommunitySummary, cited: Sequence[Cited]) -> CommunitySummary:
    rows = summary.summary_rows
    kept = [
        CitedSentence(one.text, tuple(sorted({rows[at] for at in one.cites})))
        for one in cited
        if one.text.strip() and one.cites and all(0 <= at < len(rows) for at in one.cites)
    ]
    return replace(summary, phrased=write_phrased(kept))


def _all_failed(summariser: Summariser, texts: Sequence[CommunityText], error: Exception) -> LlmReport:
    asked = sum(bool(text.sentences) for text in texts)
    reason = Reason("unexpected", asked, f"The summariser failed: {type(error).__name__}.")
    return LlmReport(summariser.name, asked, 0, 0, 0, 0, 0, 0.0, (reason,))
