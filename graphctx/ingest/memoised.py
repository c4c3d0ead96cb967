"""Steps of documents through the memo: what they gave for the same input before is not worked out again."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol

from pydantic import TypeAdapter, ValidationError

from graphctx.ingest.workers import DocumentStep, Executor, Refused, Result
from graphctx.model.ids import fingerprint
from graphctx.settings import IngestSettings
from graphctx.store.cache import Memo

_KEEP_AT_ONCE = 16
"""Results that are written to the memo together: what an interruption can cost at most."""


class KeptAs(Generic[Result]):
    """How the results of a step are kept: as compressed JSON, by their type, behind a digest of the type.

    Args:
        kind: of the memo's values.
        result: the type, a dataclass.
    """

    def __init__(self, kind: str, result: type[Result]) -> None:
        self.kind = kind
        self._type = TypeAdapter(result)
        self._digest = fingerprint([json.dumps(self._type.json_schema(), sort_keys=True)]).encode()

    def to_bytes(self, result: Result) -> bytes:
        """Write a result; equal results have equal bytes."""
        return self._digest + zlib.compress(self._type.dump_json(result), 6)

    def is_of_type(self, data: bytes) -> bool:
        """Whether bytes are of a result of this type, as their digest says."""
        return data.startswith(self._digest)

    def from_bytes(self, data: bytes) -> Result | None:
        """Read what `to_bytes` wrote; ``None`` if it is something else."""
        if not self.is_of_type(data):
            return None
        try:
            return self._type.validate_json(zlib.decompress(data[len(self._digest) :]))
        except (ValidationError, zlib.error):
            return None


class Packed:
    """Results of a step that gives them as `KeptAs.to_bytes` does: they stay bytes.

    Args:
        kept_as: what the step packs them with.
    """

    def __init__(self, kept_as: KeptAs[Any]) -> None:
        self.kind = kept_as.kind
        self._kept_as = kept_as

    def to_bytes(self, result: bytes) -> bytes:
        """Return the bytes."""
        return result

    def from_bytes(self, data: bytes) -> bytes | None:
        """Return the bytes; ``None`` if they are of another type."""
        return data if self._kept_as.is_of_type(data) else None


class _Kept(Protocol[Result]):
    kind: str

    def to_bytes(self, result: Result) -> bytes: ...

    def from_bytes(self, data: bytes) -> Result | None: ...


def run_memoised(
    step: DocumentStep[Result],
    documents: Sequence[tuple[Any, ...]],
    sizes: Sequence[int],
    keys: Sequence[str | None],
    kept_as: _Kept[Result],
    memo: Memo,
    settings: IngestSettings,
    executor: Executor,
    progress: Callable[[int, int], None],
    *,
    is_of: Callable[[str, Result], bool] = lambda key, result: True,
) -> list[Result | Refused]:
    """Run a step for the documents whose result is not in the memo.

    Args:
        step: as `Executor.run` takes it.
        documents, sizes: as `Executor.run` takes them.
        keys: of everything that each result depends on; ``None`` for one that is not kept.
        kept_as: how results are kept.
        memo: of earlier results; it grows.
        settings: number of processes, and the limits of a document.
        executor: where the step runs.
        progress: called with the count done and the total.
        is_of: whether a fresh result is that of its key; otherwise it is not kept.

    Returns:
        The result for each document, in their order.
    """
    stored = memo.get_many(kept_as.kind, [key for key in keys if key])
    read = {key: kept_as.from_bytes(value) for key, value in stored.items()}
    known = {key: result for key, result in read.items() if result is not None}
    missing = [number for number, key in enumerate(keys) if key is None or key not in known]
    done, total, waiting = len(keys) - len(missing), len(keys), dict[str, bytes]()

    def keep(at: int, result: Result | Refused) -> None:
        nonlocal done
        key = keys[missing[at]]
        if key is not None and not isinstance(result, Refused) and is_of(key, result):
            waiting[key] = kept_as.to_bytes(result)
        if len(waiting) >= _KEEP_AT_ONCE:
            memo.put_many(kept_as.kind, waiting)
            waiting.clear()
        done += 1
        progress(done, total)

    progress(done, total)
    made = executor.run(step, [documents[at] for at in missing], [sizes[at] for at in missing], settings, keep)
    memo.put_many(kept_as.kind, waiting)
    fresh = dict(zip(missing, made, strict=True))
    return [fresh[number] if number in fresh else known[key or ""] for number, key in enumerate(keys)]
