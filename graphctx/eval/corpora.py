"""The knowledge base that a suite is asked of: one that is there, or one that is ingested for it and kept."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.eval.golden import objects
from graphctx.eval.suites import CORPUS

if TYPE_CHECKING:
    from graphctx.eval.suites import Suite
    from graphctx.ingest.report import OnProgress
    from graphctx.knowledge_base import KnowledgeBase


def open_for(
    suite: Suite,
    *,
    kb: Path | None,
    default_kb: Path,
    work: Path,
    on_progress: OnProgress | None = None,
) -> KnowledgeBase:
    """Open the knowledge base of a suite.

    Args:
        suite: what will be asked.
        kb: ask this one, and ingest nothing.
        default_kb: ask this one where neither ``kb`` nor the suite says anything.
        work: where knowledge bases that are ingested for suites are kept. A document that has not changed since is
            taken as it is, one that is gone is dropped.
        on_progress: of an ingest.

    Raises:
        InvalidArgument: nothing in the corpus can be read.
        BackendUnavailable: the knowledge base cannot be opened, or nothing is published in it.
    """
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.retrieve.searcher import nothing_published

    if kb is not None or suite.corpus is None:
        base = KnowledgeBase.open(kb or default_kb)
        if not base.snapshot_id:
            raise nothing_published()
        return base
    place = suite.corpus.resolve()
    name = place.parent.name if place.name == CORPUS else place.stem
    own = f"{kept_name(name, place)}{'-blank' if suite.blank_titles else ''}"
    source = _without_titles(place, work / f"{own}-corpus") if suite.blank_titles else place
    base = KnowledgeBase.open(work / own, create=True, project_id=name or "suite")
    base.ingest([source], prune=True, on_progress=on_progress)
    return base


def kept_name(name: str, corpus: Path) -> str:
    """What a kept knowledge base is called: suites over one corpus share it, two corpora of one name do not."""
    return f"{name}-{hashlib.sha256(str(corpus.resolve()).encode()).hexdigest()[:6]}"


def _without_titles(corpus: Path, folder: Path) -> Path:
    """A copy of a JSONL corpus with empty titles."""
    lines = (json.dumps({**row, "title": ""}, ensure_ascii=False) for _, row in objects(corpus))
    text = "".join(f"{line}\n" for line in lines)
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / corpus.name
    copy.write_text(text, "utf-8")
    return copy
