"""Extraction through the memo: a document that was extracted before, by the same code, is not extracted again."""

from __future__ import annotations

from collections.abc import Callable

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.extract import extract_all, extraction_from_bytes, extraction_to_bytes
from graphctx.ingest.outline import outline_of
from graphctx.ingest.report import Progress
from graphctx.ingest.workers import Refused
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Extraction
from graphctx.nlp.base import Extractor
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo

_KIND = "extraction"
_KEEP_AT_ONCE = 16
"""Extractions that are written to the memo together: what an interruption can cost at most."""


def extract_memoised(
    corpus: Corpus, extractor: Extractor, memo: Memo, settings: IngestSettings, tell: Callable[[Progress], None]
) -> list[Extraction | Refused]:
    """Extract from every document, in row order; a document that takes too much is refused.

    Args:
        corpus: documents with their units.
        extractor: whose fingerprint the memo is kept under.
        memo: what was extracted before; it grows while this runs.
        settings: number of processes, and the limits of a document.
        tell: told how far it is.
    """
    made_by = extractor.fingerprint
    keys = [_key(corpus, row, made_by) for row in range(len(corpus.documents))]
    known = {key: extraction_from_bytes(value) for key, value in memo.get_many(_KIND, keys).items()}
    missing = [row for row, key in enumerate(keys) if key not in known]
    total, before = len(keys), len(keys) - len(missing)
    refused: dict[str, Refused] = {}
    waiting: dict[str, bytes] = {}

    def keep(number: int, result: Extraction | Refused) -> None:
        key = keys[missing[number]]
        if isinstance(result, Refused):
            refused[key] = result
        else:
            known[key] = result
            waiting[key] = extraction_to_bytes(result)
        if len(waiting) >= _KEEP_AT_ONCE:
            memo.put_many(_KIND, waiting)
            waiting.clear()
        tell(Progress("extract", len(known) + len(refused), total, "documents"))

    tell(Progress("extract", before, total, "documents"))
    extract_all([(corpus.documents[row], corpus.units_of(row)) for row in missing], settings, on_done=keep)
    memo.put_many(_KIND, waiting)
    return [refused.get(key) or known[key] for key in keys]


def _key(corpus: Corpus, row: int, made_by: str) -> str:
    """Everything that an extraction depends on; no path of this machine is among it."""
    document = corpus.documents[row]
    units = (
        f"{unit.id}:{unit.kind}:" + ",".join(f"{s.start_char}-{s.end_char}" for s in unit.sentences)
        for unit in corpus.units_of(row)
    )
    parts = (document.id, document.title, str(document.titled), document.sha256, outline_of(document))
    return fingerprint((made_by, *parts, *units))
