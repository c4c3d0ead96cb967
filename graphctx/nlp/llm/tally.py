"""What asking a model will cost, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphctx.nlp.llm.asking import Answer, Outcome
from graphctx.nlp.llm.base import ChatFailed, FailureKind
from graphctx.settings import LlmSettings


@dataclass(frozen=True, slots=True)
class Estimate:
    """Before the first call. Tokens are word pieces, within some percent of what the model counts on prose.

    ``output_tokens`` and ``cost`` are upper bounds; ``cost`` is 0 where no price is set.
    """

    model: str
    calls: int
    from_memo: int
    input_tokens: int
    output_tokens: int
    cost: float

    def sentence(self) -> str:
        """The estimate for a person."""
        price = f", at most {self.cost:.4f} at the prices set" if self.cost else ""
        return (
            f"{self.model} would be asked {self.calls:,} times ({self.from_memo:,} answers are kept from before): "
            f"about {self.input_tokens:,} tokens in, at most {self.output_tokens:,} out{price}."
        )


@dataclass(frozen=True, slots=True)
class Reason:
    """Failures of one kind: how many, and what the first in order said."""

    kind: FailureKind
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class LlmReport:
    """What came of asking. ``asked`` = ``answered`` + the counts of ``reasons``; tokens as the endpoint told them."""

    model: str
    asked: int
    from_memo: int
    answered: int
    dropped_sentences: int
    input_tokens: int
    output_tokens: int
    cost: float
    reasons: tuple[Reason, ...]

    @property
    def failed(self) -> int:
        """How many stay extractive although they were to be phrased."""
        return self.asked - self.answered

    def notes(self) -> list[str]:
        """What a person should know; empty if nothing went wrong."""
        if not self.failed:
            return []
        causes = "; ".join(f"{reason.count} × {reason.kind}: {reason.first}" for reason in self.reasons)
        return [f"{self.failed} of {self.asked} texts stay extractive, since {self.model} gave none. {causes}"]


def cost(settings: LlmSettings, input_tokens: int, output_tokens: int) -> float:
    """The price of tokens in the currency of the settings."""
    return (input_tokens * settings.input_price + output_tokens * settings.output_price) / 1_000_000


def report(settings: LlmSettings, model: str, outcomes: Iterable[Outcome], from_memo: int = 0) -> LlmReport:
    """Count outcomes, given in the order of their prompts."""
    outcomes = list(outcomes)
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    failures = [outcome for outcome in outcomes if isinstance(outcome, ChatFailed)]
    tokens = [sum(a.completion.input_tokens for a in answers), sum(a.completion.output_tokens for a in answers)]
    return LlmReport(
        model=model,
        asked=len(outcomes),
        from_memo=from_memo,
        answered=len(answers),
        dropped_sentences=sum(answer.reading.dropped for answer in answers),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost=cost(settings, *tokens),
        reasons=_reasons(failures),
    )


def _reasons(failures: list[ChatFailed]) -> tuple[Reason, ...]:
    kinds = dict.fromkeys(failure.kind for failure in failures)
    of_kind = {kind: [failure for failure in failures if failure.kind == kind] for kind in kinds}
    return tuple(Reason(kind, len(found), found[0].message) for kind, found in of_kind.items())
