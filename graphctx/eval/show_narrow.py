"""Tables for a terminal: what `graphctx.eval.show` says in many columns, in as many lines instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphctx.eval.show import Table, comparisons_table, main_table, types_table

if TYPE_CHECKING:
    from graphctx.eval.compare import Comparison

_GAP = 2
"""Blanks between columns, as `graphctx.cli.console.print_table` sets them."""

_OF_TYPES = ("n", "R@5", "hit@1", "MRR", "answer", "answer@500", "span", "points@500", "points@1000", "points@2000")
_LEFT_OUT = ("against", "higher/lower")


def main_tables(suites: Sequence[Mapping[str, Any]], width: int) -> Iterator[tuple[str, Table]]:
    """The main table turned: a line for each measure, a column for each variant; one table a suite.

    Args:
        suites: summaries.
        width: columns of the terminal. Variants that do not fit beside each other go into a further table.

    Yields:
        The suite's name and a table.
    """
    for suite in suites:
        heads, rows = main_table([suite])
        lines = [(head, [row[at] for row in rows]) for at, head in enumerate(heads) if head not in ("suite", "variant")]
        variants = list(suite["variants"])
        label = max(len(head) for head, _ in lines)
        for some in _fitting([len(name) for name in variants], width - label - _GAP):
            table = [[head, *(values[at] for at in some)] for head, values in lines]
            yield suite["suite"], (["", *(variants[at] for at in some)], table)


def types_tables(suites: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Table]]:
    """The breakdown by type with the main measures; one table a suite and variant."""
    for suite in suites:
        for variant, values in suite["variants"].items():
            heads, rows = types_table([{**suite, "variants": {variant: values}}])
            if rows:
                yield f"{suite['suite']}, {variant}, by type of question", _only(heads, rows, ("type", *_OF_TYPES))


def comparisons_tables(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Table]]:
    """Comparisons without their less needed columns; one table a suite."""
    for name in dict.fromkeys(one.suite for one in comparisons):
        some = [one for one in comparisons if one.suite == name]
        heads, rows = comparisons_table(some)
        kept = [head for head in heads if head not in ("suite", *_LEFT_OUT)]
        yield f"{name}, compared with {some[0].against}, question by question", _only(heads, rows, kept)


def _only(heads: Sequence[str], rows: Sequence[Sequence[str]], kept: Sequence[str]) -> Table:
    places = [heads.index(head) for head in kept if head in heads]
    return [heads[at] for at in places], [[row[at] for at in places] for row in rows]


def _fitting(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Places of columns, cut into runs of which each fits into the room; at least one in each."""
    some: list[int] = []
    used = 0
    for at, width in enumerate(widths):
        if some and used + width + _GAP > room:
            yield some
            some, used = [], 0
        some.append(at)
        used += max(width, len("100.0")) + _GAP
    if some:
        yield some
