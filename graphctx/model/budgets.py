"""The response budget: the tokens and bytes of a whole response, text and structure together, and truncation to it.

The caller passes the one token counter, so that limits and measurements agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Literal

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import Budget
from graphctx.model.interrupt import checkpoint

CountTokens = Callable[[str], int]
"""Estimates the tokens of a text as a language model reads it."""

CapReason = Literal["token_cap", "byte_cap"]

DEFAULT_MAX_TOKENS = 8_000
"""A default answer stays below the 10,000 tokens at which a common client warns."""
DEFAULT_MAX_BYTES = 30_000
"""A default answer stays below the 50,000 characters at which a common client cuts."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest response, in tokens and UTF-8 bytes."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    max_bytes: int = DEFAULT_MAX_BYTES

    def within(self, max_tokens: int | None, max_bytes: int | None) -> Limits:
        """Return these limits, lowered to those of a request."""
        return Limits(
            min(self.max_tokens, max_tokens or self.max_tokens), min(self.max_bytes, max_bytes or self.max_bytes)
        )

    def placeholder(self) -> Budget:
        """Return the budget that an answer holds while it is weighed; see `reserve`."""
        return Budget(tokens=0, bytes=0, max_tokens=self.max_tokens, max_bytes=self.max_bytes)

    @property
    def reserve(self) -> Weight:
        """The most that the numbers of `report` can add to the zeros of `placeholder`.

        A number below ``n`` has at most as many digits as ``n``, and no tokenizer makes more than one token of a digit.
        """
        digits = len(str(self.max_tokens)) + len(str(self.max_bytes)) - 2
        return Weight(digits, digits)

    def report(self, weight: Weight) -> Budget:
        """Return the budget of an answer of this weight."""
        return Budget(tokens=weight.tokens, bytes=weight.bytes, max_tokens=self.max_tokens, max_bytes=self.max_bytes)

    def exceeded_by(self, weight: Weight) -> CapReason | None:
        """Return the limit that a weight exceeds, bytes before tokens, or ``None``."""
        if weight.bytes > self.max_bytes:
            return "byte_cap"
        if weight.tokens > self.max_tokens:
            return "token_cap"
        return None


@dataclass(frozen=True, slots=True)
class Weight:
    """The size of a response."""

    tokens: int
    bytes: int

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.tokens + other.tokens, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class Fitted:
    """How many items fit, the weight of the response with them, and the limit that all of them would exceed."""

    n_items: int
    weight: Weight
    reason: CapReason | None


_MARKS = re.compile(r"([!-/:-@\[-^`{-~\xa1-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\u2010-\u2027]{2,})")
"""Punctuation of ASCII and of European typesetting, without symbols: byte pairs do not take emoji together."""
_JOINT = re.compile(r"_(?<=\w_)(?=\w)")


def as_models_read(text: str) -> str:
    """Change a text so that its word pieces are about as many as the tokens of a language model.

    Each mark of JSON is a word piece, where the byte pairs of language models join several (``","``). So every fourth
    mark of a run beside a quotation mark stays, and underscores inside names go. The result is 92 to 105 % of what two
    public tokenizers count, where plain word pieces are up to 165 % (docs/decisions/0016-what-an-answer-weighs.md).
    """
    # The spaces cost nothing, and a counter that remembers parts between spaces finds most of them again.
    parts = _MARKS.split(_JOINT.sub("", text))  # every second one is a run of marks
    parts[1::2] = [f" {run[::4]} " if '"' in run else run for run in parts[1::2]]
    return "".join(parts)


def weigh(texts: list[str], count: CountTokens) -> Weight:
    """Return the estimated tokens and the UTF-8 bytes of the texts of one response."""
    return Weight(
        tokens=sum(count(as_models_read(text)) for text in texts),
        bytes=sum(len(text.encode("utf-8", "surrogatepass")) for text in texts),
    )


def fit(n_items: int, weight_with: Callable[[int, CapReason | None], Weight], limits: Limits) -> Fitted:
    """Find the largest number of leading items with which a response keeps its limits.

    The reason is the limit that one more item would exceed; where it would exceed both, that of bytes.

    Args:
        n_items: how many items there are.
        weight_with: returns the weight of the response with the first ``n`` items and the limit that cut the others.
        limits: of the response.

    Raises:
        BudgetExceeded: there are items and not even the first one fits, or the empty response does not.
    """
    checkpoint()
    weight = weight_with(n_items, None)
    reason = limits.exceeded_by(weight)
    if reason is None:
        return Fitted(n_items, weight, None)
    low, high = 0, n_items  # with `high` items it is too heavy, by `reason`; `low` is the best count known to fit
    best: Weight | None = None
    assumed = reason
    while high - low > 1:
        checkpoint()
        middle = (low + high) // 2
        weight = weight_with(middle, assumed)
        broken = limits.exceeded_by(weight)
        if broken is None:
            low, best = middle, weight
        else:
            high, reason = middle, broken
    if best is not None and reason != assumed:
        # The response holds the reason, and may weigh more with the right one.
        best = weight_with(low, reason)
        while low > 1 and (broken := limits.exceeded_by(best)) is not None:
            low, reason = low - 1, broken
            best = weight_with(low, reason)
        best = None if limits.exceeded_by(best) else best
    if best is None:
        raise _too_small(limits, weight_with(1, reason) if n_items else weight, reason)
    return Fitted(low, best, reason)


_WIDER = 8
"""An answer says its own limits: where more is allowed, these numbers may be longer by this many tokens and bytes."""


def _too_small(limits: Limits, least: Weight, reason: CapReason) -> BudgetExceeded:
    # With larger limits the answer itself holds larger numbers: two for each limit, a token a digit at most.
    slack = sum(
        2 * len(str(2 * weighs)) for weighs, most in zip(astuple(least), astuple(limits), strict=True) if weighs > most
    )
    needed = least + Weight(slack, slack)
    needed = Weight(needed.tokens + _WIDER, needed.bytes + _WIDER)
    return BudgetExceeded(
        f"The shortest answer to this needs {needed.tokens} tokens and {needed.bytes} bytes, and may have "
        f"{limits.max_tokens} tokens and {limits.max_bytes} bytes. Allow it more with max_tokens and max_bytes, where "
        "the server's own limits do.",
        needed_tokens=needed.tokens,
        needed_bytes=needed.bytes,
        max_tokens=limits.max_tokens,
        max_bytes=limits.max_bytes,
        reason=reason,
    )
