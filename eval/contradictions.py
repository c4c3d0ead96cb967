"""How many contradictions between made-up chunks are found, and how many pairs that agree are taken for one.

    python -m eval.contradictions [--half design|held_out] [--misses] [--json]

``contradictions.jsonl`` holds pairs of sentences such as agents and people write about repositories: some contradict
each other by a negation, a modality, a number or a value, others are near and compatible. The rules were made by
looking at the half ``design``; the other half, ``held_out``, says how well they do.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.bench import table
from graphctx.layers.conflicts import contradiction

PAIRS = Path(__file__).with_suffix(".jsonl")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences, and whether they contradict each other.

    Attributes:
        sort: in what way they do, or how else they are near.
        contradict: whether they do.
        half: ``design`` or ``held_out``.
        one: a sentence.
        other: another.
    """

    sort: str
    contradict: bool
    half: str
    one: str
    other: str

    @property
    def found(self) -> bool:
        """Whether a contradiction is found, whichever of the two comes first."""
        return any(contradiction(*pair) is not None for pair in ((self.one, self.other), (self.other, self.one)))


def pairs(half: str = "") -> list[Pair]:
    """Return the pairs of a half, or all."""
    read = [Pair(**json.loads(line)) for line in PAIRS.read_text("utf-8").splitlines()]
    return [pair for pair in read if half in ("", pair.half)]


def rates(chosen: Sequence[Pair]) -> dict[str, float]:
    """Return the share of contradictions that is found, and the share of the others that is taken for one."""
    hits = {kind: [pair.found for pair in chosen if pair.contradict is kind] for kind in (True, False)}
    return {name: sum(hits[kind]) / len(hits[kind]) for name, kind in (("found", True), ("false", False))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates by sort of pair and by half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["design", "held_out"], default="")
    parser.add_argument("--misses", action="store_true", help="print the pairs that are judged wrongly")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    chosen = pairs(asked.half)
    if asked.json:
        print(json.dumps({half: rates([p for p in chosen if p.half == half]) for half in {p.half for p in chosen}}))
        return
    rows: list[tuple[Any, ...]] = []
    for half in dict.fromkeys(pair.half for pair in chosen):
        of_half = [pair for pair in chosen if pair.half == half]
        found = Counter(pair.sort for pair in of_half if pair.found)
        for sort, number in Counter(pair.sort for pair in of_half).items():
            rows.append((half, sort, number, found[sort]))
        found_rates = rates(of_half)
        rows.append((half, "all", len(of_half), f"found {found_rates['found']:.0%}, false {found_rates['false']:.0%}"))
    table(("half", "sort", "pairs", "taken for a contradiction"), rows)
    for pair in chosen:
        if asked.misses and pair.found != pair.contradict:
            print(f"{pair.sort}: {pair.one} | {pair.other}")


if __name__ == "__main__":
    main()
