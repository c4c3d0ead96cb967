"""How much of what a question needs is found: ``python -m eval.retrieval SUITE…``.

A suite is a folder with ``corpus.jsonl`` (``{id, title, text}``) and ``questions.jsonl`` (``{id, question, answers,
gold_ids}``), or ``handbook`` for the sample corpus with its golden questions. Each is ingested into a knowledge base
below ``--work`` (unchanged ones are taken as they are), and one row is printed:

R@k     recall of gold documents among the first k results, one result a document; all@k: all of them are there
hit@1   the first result is a gold document; MRR: mean reciprocal rank of the first gold document
answer  share of questions with an answer string inside the quotes of ``retrieve_evidence`` at its defaults (every
        string of a list); questions that are answered by yes or no are left out
span    share of gold spans that a quote touches
tokens  mean tokens of all quotes of a question
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from graphctx import KnowledgeBase
from graphctx.nlp.tokens import WordPieceCounter

HERE = Path(__file__).parent
COLUMNS = ("R@2", "R@5", "all@5", "all@10", "hit@1", "MRR", "answer", "span", "tokens")


@dataclass(slots=True)
class Tally:
    """Values of each measure, one for each question (or gold span) that it applies to."""

    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in COLUMNS})

    def add(self, name: str, value: float) -> None:
        self.values[name].append(value)

    def row(self) -> dict[str, float]:
        scale = {"tokens": 1}
        return {name: fmean(v) * scale.get(name, 100) if v else float("nan") for name, v in self.values.items()}


def questions(suite: str) -> Iterator[dict[str, Any]]:
    """The answerable questions, each with ``gold``: what a gold document's URI ends with."""
    handbook = suite == "handbook"
    path = HERE / "golden" / "handbook.jsonl" if handbook else Path(suite) / "questions.jsonl"
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        item["gold"] = item["gold_docs"] if handbook else [f"corpus.jsonl#{name}" for name in item["gold_ids"]]
        if item["gold"] and item.get("answerable", True):
            yield item


def measure(suite: str, work: Path, limit: int | None, mode: str) -> tuple[int, dict[str, float]]:
    """Ingest a suite and ask its questions."""
    handbook = suite == "handbook"
    source = HERE / "corpora" / "handbook" if handbook else Path(suite) / "corpus.jsonl"
    tally, tokens = Tally(), WordPieceCounter()
    with KnowledgeBase.open(work / Path(suite).name, create=True) as kb:
        kb.ingest([source])
        asked = list(questions(suite))[:limit]
        for item in asked:
            _rank(kb, item, mode, tally)
            _quote(kb, item, mode, tally, tokens)
    return len(asked), tally.row()


def _rank(kb: KnowledgeBase, item: dict[str, Any], mode: str, tally: Tally) -> None:
    gold = set(item["gold"])
    found = [result.doc_uri for result in kb.search(item["question"], top_k=10, mode=mode).results]  # type: ignore[arg-type]
    for k in (2, 5):
        tally.add(f"R@{k}", len(gold & set(found[:k])) / len(gold))
    for k in (5, 10):
        tally.add(f"all@{k}", gold <= set(found[:k]))
    tally.add("hit@1", bool(found) and found[0] in gold)
    tally.add("MRR", next((1 / rank for rank, uri in enumerate(found, 1) if uri in gold), 0.0))


def _quote(kb: KnowledgeBase, item: dict[str, Any], mode: str, tally: Tally, tokens: WordPieceCounter) -> None:
    quotes = kb.retrieve_evidence(item["question"], mode=mode).quotes  # type: ignore[arg-type]
    for quote in quotes:
        text = kb.document(quote.doc_uri).text
        if text[quote.start_char : quote.end_char] != quote.quote:
            raise AssertionError(f"a quote for {item['id']} does not slice back to {quote.doc_uri}")
    tally.add("tokens", sum(tokens.count_many([quote.quote for quote in quotes])))
    answers = [answer.casefold() for answer in item["answers"]]
    if answers and not set(answers) <= {"yes", "no"}:
        said = " ".join(quote.quote for quote in quotes).casefold()
        need = all if item.get("type") == "list" else any
        tally.add("answer", need(answer in said for answer in answers))
    for span in item.get("gold_spans") or []:
        uri = span.get("doc") or f"corpus.jsonl#{span['id']}"
        touched = (q.doc_uri == uri and q.start_char < span["end"] and q.end_char > span["start"] for q in quotes)
        tally.add("span", any(touched))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", default=["handbook"], metavar="SUITE")
    parser.add_argument("--work", type=Path, default=Path(".kb/eval"), help="where the knowledge bases are kept")
    parser.add_argument("--limit", type=int, help="ask only the first so many questions")
    parser.add_argument("--mode", choices=("auto", "vector_only", "hybrid_local"), default="auto")
    parser.add_argument("--json", action="store_true", help="print JSON lines")
    arguments = parser.parse_args()
    if not arguments.json:
        print(f"{'suite':20}{'n':>6}" + "".join(f"{name:>8}" for name in COLUMNS))
    for suite in arguments.suites:
        n, row = measure(suite, arguments.work, arguments.limit, arguments.mode)
        if arguments.json:
            print(json.dumps({"suite": Path(suite).name, "mode": arguments.mode, "n": n, **row}), flush=True)
        else:
            print(f"{Path(suite).name:20}{n:>6}" + "".join(f"{row[name]:>8.1f}" for name in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
