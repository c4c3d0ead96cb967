"""The steps of documents and the embedder on a Dask cluster.

A task is a batch of documents. Its worker runs the step in child processes, within the same limits as on one machine,
and keeps them for the next batch, so that a model is loaded once. Batches are sent as workers become free, with all
that they need: workers need graphctx in the same versions, and none of the documents' files. A batch whose worker is
lost runs again on another one.
"""

from __future__ import annotations

import os
import platform
import socket
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from graphctx.errors import BackendUnavailable
from graphctx.ingest.read import READ_VERSION
from graphctx.ingest.split import SPLIT_VERSION
from graphctx.ingest.workers import DocumentStep, Refused
from graphctx.nlp.base import Embedder, Vectors
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import IngestSettings
from graphctx.version import __version__

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 20
"""Time in which the scheduler and a worker must answer."""

_BATCH_SIZE = 100_000  # characters or bytes: a few seconds of extraction
_BATCH_TEXTS = 64
_BATCHES_PER_THREAD = 3  # sent ahead: one that runs, and two that wait for it
_TEXTS_AT_ONCE = 4096

Result = TypeVar("Result")
Versions = dict[str, str]


class DaskExecutor:
    """A Dask cluster as `Executor`. A context manager: inside, it is connected.

    Usage::

        Ingest(kb_dir, embedder, extractor, settings, executor=DaskExecutor("tcp://10.0.0.5:8786"))

    Args:
        scheduler: the address of a cluster's scheduler; ``None`` starts workers on this machine.
        processes: workers to start on this machine; one for each core by default.
        embedder: the name of the embedder.

    Raises:
        BackendUnavailable: on entering, if the extra ``dask`` is not installed, the scheduler cannot be reached, has no
            worker, or a worker has other versions than this machine. Later, if the cluster is lost.
    """

    texts_at_once = _TEXTS_AT_ONCE

    def __init__(self, scheduler: str | None = None, processes: int = 0, embedder: str = DEFAULT) -> None:
        self._address = scheduler
        self._processes = processes or os.cpu_count() or 1
        self._embedder = embedder

    def __enter__(self) -> Self:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise BackendUnavailable(
                "--engine dask needs an extra that is not installed. Install it here and on the workers: "
                "pip install 'graphctx[dask]'.",
                extra="dask",
            ) from None
        self._expected = _versions(self._embedder)
        with ExitStack() as stack:
            cluster: Any = self._address
            if self._address is None:
                cluster = stack.enter_context(
                    LocalCluster(n_workers=self._processes, threads_per_worker=1, dashboard_address=None)
                )
            try:
                self._client: Client = stack.enter_context(
                    Client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
                )
            except (OSError, ValueError) as error:
                raise self._unusable(f"cannot be reached: {error}") from error
            try:
                self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            except TimeoutError:
                raise self._unusable("has no worker. Start some: dask worker ADDRESS") from None
            with self._errors("checking versions"):
                self._client.run(_check, self._expected, self._embedder)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def run(
        self,
        step: DocumentStep[Result],
        documents: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        settings: IngestSettings,
        on_done: Callable[[int, Result | Refused], None] = lambda number, result: None,
    ) -> list[Result | Refused]:
        """Run a step for documents; see `DocumentStep.of_all`."""
        single, plain = settings.model_copy(update={"processes": 1}), replace(step, pack=None)
        results: dict[int, Result | Refused] = {}

        def submit(batch: list[int]) -> Future:
            packed = [step.pack(*documents[number]) if step.pack else documents[number] for number in batch]
            batch_sizes = [sizes[number] for number in batch]
            return self._submit(_run_step, self._expected, self._embedder, plain, packed, batch_sizes, single)

        for batch, found in self._each(_batches(sizes), submit, step.name):
            for number, result in zip(batch, found, strict=True):
                results[number] = result
                on_done(number, result)
        return [results[number] for number in range(len(documents))]

    def embedder(self, own: Embedder) -> Embedder:
        """Return an embedder that works on the cluster."""
        return _DaskEmbedder(self, own)

    def embed(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed texts on the cluster, in batches in their order."""
        starts = range(0, len(texts), _BATCH_TEXTS)
        batches = [list(range(start, min(start + _BATCH_TEXTS, len(texts)))) for start in starts]
        found: dict[int, Vectors] = {}

        def submit(batch: list[int]) -> Future:
            return self._submit(_embed, self._expected, self._embedder, [texts[number] for number in batch])

        for batch, vectors in self._each(batches, submit, "embedding"):
            found[batch[0]] = vectors
        return [found[batch[0]] for batch in batches]

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self._client.submit(function, *arguments, pure=False)

    def _each(
        self, batches: Sequence[list[int]], submit: Callable[[list[int]], Future], doing: str
    ) -> Iterator[tuple[list[int], Any]]:
        """Yield batches with their results as they are done, a bounded number of them under way."""
        from distributed import as_completed

        waiting = deque(batches)
        running: dict[str, list[int]] = {}
        with self._errors(doing):
            done = as_completed(loop=self._client.loop)
            while waiting or running:
                ahead = _BATCHES_PER_THREAD * max(1, sum(self._client.nthreads().values()))
                while waiting and len(running) < ahead:
                    batch = waiting.popleft()
                    future = submit(batch)
                    running[future.key] = batch
                    done.add(future)
                future = next(done)
                yield running.pop(future.key), future.result()

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            yield
        except ImportError as error:
            raise self._unusable(
                f"has workers on which {error.name} cannot be imported; install graphctx[dask]"
            ) from error
        except KilledWorker as error:
            raise self._unusable(f"lost several workers at the same task, {doing}; look at their logs") from error
        except (OSError, CancelledError) as error:
            raise self._unusable(f"was lost: {error}. What is done is kept; run the command again") from error

    def _unusable(self, reason: str) -> BackendUnavailable:
        place = f"The Dask scheduler {self._address}" if self._address else "The Dask cluster of this machine"
        return BackendUnavailable(f"{place} {reason}.", scheduler=self._address)


class _DaskEmbedder:
    """An embedder whose texts are embedded on a cluster."""

    def __init__(self, executor: DaskExecutor, own: Embedder) -> None:
        self._executor = executor
        self.name = own.name
        self.dimension = own.dimension
        self.max_tokens = own.max_tokens
        self.fingerprint = own.fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see ``Embedder.embed``."""
        empty = np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate([empty, *self._executor.embed(texts)])


def _batches(sizes: Sequence[int]) -> list[list[int]]:
    """Return the numbers of documents in batches of like work, the largest documents first."""
    batches: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sizes)), key=lambda number: (-sizes[number], number)):
        if sizes[number] > room:
            batches.append([])
            room = _BATCH_SIZE
        batches[-1].append(number)
        room -= max(1, sizes[number])
    return batches


