"""The extract step: mentions and facts of many documents, on as many processes as are given."""

from __future__ import annotations

import json
import pickle
import queue
import subprocess
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, fields
from typing import Any

from graphctx.errors import GraphctxError, InternalError
from graphctx.ingest.extract_worker import Batch, Item, receive, send
from graphctx.model.knowledge import Extraction, Mention, RawFact
from graphctx.nlp.base import Extractor
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.store.processes import start_module

MIN_CHARS_FOR_WORKERS = 200_000
"""Starting a worker takes about 2 s, in which one process extracts 60,000 characters or more; below about three
times that the workers cost more than they save (measured on two cores)."""

BATCH_CHARS = 40_000
"""What a worker is given at a time: about 1.5 s of work, so that the last batches end together."""

_FORMAT = 1


def extract_all(
    items: Iterable[Item],
    *,
    processes: int,
    on_done: Callable[[int], None] = lambda count: None,
    on_results: Callable[[Mapping[int, Extraction]], None] = lambda results: None,
    make_extractor: Callable[[], Extractor] = SpacyExtractor,
) -> list[Extraction]:
    """Extract from documents.

    The result of a document is the same whatever the number of processes and whatever stands beside it.

    Args:
        items: documents with their units.
        processes: upper bound of worker processes; few or small documents are done in this process.
        on_done: called in this thread with the number of documents finished so far.
        on_results: called in this thread with what was just finished, by its place among the items, so that it can
            be kept should the rest be interrupted.
        make_extractor: makes the extractor of a process; an importable name, as it is sent to workers by name.

    Returns:
        One extraction for each item, in the order of the items.

    Raises:
        BackendUnavailable: the model cannot be loaded.
        InternalError: a worker process died.
    """
    work = list(items)
    size = sum(len(document.text) for document, _ in work)
    if processes <= 1 or size < MIN_CHARS_FOR_WORKERS or len(work) == 1:
        extractor = make_extractor()
        results = []
        for number, (document, units) in enumerate(work):
            results.append(extractor.extract(document, units))
            on_results({number: results[-1]})
            on_done(len(results))
        return results

    def keep(finished: Mapping[int, Extraction], count: int) -> None:
        on_results(finished)
        on_done(count)

    return _fan_out(work, processes, keep, make_extractor)


def extraction_to_bytes(extraction: Extraction) -> bytes:
    """Write an extraction compactly for the memo; the same extraction gives the same bytes."""
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


def _batches(work: Sequence[Item]) -> Iterator[Batch]:
    """Batches of about equal size, the largest documents first, so that no process ends long after the others."""
    order = sorted(range(len(work)), key=lambda number: (-len(work[number][0].text), number))
    batch: list[tuple[int, Item]] = []
    size = 0
    for number in order:
        batch.append((number, work[number]))
        size += len(work[number][0].text)
        if size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _fan_out(
    work: Sequence[Item],
    processes: int,
    keep: Callable[[Mapping[int, Extraction], int], None],
    make_extractor: Callable[[], Extractor],
) -> list[Extraction]:
    batches = list(_batches(work))
    tasks: queue.SimpleQueue[Batch] = queue.SimpleQueue()
    for batch in batches:
        tasks.put(batch)
    finished: queue.SimpleQueue[list[tuple[int, Extraction]] | BaseException] = queue.SimpleQueue()
    results: dict[int, Extraction] = {}
    workers = [_Worker(make_extractor) for _ in range(min(processes, len(batches)))]
    try:
        for worker in workers:
            threading.Thread(target=worker.serve, args=(tasks, finished), daemon=True).start()
        for _ in batches:
            done = finished.get()
            if isinstance(done, BaseException):
                raise done
            results.update(done)
            keep(dict(done), len(results))
    finally:  # also on Ctrl-C: nothing that the workers hold is worth keeping
        for worker in workers:
            worker.stop()
    return [results[number] for number in range(len(work))]


class _Worker:
    """A process that extracts what it is sent.

    A plain subprocess, not `multiprocessing`: that would import the caller's main module again, which breaks every
    script without a main guard, and leaves orphans when the parent is killed. This one ends with its parent.
    """

    def __init__(self, make_extractor: Callable[[], Extractor]) -> None:
        self._process = start_module("graphctx.ingest.extract_worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._make_extractor = make_extractor

    def serve(
        self, tasks: queue.SimpleQueue[Batch], finished: queue.SimpleQueue[list[tuple[int, Extraction]] | BaseException]
    ) -> None:
        """Hand tasks to the process until there are none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            send(self._process.stdin, self._make_extractor)
            while True:
                try:
                    batch = tasks.get_nowait()
                except queue.Empty:
                    return
                send(self._process.stdin, batch)
                answer = receive(self._process.stdout)
                if isinstance(answer, BaseException):
                    finished.put(answer)
                    return
                finished.put(answer)
        except (OSError, EOFError, pickle.PickleError, ValueError) as error:
            finished.put(_died(error))

    def stop(self) -> None:
        """End the process at once and free its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # unsent bytes of a broken pipe
                    pipe.close()


def _died(error: Exception) -> GraphctxError:
    return InternalError(
        "An extraction worker ended before its work was done; the machine may be out of memory. "
        "Run again with fewer processes.",
        cause=type(error).__name__,
    )
