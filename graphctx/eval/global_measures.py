"""What is measured of an answer to a question about the whole: which of its gold points some quoted text states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from graphctx.eval.records import GoldPoint, GoldSpan

BUDGETS = (500, 1000, 2000)
"""Tokens that all quoted text together may weigh."""

MOST_POINTS = 100
"""Points that are asked for, the most that the tool gives: the budget alone is to cut."""

ENOUGH = 0.5
"""A text states a point if it shares so much of the shorter of both with one of the point's spans. Less is a neighbour
that was cut elsewhere; the whole would ask of a long sentence that it be quoted to the last word."""

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that was given for a question, where it stands, and what it weighs in tokens."""

    doc_uri: str
    start_char: int
    end_char: int
    text: str
    tokens: int


def states(piece: Piece, span: GoldSpan) -> bool:
    """Whether a piece and a span share at least `ENOUGH` of the shorter of both, in characters of one document."""
    if piece.doc_uri != span.doc_uri:
        return False
    shared = min(piece.end_char, span.end_char) - max(piece.start_char, span.start_char)
    shorter = min(piece.end_char - piece.start_char, span.end_char - span.start_char)
    return shared > 0 and shared >= ENOUGH * shorter


def stated(point: GoldPoint, pieces: Iterable[Piece]) -> bool:
    """Whether some piece states a point."""
    return any(states(piece, span) for piece in pieces for span in point.spans)


def filled(pieces: Iterable[Piece], budget: int) -> list[Piece]:
    """The pieces that fit into a budget, in their order; one that does not fit whole is passed over."""
    taken: list[Piece] = []
    left = budget
    for piece in pieces:
        if piece.tokens <= left:
            taken.append(piece)
            left -= piece.tokens
    return taken


def point_measures(points: Sequence[GoldPoint], pieces: Sequence[Piece], budget: int) -> dict[str, float]:
    """Measures of what was given within a budget.

    ``points@<budget>`` is the share of the gold points that some piece states, ``tokens@<budget>`` what all pieces
    weigh, ``quotes@<budget>`` how many they are.

    Args:
        points: of the question, at least one.
        pieces: what was given.
        budget: in tokens; it only names the measures.
    """
    return {
        f"points@{budget}": sum(stated(point, pieces) for point in points) / len(points),
        f"tokens@{budget}": float(sum(piece.tokens for piece in pieces)),
        f"quotes@{budget}": float(len(pieces)),
    }