@lru_cache(maxsize=1)
def _versions(embedder: str) -> Versions:
    """Return what results of this process depend on."""
    return {
        "graphctx": __version__,
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": platform.machine(),
        "onnxruntime": version("onnxruntime"),
        "numpy": version("numpy"),
        "readers": READ_VERSION,
        "splitter": str(SPLIT_VERSION),
        "extractor": SpacyExtractor().fingerprint,
        "embedder": make_embedder(embedder).fingerprint,
    }


def _check(expected: Versions, embedder: str) -> None:
    own = _versions(embedder)
    for name, wanted in expected.items():
        if own[name] != wanted:
            raise BackendUnavailable(
                f"The Dask worker on {socket.gethostname()} has {name} {own[name]}, and this machine {wanted}: their "
                "results could differ. Install the same versions on all machines.",
                part=name,
                worker=own[name],
                own=wanted,
            )


def _run_step(
    expected: Versions,
    embedder: str,
    step: DocumentStep[Any],
    documents: list[tuple[Any, ...]],
    sizes: list[int],
    settings: IngestSettings,
) -> list[Any]:
    _check(expected, embedder)
    return step.of_all(documents, sizes, settings)


def _embed(expected: Versions, embedder: str, texts: list[str]) -> Vectors:
    _check(expected, embedder)
    return _model(embedder).embed(texts)


@lru_cache(maxsize=1)
def _model(embedder: str) -> Embedder:
    return make_embedder(embedder)
