"""The examples that confidence is fitted on: quotes, each with its features and whether it is gold.

Every quote that the questions of the development sets get is one example: its features, and whether it is gold: it
is in a gold document and touches one of its gold spans, if there are any. Questions are asked in up to four ways:

full    as they are; some sets have questions without an answer of their own
hidden  with the gold passages out of scope (of the handbook: the gold documents)
cut     in a copy of the corpus that has lost the sentences which answer them (`cut_set`)
off     questions of other sets

In all but the first nothing answers them, and no quote is gold.

A cut corpus keeps what makes an unanswerable question hard: the passage that the question is about.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from graphctx.eval.golden import bind
from graphctx.eval.records import Golden
from graphctx.eval.run import open_for
from graphctx.eval.suites import Suite
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import RetrieveInput
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.arrays import Mask
from graphctx.retrieve.confidence import Confidence
from graphctx.retrieve.ranking import quoted_units
from graphctx.retrieve.searcher import Searcher
from graphctx.retrieve.selection import Selected, select_sentences
from graphctx.retrieve.sentences import SentencePool
from graphctx.retrieve.variants import DEFAULT
from graphctx.settings import RetrieveSettings
from graphctx.text.sentences import split_sentences

T = TypeVar("T")

MOST = 300
"""Questions that are asked of a set as they are, evenly chosen; all of those with unanswerable ones."""


@dataclass(frozen=True, slots=True)
class Example:
    """One quote: of which question, asked how, whether that has an answer, whether the quote is gold, its features."""

    question: str
    way: str
    answerable: bool
    gold: bool
    features: tuple[float, ...]


class _Quoting:
    """Asks one knowledge base at the defaults of ``retrieve_evidence``."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.index, self._boundary = kb.searcher().index, kb.searcher().boundary
        self._tokens = WordPieceCounter()

    def ask(self, one: Golden, way: str, answerable: bool, gold: Mask, hidden: Mask | None) -> Iterator[Example]:
        """Yield an example for each quote; ``hidden`` are units whose documents are left out."""
        asked, index = RetrieveInput(question=one.question), self.index
        if hidden is not None:
            documents = np.ones(index.documents.num_rows, dtype=bool)
            documents[index.walk.unit_doc[hidden]] = False
            index = index.part(documents)
        searcher = Searcher(index, self._boundary, self._tokens, RetrieveSettings())
        ranked = searcher.rank(one.question)
        if not isinstance(ranked, tuple):
            return
        question, ranking = ranked
        positions = quoted_units(index, ranking, asked.top_k, RetrieveSettings().max_per_document)
        pool, selected = select_sentences(
            index,
            question,
            ranking,
            positions,
            max_units=asked.top_k,
            max_quotes=asked.max_quotes,
            max_quote_tokens=asked.max_quote_tokens,
            weights=DEFAULT.selection,
            tokens=self._tokens,
        )
        if not selected:
            return
        rows = ranking.rows[positions]
        sure = Confidence.of(index, question, ranking, positions, pool)
        for run in selected:
            unit = int(rows[pool.unit[run.first]])
            is_gold = answerable and self._touches(one, gold, unit, pool, run)
            yield Example(one.id, way, answerable, is_gold, tuple(sure.run(run.first, run.last).tolist()))

    def _touches(self, one: Golden, gold: Mask, unit: int, pool: SentencePool, run: Selected) -> bool:
        """Return whether a quote is in a gold passage and touches a gold span, if its document has gold spans."""
        document, start, end = pool.documents[run.first], int(pool.start[run.first]), int(pool.end[run.last])
        spans = [span for span in one.gold_spans if span.doc_uri == document.uri]
        touches = any(start < span.end_char and end > span.start_char for span in spans)
        return bool(gold[unit]) and (touches or not spans)

    def gold(self, one: Golden, whole_documents: bool = False) -> Mask:
        """Return the units that are gold."""
        walk, units = self.index.walk, self.index.units
        start, end = units["start_char"].to_numpy(), units["end_char"].to_numpy()
        gold = np.zeros(walk.n_units, dtype=bool)
        for uri in one.gold_docs:
            here = walk.unit_doc == self.index.document(uri).row
            spans = [span for span in one.gold_spans if span.doc_uri == uri]
            if spans and here.sum() > 1 and not whole_documents:
                here &= np.any([(start < span.end_char) & (end > span.start_char) for span in spans], axis=0)
            gold |= here
        return gold


def gather(name: str, suite: Suite, foreign: Sequence[Golden], work: Path) -> Iterator[Example]:
    """Ask a set in every way but ``cut``."""
    with open_for(suite, kb=None, default_kb=work, work=work) as kb:
        golden = bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix)
        quoting = _Quoting(kb)
        mixed = any(not one.answerable for one in golden)
        for one in golden if mixed else evenly(golden, MOST):
            gold = quoting.gold(one)
            yield from quoting.ask(one, "full", one.answerable, gold, None)
            hidden = quoting.gold(one, whole_documents=name == "handbook")
            if hidden.any() and not hidden.all():
                yield from quoting.ask(one, "hidden", False, gold, hidden)
        for one in foreign:
            yield from quoting.ask(one, "off", False, np.zeros(quoting.index.walk.n_units, dtype=bool), None)


def gather_cut(suite: Suite, work: Path) -> Iterator[Example]:
    """Ask the questions whose answers were cut out of a corpus."""
    with open_for(suite, kb=None, default_kb=work, work=work) as kb:
        quoting = _Quoting(kb)
        for one in bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix):
            yield from quoting.ask(one, "cut", False, np.zeros(quoting.index.walk.n_units, dtype=bool), None)


def evenly(items: Sequence[T], most: int) -> list[T]:
    """Return at most this many, at even distances."""
    step = max(1.0, len(items) / most)
    return [items[int(at * step)] for at in range(min(most, len(items)))]


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
    """Cut a folder of text files likewise; questions with gold in another kind of file are left out.

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
    """Return the sentences of a passage that answer a question."""
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
    """Return a place in an order that depends on nothing but the name."""
    return hashlib.sha256(str(name).encode()).hexdigest()


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _write(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
