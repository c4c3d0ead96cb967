"""Outcomes made by hand, for tests of what is done with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from graphctx.eval.records import Golden, Outcome, SuiteRun
from graphctx.model.answers import Quote

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


NASTY = "</style><script>alert('1')</script><img src=x onerror=\"alert(2)\"> & 'quoted' \"twice\""
QUOTE = Quote(
    quote=f"It says {NASTY}, word for word.", doc_uri=f"a/{NASTY}.md", section_id="u_1", title=NASTY, heading=NASTY,
    start_char=0, end_char=9, line=1, confidence=0.5,
)  # fmt: skip


def run_of(name: str = "made", question: str = "Who?") -> SuiteRun:
    """Two variants of thirty questions of two types, ten of them unanswerable."""
    made = {}
    for variant, losses in (("hybrid_local", 0), ("bm25", 12)):
        values = [0.0] * losses + [1.0] * (20 - losses) + [None] * 10
        measures = dict.fromkeys(("R@5", "all@10", "MRR", "answer", "answer@250", "answer@500"), values)
        confidence = {"confidence": [0.1 + at / 40 for at in range(30)], "empty": [0.0] * 30, "tokens": [1234.0] * 30}
        made[variant] = [
            dataclasses.replace(
                one,
                golden=Golden(one.golden.id, f"{question} {at}", "odd" if at % 2 else "even", (NASTY,), at < 20),
                ranked=("x", "gold") if values[at] else ("x", "y"),
                relevant=frozenset({"gold"}) if at < 20 else frozenset(),
                quotes=(QUOTE,),
                milliseconds={"search": 3.0 + at, "retrieve_evidence": 5.0 + at},
            )
            for at, one in enumerate(outcomes({**measures, **confidence}))
        ]
    return SuiteRun(name, "sn_made", made)
