"""Copies of corpora from which the answers of some questions are cut, so that nothing there answers them any more.

What is left is what makes an unanswerable question hard: the passage that the question is about, without the
sentences that answer it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from graphctx.text.sentences import split_sentences

MAX_CUT = 250
"""Questions of one set at most."""
LEFT = 80
"""Characters that must be left of a passage."""

Row = Mapping[str, Any]


def cut_set(folder: Path, target: Path) -> Path:
    """Write a suite of questions without answers: a cut ``corpus.jsonl`` and the questions that it no longer answers.

    Gold spans are cut by whole sentences; where a set has none, the sentences of its gold passages that say an answer
    or an answer to a step. Passages lose the answers of one question only, but for passages as long as a book.

    Args:
        folder: ``corpus.jsonl`` with ``questions.jsonl``.
        target: a folder to write.
    """
    passages = {row["id"]: row for row in _read(folder / "corpus.jsonl")}
    asked = [row for row in _read(folder / "questions.jsonl") if row.get("answerable", True) and row["gold_ids"]]
    used: set[str] = set()
    cuts: dict[str, set[tuple[int, int]]] = {}
    chosen: list[Row] = []
    for row in sorted(asked, key=lambda row: _order(row["id"])):
        gold = [passages[name] for name in row["gold_ids"]]
        is_book = any(len(passage["text"]) > 20_000 for passage in gold)
        if len(chosen) == MAX_CUT or (not is_book and used & set(row["gold_ids"])):
            continue
        if is_book and _order(row["id"]).startswith(tuple("56789abcdef")):
            continue  # a third of the questions: the others keep their answers
        own = {passage["id"]: _answering(row, passage) for passage in gold}
        if not any(own.values()) or any(len(_without(passage["text"], own[passage["id"]])) < LEFT for passage in gold):
            continue
        used.update(row["gold_ids"])
        chosen.append({"id": row["id"], "question": row["question"], "type": "cut", "answerable": False})
        for name, spans in own.items():
            cuts.setdefault(name, set()).update(spans)
    corpus = [{**row, "text": _without(row["text"], cuts.get(row["id"], ()))} for row in passages.values()]
    _write(target / "corpus.jsonl", corpus)
    _write(target / "questions.jsonl", chosen)
    return target


def cut_folder(golden: Path, corpus: Path, target: Path) -> tuple[Path, Path]:
    """The same for a golden file over a folder of text files; a question with gold in another kind of file stays out.

    Returns:
        The questions and the folder of documents.
    """
    documents = target / corpus.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(corpus, documents)
    chosen: list[Row] = []
    for row in sorted(_read(golden), key=lambda row: _order(row["id"])):
        texts: dict[Path, str] = {}
        for span in row["gold_spans"]:
            path = documents / span["doc"]
            text = texts.get(path) or ("" if path.suffix in (".pdf", ".docx") else path.read_text("utf-8"))
            texts[path] = text.replace(span["text"], "") if text.count(span["text"]) == 1 else ""
        if not texts or not all(texts.values()):
            continue
        for path, text in texts.items():
            path.write_text(text, "utf-8")
        chosen.append({"id": row["id"], "question": row["question"], "type": "cut", "answerable": False})
    _write(target / "questions.jsonl", chosen)
    return target / "questions.jsonl", documents


def _answering(row: Row, passage: Row) -> set[tuple[int, int]]:
    """The sentences of a passage that answer a question."""
    text = passage["text"]
    sentences = split_sentences(text)
    if row.get("gold_spans"):
        spans = [(span["start"], span["end"]) for span in row["gold_spans"] if span["id"] == passage["id"]]
        return {(a, b) for a, b in sentences if any(a < end and b > start for start, end in spans)}
    said = [*row["answers"], *(answer for _, answer in row.get("decomposition", ()))]
    return {(a, b) for a, b in sentences if any(answer.casefold() in text[a:b].casefold() for answer in said)}


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text.strip()


def _order(name: str) -> str:
    """A place in an order that depends on nothing but the name."""
    return hashlib.sha256(str(name).encode()).hexdigest()


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _write(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
