"""The hook for a language model that puts summaries into its own words. Without one, summaries are extractive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from graphctx.ingest.communities.material import Material
from graphctx.model.knowledge import CommunitySummary


@dataclass(frozen=True, slots=True)
class Extract:
    """What a summary is phrased from: title, key entities, sentences the best first, key facts in words."""

    title: str
    names: tuple[str, ...]
    sentences: tuple[str, ...]
    facts: tuple[str, ...]


class Summariser(Protocol):
    """Phrases summaries. What it remembers, how it retries and how many it asks for at once is its own affair."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same extract could get another text: model, prompt, settings."""

    def phrase(self, extracts: Sequence[Extract]) -> Sequence[str | None]:
        """Phrase one text for each extract, in order; ``None`` where there is none to be had."""


@dataclass(frozen=True, slots=True)
class Phrased:
    """Summaries after a language model had its turn, and how many of them stayed extractive because it failed."""

    summaries: list[CommunitySummary]
    failed: int


def phrase_summaries(
    summaries: Sequence[CommunitySummary], material: Material, summariser: Summariser | None
) -> Phrased:
    """Have summaries phrased. One without sentences is not asked about; what fails, or all, stays extractive."""
    asked = [number for number, one in enumerate(summaries) if one.summary_rows]
    done = list(summaries)
    if summariser is None or not asked:
        return Phrased(done, 0)
    entity_row = {entity: row for row, entity in enumerate(material.entity_ids)}
    fact_row = {fact: row for row, fact in enumerate(material.fact_ids)}
    extracts = [
        Extract(
            title=summaries[number].title,
            names=tuple(material.names[entity_row[entity]] for entity in summaries[number].key_entity_ids),
            sentences=tuple(material.sentence(row) for row in summaries[number].summary_rows),
            facts=tuple(material.fact(fact_row[fact]) for fact in summaries[number].key_fact_ids),
        )
        for number in asked
    ]
    try:
        texts = list(summariser.phrase(extracts))
    except Exception:  # a model elsewhere may fail in any way, and no ingest fails with it
        texts = []
    texts += [None] * (len(asked) - len(texts))
    for number, text in zip(asked, texts, strict=False):
        if text and text.strip():
            done[number] = replace(done[number], phrased=text.strip())
    return Phrased(done, sum(done[number].phrased is None for number in asked))
