"""Outcomes made by hand, for tests of what is done with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphctx.eval.records import Golden, Outcome, SuiteRun

Values = Mapping[str, Sequence[float | None]]


def outcomes(values: Values, *, prefix: str = "q") -> list[Outcome]:
    """One outcome a position: ``outcomes({"R@5": [1, 0, None]})``."""
    return [
        Outcome(
            golden=Golden(f"{prefix}{at:03}", f"What is {at}?"),
            ranked=(),
            relevant=frozenset(),
            quotes=(),
            measures={name: column[at] for name, column in values.items() if column[at] is not None},  # type: ignore[misc]
        )
        for at in range(len(next(iter(values.values()))))
    ]


def suite(name: str = "made", **variants: Values) -> SuiteRun:
    """A run with some variants."""
    return SuiteRun(name, "sn_made", {variant: outcomes(values) for variant, values in variants.items()})
