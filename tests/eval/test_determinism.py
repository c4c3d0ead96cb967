"""The proof of determinism, over a set that is made here: what it proves, and that it sees what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval import determinism
from eval.determinism import Asking, Build, answer_difference, arranged

TEXTS = {
    "Ada": "Ada Merriweather was the first keeper of Gull Point. She was born in the village of Thornby.",
    "Thornby": "Thornby is a village on the Hestra. Its mayor is Piran Rowe.",
    "Kittiwake": "The Kittiwake is the boat of Gull Point. It was built in Saltby.",
    "Saltby": "Saltby is a harbour town. Its mayor is Maud Penrose, who was born in Thornby.",
    "Gull Point": "Gull Point is a lighthouse. Maud Penrose lit its lamp after Ada Merriweather.",
}
QUESTIONS = ("Who is mayor of the village where Ada Merriweather was born?", "Where was the Kittiwake built?")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "keepers"
    folder.mkdir()
    corpus = [{"id": name, "title": name, "text": text} for name, text in TEXTS.items()]
    for name, rows in (("corpus", corpus), ("questions", [{"question": text} for text in QUESTIONS])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.slow
def test_a_small_set_gives_the_same_bytes_however_it_is_made_and_a_smaller_one_is_told_from_it(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, _, halves = determinism.BUILDS
    less = Build("less", 2, (0.5,), processes=1, hash_seed=5, threads=1)
    monkeypatch.setattr(determinism, "BUILDS", (whole, halves, less))
    askings = (
        Asking("as it is", hash_seed=0, threads=1),
        Asking("in halves", hash_seed=4, threads=4, reverse=True, callers=2),
        Asking("less", hash_seed=5, threads=1),
    )
    monkeypatch.setattr(determinism, "ASKINGS", askings)
    monkeypatch.setattr("sys.argv", ["determinism", str(suite), "--work", str(tmp_path / "work"), "--json"])
    assert determinism.main() == 1
    (proof,) = json.loads(capsys.readouterr().out)["suites"]
    assert (proof["suite"], proof["documents"], proof["questions"]) == ("keepers", 5, 2)
    for rows, digest in ((proof["builds"], "content_hash"), (proof["builds"], "files"), (proof["askings"], "digest")):
        first, second, third = (row[digest] for row in rows)
        assert first == second != third
    content, answers = proof["differences"]
    assert content == "less: table documents: 5 and 2 rows"
    assert answers.startswith(f"{askings[2]}: {QUESTIONS[0]!r}, search.")
    determinism.print_proofs([proof])
    printed = capsys.readouterr().out
    assert printed.count("DIFFERS: ") == 2
    assert "All the same" not in printed


def test_a_suite_without_documents_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps({"question": QUESTIONS[0]}))
    monkeypatch.setattr("sys.argv", ["determinism", str(tmp_path / "mine.jsonl"), "--work", str(tmp_path / "work")])
    assert determinism.main() == 2
    assert "mine does not say of which documents" in capsys.readouterr().err


def test_a_copy_holds_the_same_rows_in_another_order_and_the_first_half_of_them(suite: Path, tmp_path: Path) -> None:
    corpus = suite / "corpus.jsonl"
    given = corpus.read_text().splitlines()
    corpus.write_text("\n".join([*given, json.dumps({"id": "Ada", "title": "", "text": "Not the first of its id."})]))
    copy = arranged(corpus, tmp_path / "copy", 1, 1.0).read_text().splitlines()
    assert copy != given
    assert sorted(copy) == sorted(given)
    assert arranged(corpus, tmp_path / "half", 1, 0.5).read_text().splitlines() == copy[:2]


def test_the_first_difference_of_answers_is_named() -> None:
    def answers(score: float) -> list[list[str]]:
        return [[json.dumps({"n": 1}), "{}"], [json.dumps({"results": [{"score": 1.0}, {"score": score}]}), "{}"]]

    told = answer_difference(["a", "b"], answers(0.5), answers(0.25))
    assert told == "'b', search.results[1].score: 0.5 and 0.25"
    assert answer_difference(["a"], [['{"x":1,"y":2}', ""]], [['{"y":2,"x":1}', ""]]).endswith(
        "the order of its fields"
    )
