"""The tables of the development sets, over a set that is made here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from eval_made import suite

from eval import ablation, dev
from eval.ablation import OF_QUOTING, OF_RANKING, cells
from eval.dev import DevSet, print_verdicts
from graphctx.retrieve.variants import DEFAULT_VARIANT

TEXTS = {
    "Ada": "Ada Merriweather was the first keeper of Gull Point. She was born in the village of Thornby.",
    "Thornby": "Thornby is a village on the Hestra. Its mayor is Piran Rowe.",
    "Kittiwake": "The Kittiwake is the boat of Gull Point. It was built in Saltby.",
    "Saltby": "Saltby is a harbour town. Its mayor is Maud Penrose.",
}


Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a script with arguments: its exit code, standard output and standard error."""

    def run(module: ModuleType, *arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", [module.__name__, *map(str, arguments)])
        try:
            code = module.main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, *capsys.readouterr()

    return run


@pytest.mark.slow
def test_a_set_is_shown_beside_what_it_must_show(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "hotpot_train100"
    folder.mkdir(parents=True)
    corpus = [{"id": name, "title": name, "text": text} for name, text in TEXTS.items()]
    questions = [
        {
            "id": "1",
            "question": "Who is mayor of Ada's birthplace?",
            "answers": ["Piran Rowe"],
            "gold_ids": ["Thornby"],
        },
        {"id": "2", "question": "Where was the Kittiwake built?", "answers": ["nowhere"], "gold_ids": ["Kittiwake"]},
    ]
    for name, rows in (("corpus", corpus), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    sets = "hotpot_train100,musique_train100"
    places = ("--data", tmp_path / "data", "--work", tmp_path / "work")
    code, out, err = command(dev, *places, "--only", sets, "--json", tmp_path / "o.json")
    assert "musique_train100: not below" in err
    lines = out.splitlines()
    variants = [line.split(" | ")[1] for line in lines if line.startswith("| hotpot_train100 | ")]
    assert variants[:5] == ["bm25", "vector", "rrf", "hybrid", "hybrid_local"]
    assert "| hotpot_train100 | all@10 ≥ 97.0 | 100.0 | yes |" in lines
    assert "| hotpot_train100:blank | R@5 ≥ 90.0 | 100.0 | yes |" in lines
    assert "| hotpot_train100 | answer@500 ≥ 82.0 | 50.0 | short |" in lines
    assert code == 1
    suites = [suite["suite"] for suite in json.loads((tmp_path / "o.json").read_text())["suites"]]
    assert suites == ["hotpot_train100", "hotpot_train100:blank"]


@pytest.mark.parametrize("module", [dev, ablation])
def test_sets_that_are_not_there_or_do_not_exist_are_named(
    command: Command, module: ModuleType, tmp_path: Path
) -> None:
    places = ("--data", tmp_path, "--work", tmp_path / "work")
    code, out, err = command(module, *places, "--only", "xquad_en")
    assert (code, out) == (1, "")
    assert "xquad_en: not below" in err
    assert "There is none of these sets" in err
    code, out, err = command(module, *places, "--only", "xquad_en,nonesuch")
    assert (code, out) == (2, "")
    assert "no such set: nonesuch; sets are musique_train100, " in err


def test_a_measure_that_a_set_does_not_have_falls_short(capsys: pytest.CaptureFixture[str]) -> None:
    shows = {"measures": {"R@5": {"mean": 0.75, "n": 4}}, "abstention": {}}
    suite = {"suite": "mine", "variants": {"bm25": shows, DEFAULT_VARIANT: shows}}
    wanted = DevSet("mine", {"R@5": 70, "AUROC": 0.8, "answer": 50}, ("R@5", "hit@1"))
    assert print_verdicts([wanted], [suite]) == 2
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| mine | R@5 ≥ 70.0 | 75.0 | yes |",
        "| mine | AUROC ≥ 0.80 | | not measured |",
        "| mine | answer ≥ 50.0 | | not measured |",
        "| mine | R@5 ≥ 75.0 (bm25) | 75.0 | yes |",
    ]


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
