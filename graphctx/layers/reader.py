"""A layer file, open for reading: mapped into memory, wholly checked, its tables views of its bytes."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.layers import format as f
from graphctx.layers.checks import Data, FileFinding, Layout, examine
from graphctx.layers.chunk import Chunk, Source
from graphctx.layers.profile import Profile, profile_of

_KEPT = 256  # strings kept as text for each open file


class LayerFile:
    """One layer file. Records are numbered from 0 in the order of the file, the oldest first.

    The embedding matrix is a view of the mapped file: opening costs no copy. A file that is replaced meanwhile stays
    readable here as it was.

    Attributes:
        name: the file's name, for messages.
        layout: its tables.
    """

    def __init__(self, name: str, layout: Layout, data: Data) -> None:
        self.name = name
        self.layout = layout
        self.data = data
        self._strings: dict[int, str] = {}

    @classmethod
    def open(cls, path: Path | str) -> LayerFile:
        """Map a file and check it.

        Raises:
            InvalidArgument: it breaks a rule of the format; the details name rule, offset and value.
            BackendUnavailable: it is not there or cannot be read.
        """
        path = Path(path)
        return cls.parse(map_file(path), path.name)

    @classmethod
    def parse(cls, data: Data, name: str) -> LayerFile:
        """Check the bytes of a file.

        Raises:
            InvalidArgument: they break a rule of the format.
        """
        layout, findings = examine(data)
        for finding in findings:
            if finding.severity == "error":
                raise finding.refusal(name)
        return cls(name, layout, data)

    def close(self) -> None:
        """Let go of the file. Arrays taken from it keep it mapped until they are gone too."""
        self.layout = Layout()
        if isinstance(self.data, mmap.mmap):
            with suppress(BufferError):
                self.data.close()

    def __enter__(self) -> LayerFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.layout.records)

    @property
    def dim(self) -> int:
        """Numbers of a vector."""
        return self.layout.dim

    @property
    def element_type(self) -> str:
        """``f32`` or ``i8``."""
        return f.ELEMENT_NAMES[self.layout.element]

    @property
    def scale(self) -> float:
        """What an i8 is multiplied by; 1 for f32."""
        return self.layout.scale

    @property
    def matrix(self) -> npt.NDArray[Any]:
        """The stored rows, ``[rows, dim]`` of float32 or int8: read-only, possibly unaligned, not in records' order."""
        return self.layout.matrix

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """Ids of the records, repeated ones included."""
        return self.layout.records["id"]

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """For each record the row of its vector in `matrix`."""
        return self.layout.records["embedding_row"].astype(np.int64) - 1

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata; empty if there is none."""
        blob = self.layout.metadata_blob
        parsed: dict[str, Any] = json.loads(blob) if blob else {}
        return parsed

    @cached_property
    def profile(self) -> Profile | None:
        """How the vectors were made; ``None`` if the file does not say."""
        return profile_of(self.metadata)

    def string(self, number: int) -> str:
        """A string of the dictionary, numbered from 1.

        The last few are kept: kinds and authors are few, and a file may use one long text for many chunks.
        """
        text = self._strings.get(number)
        if text is None:
            if len(self._strings) >= _KEPT:
                self._strings.clear()
            text = self._strings[number] = self.string_bytes(number).decode()
        return text

    def string_bytes(self, number: int, most: int = f.MAX_U64) -> bytes:
        """The UTF-8 of a string of the dictionary, or its first bytes."""
        offset, length = self.layout.entries[number - 1].tolist()
        start = self.layout.blob_start + offset
        return self.data[start : start + min(length, most)]

    def chunk(self, record: int) -> Chunk:
        """The chunk that a record holds."""
        row = self.layout.records[record]
        return Chunk(
            id=int(row["id"]),
            content=self.string(int(row["content_str_id"])),
            kind=self.string(int(row["kind_str_id"])),
            author=self.string(int(row["author_str_id"])),
            confidence=float(row["confidence"]),
            created_at_unix_ms=int(row["created_at_unix_ms"]),
            sources=self.sources(record),
        )

    def chunks(self) -> Iterator[Chunk]:
        """Every record's chunk, the oldest first."""
        return (self.chunk(record) for record in range(len(self)))

    def kind(self, record: int) -> str:
        """A record's kind."""
        return self.string(int(self.layout.records["kind_str_id"][record]))

    def author(self, record: int) -> str:
        """A record's author."""
        return self.string(int(self.layout.records["author_str_id"][record]))

    def content(self, record: int) -> str:
        """A record's content."""
        return self.string(int(self.layout.records["content_str_id"][record]))

    def sources(self, record: int) -> tuple[Source, ...]:
        """A record's sources."""
        row = self.layout.records[record]
        start, count = int(row["rel_start"]), int(row["rel_count"])
        return tuple(
            value if kind == f.SOURCE_CHUNK else self.string(value)
            for kind, value in self.layout.relations[start : start + count].tolist()
        )

    def records_of_kinds(self, kinds: frozenset[str] | set[str]) -> npt.NDArray[np.bool_]:
        """Which records are of one of these kinds."""
        column = self.layout.records["kind_str_id"]
        numbers = [n for n in np.unique(column).tolist() if self.string(n) in kinds]
        return np.isin(column, numbers)

    def vector(self, record: int) -> npt.NDArray[np.float32]:
        """A record's vector as numbers: i8 times the scale. A copy, ``[dim]``."""
        row: npt.NDArray[np.float32] = self.matrix[self.rows[record]].astype(np.float32)
        with np.errstate(all="ignore"):
            return row * np.float32(self.scale) if self.layout.element == f.I8 else row

    def record_of(self, chunk_id: int) -> int:
        """The newest record with an id.

        Raises:
            InvalidArgument: there is none.
        """
        places = np.flatnonzero(self.ids == min(max(chunk_id, 0), f.MAX_U32))  # 0 is no chunk's id
        if not len(places) or chunk_id > f.MAX_U32:
            raise InvalidArgument(
                f"There is no chunk {chunk_id} in {self.name}; list its chunks for the ids.",
                file=self.name,
                id=chunk_id,
            )
        return int(places[-1])


def map_file(path: Path) -> Data:
    """Map a file into memory, read-only.

    Raises:
        BackendUnavailable: it is not there or cannot be read.
    """
    try:
        with path.open("rb") as file:
            try:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file cannot be mapped
                return b""
    except OSError as error:
        raise BackendUnavailable(
            f"The layer {path.name} cannot be read: {error.strerror}. Check that it is there and may be read.",
            file=path.name,
            errno=error.errno,
        ) from error


def validate(path: Path | str) -> list[FileFinding]:
    """Return what is wrong with a file, errors and warnings, in the order of its tables; empty if nothing is.

    Raises:
        BackendUnavailable: it is not there or cannot be read.
    """
    return examine(map_file(Path(path)))[1]
