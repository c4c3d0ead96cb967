"""From suites to everything that is known of them: runs, comparisons of variants, the worst questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.eval.ask import OnAsked, run_suite
from graphctx.eval.corpora import open_for
from graphctx.eval.suites import ENTITIES
from graphctx.retrieve.variants import DEFAULT_VARIANT

if TYPE_CHECKING:
    from graphctx.eval.compare import Comparison
    from graphctx.eval.entities import EntityRun
    from graphctx.eval.records import SuiteRun
    from graphctx.eval.suites import Suite
    from graphctx.eval.worst import Miss
    from graphctx.ingest.report import OnProgress


@dataclass(frozen=True, slots=True)
class Where:
    """Which knowledge base is asked: see `graphctx.eval.corpora.open_for`."""

    kb: Path | None
    default_kb: Path
    work: Path


@dataclass(slots=True)
class Measured:
    """What one command has measured.

    Attributes:
        runs: of suites of questions, in the order in which they were named.
        comparisons: of the variants of each run.
        misses: suite to its worst questions, where they were asked for.
        entities: of suites of entities.
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
            variants: names of recipes, for questions; those with points and entities have none.
            where: the knowledge base.
            ranking_only: variants of which no quotes are asked for.
            with_misses: look up at which stage the worst questions lost their gold.
            on_progress: of an ingest.
            on_asked: told after each question.

        Raises:
            InvalidArgument: the suite does not fit its knowledge base, or there is no such variant.
            BackendUnavailable: the knowledge base cannot be opened.
        """
        if suite.kind == "entities":
            self._add_entities(suite, where, on_progress)
            return
        from graphctx.eval.compare import compare

        with open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=on_progress) as kb:
            if suite.kind == "points":
                from graphctx.eval.global_ask import run_global_suite

                run = run_global_suite(suite, kb, on_asked=on_asked)
            else:
                run = run_suite(suite, kb, variants, ranking_only=ranking_only, on_asked=on_asked)
            self.runs.append(run)
            if len(run.outcomes) > 1:
                self.comparisons += compare(run, reference(run))
            if with_misses and suite.kind == "questions":
                from graphctx.eval.worst import worst

                self.misses[suite.name] = worst(run, kb, reference(run))

    def _add_entities(self, suite: Suite, where: Where, on_progress: OnProgress | None) -> None:
        from graphctx.eval.entities import run_entity_suite

        # A folder's own name tells it from others; the file in it is always called the same.
        path = suite.path.parent if suite.path.name == ENTITIES else suite.path
        if where.kb is None and suite.corpus is None:
            self.entities.append(run_entity_suite(path, work=where.work))
            return
        with open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=on_progress) as kb:
            self.entities.append(run_entity_suite(path, kb=kb))


def reference(run: SuiteRun) -> str:
    """The variant that others are compared with: the default one, or the first where it was not run."""
    return DEFAULT_VARIANT if DEFAULT_VARIANT in run.outcomes else next(iter(run.outcomes))
