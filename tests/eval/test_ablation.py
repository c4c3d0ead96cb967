"""The table of what each part of the recipe gives, over outcomes made by hand."""

from __future__ import annotations

from eval_made import suite

from eval.ablation import OF_QUOTING, OF_RANKING, cells
from graphctx.retrieve.variants import DEFAULT_VARIANT

GOOD = {"R@5": [1.0] * 60, "answer": [1.0] * 60, "span": [1.0] * 60}


def lost(measure: str, questions: int) -> dict[str, list[float]]:
    return {**GOOD, measure: [0.0] * questions + [1.0] * (60 - questions)}


def test_each_part_is_judged_by_the_measure_that_it_can_move() -> None:
    found = cells(
        suite(**{DEFAULT_VARIANT: GOOD, "no_definition_edges": lost("R@5", 6), "no_growth": lost("span", 12)}), "span"
    )
    assert found[DEFAULT_VARIANT] == "R@5 100.0, span 100.0"
    assert found["no_definition_edges"].startswith("-10.0 [")
    assert found["no_growth"].startswith("-20.0 [")


def test_parts_of_quoting_do_not_weaken_what_is_said_of_ranking() -> None:
    ranking = {name: lost("R@5", 8) for name in OF_RANKING[:6]}
    alone = cells(suite(**{DEFAULT_VARIANT: GOOD, **ranking}), "answer")
    beside = cells(suite(**{DEFAULT_VARIANT: GOOD, **ranking, **dict.fromkeys(sorted(OF_QUOTING), GOOD)}), "answer")
    assert all(alone[name].endswith("*") for name in ranking)  # p = 2/256 is sure among six, and not among eight
    assert {name: beside[name] for name in ranking} == {name: alone[name] for name in ranking}
