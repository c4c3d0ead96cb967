"""Extraction through the memo: a document that was extracted before, by the same code, is not extracted again."""

from __future__ import annotations

import os
from collections.abc import Callable

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.extract import extract_all, extraction_from_bytes, extraction_to_bytes
from graphctx.ingest.report import Progress
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Extraction
from graphctx.nlp.base import Extractor
from graphctx.store.cache import Memo

_KIND = "extraction"


def extract_memoised(
    corpus: Corpus, extractor: Extractor, memo: Memo, processes: int, tell: Callable[[Progress], None]
) -> list[Extraction]:
    """Extract every document, in row order."""
    keys = [
        fingerprint(
            (
                extractor.fingerprint,
                document.id,
                document.title,
                document.sha256,
                *(f"{unit.id}:{unit.kind}:{unit.start_char}:{unit.end_char}" for unit in corpus.units_of(row)),
                *(f"{h.start_char}:{h.end_char}:{h.title}" for h in document.headings),
            )
        )
        for row, document in enumerate(corpus.documents)
    ]
    known = {key: extraction_from_bytes(value) for key, value in memo.get_many(_KIND, keys).items()}
    missing = [row for row, key in enumerate(keys) if key not in known]
    total = len(keys)
    tell(Progress("extract", total - len(missing), total, "documents"))
    made = extract_all(
        [(corpus.documents[row], corpus.units_of(row)) for row in missing],
        processes=processes or os.cpu_count() or 1,
        on_done=lambda count: tell(Progress("extract", total - len(missing) + count, total, "documents")),
    )
    fresh = {keys[row]: extraction for row, extraction in zip(missing, made, strict=True)}
    memo.put_many(_KIND, {key: extraction_to_bytes(value) for key, value in fresh.items()})
    known |= fresh
    return [known[key] for key in keys]
