"""What a layer says now: the newest record of each id, and which of them were retracted."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.layers.chunk import TOMBSTONE, first_line, is_bookkeeping
from graphctx.layers.hashing import WordVectors
from graphctx.layers.names import LayerName
from graphctx.layers.reader import LayerFile
from graphctx.layers.scoring import Metric, cosines, norms, products

Subject = tuple[str, str]
"""Kind and first line."""

_SUBJECT_BYTES = 1024  # of a content, in which its first line is looked for
_SUBJECT_CHARS = 200


class LayerView:
    """An open layer as searches see it. What takes time is computed once, on first use.

    Attributes:
        name: which layer it is.
        file: its file.
    """

    def __init__(self, name: LayerName, file: LayerFile) -> None:
        self.name = name
        self.file = file

    @cached_property
    def newest(self) -> npt.NDArray[np.bool_]:
        """Which records are the newest of their id, ``[records]``."""
        mask = np.zeros(len(self.file), np.bool_)
        ids = self.file.ids
        _, last = np.unique(ids[::-1], return_index=True)
        mask[len(ids) - 1 - last] = True
        return mask

    @cached_property
    def records(self) -> dict[int, int]:
        """The newest record of each id."""
        places = np.flatnonzero(self.newest)
        return dict(zip(self.file.ids[places].tolist(), places.tolist(), strict=True))

    def revisions(self, record: int) -> int:
        """How many records there are with this record's id."""
        return self._edited.get(int(self.file.ids[record]), 1)

    @cached_property
    def _edited(self) -> dict[int, int]:
        ids, counts = np.unique(self.file.ids, return_counts=True)
        return dict(zip(ids[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True))

    @cached_property
    def subjects(self) -> dict[Subject, tuple[int, ...]]:
        """The newest records about each subject, by id; without those of bookkeeping."""
        made: dict[Subject, list[int]] = {}
        for _, record in sorted(self.records.items()):
            if not self.bookkeeping[record] and (subject := self.subject(record))[1]:
                made.setdefault(subject, []).append(record)
        return {subject: tuple(records) for subject, records in made.items()}

    def subject(self, record: int) -> Subject:
        """The kind of a record, and the first line of its content without markup and case; the line may be empty."""
        start = self.file.string_bytes(int(self.file.layout.records["content_str_id"][record]), _SUBJECT_BYTES)
        return self.file.kind(record), first_line(start.decode("utf-8", "ignore"), _SUBJECT_CHARS).casefold().rstrip(
            " .:;"
        )

    @cached_property
    def bookkeeping(self) -> npt.NDArray[np.bool_]:
        """Which records say something about other chunks or tools, ``[records]``."""
        column = self.file.layout.records["kind_str_id"]
        return np.isin(column, [n for n in np.unique(column).tolist() if is_bookkeeping(self.file.string(n))])

    @cached_property
    def retractions(self) -> dict[int, tuple[int, ...]]:
        """Ids that tombstones of this layer retract here, each with the ids of these tombstones, ascending."""
        return self._retracted("human", "mcp")

    @cached_property
    def retractions_below(self) -> dict[int, tuple[int, ...]]:
        """Ids that people, not agents, retract in the layers below this one too."""
        return self._retracted("human")

    def _retracted(self, *authors: str) -> dict[int, tuple[int, ...]]:
        made: dict[int, set[int]] = {}
        for record in np.flatnonzero(self.newest & self.file.records_of_kinds({TOMBSTONE})).tolist():
            if self.file.author(record) in authors:
                for source in self.file.sources(record):
                    if isinstance(source, int):
                        made.setdefault(source, set()).add(int(self.file.ids[record]))
        return {chunk_id: tuple(sorted(tombstones)) for chunk_id, tombstones in made.items()}

    def similarities(
        self, text: str, vector: npt.NDArray[np.float32] | None, metric: Metric
    ) -> npt.NDArray[np.float32]:
        """How like a query every record is, ``[records]``.

        Args:
            text: the query, used where there is no vector for this layer.
            vector: the query's vector, ``[dim]``; ``None`` compares by words.
            metric: of the vectors.
        """
        if vector is None:
            vectors, places = self._words
            return vectors.cosines(text)[places]
        if metric == "dot":
            return products(self.file, vector)[self.file.rows]
        return cosines(self.file, vector, self._norms)[self.file.rows]

    @cached_property
    def _norms(self) -> npt.NDArray[np.float32]:
        return norms(self.file)

    @cached_property
    def _words(self) -> tuple[WordVectors, npt.NDArray[np.int64]]:
        """Vectors of the contents, each once, and for each record which is its own."""
        numbers, places = np.unique(self.file.layout.records["content_str_id"], return_inverse=True)
        return WordVectors(map(self.file.string, numbers.tolist()), self.file.dim), places
