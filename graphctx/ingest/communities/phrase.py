"""The hook for a language model that puts summaries into its own words. Without one, summaries are extractive."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

from graphctx.ingest.communities.material import Material
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import CommunitySummary
from graphctx.store.cache import Memo

_KIND = "phrased"


class Summariser(Protocol):
    """Phrases the summary of one community; safe to call from several threads."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same input could get another text: model, prompt, settings."""

    @property
    def concurrency(self) -> int:
        """How many calls may run at once; at least 1."""

    def phrase(self, title: str, sentences: Sequence[str], facts: Sequence[str]) -> str | None:
        """Phrase a summary.

        Args:
            title: the community's.
            sentences: of its extractive summary, the best first.
            facts: its key facts in words.

        Returns:
            The text, or ``None`` where there is none to be had; any exception is taken for ``None``.
        """


@dataclass(frozen=True, slots=True)
class Phrased:
    """Summaries after a language model had its turn, and how many of them stayed extractive because it failed."""

    summaries: list[CommunitySummary]
    failed: int


def phrase_summaries(
    summaries: Sequence[CommunitySummary], material: Material, summariser: Summariser | None, memo: Memo
) -> Phrased:
    """Ask a summariser for each community that it has not phrased before; what fails stays extractive."""
    if summariser is None:
        return Phrased(list(summaries), 0)
    row_of = {fact: row for row, fact in enumerate(material.fact_ids)}
    inputs = [
        (
            one.title,
            [material.sentence(row) for row in one.summary_rows],
            [material.fact(row_of[fact]) for fact in one.key_fact_ids],
        )
        for one in summaries
    ]
    keys = [fingerprint((summariser.fingerprint, title, *said, "", *facts)) for title, said, facts in inputs]
    known = {key: value.decode("utf-8") for key, value in memo.get_many(_KIND, keys).items()}
    asked = {key: one for key, one in zip(keys, inputs, strict=True) if key not in known and one[1]}

    def ask(key: str) -> tuple[str, str | None]:
        try:
            return key, summariser.phrase(*asked[key])
        except Exception:  # a model elsewhere may fail in any way, and no ingest fails with it
            return key, None

    with ThreadPoolExecutor(max(1, summariser.concurrency)) as pool:
        for key, text in pool.map(ask, asked):
            if text and text.strip():
                known[key] = text.strip()
                memo.put_many(_KIND, {key: known[key].encode("utf-8")})
    done = [replace(one, phrased=known.get(key)) for one, key in zip(summaries, keys, strict=True)]
    failed = sum(1 for key, one in zip(keys, inputs, strict=True) if key not in known and one[1])
    return Phrased(done, failed)
