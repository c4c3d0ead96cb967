"""Packing: filling a budget of tokens greedily, the best piece first, as contexts and blocks of memories are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

_Piece = TypeVar("_Piece")
_BREAK = re.compile("(\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])")


@dataclass(slots=True)
class TokenBudget:
    """Tokens that are left, for all pieces or for a part of them.

    Usage::

        whole = TokenBudget(1_000)
        facts = TokenBudget(200, within=whole)
        facts.take(150)  # True: 50 are left for facts, 850 for all

    Attributes:
        left: tokens.
        within: the budget of the whole, which is charged as well.
    """

    left: int
    within: TokenBudget | None = None

    @property
    def free(self) -> int:
        """The most tokens that a piece may have."""
        return self.left if self.within is None else min(self.left, self.within.free)

    def take(self, tokens: int) -> bool:
        """Pay for a piece, if it fits."""
        if tokens > self.free:
            return False
        budget: TokenBudget | None = self
        while budget is not None:
            budget.left -= tokens
            budget = budget.within
        return True

    def fill(self, pieces: Iterable[_Piece], tokens: Callable[[_Piece], int]) -> list[_Piece]:
        """Return the pieces that fit, each whole; a smaller one may follow one that does not fit."""
        return [piece for piece in pieces if self.take(tokens(piece))]


def labelled(label: str, text: str) -> str:
    """Return an entry of a block: its label, then its text, with further lines indented so that none looks like one.

    >>> labelled("Fact", "one\\n[Fact] two")
    '[Fact] one\\n  [Fact] two'
    """
    return f"[{label}] {_BREAK.sub(lambda found: f'{found[0]}  ', text)}"
