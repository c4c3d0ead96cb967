"""What leaving out each part costs: ``make eval-ablation``.

    python -m eval.ablation [--data DIR] [--work DIR] [--only NAME,…]

Every development set (see ``eval.dev``) is asked with the default and with one part left out at a time.
Printed is the mean of the default, and what leaving the part out changes, in points with its 95 % bootstrap interval; a
star marks a change that is significant after Holm's adjustment over the parts that can move the same measure. Parts of
ranking are judged by ``R@5``, those of quoting by ``answer``, or by ``span`` where a set's answers tell little.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace

from eval.dev import ask, dev_parser, sets_of
from graphctx.cli.console import errors_console
from graphctx.errors import GraphctxError
from graphctx.eval.compare import Comparison, compare
from graphctx.eval.records import SuiteRun
from graphctx.eval.run import Measured
from graphctx.eval.summary import means
from graphctx.retrieve.variants import DEFAULT_VARIANT, VARIANTS

PARTS = tuple(name for name in VARIANTS if name.startswith("no_"))
OF_QUOTING = frozenset(("lexical_quotes", "no_growth"))
OF_RANKING = tuple(name for name in PARTS if name not in OF_QUOTING)
MAX_QUESTIONS = 300
"""Of one set: enough for intervals of a point or two."""


def main() -> int:
    """Command line; exit code 1 where a set cannot be asked, or none is there."""
    asked = dev_parser(str(__doc__)).parse_args()
    columns: list[tuple[str, dict[str, str]]] = []
    try:
        for one, path in sets_of(asked):
            measured = Measured()
            chosen = replace(one, limit=MAX_QUESTIONS)
            ask(measured, chosen, path, (DEFAULT_VARIANT, *PARTS), asked.work, ranking_only=OF_RANKING)
            columns.append((measured.runs[0].suite, cells(measured.runs[0], one.quoting)))
    except GraphctxError as error:
        errors_console().print(str(error), soft_wrap=True)
        return 1
    print(f"| | {' | '.join(name for name, _ in columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for row in (DEFAULT_VARIANT, *PARTS):
        print(f"| {row} | {' | '.join(found.get(row, '') for _, found in columns)} |")
    return 0


def cells(found: SuiteRun, quoting: str) -> dict[str, str]:
    """Variant to what its table cell says.

    Args:
        found: a run with the default and any of the `PARTS`.
        quoting: the measure by which parts of quoting are judged.
    """
    default = means(found.outcomes[DEFAULT_VARIANT])
    made = {DEFAULT_VARIANT: f"R@5 {100 * default['R@5']['mean']:.1f}, {quoting} {100 * default[quoting]['mean']:.1f}"}
    for measure, parts in (("R@5", OF_RANKING), (quoting, OF_QUOTING)):
        compared = compare(_with_default(found, parts), DEFAULT_VARIANT)
        made |= {one.variant: shown(one) for one in compared if one.measure == measure}
    return made


def _with_default(found: SuiteRun, parts: Iterable[str]) -> SuiteRun:
    """Return the run with these variants beside the default: what can move a measure together is adjusted together."""
    kept = {DEFAULT_VARIANT, *parts}
    return replace(found, outcomes={name: some for name, some in found.outcomes.items() if name in kept})


def shown(one: Comparison) -> str:
    """Return a difference in points, its interval, and a star where it is sure."""
    return f"{100 * one.difference:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}]{'*' if one.sure else ''}"


if __name__ == "__main__":
    sys.exit(main())
