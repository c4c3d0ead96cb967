"""From suites to runs, comparisons of variants and the worst questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphctx.eval.ask import OnAsked, run_suite
from graphctx.eval.golden import objects
from graphctx.eval.suites import CORPUS, ENTITIES
from graphctx.retrieve.variants import DEFAULT_VARIANT

if TYPE_CHECKING:
    from graphctx.eval.compare import Comparison
    from graphctx.eval.entities import EntityRun
    from graphctx.eval.records import SuiteRun
    from graphctx.eval.suites import Suite
    from graphctx.eval.worst import Miss
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

    Suites over one corpus share a knowledge base; two corpora of one name do not.

    Args:
        suite: the suite to ask.
        kb: the knowledge base to ask; nothing is ingested.
        default_kb: the knowledge base to ask if neither ``kb`` nor the suite names any.
        work: folder of the knowledge bases that are ingested for suites. Unchanged documents are reused, and documents
            that are gone are dropped.
        on_progress: of an ingest.

    Raises:
        InvalidArgument: nothing in the corpus can be read.
        BackendUnavailable: the knowledge base cannot be opened, or nothing is published in it.
    """
    from graphctx.eval.entities_gold import has_texts, read_gold
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.retrieve.searcher import nothing_published

    marked = read_gold(suite.path) if suite.kind == "entities" and kb is None and suite.corpus is None else []
    own_texts = bool(marked) and has_texts(marked)
    if kb is not None or (suite.corpus is None and not own_texts):
        base = KnowledgeBase.open(kb or default_kb)
        if not base.snapshot_id:
            raise nothing_published()
        return base
    origin = (suite.corpus or suite.path).resolve()
    name = origin.parent.name if origin.name in (CORPUS, ENTITIES) else origin.stem
    own = f"{name}-{hashlib.sha256(str(origin).encode()).hexdigest()[:6]}"
    source = origin
    if own_texts:
        own += "-entities"
        rows = ({key: row.get(key, "") for key in ("id", "title", "text")} for row in marked)
        source = _write_rows(work / f"{own}-corpus" / f"{name}.jsonl", rows)
    elif suite.blank_titles:
        own += "-blank"
        source = _write_rows(work / f"{own}-corpus" / origin.name, ({**row, "title": ""} for _, row in objects(origin)))
    base = KnowledgeBase.open(work / own, create=True, project_id=name or "suite")
    base.ingest([source], prune=True, on_progress=on_progress)
    return base


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Where:
    """The knowledge base to ask; see `open_for`."""

    kb: Path | None
    default_kb: Path
    work: Path


@dataclass(slots=True)
class Measured:
    """Everything that one command measures.

    Attributes:
        runs: suites of questions, in the order in which they were named.
        comparisons: of the variants of each run.
        misses: suite to its worst questions, if they were asked for.
        entities: suites of entities.
    """

    runs: list[SuiteRun] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    misses: dict[str, list[Miss]] = field(default_factory=dict)
    entities: list[EntityRun] = field(default_factory=list)

    def add(
        self,
        suite: Suite,
        variants: Sequence[str],
        where: Where,
        *,
        ranking_only: Sequence[str] = (),
        with_misses: bool = False,
        on_progress: OnProgress | None = None,
        on_asked: OnAsked | None = None,
    ) -> None:
        """Measure one suite.

        Args:
            suite: of questions, of questions with points, or of entities.
            variants: for questions; suites with points and of entities have none.
            where: the knowledge base.
            ranking_only: variants that are not asked for quotes.
            with_misses: find the stage at which the worst questions lost their gold.
            on_progress: of an ingest.
            on_asked: called after each question.

        Raises:
            InvalidArgument: the suite does not fit its knowledge base, or there is no such variant.
            BackendUnavailable: the knowledge base cannot be opened.
        """
        with open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=on_progress) as kb:
            if suite.kind == "entities":
                from graphctx.eval.entities import run_entity_suite

                # All suites in folders have files of one name: the folder's name tells them apart.
                path = suite.path.parent if suite.path.name == ENTITIES else suite.path
                self.entities.append(run_entity_suite(path, kb))
                return
            if suite.kind == "points":
                from graphctx.eval.global_ask import run_global_suite

                run = run_global_suite(suite, kb, on_asked=on_asked)
            else:
                run = run_suite(suite, kb, variants, ranking_only=ranking_only, on_asked=on_asked)
            self.runs.append(run)
            if len(run.outcomes) > 1:
                from graphctx.eval.compare import compare

                self.comparisons += compare(run, reference(run))
            if with_misses and suite.kind == "questions":
                from graphctx.eval.worst import worst

                self.misses[suite.name] = worst(run, kb, reference(run))


def reference(run: SuiteRun) -> str:
    """Return the variant that others are compared with: the default one, or the first if it was not run."""
    return DEFAULT_VARIANT if DEFAULT_VARIANT in run.outcomes else next(iter(run.outcomes))
