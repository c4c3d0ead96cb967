"""Tables of measures, wide for a pipe or a file and narrow for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphctx.eval.summary import shown

if TYPE_CHECKING:
    from graphctx.eval.compare import Comparison
    from graphctx.eval.entities import EntityRun


_SHARES = ("R@2", "R@5", "all@5", "all@10", "hit@1", "MRR", "nDCG@10")
_QUOTES = ("answer", "answer@250", "answer@500", "answer@1000", "span")
_POINTS = ("points@500", "points@1000", "points@2000")
_SIZES = ("quote_tokens", "tokens", "tokens@1000", "rated")
_COMPARED = ("R@5", "all@10", "hit@1", "MRR", "answer", "answer@500", "span", *_POINTS)

FEW = 20
"""Fewer questions are too few for comparisons: a two-sided test needs six that all differ in one direction, which is
nearly a third of this many."""

Table = tuple[list[str], list[list[str]]]
"""Column heads and rows, for `graphctx.cli.console.print_table`."""


def main_table(suites: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a suite and variant. Shares are in percent, sizes in tokens, times in milliseconds (median)."""
    heads = ["suite", "variant", "n", *_SHARES, *_QUOTES, *_POINTS, "exact", "AUROC", *_SIZES, "ms"]
    rows = [
        [
            suite["suite"],
            variant,
            str(suite["questions"]["asked"]),
            *(_percent(values["measures"], name) for name in (*_SHARES, *_QUOTES, *_POINTS, "exact")),
            f"{values['abstention']['auroc']:.3f}" if values["abstention"] else "",
            *(_mean(values["measures"], name, 1, 0) for name in _SIZES),
            _milliseconds(values["milliseconds"]),
        ]
        for suite in suites
        for variant, values in suite["variants"].items()
    ]
    return _filled(heads, rows)


def types_table(suites: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a suite, type of question and variant; no rows where no suite has types."""
    names = (*_SHARES, *_QUOTES, *_POINTS)
    rows = [
        [
            suite["suite"],
            kind,
            variant,
            str(max(value["n"] for value in measures.values())),
            *(_percent(measures, name) for name in names),
        ]
        for suite in suites
        for variant, values in suite["variants"].items()
        for kind, measures in values["types"].items()
        if measures
    ]
    return _filled(["suite", "type", "variant", "n", *names], rows)


def notes(suites: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the table does not say of each suite, a line each."""
    lines = []
    for suite in suites:
        counts = suite["questions"]
        parts = [f"{counts['answerable']:,} answerable and {counts['unanswerable']:,} unanswerable questions"]
        if suite["judge"] == "units":
            parts.append("ranking judged by units")
        if counts["left_out"]:
            parts.append(f"{counts['left_out']:,} left out, for nothing can be measured of them")
        if 0 < counts["without_gold"] < counts["answerable"]:
            parts.append(f"{counts['without_gold']:,} without gold, of which no ranking and no span is measured")
        if counts["not_ranked"]:
            parts.append(f"{counts['not_ranked']:,} in no measure of ranking, for no unit holds what their gold names")
        if counts["spans_outside"]:
            count = counts["spans_outside"]
            parts.append(f"{count:,} gold span{'' if count == 1 else 's'} that no unit overlaps")
        first = next(iter(suite["variants"].values()))["measures"]
        partly = {name: first[name]["n"] for name in ("R@5", "answer", "span") if name in first}
        parts += [f"{name} over {n:,}" for name, n in partly.items() if n != counts["answerable"]]
        lines.append(f"{suite['suite']}: {'; '.join(parts)}")
    return lines


def few(suites: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each suite that is too small for comparisons."""
    counts = {suite["suite"]: suite["questions"]["asked"] for suite in suites}
    said = {name: f"{n} questions are" if n > 1 else "one question is" for name, n in counts.items() if n < FEW}
    return [f"{name}: {start} too few to tell variants apart; ask {FEW} or more" for name, start in said.items()]


def comparisons_table(comparisons: Sequence[Comparison]) -> Table:
    """Return difference, 95 % interval, p-value, and on how many questions each variant is higher or lower."""
    rows = [
        [
            one.suite,
            one.measure,
            one.variant,
            one.against,
            str(one.n),
            shown(one.measure, one.difference, signed=True),
            f"{shown(one.measure, one.low, signed=True)} to {shown(one.measure, one.high, signed=True)}",
            f"{one.p_adjusted:.3f}",
            f"{one.higher}/{one.lower}",
            "sure" if one.sure else "",
        ]
        for one in comparisons
        if one.measure in _COMPARED
    ]
    heads = ["suite", "measure", "variant", "against", "n", "difference", "95 %", "p", "higher/lower", ""]
    return heads, rows


def entities_table(runs: Sequence[EntityRun]) -> Table:
    """Return one row a suite of entities and measure."""
    rows = [[run.suite, name, f"{value:.1f}", counts] for run in runs for name, value, counts in run.rows()]
    return ["suite", "measure", "%", "counts"], rows


def _filled(heads: list[str], rows: list[list[str]]) -> Table:
    """Without the columns in which no row has anything."""
    kept = [at for at in range(len(heads)) if any(row[at] for row in rows)]
    return [heads[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _percent(measures: Mapping[str, Any], name: str) -> str:
    return _mean(measures, name, 100, 1)


def _mean(measures: Mapping[str, Any], name: str, scale: int, digits: int) -> str:
    return f"{measures[name]['mean'] * scale:.{digits}f}" if name in measures else ""


def _milliseconds(stages: Mapping[str, Any]) -> str:
    stage = stages.get("retrieve_evidence") or stages.get("search") or stages.get("global_search")
    return f"{stage['p50']:.1f}" if stage else ""


_GAP = 2
"""Blanks between columns, as `graphctx.cli.console.print_table` sets them."""

_OF_TYPES = ("n", "R@5", "hit@1", "MRR", "answer", "answer@500", "span", "points@500", "points@1000", "points@2000")
_LEFT_OUT = ("against", "higher/lower")


def main_tables(suites: Sequence[Mapping[str, Any]], width: int) -> Iterator[tuple[str, Table]]:
    """Yield the main table turned: a line for each measure, a column for each variant; one table a suite.

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
    """Yield the breakdown by type with the main measures; one table a suite and variant."""
    for suite in suites:
        for variant, values in suite["variants"].items():
            heads, rows = types_table([{**suite, "variants": {variant: values}}])
            if rows:
                yield f"{suite['suite']}, {variant}, by type of question", _only(heads, rows, ("type", *_OF_TYPES))


def comparisons_tables(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, Table]]:
    """Yield comparisons without their less needed columns; one table a suite."""
    for name in dict.fromkeys(one.suite for one in comparisons):
        some = [one for one in comparisons if one.suite == name]
        heads, rows = comparisons_table(some)
        kept = [head for head in heads if head not in ("suite", *_LEFT_OUT)]
        yield f"{name}, compared with {some[0].against}, question by question", _only(heads, rows, kept)


def _only(heads: Sequence[str], rows: Sequence[Sequence[str]], kept: Sequence[str]) -> Table:
    places = [heads.index(head) for head in kept if head in heads]
    return [heads[at] for at in places], [[row[at] for at in places] for row in rows]


def _fitting(widths: Sequence[int], room: int) -> Iterator[list[int]]:
    """Yield places of columns, cut into runs of which each fits into the room; at least one in each."""
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
