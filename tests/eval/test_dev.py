"""The table of the development sets, over a set that is made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
TEXTS = {
    "Ada": "Ada Merriweather was the first keeper of Gull Point. She was born in the village of Thornby.",
    "Thornby": "Thornby is a village on the Hestra. Its mayor is Piran Rowe.",
    "Kittiwake": "The Kittiwake is the boat of Gull Point. It was built in Saltby.",
    "Saltby": "Saltby is a harbour town. Its mayor is Maud Penrose.",
}


def dev(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eval.dev", *map(str, arguments)],
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
    done = dev("--data", tmp_path / "data", "--work", tmp_path / "work", "--only", sets, "--json", tmp_path / "o.json")
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


def test_without_any_set_nothing_falls_short(tmp_path: Path) -> None:
    done = dev("--data", tmp_path, "--work", tmp_path / "work", "--only", "xquad_en")
    assert done.returncode == 0
    assert "xquad_en: not below" in done.stderr
