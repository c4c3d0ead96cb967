"""Comparisons and regressions as a person reads them on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphctx.eval.scale import direction, shown

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.eval.baseline import Regression
    from graphctx.eval.compare import Comparison


def show_comparisons(console: Console, comparisons: Sequence[Comparison], measures: Sequence[str] = ()) -> None:
    """Print a table of differences for each suite; the sure ones stand out.

    Args:
        console: where to.
        comparisons: of any number of suites.
        measures: only these, in this order; all where empty.
    """
    from rich.table import Table
    from rich.text import Text

    for suite in dict.fromkeys(one.suite for one in comparisons):
        some = [one for one in comparisons if one.suite == suite and (not measures or one.measure in measures)]
        if not some:
            continue
        order = list(measures) or list(dict.fromkeys(one.measure for one in some))
        variants = list(dict.fromkeys(one.variant for one in some))
        some.sort(key=lambda one: (variants.index(one.variant), order.index(one.measure)))
        console.print(Text(f"{suite}: differences from {some[0].against}", style="bold"))
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("variant", "measure", "n", "mean", "difference", "95 % interval", "p", "higher/lower"):
            table.add_column(name, justify="left" if name in ("variant", "measure") else "right", no_wrap=True)
        for at, one in enumerate(some):
            first = at == 0 or some[at - 1].variant != one.variant
            table.add_row(one.variant if first else "", one.measure, *_row(one), style=_style(one))
        console.print(table)
        console.print(
            Text("p: two-sided randomisation test, adjusted by Holm over the variants of a measure.\n", style="dim")
        )


def show_regressions(console: Console, regressions: Sequence[Regression]) -> None:
    """Print what is worse than the baseline, one sentence each, or that nothing is."""
    from rich.text import Text

    if not regressions:
        console.print(Text("Nothing is worse than in the baseline.", style="green"))
    for one in regressions:
        console.print(Text("worse  ", style="bold red").append(str(one), style=""), soft_wrap=True)


def _row(one: Comparison) -> tuple[str, ...]:
    return (
        str(one.n),
        shown(one.measure, one.mean),
        shown(one.measure, one.difference, signed=True),
        f"{shown(one.measure, one.low, signed=True)} to {shown(one.measure, one.high, signed=True)}",
        f"{one.p_adjusted:.3f}" if one.p_adjusted >= 0.001 else "<0.001",
        f"{one.higher}/{one.lower}",
    )


def _style(one: Comparison) -> str:
    gain = one.difference * direction(one.measure)
    if not one.sure or not gain:
        return ""
    return "green" if gain > 0 else "red"
