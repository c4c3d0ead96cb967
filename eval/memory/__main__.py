"""What the memory finds in long conversations, beside baselines over the same turns: ``make eval-memory``.

    python -m eval.memory [--data DIR] [--work DIR] [--only NAME,…] [--stored] [--json FILE]

Every turn is stored as ``memory_store`` stores it (kind ``turn``, speaker, time), the questions are asked as
``memory_retrieve`` asks them, each within its chat. The baselines rank the same turns: BM25, the bare vector search,
and the reciprocal rank fusion of both. See README.md for the measures and the figures.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt

from eval.dev import data_parser
from eval.memory.conversations import (
    PREDICATES,
    Conversations,
    Question,
    Turn,
    changing_facts,
    generate_chats,
    read_beam,
    read_lihua,
)
from eval.memory.relevance import print_relevance
from graphctx.eval.compare import Comparison, compare
from graphctx.eval.records import Golden, Outcome, SuiteRun
from graphctx.memory import (
    Memory,
    MemoryDraft,
    MemoryItem,
    MemoryQuery,
    MemoryScope,
    Moment,
    assemble_block,
)
from graphctx.memory.facts import fact_key
from graphctx.memory.store import item_of
from graphctx.nlp.embedders import make_embedder
from graphctx.nlp.tokens import AnswerCounter
from graphctx.text.lexical import terms

BUDGETS = (500, 1000, 3000)
OURS, BASELINES = "memory", ("bm25", "vector", "rrf")
RRF_K = 60
"""Cormack, Clarke & Büttcher 2009."""

Scores = npt.NDArray[np.float64]


def main() -> int:
    """Ask every set that is there, and print the tables."""
    parser = data_parser(__doc__ or "")
    parser.add_argument("--only", default="beam_dev,lihua_world,lihua_lines,generated,facts", metavar="NAME,…")
    parser.add_argument("--stored", action="store_true", help="ask the memories that an earlier run stored, if it did")
    parser.add_argument("--json", type=Path, help="write the measures of every question to this file")
    asked = parser.parse_args()
    wanted = asked.only.split(",")
    readers: dict[str, Callable[[], Conversations]] = {
        "beam_dev": lambda: read_beam(asked.data / "beam_dev"),
        "lihua_world": lambda: read_lihua(asked.data / "lihua_world", by_line=False),
        "lihua_lines": lambda: read_lihua(asked.data / "lihua_world", by_line=True),
        "generated": generate_chats,
    }
    runs: list[SuiteRun] = []
    sets: dict[str, Conversations] = {}
    for name, read in readers.items():
        try:
            sets[name] = read()
        except OSError as error:
            print(f"{name}: skipped, {error.filename} cannot be read: {error.strerror}\n")
    for name, found in sets.items():
        if name not in wanted:
            continue
        chats = {turn.chat for turn in found.turns}
        strangers = [one for other in sets.values() for one in other.questions if one.chat not in chats]
        run, history = run_set(found, asked.work / "memory", strangers, stored=asked.stored)
        print_set(run, history)
        runs.append(run)
    if len(runs) > 1:
        joined = {name: [one for run in runs for one in run.outcomes[name]] for name in (OURS, *BASELINES)}
        print_set(SuiteRun("the sets together", "", joined), [])
    if "facts" in wanted:
        print_facts()
    if asked.json:
        records = {
            run.suite: {name: [one.measures for one in outcomes] for name, outcomes in run.outcomes.items()}
            for run in runs
        }
        asked.json.write_text(json.dumps(records, indent=1), encoding="utf-8")
    return 0


class Baselines:
    """Rankings of the turns of one chat."""

    def __init__(self, turns: Sequence[Turn], vectors: npt.NDArray[np.float32]) -> None:
        self._vectors = vectors
        self._counts = [Counter(terms(turn.text)) for turn in turns]
        self._lengths = np.array([sum(each.values()) for each in self._counts], float)
        self._df = Counter(term for each in self._counts for term in each)

    def bm25(self, question: str) -> Scores:
        """Robertson & Zaragoza 2009, k1 1.5 and b 0.75."""
        n, scores = len(self._counts), np.zeros(len(self._counts))
        norm = 1.5 * (0.25 + 0.75 * self._lengths / max(1.0, self._lengths.mean()))
        for term in set(terms(question)):
            idf = math.log1p((n - self._df[term] + 0.5) / (self._df[term] + 0.5))
            count = np.array([each[term] for each in self._counts], float)
            scores += idf * 2.5 * count / (count + norm)
        return scores

    def rankings(self, question: str, vector: npt.NDArray[np.float32]) -> dict[str, list[int]]:
        """Return the turns of each baseline, the best first."""
        words, cosine = self.bm25(question), (self._vectors @ vector).astype(float)
        ranks = [np.argsort(np.argsort(-each, kind="stable")) + 1 for each in (words, cosine)]
        fused = sum(1 / (RRF_K + each) for each in ranks)
        scores = zip(BASELINES, (words, cosine, fused), strict=True)
        return {name: np.argsort(-each, kind="stable").tolist() for name, each in scores}


def run_set(
    found: Conversations, work: Path, strangers: Sequence[Question], *, stored: bool
) -> tuple[SuiteRun, list[tuple[int, int]]]:
    """Store and ask a set, and print how many questions of other conversations, ``strangers``, have an empty answer.

    With ``stored`` a memory of an earlier run is asked, which no use changed.

    Returns:
        The measures of each question, and the tokens of block and raw history that hold the same of its answer.
    """
    embedder, counter = make_embedder(), AnswerCounter()
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    histories = []
    work.mkdir(parents=True, exist_ok=True)
    stem = f"{found.name}-{embedder.fingerprint.replace(':', '-')}"
    if not stored:
        shutil.rmtree(work / stem, ignore_errors=True)
    with Memory(work / stem, embedder=embedder) as memory:
        keys = store(memory, found.turns)
        print_relevance(memory, embedder, found, keys, strangers)
        texts = [turn.text for turn in found.turns]
        cached = work / f"{stem}.npy"
        if not cached.exists():
            np.save(cached, embedder.embed(texts))
        vectors = np.load(cached)
        chats: dict[str, list[int]] = defaultdict(list)
        for number, turn in enumerate(found.turns):
            chats[turn.chat].append(number)
        baselines = {chat: Baselines([found.turns[at] for at in own], vectors[own]) for chat, own in chats.items()}
        said = [(frozenset(terms(text)), n) for text, n in zip(texts, counter.count_many(texts), strict=True)]
        for question in found.questions:
            own = chats[question.chat]
            now = Moment(max(found.turns[at].at for at in own) + timedelta(days=1))
            query = MemoryQuery(question.text, MemoryScope(project=question.chat), now, limit=20)
            hits = memory.search(query, record_use=False).hits
            blocks = {
                size: assemble_block(memory, query, size, counter.count, record_use=False).text for size in BUDGETS
            }
            ranked = [keys.get(hit.item.id, hit.item.id) for hit in hits]
            outcomes[OURS].append(measure(question, ranked, blocks))
            vector = embedder.embed([question.text])[0]
            for name, order in baselines[question.chat].rankings(question.text, vector).items():
                turns = [found.turns[own[at]] for at in order[:50]]
                blocks_of = {size: filled(turns, size, counter) for size in BUDGETS}
                outcomes[name].append(measure(question, [turn.gold for turn in turns], blocks_of))
            needed = history_tokens(question, blocks[1000], [said[at] for at in reversed(own)])
            if needed:
                histories.append((counter.count(blocks[1000]), needed))
    return SuiteRun(found.name, "", dict(outcomes)), histories


def store(memory: Memory, turns: Sequence[Turn]) -> dict[str, str]:
    """Store the turns that are absent one by one, the chats at the same time; return the gold key of each item."""
    chats: dict[str, list[tuple[Turn, MemoryItem]]] = defaultdict(list)
    for turn in turns:
        scope = MemoryScope(project=turn.chat, session=turn.session)
        chats[turn.chat].append((turn, item_of(draft_of(turn), scope, Moment(turn.at), memory.settings)))

    def add(chat: str) -> None:
        scope = MemoryScope(project=chat)
        known = {item.id for item in memory.everything(scope)[0]}
        for turn, item in chats[chat]:
            if item.id not in known:
                memory.add([draft_of(turn)], replace(scope, session=turn.session), Moment(turn.at))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(add, chats))
    return {item.id: turn.gold for pairs in chats.values() for turn, item in pairs}


def draft_of(turn: Turn) -> MemoryDraft:
    """Return a turn as `memory_store` stores it."""
    return MemoryDraft("turn", turn.text, author=turn.speaker, source="user")


def measure(question: Question, ranked: Sequence[str], blocks: dict[int, str]) -> Outcome:
    """Return R@5 and R@10 of a question with gold, and how much of its answer the blocks hold."""
    measures = {}
    if question.gold:
        for k in (5, 10):
            measures[f"R@{k}"] = len(question.gold & set(ranked[:k])) / len(question.gold)
        wanted = answer_terms(question)
        if wanted:
            for size, block in blocks.items():
                measures[f"answer@{size}"] = len(wanted & set(terms(block))) / len(wanted)
    golden = Golden(question.id, question.text, question.type, question.answers)
    return Outcome(golden, tuple(ranked), question.gold, (), measures)


def answer_terms(question: Question) -> set[str]:
    """Return the words of the answer that the question does not have."""
    return set(terms(" ".join(question.answers))) - set(terms(question.text))


def filled(turns: Iterable[Turn], budget: int, counter: AnswerCounter) -> str:
    """Return ranked turns as entries of a block, as many as fit."""
    entries, left = [], budget
    for turn in turns:
        entry = f"[Turn: {turn.at:%Y-%m-%d %H:%M}{turn.speaker and f', {turn.speaker}'}] {turn.text}"
        tokens = counter.count(entry) + 1
        if tokens <= left:
            entries.append(entry)
            left -= tokens
    return "\n".join(entries)


def history_tokens(question: Question, block: str, newest_first: Sequence[tuple[frozenset[str], int]]) -> int:
    """Return the tokens of the shortest recent history that holds as many words of the answer as a block; 0 if none.

    ``newest_first`` has the words and the number of tokens of each turn.
    """
    wanted = answer_terms(question)
    left, tokens = len(wanted & set(terms(block))), 0
    if not (left and question.gold):
        return 0
    for words, count in newest_first:
        found = wanted & words
        wanted -= found
        left, tokens = left - len(found), tokens + count
        if left <= 0:
            break
    return tokens


def print_set(run: SuiteRun, histories: Sequence[tuple[int, int]]) -> None:
    """Print the measures by type of question, and the comparisons with the baselines."""
    types = sorted({one.golden.type for one in run.outcomes[OURS] if one.measures})
    names = list(dict.fromkeys(name for one in run.outcomes[OURS] for name in one.measures))
    print(f"## {run.suite}\n\n| type | n | method | {' | '.join(names)} |\n|---|--:|---|{'--:|' * len(names)}")
    for kind in (*types, ""):
        for method, outcomes in run.outcomes.items():
            asked = [one for one in outcomes if one.measures and kind in ("", one.golden.type)]
            cells = []
            for name in names:
                values = [one.measures[name] for one in asked if name in one.measures]
                cells.append(f"{100 * fmean(values):.1f}" if values else "")
            print(f"| {kind or '**all**'} | {len(asked)} | {method} | {' | '.join(cells)} |")
    print("\n| measure | against | difference | 95 % interval | p |\n|---|---|--:|---|--:|")
    for one in differences(run):
        low, high = 100 * one.low, 100 * one.high
        print(
            f"| {one.measure} | {one.against} | {100 * one.difference:+.1f} | {low:+.1f} to {high:+.1f} "
            f"| {one.p_value:.4f} |"
        )
    if histories:
        block, history = (fmean(each) for each in zip(*histories, strict=True))
        print(
            f"\nA block of {block:.0f} tokens holds as much of the answer as the last {history:.0f} tokens of the "
            f"history: {history / block:.1f} to 1 ({len(histories)} questions)."
        )
    print(flush=True)


def differences(run: SuiteRun) -> list[Comparison]:
    """Return how the memory differs from each baseline, by measure."""
    found = [
        one
        for name in BASELINES
        for one in compare(SuiteRun(run.suite, "", {OURS: run.outcomes[OURS], name: run.outcomes[name]}), name)
    ]
    return sorted(found, key=lambda one: (one.measure.startswith("a"), len(one.measure), one.measure))


def print_facts() -> None:
    """Store statements and corrections, and ask the value of each at a date, and the history of each attribute."""
    periods = changing_facts()
    scope = MemoryScope(project="facts")
    held = listed = n_values = 0
    missed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder)) as memory:
        items: list[MemoryItem] = []
        for period in periods:
            draft = MemoryDraft("fact", period.statement)
            items.append(memory.add([draft], scope, Moment(period.since))[0].item)
        for period in periods:
            predicate = PREDICATES.get(period.attribute, period.attribute)
            at = period.since + ((period.until or period.since + timedelta(days=30)) - period.since) / 2
            values = {fact_key(one.object) for one in memory.facts.value_at(period.entity, predicate, at, scope)}
            ours = values == {fact_key(period.value)}
            held += ours
            if not ours:
                missed[f"{period.statement} -> {sorted(values)}"] += 1
            n_values += 1
            listed += any(
                fact_key(one.object) == fact_key(period.value) and one.temporal_start == period.since
                for one in memory.facts.timeline(period.entity, predicate, scope)
            )
    print(f"## facts in time\n\n| {n_values} statements and corrections | found |\n|---|--:|")
    print(f"| the value, and no other, that holds at a date | {100 * held / n_values:.1f} % |")
    print(f"| the history: value and since when | {100 * listed / n_values:.1f} % |\n")
    for line, _ in missed.most_common(60):
        print(f"- missed: {line}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
