"""Texts in the words of a language model, each with its citations: summaries of communities, answers to questions.

`SummariserLlm` phrases communities at ingest, `PhraserLlm` what global search found. Neither fails: a text that the
model does not give stays extractive, and the report says why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphctx.model.ids import fingerprint
from graphctx.nlp.llm.asking import Estimate, LlmReport, ModelAnswer, Outcome, ask_all, cost, report
from graphctx.nlp.llm.citations import Cited, CitedAnswer, read_cited
from graphctx.nlp.llm.client import ChatFailed, ChatModel, Completion
from graphctx.nlp.llm.prompts import PROMPT_VERSION, Prompt, Prompts
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.settings import LlmSettings

_KIND = "llm_summary"
_KEEP_AT_ONCE = 16
"""Answers that are written to the memo together: what an interruption can cost at most."""


class Memory(Protocol):
    """Where answers are kept between ingests; ``graphctx.store.cache.Memo`` is one."""

    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that are there."""

    def put_many(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Keep values."""


@dataclass(frozen=True, slots=True)
class CommunityText:
    """What a summary is made of: title, characteristic names, and sentences in the order of their importance."""

    title: str
    names: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summaries:
    """One series of cited sentences for each community, in order; an empty one stays extractive."""

    texts: tuple[tuple[Cited, ...], ...]
    report: LlmReport


class SummariserLlm:
    """Summarises communities. Never fails an ingest: what goes wrong is in the report."""

    def __init__(self, model: ChatModel, settings: LlmSettings) -> None:
        self._model = model
        self._settings = settings
        self._counter = WordPieceCounter()
        self._prompts = Prompts(self._counter)

    @property
    def name(self) -> str:
        """The model's name, for reports."""
        return self._model.name

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same community could get another text."""
        return fingerprint((self._model.fingerprint, str(PROMPT_VERSION), str(self._settings.max_output_tokens)))

    def estimate(self, communities: Sequence[CommunityText], memory: Memory) -> Estimate:
        """What `summarise` would ask now. Asks nobody."""
        prompts = self._prompts_by_key(communities)[1]
        known = _remembered(prompts, memory)
        missing = [prompt.text for key, prompt in prompts.items() if key not in known]
        tokens = sum(self._counter.count_many(missing))
        limit = len(missing) * self._settings.max_output_tokens
        return Estimate(self._model.name, len(missing), len(known), tokens, limit, cost(self._settings, tokens, limit))

    def summarise(
        self,
        communities: Sequence[CommunityText],
        memory: Memory,
        on_done: Callable[[int, int], None] = lambda done, total: None,
    ) -> Summaries:
        """Summarise communities; one without sentences is not asked about.

        Args:
            communities: in any order; the same text is asked about once.
            memory: answers of earlier ingests; grows while this runs.
            on_done: called in this thread with how many distinct texts of how many are done.
        """
        keys, prompts = self._prompts_by_key(communities)
        readings = _remembered(prompts, memory)
        from_memo = len(readings)
        on_done(from_memo, len(prompts))
        missing = [key for key in prompts if key not in readings]
        outcomes: dict[int, Outcome] = {}
        waiting: dict[str, bytes] = {}
        asked = ask_all(
            self._model,
            [prompts[key] for key in missing],
            self._settings.max_output_tokens,
            concurrency=self._settings.concurrency,
        )
        try:
            for index, outcome in asked:
                outcomes[index] = outcome
                if isinstance(outcome, ModelAnswer):
                    readings[missing[index]] = outcome.cited
                    waiting[missing[index]] = _to_bytes(outcome.completion)
                if len(waiting) >= _KEEP_AT_ONCE:
                    memory.put_many(_KIND, waiting)
                    waiting.clear()
                on_done(from_memo + len(outcomes), len(prompts))
        finally:  # what was paid for is kept, also where someone presses Ctrl-C
            asked.close()
            memory.put_many(_KIND, waiting)
        texts = tuple(readings[key].sentences if key in readings else () for key in keys)
        in_order = [outcomes[index] for index in range(len(missing))]
        return Summaries(texts, report(self._settings, self._model.name, in_order, from_memo))

    def _prompts_by_key(self, communities: Sequence[CommunityText]) -> tuple[list[str], dict[str, Prompt]]:
        """The memo key of each community, empty where there is nothing to summarise, and the prompt of each key."""
        keys, prompts = [], {}
        for community in communities:
            key = ""
            if community.sentences:
                prompt = self._prompts.summary(community.title, community.names, community.sentences)
                key = prompt.key(self._model.fingerprint, str(self._settings.max_output_tokens))
                prompts[key] = prompt
            keys.append(key)
        return keys, prompts


def _remembered(prompts: dict[str, Prompt], memory: Memory) -> dict[str, CitedAnswer]:
    """Return the cached answers; unreadable entries are left out, so that they are asked again."""
    found: dict[str, CitedAnswer] = {}
    for key, value in memory.get_many(_KIND, prompts).items():
        try:
            text, finished = json.loads(value)
            found[key] = read_cited(Completion(text, finished), prompts[key])
        except (ValueError, TypeError, ChatFailed):
            continue
    return found


def _to_bytes(completion: Completion) -> bytes:
    return json.dumps([completion.text, completion.finished]).encode()


@dataclass(frozen=True, slots=True)
class Phrased:
    """What a model made of some sentences.

    ``sentences`` cite them by index. Where ``failure`` is empty and ``sentences`` too, the model found that nothing
    bears on the question; where ``failure`` is not empty, stay with the sentences as they were.
    """

    sentences: tuple[Cited, ...]
    failure: str = ""


class PhraserLlm:
    """Phrases what global search found, and memories. Never fails a query: what goes wrong is in the result."""

    def __init__(self, model: ChatModel, settings: LlmSettings, counter: WordPieceCounter | None = None) -> None:
        self._model = model
        self._settings = settings
        self._prompts = Prompts(counter or WordPieceCounter())

    def points(
        self, question: str, groups: Sequence[Sequence[str]], *, max_points: int, within_seconds: float
    ) -> tuple[list[Phrased], LlmReport]:
        """The map step: what the sentences of each group say to a question.

        Args:
            question: as the client asked it.
            groups: sentences of one community each, the best first; a group without any is not asked about.
            max_points: sentences of each result at most.
            within_seconds: for all groups together.

        Returns:
            One result for each group, in order, and what came of asking.
        """
        prompts = [self._prompts.points(question, group, max_points) for group in groups]
        return self._ask(prompts, within_seconds)

    def answer(
        self, question: str, points: Sequence[str], *, max_sentences: int, within_seconds: float
    ) -> tuple[Phrased, LlmReport]:
        """The reduce step: one text out of points. Citations are indices of points, whose own sources stay theirs."""
        made, found = self._ask([self._prompts.answer(question, points, max_sentences)], within_seconds)
        return made[0], found

    def memories(
        self, groups: Sequence[Sequence[str]], *, max_sentences: int, within_seconds: float
    ) -> tuple[list[Phrased], LlmReport]:
        """Summarise the sentences of each group of memories; the arguments and results are those of `points`."""
        return self._ask([self._prompts.memories(group, max_sentences) for group in groups], within_seconds)

    def _ask(self, prompts: Sequence[Prompt], within_seconds: float) -> tuple[list[Phrased], LlmReport]:
        rows = [row for row, prompt in enumerate(prompts) if prompt.given]
        asked = ask_all(
            self._model,
            [prompts[row] for row in rows],
            self._settings.max_output_tokens,
            concurrency=self._settings.concurrency,
            within_seconds=within_seconds,
        )
        outcomes = [outcome for _, outcome in sorted(asked, key=lambda pair: pair[0])]
        made = [Phrased(()) for _ in prompts]
        for row, outcome in zip(rows, outcomes, strict=True):
            made[row] = (
                Phrased(outcome.cited.sentences) if isinstance(outcome, ModelAnswer) else Phrased((), outcome.message)
            )
        return made, report(self._settings, self._model.name, outcomes)
