"""Operations of the view Evaluation: reports of ``graphctx eval --report``, two compared, one question explained."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Label, Question, RetrieveInput, Strict
from graphctx.retrieve.variants import DEFAULT_VARIANT
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall

MAX_REPORTS = 200
"""Reports that are listed, the newest."""

MAX_REPORT_BYTES = 50_000_000

ReportName = Field(
    min_length=1, max_length=255, pattern=r"^[^./\\][^/\\]*\.json$", description="Of a file in the folder."
)


class EvaluationReportInput(Strict):
    """Input of ``evaluation_report``."""

    name: str = ReportName


class EvaluationCompareInput(Strict):
    """Input of ``evaluation_compare``."""

    before: str = ReportName
    after: str = ReportName


class EvaluationExplainInput(Strict):
    """Input of ``evaluation_explain``."""

    question: Question
    variant: Label = DEFAULT_VARIANT


def _reports(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return the reports, the newest first; one that cannot be read has a ``fault``."""
    folder = _folder(call)
    found = sorted(_files(folder))
    return {
        "reports": [_listed(folder, name, -age) for age, name in found[:MAX_REPORTS]],
        "n_more": max(0, len(found) - MAX_REPORTS),
        "folder": str(folder.absolute()) if call.may_write else "",
    }


def _report(call: PageCall, asked: EvaluationReportInput) -> dict[str, Any]:
    """Return a report."""
    return {"name": asked.name, **_read(_folder(call), asked.name)}


def _compare(call: PageCall, asked: EvaluationCompareInput) -> dict[str, Any]:
    """Return what two reports have in common, measure by measure and question by question."""
    from graphctx.eval.saved_report import compare_reports

    folder = _folder(call)
    before, after = _read(folder, asked.before), _read(folder, asked.after)
    return {"suites": compare_reports(before, after)}


def _explain(call: PageCall, asked: EvaluationExplainInput) -> dict[str, Any]:
    """Return how a question is answered by what is served, stage by stage."""
    from graphctx.eval.explain import explain_request

    return explain_request(call.searcher(), RetrieveInput(question=asked.question), asked.variant).as_dict()


def _folder(call: PageCall) -> Path:
    """Return the folder of reports.

    Raises:
        ScopeViolation: a boundary is set, and the caller may not write: reports quote documents outside of it.
    """
    if call.server.dispatcher.config.has_boundary and not call.may_write:
        raise ScopeViolation(
            "Reports quote documents outside the boundary of this server ([server] doc_tags, repositories), so that "
            "only callers who may write can see them.",
            field="reports",
        )
    return call.server.reports


def _files(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the reports of a folder: the negative time of the last change, in nanoseconds, and the name.

    Raises:
        BackendUnavailable: the folder cannot be read.
    """
    try:
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):  # deleted meanwhile
                if entry.name.endswith(".json") and not entry.name.startswith(".") and entry.is_file():
                    yield -entry.stat().st_mtime_ns, entry.name
    except FileNotFoundError:  # no report has been written yet
        return
    except OSError as error:
        raise BackendUnavailable(f"The folder of reports cannot be read: {error.strerror}.") from error


@lru_cache(maxsize=MAX_REPORTS)
def _listed(folder: Path, name: str, mtime_ns: int) -> dict[str, Any]:
    checkpoint()  # reports may be large
    try:
        report = _read(folder, name)
        suites = [
            {
                "suite": suite["summary"]["suite"],
                "n": suite["summary"]["questions"]["asked"],
                "variant": suite["variant"],
                "measures": suite["summary"]["variants"][suite["variant"]]["measures"],
            }
            for suite in report["suites"]
        ]
        return {"name": name, "created_at": report["created_at"], "version": report["version"], "suites": suites}
    except InvalidArgument as error:
        fault = error.message
    except KeyError as error:
        fault = f"{name} is no complete report: it has no {error}. Make it again with graphctx eval --report."
    except TypeError:
        fault = f"{name} is no report. Make one with graphctx eval --report."
    when = datetime.fromtimestamp(mtime_ns / 1e9, UTC).isoformat(timespec="seconds")
    return {"name": name, "created_at": when, "fault": fault, "suites": []}


def _read(folder: Path, name: str) -> dict[str, Any]:
    """Return a report of the folder.

    Raises:
        InvalidArgument: there is no such report, it is too large, or it is not one.
    """
    from graphctx.eval.saved_report import read_report

    path = folder / name
    if not path.is_file():
        raise InvalidArgument(f"There is no report {name}; evaluation_reports lists them.", field="name", value=name)
    if path.stat().st_size > MAX_REPORT_BYTES:
        raise InvalidArgument(
            f"{name} has more than {MAX_REPORT_BYTES:,} bytes; ask less in one run.",
            field="name",
            value=name,
        )
    return read_report(path)


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("evaluation_reports", NoInput, _reports),
    Operation("evaluation_report", EvaluationReportInput, _report),
    Operation("evaluation_compare", EvaluationCompareInput, _compare),
    Operation("evaluation_explain", EvaluationExplainInput, _explain),
)
