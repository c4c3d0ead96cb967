"""Phrasing for global search: points of communities, and an answer made of points, both cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphctx.nlp.llm.asking import Answer, Outcome, ask_all
from graphctx.nlp.llm.base import ChatModel, Cited
from graphctx.nlp.llm.prompts import Prompt, Prompts
from graphctx.nlp.llm.tally import LlmReport, report
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.settings import LlmSettings


@dataclass(frozen=True, slots=True)
class Phrased:
    """What a model made of some sentences.

    ``sentences`` cite them by index. Where ``failure`` is empty and ``sentences`` too, the model found that nothing
    bears on the question; where ``failure`` is not empty, stay with the sentences as they were.
    """

    sentences: tuple[Cited, ...]
    failure: str = ""


class PhraserLlm:
    """Phrases what global search found. Never fails a query: what goes wrong is in the result.

    Args:
        model: who phrases.
        settings: limits and prices.
        counter: measures prompts.
    """

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
        made, told = self._ask([self._prompts.answer(question, points, max_sentences)], within_seconds)
        return made[0], told

    def _ask(self, prompts: Sequence[Prompt], within_seconds: float) -> tuple[list[Phrased], LlmReport]:
        rows = [row for row, prompt in enumerate(prompts) if prompt.given]
        outcomes: dict[int, Outcome] = dict(
            ask_all(
                self._model,
                [prompts[row] for row in rows],
                self._settings.max_output_tokens,
                concurrency=self._settings.concurrency,
                within_seconds=within_seconds,
            )
        )
        made = [Phrased(()) for _ in prompts]
        for at, row in enumerate(rows):
            outcome = outcomes[at]
            made[row] = (
                Phrased(outcome.reading.sentences) if isinstance(outcome, Answer) else Phrased((), outcome.message)
            )
        return made, report(self._settings, self._model.name, [outcomes[at] for at in range(len(rows))])
