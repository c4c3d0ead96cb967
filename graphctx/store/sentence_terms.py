"""The distinct index terms of every sentence, by number: questions are answered without stemming any sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import Stretches, open_matrix, save_matrix
from graphctx.store.files import reason_of

_IDS, _ENDS, _OWN = "sentence_terms.npy", "sentence_ends.npy", "sentence_own.json"


def write_sentence_terms(directory: Path, sentences: Iterable[Iterable[str]], vocabulary: Mapping[str, int]) -> None:
    """Write the terms of each sentence, in row order, into the directory of the lexical index.

    Args:
        directory: of the lexical index, written by `graphctx.store.bm25.write_bm25`.
        sentences: the terms of each sentence, in any order, repeated or not.
        vocabulary: of the lexical index; terms that no unit has get the numbers after it.
    """
    own: dict[str, int] = {}
    ids, ends = [np.zeros(0, np.int32)], [0]
    for terms in sentences:
        held = {
            vocabulary[term] if term in vocabulary else own.setdefault(term, len(vocabulary) + len(own))
            for term in dict.fromkeys(terms)  # not a set: the numbers of new terms follow the text
        }
        ids.append(np.array(sorted(held), dtype=np.int32))
        ends.append(ends[-1] + len(held))
    save_matrix(directory / _IDS, np.concatenate(ids))
    save_matrix(directory / _ENDS, np.array(ends, dtype=np.int32 if ends[-1] < 2**31 else np.int64))
    (directory / _OWN).write_text(json.dumps(own, ensure_ascii=True), "utf-8")


class SentenceTerms:
    """Written terms of M sentences, opened."""

    def __init__(self, directory: Path, vocabulary: Mapping[str, int]) -> None:
        """Open the sentence terms of a verified snapshot.

        Args:
            directory: of the lexical index.
            vocabulary: of that index.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self._ends = np.asarray(open_matrix(directory / _ENDS))
        self._ids = Stretches(directory / _IDS)
        try:
            self._own: dict[str, int] = json.loads((directory / _OWN).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise _unreadable(reason_of(error, directory)) from error
        if not len(self._ends) or self._ends[-1] != len(self._ids):
            raise _unreadable("the sizes differ")
        self._vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self._ends) - 1

    def held(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of some sentences hold which of some distinct terms, bool [len(rows), len(terms)].

        Fastest where runs of consecutive rows stand together.
        """
        result = np.zeros((len(rows), len(terms)), dtype=bool)
        numbers = [self._vocabulary.get(term, self._own.get(term, -1)) for term in terms]
        order = np.argsort(numbers)
        asked = np.array(numbers, dtype=np.int64)[order]
        if not len(rows) or not len(terms):
            return result
        lengths = (self._ends[rows + 1] - self._ends[rows]).astype(np.int64)
        turns = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        ids = self._ids.read(
            (int(self._ends[rows[first]]), int(self._ends[rows[after - 1] + 1])) for first, after in pairwise(turns)
        )
        owner = np.repeat(np.arange(len(rows)), lengths)
        places = np.minimum(np.searchsorted(asked, ids), len(asked) - 1)
        hit = asked[places] == ids
        result[owner[hit], order[places[hit]]] = True
        return result


def _unreadable(reason: str) -> BackendUnavailable:
    return BackendUnavailable(
        "The terms of this snapshot's sentences cannot be read. Run `graphctx ingest` again, or roll back.",
        reason=reason,
    )
