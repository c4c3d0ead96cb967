"""Extraction of mentions and facts from documents, in worker processes and through the memo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.memoised import KeptAs, Packed, run_memoised
from graphctx.ingest.outline import outline_of
from graphctx.ingest.workers import DocumentStep, Executor, Refused
from graphctx.model.documents import Document, TextUnit
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Extraction
from graphctx.nlp.base import Extractor
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo

EXTRACTIONS = KeptAs("extraction", Extraction)


class Extractions:
    """What was extracted from each document, in row order; can be iterated any number of times.

    It is kept packed, which takes a tenth of the memory, and unpacked a document at a time.

    Args:
        packed: by ``EXTRACTIONS``.
        left_out: sentences that name nothing, each as the id of its unit and its place in there.
    """

    def __init__(self, packed: Sequence[bytes], left_out: frozenset[tuple[str, int]] = frozenset()) -> None:
        self._packed = packed
        self._left_out = left_out

    def __iter__(self) -> Iterator[Extraction]:
        for data in self._packed:
            extraction = EXTRACTIONS.from_bytes(data)
            assert extraction is not None
            yield _without(extraction, self._left_out)


def extract_corpus(
    corpus: Corpus,
    extractor: Extractor,
    memo: Memo,
    settings: IngestSettings,
    progress: Callable[[int, int, str], None],
    executor: Executor,
) -> list[bytes | Refused]:
    """Extract from every document, in row order. What the same code extracted before comes from the memo.

    The results are packed, for `Extractions`.

    Args:
        corpus: documents with their units.
        extractor: its class is instantiated in every worker; its fingerprint is part of the memo's keys.
        memo: extractions of earlier ingests; it grows.
        settings: number of processes, and the limits of a document.
        progress: called with the count done, the total and the unit that is counted.
        executor: where it is done.
    """
    made_by, rows = extractor.fingerprint, range(len(corpus.documents))
    return run_memoised(
        extract_step(type(extractor)),
        [(type(extractor), corpus.documents[row], corpus.units_of(row)) for row in rows],
        [len(document.text) for document in corpus.documents],
        [_key(corpus, row, made_by) for row in rows],
        Packed(EXTRACTIONS),
        memo,
        settings,
        executor,
        lambda done, total: progress(done, total, "documents"),
    )


def extract_step(make_extractor: Callable[[], Extractor] = SpacyExtractor) -> DocumentStep[bytes]:
    """Return the step, whose arguments are ``make_extractor``, a document and its units; its results are packed.

    The result for a document depends neither on the number of processes nor on the other documents.

    Args:
        make_extractor: makes the extractor of a process; an importable name, as it is sent to workers by name.
    """
    return DocumentStep("extracting from", _extract, partial(_load, make_extractor))


def _without(extraction: Extraction, sentences: frozenset[tuple[str, int]]) -> Extraction:
    """Return an extraction without what some sentences say."""
    return replace(
        extraction,
        mentions=tuple(one for one in extraction.mentions if (one.unit_id, one.sentence) not in sentences),
        facts=tuple(one for one in extraction.facts if (one.unit_id, one.sentence) not in sentences),
    )


def _key(corpus: Corpus, row: int, made_by: str) -> str:
    """Return a key of everything that an extraction depends on."""
    document = corpus.documents[row]
    units = (
        f"{unit.id}:{unit.kind}:" + ",".join(f"{s.start_char}-{s.end_char}" for s in unit.sentences)
        for unit in corpus.units_of(row)
    )
    parts = (document.id, document.title, str(document.titled), document.sha256, outline_of(document))
    return fingerprint((made_by, *parts, *units))


def _extract(make_extractor: Callable[[], Extractor], document: Document, units: Sequence[TextUnit]) -> bytes:
    return EXTRACTIONS.to_bytes(_extractor(make_extractor).extract(document, units))


def _load(make_extractor: Callable[[], Extractor]) -> None:
    _extractor(make_extractor).load()


@lru_cache(maxsize=1)
def _extractor(make_extractor: Callable[[], Extractor]) -> Extractor:
    return make_extractor()
