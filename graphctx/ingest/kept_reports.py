"""The latest report of each set of ingested paths, kept beside the index for whoever asks later what was skipped."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from graphctx.errors import BackendUnavailable
from graphctx.ingest.read.source import Source, is_web_address
from graphctx.ingest.report import IngestReport
from graphctx.store.files import disk_errors, write_atomic
from graphctx.store.history import REPORTS

MAX_REPORTS = 20


class KeptReport(BaseModel):
    """What an ingest of some paths reported, and when it ended (ISO 8601)."""

    model_config = ConfigDict(frozen=True)

    paths: list[str]
    ended_at: str
    report: IngestReport


_REPORTS = TypeAdapter(list[KeptReport])


def kept_reports(kb_dir: Path) -> list[KeptReport]:
    """Return the kept reports, the latest first; none if the file is missing or damaged."""
    try:
        return _REPORTS.validate_json((kb_dir / REPORTS).read_bytes())
    except (OSError, ValidationError):
        return []


def keep_report(kb_dir: Path, paths: Sequence[str | Path | Source], report: IngestReport) -> None:
    """Keep a report in place of those of the same paths or of paths below them. A disk that refuses it is no error."""
    named = list(dict.fromkeys(name for path in paths for name in _names(path)))
    names = [name for name in named if not _covered(name, [one for one in named if one != name])]
    earlier = [kept for kept in kept_reports(kb_dir) if not all(_covered(name, names) for name in kept.paths)]
    latest = KeptReport(paths=names, ended_at=datetime.now(UTC).isoformat(timespec="seconds"), report=report)
    with suppress(BackendUnavailable), disk_errors(REPORTS.as_posix()):
        write_atomic(kb_dir / REPORTS, _REPORTS.dump_json([latest, *earlier][:MAX_REPORTS], indent=1))


def _names(path: str | Path | Source) -> list[str]:
    if isinstance(path, Source):
        return [str(Path(path.path).absolute())] if path.path else [*path.urls, *filter(None, [path.url_file])]
    return [str(path) if is_web_address(str(path)) else str(Path(path).absolute())]


def _covered(name: str, names: Sequence[str]) -> bool:
    return any(PurePath(name).is_relative_to(one) for one in names)
