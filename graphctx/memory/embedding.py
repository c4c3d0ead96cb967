"""Vectors of items: embedded by windows, and usable only with the embedder that made them."""

from __future__ import annotations

import sqlite3

import numpy as np
import numpy.typing as npt

from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.index import windows
from graphctx.nlp.base import Embedder

EMBED_BATCH = 64
"""Items embedded at a time."""


class WindowEmbedder:
    """Embeds items, and knows whether the vectors of the file are its own."""

    def __init__(self, database: MemoryDatabase, embedder: Embedder, dimensions: int | None = None) -> None:
        self._database, self._embedder, self._dimensions = database, embedder, dimensions

    def embed(self, texts: list[str]) -> tuple[list[npt.NDArray[np.float32]] | None, str]:
        """Return the vectors of the windows of each text, and why there are none, if so."""
        if unusable := self.unusable():
            return None, f"stored without a vector: {unusable}"
        try:
            return self._window_vectors(texts), ""
        except (GraphctxError, OSError, RuntimeError, ValueError) as error:
            return None, f"stored without a vector: {error}"

    def unusable(self) -> str:
        """Return why the stored vectors cannot be compared with the embedder's, or an empty string."""
        with self._database.read() as connection:
            known = connection.execute("SELECT value FROM meta WHERE name = 'embedder'").fetchone()
        try:
            own, wrong_length = self._embedder.fingerprint, self._wrong_length()
        except GraphctxError as error:
            return error.message
        if wrong_length:
            return wrong_length
        if known is None or known[0] == own:
            return ""
        return (
            f"the store was embedded with {known[0]}, and the settings choose {own}; run `graphctx memory reindex`, or "
            "set [memory.embeddings] as it was"
        )

    def _wrong_length(self) -> str:
        """Return why the embedder's vectors are not as long as the settings say, or an empty string."""
        dimension = self._embedder.dimension
        if self._dimensions in (None, dimension):
            return ""
        return (
            f"the vectors of {self._embedder.name} have {dimension} dimensions, and [memory.embeddings] dimensions "
            f"is {self._dimensions}; set it to {dimension}"
        )

    def remember(self, connection: sqlite3.Connection) -> None:
        """Record the embedder of the first vectors, within a transaction."""
        try:
            own = self._embedder.fingerprint
        except GraphctxError:
            return
        connection.execute("INSERT OR IGNORE INTO meta VALUES ('embedder', ?)", (own,))

    def reindex(self) -> int:
        """Embed again what has no vector, or everything if the embedder is another; return the number of items."""
        if wrong_length := self._wrong_length():
            raise InvalidArgument(f"Nothing is embedded: {wrong_length}.", setting="memory.embeddings.dimensions")
        condition = "1" if self.unusable() else "vector IS NULL"
        with self._database.read() as connection:
            rows = connection.execute(f"SELECT row, text FROM items WHERE {condition}").fetchall()
        for start in range(0, len(rows), EMBED_BATCH):
            batch = rows[start : start + EMBED_BATCH]
            vectors = self._window_vectors([text for _, text in batch])
            with self._database.write() as connection:
                connection.executemany(
                    "UPDATE items SET vector = ? WHERE row = ?",
                    [
                        (vector.astype(np.float16).tobytes(), row)
                        for vector, (row, _) in zip(vectors, batch, strict=True)
                    ],
                )
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('embedder', ?)", (self._embedder.fingerprint,))
        return len(rows)

    def _window_vectors(self, texts: list[str]) -> list[npt.NDArray[np.float32]]:
        """Return the vectors of the windows of each text, [windows, dimension]."""
        parts = [[text[start:end] for start, end in windows(text)] for text in texts]
        vectors = self._embedder.embed([part for each in parts for part in each])
        return np.split(vectors, np.cumsum([len(each) for each in parts])[:-1])
