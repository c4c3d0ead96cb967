"""One process of ``eval.determinism``: ``python -m eval.determinism_child build|answer``.

Arguments come as a JSON object on standard input, what is given goes as JSON to standard output.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from graphctx.ingest import workers
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.schema import UNHASHED_COLUMNS
from graphctx.store.snapshot import PARQUET_DIR, TABLES_DIR, open_snapshot

OWN_BYTES = ("graph.", f"{TABLES_DIR}/", *(f"{PARQUET_DIR}/{name}." for name in UNHASHED_COLUMNS))
"""How the names of files begin that may differ: those of the two databases hold random ids, and these tables say when
a document's file was written and what a community was called before. All others are the same, byte for byte."""


def build(kb: str, source: str, processes: int) -> dict[str, Any]:
    """Ingest, with workers however small the corpus is; give digests of the content and of the files."""
    workers.SIZE_FOR_MORE_WORKERS = 0
    with KnowledgeBase.open(kb, create=True, project_id="determinism") as base:
        report = base.ingest(source, prune=True, processes=processes)
    with open_snapshot(Path(kb)) as snapshot:
        files = snapshot.manifest.files
    kept = [(name, files[name].sha256) for name in sorted(files) if not name.startswith(OWN_BYTES)]
    digest = hashlib.sha256(json.dumps(kept).encode()).hexdigest()
    return {"content_hash": report.content_hash, "files": digest, "documents": report.documents}


def answer(kb: str, questions: Sequence[str], reverse: bool, callers: int) -> list[list[str]]:
    """Give the JSON of `search` and of `retrieve_evidence` for each question, in the order given.

    The id of the snapshot is taken out: where the content differs, only what follows from it shall be told.
    """
    with KnowledgeBase.open(kb) as base:

        def ask(question: str) -> list[str]:
            found = base.search(question, top_k=10, include_scores=True)
            evidence = base.retrieve_evidence(question, include_diagnostics=True)
            return [one.model_dump_json().replace(base.snapshot_id, "SNAPSHOT") for one in (found, evidence)]

        with ThreadPoolExecutor(callers) as pool:
            answers = list(pool.map(ask, questions[::-1] if reverse else questions))
        return answers[::-1] if reverse else answers


if __name__ == "__main__":
    work: dict[str, Callable[..., Any]] = {"build": build, "answer": answer}
    json.dump(work[sys.argv[1]](**json.load(sys.stdin)), sys.stdout)
