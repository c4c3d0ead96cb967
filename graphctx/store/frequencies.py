"""What BM25 is made of: how often each unit holds each of its terms, and how long it is, beside the lexical index.

The index holds finished values, in which the document frequencies of the whole corpus and the mean length of all its
units are mixed. From these counts the values of any part of the corpus are made by the same operations in the same
order, so that they are those of an index of that part alone, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.store.arrays import Stretches, open_matrix, save_matrix

K1 = 1.2
B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""

_COUNTS, _LENGTHS = "counts.npy", "lengths.npy"


def write_frequencies(directory: Path, units: Sequence[Sequence[int]]) -> None:
    """Write how often each unit holds each of its terms, in the order of the postings (term, unit), and their lengths.

    Args:
        directory: of the lexical index.
        units: the numbers of each unit's terms, in row order.
    """
    held = [np.unique(np.array(unit, dtype=np.int32), return_counts=True) for unit in units]
    terms = np.concatenate([np.zeros(0, np.int32), *(numbers for numbers, _ in held)])
    counts = np.concatenate([np.zeros(0, np.int64), *(count for _, count in held)])
    smallest = np.min_scalar_type(int(counts.max(initial=0)))
    save_matrix(directory / _COUNTS, counts.astype(smallest)[np.argsort(terms, kind="stable")])
    save_matrix(directory / _LENGTHS, np.array([len(unit) for unit in units], dtype=np.int32))


class Frequencies:
    """Written frequencies of N units, opened.

    Attributes:
        counts: how often the unit of each posting holds its term.
        lengths: int32 [N], how many terms each unit has.
    """

    def __init__(self, directory: Path) -> None:
        """Open those of a verified snapshot.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self.counts = Stretches(directory / _COUNTS)
        self.lengths: npt.NDArray[np.int32] = np.asarray(open_matrix(directory / _LENGTHS))

    @staticmethod
    def are_in(directory: Path) -> bool:
        """Whether a lexical index has them; those of older versions have none."""
        return (directory / _LENGTHS).is_file()


def saturated(
    counts: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer], mean_length: float
) -> npt.NDArray[np.float64]:
    """BM25 without the inverse document frequency: ``tf / (k1 * (1 - b + b * length / mean) + tf)``."""
    frequency = counts.astype(np.float64)
    value: npt.NDArray[np.float64] = frequency / (K1 * ((1 - B) + B * lengths / mean_length) + frequency)
    return value


def inverse_frequency(n_units: int, n_holders: int) -> float:
    """Inverse document frequency, ``log(1 + (N - n + 0.5) / (n + 0.5))``."""
    return math.log(1 + (n_units - n_holders + 0.5) / (n_holders + 0.5))
