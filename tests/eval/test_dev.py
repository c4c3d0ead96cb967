"""The table of the development sets, over a set that is made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval.dev import print_verdicts
from eval.dev_sets import DevSet
from graphctx.retrieve.variants import DEFAULT_VARIANT

REPO = Path(__file__).resolve().parents[2]
TEXTS = {
    "Ada": "Ada Merriweather was the first keeper of Gull Point. She was born in the village of Thornby.",
    "Thornby": "Thornby is a village on the Hestra. Its mayor is Piran Rowe.",
    "Kittiwake": "The Kittiwake is the boat of Gull Point. It was built in Saltby.",
    "Saltby": "Saltby is a harbour town. Its mayor is Maud Penrose.",
}


def command(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=REPO,
        env={**os.environ, "PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_a_set_is_shown_beside_what_it_must_show(tmp_path: Path) -> None:
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
    done = command(
        "eval.dev",
        "--data",
        tmp_path / "data",
        "--work",
        tmp_path / "work",
        "--only",
        sets,
        "--json",
        tmp_path / "o.json",
    )
    assert "musique_train100: not below" in done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(" | ")[1] for line in lines if line.startswith("| hotpot_train100 | ")][:5] == [
        "bm25",
        "vector",
        "rrf",
        "hybrid",
        "hybrid_local",
    ]
    assert "| hotpot_train100 | all@10 ≥ 97.0 | 100.0 | yes |" in lines
    assert "| hotpot_train100:blank | R@5 ≥ 90.0 | 100.0 | yes |" in lines
    assert "| hotpot_train100 | answer@500 ≥ 82.0 | 50.0 | short |" in lines
    assert done.returncode == 1
    assert [suite["suite"] for suite in json.loads((tmp_path / "o.json").read_text())["suites"]] == [
        "hotpot_train100",
        "hotpot_train100:blank",
    ]


@pytest.mark.parametrize("module", ["eval.dev", "eval.ablation"])
def test_without_any_set_there_is_nothing_to_show(module: str, tmp_path: Path) -> None:
    done = command(module, "--data", tmp_path, "--work", tmp_path / "work", "--only", "xquad_en")
    assert done.returncode == 1
    assert "xquad_en: not below" in done.stderr
    assert "There is none of these sets" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("module", ["eval.dev", "eval.ablation"])
@pytest.mark.parametrize("only", ["xquad_en,nonesuch", ","])
def test_a_set_that_does_not_exist_is_named(module: str, only: str, tmp_path: Path) -> None:
    done = command(module, "--data", tmp_path, "--work", tmp_path / "work", "--only", only)
    assert done.returncode == 2
    assert f"no such set: {'nonesuch' if only != ',' else repr(only)}; sets are musique_train100, " in done.stderr
    assert done.stdout == ""


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
