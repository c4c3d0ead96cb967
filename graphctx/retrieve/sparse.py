"""Values of a few units among very many: rows and numbers side by side, so that nothing grows with the corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.first_stage import best_rows
from graphctx.retrieve.index import Rows, Scores


@dataclass(frozen=True, slots=True)
class Sparse:
    """Values of some units: ``rows`` distinct and sorted, float32 ``values`` beside them; all others have 0."""

    rows: Rows
    values: Scores

    def at(self, rows: Rows) -> Scores:
        """The values of any units."""
        if not len(self.rows):
            return np.zeros(len(rows), dtype=np.float32)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.values[places], np.float32(0.0))

    def times(self, weight: float) -> Sparse:
        """The same, weighted; nothing at all for a weight of 0."""
        if weight == 0.0:
            return NOTHING
        return Sparse(self.rows, (self.values * np.float32(weight)).astype(np.float32))

    def plus(self, other: Sparse) -> Sparse:
        """The sum."""
        rows = np.union1d(self.rows, other.rows)
        return Sparse(rows, self.at(rows) + other.at(rows))

    def best(self, k: int) -> Rows:
        """The rows of the ``k`` largest values above 0, best first."""
        return self.rows[best_rows(self.values, k, self.values > 0)]


NOTHING = Sparse(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
