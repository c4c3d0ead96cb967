"""A language model may put summaries into its own words. Without one, and where it fails, they stay extractive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from graphctx.errors import TimedOut
from graphctx.ingest.communities.material import Material
from graphctx.model.knowledge import CommunitySummary
from graphctx.nlp.llm.base import Cited, Memory
from graphctx.nlp.llm.summarise import CommunityText, Summaries
from graphctx.nlp.llm.tally import Estimate, LlmReport, Reason
from graphctx.store.communities import PhrasedSentence, write_phrased


class Summariser(Protocol):
    """Phrases summaries in cited sentences. How it retries and how many it asks for at once is its own affair."""

    @property
    def name(self) -> str:
        """The model's name, for reports."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same community could get another text: model, prompt, settings."""

    def estimate(self, communities: Sequence[CommunityText], memory: Memory) -> Estimate:
        """What `summarise` would ask now. Asks nobody."""

    def summarise(
        self, communities: Sequence[CommunityText], memory: Memory, on_done: Callable[[int, int], None]
    ) -> Summaries:
        """Phrase each community's sentences, in order; none for what failed. ``on_done`` hears how many of how many."""


@dataclass(frozen=True, slots=True)
class Phrased:
    """Summaries after a language model had its turn, and what came of it."""

    summaries: list[CommunitySummary]
    report: LlmReport


def texts_of(summaries: Sequence[CommunitySummary], material: Material) -> list[CommunityText]:
    """What a language model is given of each community: the sentences of its extractive summary, the best first."""
    entity_row = {entity: row for row, entity in enumerate(material.entity_ids)}
    return [
        CommunityText(
            title=one.title,
            names=tuple(material.names[entity_row[entity]] for entity in one.key_entity_ids),
            sentences=tuple(material.sentence(row) for row in one.summary_rows),
        )
        for one in summaries
    ]


def phrase_summaries(
    summaries: Sequence[CommunitySummary],
    material: Material,
    summariser: Summariser,
    memory: Memory,
    on_done: Callable[[int, int], None],
) -> Phrased:
    """Have summaries phrased. What cannot be had, or cites nothing of its community, stays extractive.

    Args:
        summaries: extractive ones.
        material: what they were made from.
        summariser: who phrases.
        memory: answers of earlier ingests; it grows.
        on_done: told how many of how many texts are done.
    """
    texts = texts_of(summaries, material)
    try:
        made = summariser.summarise(texts, memory, on_done)
    except TimedOut:
        raise
    except Exception as error:  # a model elsewhere may fail in any way, and no ingest fails with it
        return Phrased(list(summaries), _all_failed(summariser, texts, error))
    sentences = [*made.texts, *((),) * len(texts)]
    return Phrased([_with(one, cited) for one, cited in zip(summaries, sentences, strict=False)], made.report)


def _with(summary: CommunitySummary, cited: Sequence[Cited]) -> CommunitySummary:
    rows = summary.summary_rows
    kept = [
        PhrasedSentence(one.text, tuple(sorted({rows[at] for at in one.cites})))
        for one in cited
        if one.text.strip() and one.cites and all(0 <= at < len(rows) for at in one.cites)
    ]
    return replace(summary, phrased=write_phrased(kept))


def _all_failed(summariser: Summariser, texts: Sequence[CommunityText], error: Exception) -> LlmReport:
    asked = sum(bool(text.sentences) for text in texts)
    reason = Reason("unexpected", asked, f"The summariser failed: {type(error).__name__}.")
    return LlmReport(summariser.name, asked, 0, 0, 0, 0, 0, 0.0, (reason,))
