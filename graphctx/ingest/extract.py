"""Extraction of mentions and facts from documents, in worker processes and through the memo."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from functools import lru_cache, partial
from typing import Any, TypeAlias

from graphctx.errors import InternalError
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.outline import outline_of
from graphctx.ingest.workers import DocumentStep, Executor, LocalExecutor, Refused
from graphctx.model.documents import Document, TextUnit
from graphctx.model.ids import fingerprint
from graphctx.model.knowledge import Extraction, Mention, RawFact
from graphctx.nlp.base import Extractor
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo

Item: TypeAlias = tuple[Document, Sequence[TextUnit]]

_FORMAT = 1
_KIND = "extraction"
_KEEP_AT_ONCE = 16
"""Extractions that are written to the memo together: what an interruption can cost at most."""


def extract_corpus(
    corpus: Corpus,
    extractor: Extractor,
    memo: Memo,
    settings: IngestSettings,
    progress: Callable[[int, int, str], None],
    executor: Executor,
    boilerplate: frozenset[tuple[str, int]] = frozenset(),
) -> list[Extraction | Refused]:
    """Extract from every document, in row order. What the same code extracted before comes from the memo.

    Args:
        corpus: documents with their units.
        extractor: its class is instantiated in every worker; its fingerprint is part of the memo's keys.
        memo: extractions of earlier ingests; it grows.
        settings: number of processes, and the limits of a document.
        progress: called with the count done, the total and the unit that is counted.
        executor: where it is done.
        boilerplate: sentences that name nothing, each as the id of its unit and its place in there.
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
        progress(len(known) + len(refused), total, "documents")

    progress(before, total, "documents")
    items = [(corpus.documents[row], corpus.units_of(row)) for row in missing]
    extract_all(items, settings, make_extractor=type(extractor), on_done=keep, executor=executor)
    memo.put_many(_KIND, waiting)
    return [refused.get(key) or _without(known[key], boilerplate) for key in keys]


def _without(extraction: Extraction, sentences: frozenset[tuple[str, int]]) -> Extraction:
    """Return an extraction without what some sentences say."""
    return replace(
        extraction,
        mentions=tuple(one for one in extraction.mentions if (one.unit_id, one.sentence) not in sentences),
        facts=tuple(one for one in extraction.facts if (one.unit_id, one.sentence) not in sentences),
    )


def extract_all(
    items: Iterable[Item],
    settings: IngestSettings,
    *,
    on_done: Callable[[int, Extraction | Refused], None] = lambda number, result: None,
    make_extractor: Callable[[], Extractor] = SpacyExtractor,
    executor: Executor | None = None,
) -> list[Extraction | Refused]:
    """Extract from documents.

    The result for a document depends neither on the number of processes nor on the other documents.

    Args:
        items: documents with their units.
        settings: number of processes, and the limits of a document.
        on_done: called in this thread with what was just finished and its place among the items, so that it can be
            kept should the rest be interrupted.
        make_extractor: makes the extractor of a process; an importable name, as it is sent to workers by name.
        executor: where it is done; this machine by default.

    Returns:
        One extraction for each item, or why there is none, in the order of the items.

    Raises:
        BackendUnavailable: the model cannot be loaded.
    """
    work = [(make_extractor, document, units) for document, units in items]
    step = DocumentStep("extracting from", _extract, partial(_load, make_extractor))
    sizes = [len(document.text) for _, document, _ in work]
    return (executor or LocalExecutor()).run(step, work, sizes, settings, on_done)


def extraction_to_bytes(extraction: Extraction) -> bytes:
    """Write an extraction compactly for the memo; equal extractions have equal bytes."""
    units = {unit: number for number, unit in enumerate(dict.fromkeys(_unit_ids(extraction)))}
    document = {
        "format": _FORMAT,
        "doc_id": extraction.doc_id,
        "units": list(units),
        "mentions": _columns(extraction.mentions, Mention, units),
        "facts": _columns(extraction.facts, RawFact, units),
    }
    return zlib.compress(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), 6)


def extraction_from_bytes(data: bytes) -> Extraction:
    """Read what `extraction_to_bytes` wrote.

    Raises:
        InternalError: the bytes are damaged or of another format.
    """
    try:
        document = json.loads(zlib.decompress(data))
        if document["format"] != _FORMAT:
            raise ValueError(document["format"])
        units = document["units"]
        return Extraction(
            document["doc_id"],
            tuple(Mention(units[row[0]], *row[1:]) for row in zip(*document["mentions"], strict=True)),
            tuple(RawFact(units[row[0]], *row[1:]) for row in zip(*document["facts"], strict=True)),
        )
    except (ValueError, KeyError, TypeError, IndexError, zlib.error) as error:
        raise InternalError("A memoised extraction is damaged. Delete the knowledge base's cache/ folder.") from error


def _key(corpus: Corpus, row: int, made_by: str) -> str:
    """Return a key of everything that an extraction depends on."""
    document = corpus.documents[row]
    units = (
        f"{unit.id}:{unit.kind}:" + ",".join(f"{s.start_char}-{s.end_char}" for s in unit.sentences)
        for unit in corpus.units_of(row)
    )
    parts = (document.id, document.title, str(document.titled), document.sha256, outline_of(document))
    return fingerprint((made_by, *parts, *units))


def _unit_ids(extraction: Extraction) -> Iterator[str]:
    for mention in extraction.mentions:
        yield mention.unit_id
    for fact in extraction.facts:
        yield fact.unit_id


def _columns(rows: Sequence[Mention] | Sequence[RawFact], kind: type[Any], units: dict[str, int]) -> list[list[Any]]:
    """The rows as columns in the order of the fields, unit ids as numbers."""
    if not rows:
        return [[] for _ in fields(kind)]
    first, *others = (list(column) for column in zip(*map(astuple, rows), strict=True))
    return [[units[unit] for unit in first], *others]


def _extract(make_extractor: Callable[[], Extractor], document: Document, units: Sequence[TextUnit]) -> Extraction:
    return _extractor(make_extractor).extract(document, units)


def _load(make_extractor: Callable[[], Extractor]) -> None:
    _extractor(make_extractor).load()


@lru_cache(maxsize=1)
def _extractor(make_extractor: Callable[[], Extractor]) -> Extractor:
    return make_extractor()
