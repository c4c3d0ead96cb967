"""How fast this machine ingests, as measured by the last ingest, and estimates from that."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from graphctx.ingest.report import IngestEstimate, IngestReport, StepName
from graphctx.store.files import write_atomic
from graphctx.store.manifest import Manifest

SPEED = Path("cache") / "speed.json"
MIN_WORDS = 20_000
"""In an ingest of fewer words, loading the models takes most of the time."""

_OF_DOCUMENTS: tuple[StepName, ...] = ("read", "split", "extract", "embed")
"""The steps whose time follows the fresh words; that of the others follows all words."""


class Speed(BaseModel):
    """The measurement of an ingest, or of a part of one.

    Attributes:
        fresh_words, all_words: of added and replaced documents, and of all.
        document_seconds: of the steps whose time follows the fresh words.
        whole_seconds: of the steps whose time follows all words.
        fixed_seconds: of loading the models, where that was measured alone.
        disk_bytes: of the snapshot.
    """

    model_config = ConfigDict(frozen=True)

    fresh_words: int
    all_words: int
    document_seconds: float
    whole_seconds: float
    fixed_seconds: float = 0.0
    disk_bytes: int

    @classmethod
    def of(cls, report: IngestReport, manifest: Manifest, fresh_words: int) -> Speed:
        """Measure a finished ingest."""
        of_documents = sum(report.seconds.get(name, 0.0) for name in _OF_DOCUMENTS)
        return cls(
            fresh_words=fresh_words,
            all_words=report.words,
            document_seconds=of_documents,
            whole_seconds=max(0.0, report.total_seconds - of_documents),
            disk_bytes=manifest.size_bytes,
        )

    def estimate(self, fresh_words: int, all_words: int) -> IngestEstimate:
        """Estimate an ingest of some fresh words into a corpus of a number of words."""
        seconds = self.fixed_seconds + self.document_seconds * fresh_words / max(self.fresh_words, 1)
        seconds += self.whole_seconds * all_words / max(self.all_words, 1)
        return IngestEstimate(
            words=fresh_words,
            seconds=round(seconds, 1),
            disk_bytes=round(self.disk_bytes * all_words / max(self.all_words, 1)),
            measured_words=self.fresh_words,
        )

    @classmethod
    def read(cls, kb_dir: Path) -> Speed | None:
        """Return the measurement of the last ingest of enough words, if there is one."""
        try:
            return cls.model_validate_json((kb_dir / SPEED).read_bytes())
        except (OSError, ValidationError):
            return None

    def keep(self, kb_dir: Path) -> None:
        """Write the measurement, if it is of enough words. That the disk refuses it fails nothing."""
        if self.fresh_words >= MIN_WORDS:
            with suppress(OSError):
                write_atomic(kb_dir / SPEED, self.model_dump_json(indent=1).encode())
